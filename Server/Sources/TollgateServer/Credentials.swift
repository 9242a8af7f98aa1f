internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Stores
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

/// Who asks, by the key that they showed.
enum Credentials {
    /// The app's backend; with a key that has scopes, or with the configured one.
    case secret(ScopedKey?)
    /// The app, with nobody or somebody signed in.
    case publishable(CustomerSession?)
    /// The app, for one signed-in customer.
    case session(CustomerSession)

    /// - Throws: refusals 401 `missing_key`, `invalid_key`, `session_expired`; 403 where the key lacks
    ///   the scope that the route needs.
    init(_ request: Request, _ tollgate: Tollgate) async throws {
        guard let header = request.headers[.authorization], let key = Self.key(in: header) else {
            throw Refusal.unauthenticated(.missingKey, "Send a key as 'Authorization: Bearer KEY'.")
        }
        switch APIKeyKind(key) {
        case .secret? where tollgate.configuration.isSecretKey(key):
            self = .secret(nil)
        case .secret?:
            guard let scoped = try await tollgate.secretKeys.key(key) else { throw Self.invalidKey }
            try scoped.require(RouteScope.needed(request.method, request.uri.path))
            self = .secret(scoped)
        case .publishable? where tollgate.configuration.isPublishableKey(key):
            guard let name = HTTPField.Name(APIHeader.customerSession),
                let secret = request.headers[name]
            else {
                self = .publishable(nil)
                return
            }
            self = .publishable(try await tollgate.sessions.session(secret))
        case .customerSession?:
            self = .session(try await tollgate.sessions.session(key))
        default: throw Self.invalidKey
        }
        _ = try askingApp(request.headers, tollgate)
    }

    /// The app that asks, where there are several; `nil`: it did not say which, and counts as the
    /// first.
    ///
    /// - Throws: as ``Tollgate/askingApp(key:_:)``.
    func askingApp(_ headers: HTTPFields, _ tollgate: Tollgate) throws -> AskingApp? {
        guard !tollgate.configuration.appsOfKeys.isEmpty else { return nil }
        let key: String?
        switch self {
        case .secret: return nil
        case .publishable: key = headers[.authorization].flatMap { Self.key(in: $0) }
        case .session: key = headers[Self.publishableKeyHeader]
        }
        return try tollgate.askingApp(key: key, session)
    }

    private static let invalidKey = Refusal.unauthenticated(
        .invalidKey,
        "This key is not one of this server's, or it was revoked."
    )

    /// The same for a read of entitlements without suspension; `nil` where that is not possible, and
    /// where the key is refused.
    init?(
        atOnce headers: HTTPFields,
        _ tollgate: Tollgate,
        _ sessions: Sessions,
        _ secretKeys: SecretKeys
    ) {
        guard let header = headers[.authorization], let key = Self.key(in: header) else {
            return nil
        }
        switch APIKeyKind(key) {
        case .secret? where tollgate.configuration.isSecretKey(key):
            self = .secret(nil)
        case .secret?:
            guard let scoped = try? secretKeys.keyAtOnce(key),
                (try? scoped.require(Self.scopeOfReads)) != nil
            else { return nil }
            self = .secret(scoped)
        case .publishable? where tollgate.configuration.isPublishableKey(key):
            guard let secret = headers[Self.sessionHeader],
                let session = try? sessions.sessionAtOnce(secret)
            else { return nil }
            self = .publishable(session)
        case .customerSession?:
            guard let session = try? sessions.sessionAtOnce(key) else { return nil }
            self = .session(session)
        default: return nil
        }
        do { _ = try askingApp(headers, tollgate) } catch { return nil }
    }

    private static let scopeOfReads = RouteScope.needed(
        .get,
        APIPath.customerEntitlements.template
    )
    private static let sessionHeader = HTTPField.Name(APIHeader.customerSession) ?? .cookie
    private static let publishableKeyHeader =
        HTTPField.Name(APIHeader.publishableKey) ?? .cookie

    /// The key that a request shows, whatever it may be worth.
    static func key(of request: Request) -> String? {
        request.headers[.authorization].flatMap { key(in: $0) }
    }

