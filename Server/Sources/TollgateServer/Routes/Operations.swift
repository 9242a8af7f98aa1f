internal import HTTPTypes
internal import Hummingbird
internal import Storage
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

/// Whether the process serves.
func addHealth(to router: Router<ServerRequestContext>) {
    router.get(APIPath.healthz.route) { _, _ in
        Response.json(bytes: healthy)
    }
}

/// What those who run the server look at.
func addMetrics(to router: Router<ServerRequestContext>, _ tollgate: Tollgate) {
    router.get(APIPath.readyz.route) { _, _ in
        _ = try await tollgate.store.driver.readNow("SELECT 1", [])
        return Response.json(bytes: healthy)
    }
    router.get(APIPath.metrics.route) { _, _ in
        Response.text(
            await tollgate.metrics.text(),
            type: "text/plain; version=0.0.4; charset=utf-8"
        )
    }
}

/// What describes the server.
func addOperations(to router: Router<ServerRequestContext>, _ tollgate: Tollgate) {
    router.get(APIPath.openAPI.route) { _, _ in
        Response.json(bytes: openAPIDocument)
    }
    router.get(APIPath.jsonWebKeySet.route) { _, _ in
        try Response.json(await tollgate.signingKeys.keySet())
    }
    router.get(APIPath.appleAppSiteAssociation.route) { _, _ in
        try Response.json(
            AppSiteAssociation(
                appIDs: tollgate.configuration.appleAppIDs,
                apps: tollgate.store.history.current.apps
            )
        )
    }
}

/// What follows the answers of all customers.
func addEvents(to api: APIRoutes) {
    let tollgate = api.tollgate
    api.on(.get, .events, by: .secretKey) {
        try await tollgate.events.list(
            startingAfter: $0.request.parameter(APIQuery.startingAfter),
            limit: $0.request.limit()
        )
    }
}
