internal import Hummingbird
internal import Logging
internal import TollgateAPI
internal import TollgateService

/// Secret keys with scopes: made, listed and revoked.
func addSecretKeys(to router: Router<ServerRequestContext>, _ tollgate: Tollgate) {
    router.get(APIPath.secretKeys.route) { request, _ in
        try await Credentials(request, tollgate).requireSecret()
        return try Response.json(try await tollgate.secretKeys.all())
    }
    router.post(APIPath.secretKeys.route) { request, context in
        let credentials = try await Credentials(request, tollgate)
        try credentials.requireSecret()
        let wanted = try await request.json(API.SecretKeyRequest.self)
        // No `Idempotency-Key`: an answer that is kept would keep the secret too.
        return try Response.json(
            try await tollgate.secretKeys.create(wanted, by: Actor(credentials, context)),
            status: .created
        )
    }
    router.post(APIPath.secretKeysRevoke.route) { request, context in
        let credentials = try await Credentials(request, tollgate)
        try credentials.requireSecret()
        return try Response.json(
            try await tollgate.secretKeys.revoke(try context.id, by: Actor(credentials, context))
        )
    }
}

extension Actor {
    /// Whoever has a secret key: a person with the command line, or the app's backend.
    init(_ credentials: Credentials, _ context: ServerRequestContext) {
        var name = "secret key"
        if case .secret(let key?) = credentials { name = key.id }
        let request = context.logger[metadataKey: "hb.request.id"].map { "\($0)" } ?? ""
        self.init(name: name, role: "backend", request: request)
    }
}
