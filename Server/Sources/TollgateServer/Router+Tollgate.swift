internal import HTTPTypes
public import Hummingbird
internal import TollgateAPI
public import TollgateService

/// Every route of the server. Others, such as the demo's page, may be added to it.
public func buildRouter(_ tollgate: Tollgate) throws -> Router<ServerRequestContext> {
    let router = Router(context: ServerRequestContext.self)
    router.add(middleware: ErrorResponse(counters: tollgate.counters))
    addOperations(to: router, tollgate)
    addWebhooks(to: router, tollgate)
    addCustomers(to: router, tollgate)
    addPurchases(to: router, tollgate)
    try addPages(to: router, tollgate)
    return router
}

extension APIPath {
    var route: RouterPath { RouterPath(template) }
}
