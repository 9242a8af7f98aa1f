internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import TollgateAPI
internal import TollgateService

/// What a customer has agreed to, and what the app may know of the catalog.
func addConsents(to api: APIRoutes) {
    let tollgate = api.tollgate
    api.on(.get, .catalog) {
        let app = try $0.credentials.askingApp($0.request.headers, tollgate)
        return try tollgate.publishedCatalog.slice(for: app)
    }
    api.on(.get, .consents, by: .session) {
        try await tollgate.consents.given(by: $0.session.customer)
    }
    api.write(.consents, by: .session) { (call, said: API.ConsentsRequest) in
        try WriteAnswer(try await tollgate.consents.record(said, of: call.session.customer))
    }
}
