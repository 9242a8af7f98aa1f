internal import Foundation
internal import Storage
internal import Stores
public import TollgateAPI
public import TollgateCore

/// Short-lived sessions of customers, known by their secrets.
public struct Sessions: Sendable {
    let records: SessionStore
    let clocks: Clocks
    let random: RandomSource
    let directory: CustomerDirectory
    /// The apps of the catalog.
    let apps: [Catalog.App]
    let defaultEnvironment: StoreEnvironment
    /// How long a session lasts, in seconds.
    let lifetime: Int64

    /// Makes a short-lived session for one customer.
    ///
    /// Only a hash of its secret is kept.
    ///
    /// - Parameters:
    ///   - environment: whose purchases it sees; `nil`: the server's default.
    public func create(
        _ request: API.CreateCustomerSessionRequest,
        environment: StoreEnvironment? = nil
    ) async throws -> API.CustomerSession {
        let components = request.components
        guard
            components.buyButton.enabled || components.activeEntitlements.enabled
                || components.customerPortal.enabled
        else {
            throw Refusal.invalid("components", "Enable at least one component of the session.")
        }
        if let app = request.app { try requireListed(app) }
        let customer = try await directory.customer(request.customer, param: "customer")
        let created = clocks.wall().milliseconds / 1000
        let session = CustomerSession(
            customer: Customer.ID(customer.id),
            environment: environment ?? defaultEnvironment,
            components: components,
            app: request.app,
            created: created,
            expiresAt: created + lifetime
        )
        let secret = random.id("cuss_secret_", length: 48)
        let body = Array(try APIJSON.encode(session))
        let isKept = try await records.keep(
            secret,
            customer: session.customer,
            body: body,
            expires: session.expiresAt
        )
        guard isKept else { throw Refusal.erased("customer") }
        return API.CustomerSession(
            clientSecret: secret,
            created: created,
            expiresAt: session.expiresAt,
            customer: customer.id,
            livemode: session.environment == .production,
            components: components,
            app: request.app
        )
    }

    /// - Throws: a refusal 400 `parameter_invalid` for an app that the catalog does not list.
    private func requireListed(_ app: String) throws {
        guard !apps.contains(where: { $0.id == app }) else { return }
        throw Refusal.invalid(
            "app",
            apps.isEmpty
                ? "The catalog lists no apps, so a session is for the only one: leave ‘app’ out."
                : "The catalog lists no app '\(app.prefix(80))'; its apps are "
                    + apps.map(\.id).joined(separator: ", ") + "."
        )
    }

    /// The session of this secret.
    ///
    /// - Throws: a refusal 401 `invalid_key` or `session_expired`.
    public func session(_ secret: String) async throws -> CustomerSession {
        // Under other prefixes lie the portal's links and cookies.
        let key = SessionStore.key(secret)
        guard APIKeyKind(secret) == .customerSession,
            let body = try await records.session(keptUnder: key)
        else {
            throw Refusal(
                401,
                .invalidKey,
                "This customer session does not exist; create a new one."
            )
        }
        return try session(body, keptUnder: key)
    }

    /// The same without suspension; `nil` where the database cannot do that, or has no such session.
    ///
    /// - Throws: a refusal 401 `session_expired`.
    public func sessionAtOnce(_ secret: String) throws -> CustomerSession? {
        guard APIKeyKind(secret) == .customerSession else { return nil }
        let key = SessionStore.key(secret)
        return try records.sessionAtOnce(keptUnder: key).map { try session($0, keptUnder: key) }
    }

    private func session(_ body: [UInt8], keptUnder key: RowKey) throws -> CustomerSession {
        var session = try CustomerSession(kept: body)
        session.keptUnder = key
        guard clocks.wall().milliseconds / 1000 < session.expiresAt else {
            throw Refusal(
                401,
                .sessionExpired,
                "This customer session has expired; create a new one."
            )
        }
        return session
    }
}
