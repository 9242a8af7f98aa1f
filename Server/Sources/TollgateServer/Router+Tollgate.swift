internal import HTTPTypes
public import Hummingbird
internal import TollgateAPI
public import TollgateService

/// Every route of the server.
///
/// Others, such as the demo's page, may be added to it.
///
/// - Parameters:
///   - levers: what the dashboard may do to a sandbox; `nil` on a server in earnest.
///   - checkUp: the checks of the dashboard's page **Doctor**; `nil`: there is no such page.
///   - alertTrial: a test message to every channel of alarms, by the settings of the moment; `nil`: the
///     page **Doctor** has no button for it.
///   - emails: emails to customers, by the settings of the moment; `nil`: none are sent.
///   - answersMetrics: whether `/metrics` and `/readyz` are among them.
///   - isTraced: whether each request is measured as a span.
public func buildRouter(
    _ tollgate: Tollgate,
    levers: DashboardLevers? = nil,
    checkUp: CheckUp? = nil,
    alertTrial: (@Sendable () -> AlertTrial)? = nil,
    emails: @escaping @Sendable () -> LetterSetUp? = { nil },
    answersMetrics: Bool = true,
    isTraced: Bool = false
) throws -> Router<ServerRequestContext> {
    try router(tollgate, isTraced: isTraced) { router in
        try addRoutes(to: router, tollgate, levers, checkUp, alertTrial, emails)
        if answersMetrics { addMetrics(to: router, tollgate) }
    }
}

/// The routes of a server's second address: `/metrics`, `/readyz` and `/healthz`.
public func buildMetricsRouter(_ tollgate: Tollgate) -> Router<ServerRequestContext> {
    router(tollgate) { router in
        addHealth(to: router)
        addMetrics(to: router, tollgate)
    }
}

private func router(
    _ tollgate: Tollgate,
    isTraced: Bool = false,
    _ addRoutes: (Router<ServerRequestContext>) throws -> Void
) rethrows -> Router<ServerRequestContext> {
    // Laid out once without middleware, so that a refusal can name the methods that an address takes.
    let plan = Router(context: ServerRequestContext.self, options: .autoGenerateHeadEndpoints)
    try addRoutes(plan)
    let router = Router(context: ServerRequestContext.self, options: .autoGenerateHeadEndpoints)
    if isTraced { router.add(middleware: RequestSpans()) }
    router.add(
        middleware: ErrorResponse(counters: tollgate.counters, allowed: AllowedMethods(plan.routes))
    )
    try addRoutes(router)
    return router
}

private func addRoutes(
    to router: Router<ServerRequestContext>,
    _ tollgate: Tollgate,
    _ levers: DashboardLevers?,
    _ checkUp: CheckUp?,
    _ alertTrial: (@Sendable () -> AlertTrial)?,
    _ emails: @escaping @Sendable () -> LetterSetUp?
) throws {
    addHealth(to: router)
    addOperations(to: router, tollgate)
    addWebhooks(to: router, tollgate)
    let api = APIRoutes(router: router, tollgate: tollgate)
    addEvents(to: api)
    addReports(to: api)
    addWebhookEndpoints(to: api)
    addSigningKeys(to: api)
    addSecretKeys(to: api)
    addCustomers(to: api)
    addPurchases(to: api)
    addConsents(to: api)
    addOfferings(to: api)
    try addFinance(to: api)
    try addPages(to: router, tollgate)
    try addDashboard(to: router, tollgate, levers, checkUp, alertTrial, emails)
}

extension APIPath {
    var route: RouterPath { RouterPath(template) }
}
