internal import HTTPTypes
public import Hummingbird
internal import TollgateAPI
public import TollgateService

/// Every route of the server.
///
/// Others, such as the demo's page, may be added to it.
///
/// - Parameter levers: what the dashboard may do to a sandbox; `nil` on a server in earnest.
public func buildRouter(
    _ tollgate: Tollgate,
    levers: DashboardLevers? = nil
) throws -> Router<ServerRequestContext> {
    // The routes are laid out once without middleware, so that a refusal can name the methods
    // that an address does take.
    let plan = Router(context: ServerRequestContext.self, options: .autoGenerateHeadEndpoints)
    try addRoutes(to: plan, tollgate, levers)
    let router = Router(context: ServerRequestContext.self, options: .autoGenerateHeadEndpoints)
    router.add(
        middleware: ErrorResponse(
            counters: tollgate.counters,
            allowed: AllowedMethods(plan.routes)
        )
    )
    try addRoutes(to: router, tollgate, levers)
    return router
}

private func addRoutes(
    to router: Router<ServerRequestContext>,
    _ tollgate: Tollgate,
    _ levers: DashboardLevers?
) throws {
    addOperations(to: router, tollgate)
    addWebhooks(to: router, tollgate)
    addEvents(to: router, tollgate)
    addReports(to: router, tollgate)
    addWebhookEndpoints(to: router, tollgate)
    addSigningKeys(to: router, tollgate)
    addSecretKeys(to: router, tollgate)
    addCustomers(to: router, tollgate)
    addPurchases(to: router, tollgate)
    addConsents(to: router, tollgate)
    try addFinance(to: router, tollgate)
    try addPages(to: router, tollgate)
    try addDashboard(to: router, tollgate, levers)
}

extension APIPath {
    var route: RouterPath { RouterPath(template) }
}