    /// The key of a Bearer header, or the user name of a Basic one, as Stripe's clients may send.
    private static func key(in header: String) -> String? {
        let bearer = "Bearer "
        if header.utf8.starts(with: bearer.utf8) {
            return String(
                header[header.utf8.index(header.startIndex, offsetBy: bearer.utf8.count)...]
            )
        }
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        switch parts[0].lowercased() {
        case "bearer":
            return String(parts[1])
        case "basic":
            guard let data = Data(base64Encoded: String(parts[1])) else { return nil }
            return String(decoding: data, as: UTF8.self).split(separator: ":").first
                .map(String.init)
        default:
            return nil
        }
    }

    /// - Throws: a refusal 403 `key_scope` for any other key.
    func requireSecret() throws {
        guard case .secret = self else {
            throw Refusal.forbidden("key_scope", "This address accepts only the secret key.")
        }
    }

    /// - Throws: a refusal 403 `key_scope` for the secret key, where only a device has something
    ///   to say.
    func refuseSecret() throws {
        guard case .secret = self else { return }
        throw Refusal.forbidden(
            "key_scope",
            "This address accepts a publishable key or a customer session."
        )
    }

    var session: CustomerSession? {
        switch self {
        case .secret: nil
        case .publishable(let session): session
        case .session(let session): session
        }
    }

    /// Whose questions are counted together; nil for the app's backend, which asks for everybody.
    func caller(
        _ request: Request,
        _ context: ServerRequestContext,
        _ tollgate: Tollgate
    ) -> String? {
        if case .secret = self { return nil }
        if let session { return session.customer.rawValue }
        return "address " + ClientAddress(request, context, tollgate).text
    }

    /// Counts a request that makes this server call a store: by key, by customer and by address.
    ///
    /// - Throws: a refusal 429 `rate_limited` that says when to come back.
    func admitStoreCall(
        _ request: Request,
        _ context: ServerRequestContext,
        _ tollgate: Tollgate
    ) throws {
        let limits = tollgate.callLimits
        let now = tollgate.clocks.wall()
        if case .secret(let key) = self {
            if let key { try limits.scopedKeys.admit(key.id, at: now) }
            return try limits.backend.admit("secret key", at: now)
        }
        let address = ClientAddress(request, context, tollgate).text
        guard let session else { return try limits.visits.admit(address, at: now) }
        try limits.storeCalls.admit(session.customer.rawValue, at: now)
        try limits.addresses.admit(address, at: now)
    }

    /// - Throws: 401 `no_session_present`.
    func requireSession() throws -> CustomerSession {
        guard let session else {
            throw Refusal.unauthenticated(
                .noSessionPresent,
                "Sign in first: this needs a customer session."
            )
        }
        return session
    }

    /// The session, where the secret key would do as well.
    ///
    /// - Throws: 403 `key_scope` for a publishable key alone.
    func requireSessionUnlessSecret() throws -> CustomerSession {
        guard let session else {
            throw Refusal.forbidden(
                "key_scope",
                "This address accepts the secret key, or the customer's session."
            )
        }
        return session
    }

    /// The customer whom a path names, if this key may see them: any for the secret key, its own
    /// for a session.
    ///
    /// Another's is as if it were not there.
    func customer(_ id: String, _ component: CustomerSession.Component?) throws -> String {
        if case .secret = self { return id }
        let session = try requireSessionUnlessSecret()
        guard session.customer.rawValue == id else {
            throw Refusal.notFound(
                .resourceMissing,
                "No such customer: '\(id.prefix(80))'.",
                param: "id"
            )
        }
        if let component { try session.require(component) }
        return id
    }

    /// The environment of a question: a session sees its own only.
    func environment(_ asked: StoreEnvironment?) throws -> StoreEnvironment? {
        guard let session else { return asked }
        guard asked == nil || asked == session.environment else {
            throw Refusal.forbidden(
                "key_scope",
                "This customer session is for the environment \(session.environment.rawValue).",
                param: "environment"
            )
        }
        return session.environment
    }
}
