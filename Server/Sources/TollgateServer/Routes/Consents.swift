internal import Hummingbird
internal import TollgateAPI
internal import TollgateService

/// What a customer has agreed to, and what the app may know of the catalog.
func addConsents(to router: Router<ServerRequestContext>, _ tollgate: Tollgate) {
    router.get(APIPath.catalog.route) { request, _ in
        let app = try await Credentials(request, tollgate).askingApp(request.headers, tollgate)
        return try Response.json(try tollgate.publishedCatalog.slice(for: app))
    }
    router.get(APIPath.consents.route) { request, _ in
        let session = try await Credentials(request, tollgate).requireSession()
        return try Response.json(try await tollgate.consents.given(by: session.customer))
    }
    router.post(APIPath.consents.route) { request, _ in
        let credentials = try await Credentials(request, tollgate)
        let session = try credentials.requireSession()
        let body = try await request.bytes(upTo: 256 << 10)
        return try await request.once(tollgate, credentials, body) {
            let said = try StrictBody.decode(API.ConsentsRequest.self, from: body)
            return try WriteAnswer(try await tollgate.consents.record(said, of: session.customer))
        }
    }
}
