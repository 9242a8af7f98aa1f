internal import Hummingbird
internal import TollgateAPI
internal import TollgateService

/// What a customer has agreed to, and what the app may know of the catalog.
func addConsents(to router: Router<ServerRequestContext>, _ tollgate: Tollgate) {
    router.get(APIPath.catalog.route) { request, _ in
        _ = try await Credentials(request, tollgate)
        return try Response.json(try tollgate.catalogSlice())
    }
    router.get(APIPath.consents.route) { request, _ in
        let session = try await Credentials(request, tollgate).requireSession()
        return try Response.json(try await tollgate.consents(of: session.customer))
    }
    router.post(APIPath.consents.route) { request, _ in
        let session = try await Credentials(request, tollgate).requireSession()
        let said = try await request.json(API.ConsentsRequest.self)
        return try Response.json(try await tollgate.record(said, of: session.customer))
    }
}
