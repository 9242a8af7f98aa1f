internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import TollgateAPI
internal import TollgateService

/// Secret keys with scopes: made, listed and revoked.
func addSecretKeys(to api: APIRoutes) {
    let tollgate = api.tollgate
    api.on(.get, .secretKeys, by: .secretKey) { _ in try await tollgate.secretKeys.all() }
    // No `Idempotency-Key`: an answer that is kept would keep the secret too.
    api.on(.post, .secretKeys, by: .secretKey, status: .created) {
        try await tollgate.secretKeys.create($0.json(API.SecretKeyRequest.self), by: Actor($0))
    }
    api.on(.post, .secretKeysRevoke, by: .secretKey) {
        try await tollgate.secretKeys.revoke($0.id, by: Actor($0))
    }
}

extension Actor {
    /// Whoever has a secret key: a person with the command line, or the app's backend.
    init(_ call: APICall) {
        var name = "secret key"
        if case .secret(let key?) = call.credentials { name = key.id }
        let request = call.context.logger[metadataKey: "hb.request.id"].map { "\($0)" } ?? ""
        self.init(name: name, role: "backend", request: request)
    }
}
