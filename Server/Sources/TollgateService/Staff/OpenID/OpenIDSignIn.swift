internal import Crypto
internal import Foundation
internal import Logging
internal import Storage
internal import Stores
internal import StrictJSON
internal import TollgateAPI
internal import TollgateCore

/// A sign-in at an issuer that has begun.
public struct OpenIDStart: Sendable {
    /// The issuer's page.
    public var address: String
    /// What the browser keeps until it comes back.
    public var secret: String
}

/// Sign-in at an issuer of OpenID Connect: authorization code with PKCE, state and nonce.
public struct OpenIDSignIn: Sendable {
    let records: StaffStore
    let clocks: Clocks
    let random: RandomSource
    /// `nil` where no issuer is configured.
    public let openID: OpenIDClient?
    let sealing: SealingKeys
    let staff: Staff
    let signIns: SignIns
    let auditLog: AuditLog
    let publicURL: String
    let logger: Logger

    /// How long a sign-in at the issuer may take: ten minutes, in milliseconds.
    public static let lifetime: Int64 = 600_000

    private var redirect: String { "\(publicURL)/dashboard/oidc/callback" }

    /// Begins a sign-in at the issuer.
    ///
    /// State, nonce and code verifier are made from one secret that the browser keeps: what is
    /// caught on the way is worth nothing in another browser.
    ///
    /// - Throws: refusals 404 `resource_missing` where there is no issuer, 502 `sso_failed`.
    public func begin() async throws -> OpenIDStart {
        guard let openID else { throw Refusal.missing("issuer", "", param: "issuer") }
        let now = clocks.wall()
        let provider: OpenIDClient.Provider
        do {
            provider = try await openID.provider(at: now)
        } catch {
            throw failed(error)
        }
        let secret = random.id("stoi_", length: 48)
        try await records.keep(
            StoredStaffSession(
                staff: "",
                kind: .openID,
                created: now,
                expires: now.advanced(by: Self.lifetime)
            ),
            token: secret
        )
        let challenge = Base64URL.encode(
            Data(SHA256.hash(data: Data(derived(secret, "verifier").utf8)))
        )
        let fields = [
            ("response_type", "code"), ("client_id", openID.settings.clientID),
            ("redirect_uri", redirect), ("scope", "openid email"),
            ("state", derived(secret, "state")), ("nonce", derived(secret, "nonce")),
            ("code_challenge", challenge), ("code_challenge_method", "S256"),
        ]
        let query = fields.map { "\($0.0)=\($0.1.percentEncoded)" }.joined(separator: "&")
        let sign = provider.authorization.contains("?") ? "&" : "?"
        return OpenIDStart(address: provider.authorization + sign + query, secret: secret)
    }

    /// Ends a sign-in at the issuer, when the browser has come back.
    ///
    /// - Parameters:
    ///   - secret: what the browser kept.
    ///   - issuer: `iss` of the answer, where the issuer names itself (RFC 9207).
    /// - Throws: refusals 401 `sso_failed`, 403 `sso_unknown` where nobody here has that email,
    ///   502 `sso_failed` where the issuer fails.
    public func finish(
        _ secret: String?,
        state: String?,
        code: String?,
        issuer: String?,
        request: String
    ) async throws -> StaffSignIn {
        guard let openID, let secret, secret.hasPrefix("stoi_"), let state, let code,
            state == derived(secret, "state"), issuer == nil || issuer == openID.settings.issuer,
            // Once: before anything is asked.
            let kept = try await records.takeSession(secret), kept.kind == .openID,
            clocks.wall() < kept.expires
        else { throw Refusal.ssoFailed(401) }
        let email: String
        do {
            let tokens = try await openID.tokens(
                code,
                redirectURL: redirect,
                verifier: derived(secret, "verifier"),
                at: clocks.wall()
            )
            let token = try await verified(tokens.id, nonce: derived(secret, "nonce"), openID)
            email = try await self.email(token, tokens.access, openID)
        } catch let refusal as IDToken.Refusal {
            logger.warning(
                "a token of the issuer was refused",
                metadata: ["reason": "\(refusal.rawValue)"]
            )
            throw Refusal.ssoFailed(401)
        } catch {
            throw failed(error)
        }
        return try await signIns.proven(try await member(email, openID.settings, request))
    }

    /// The verified email of whom a token names: its own, else what the userinfo endpoint tells.
    private func email(
        _ token: IDToken,
        _ access: String?,
        _ openID: OpenIDClient
    ) async throws -> String {
        if let email = token.email { return email }
        guard let userinfo = try await openID.userinfo(access, at: clocks.wall()) else {
            throw IDToken.Refusal.email
        }
        return try token.email(in: userinfo)
    }

    private func verified(
        _ text: String,
        nonce: String,
        _ openID: OpenIDClient
    ) async throws -> IDToken {
        let expected = IDToken.Expectation(
            issuer: openID.settings.issuer,
            clientID: openID.settings.clientID,
            nonce: nonce,
            now: clocks.wall()
        )
        do {
            let keys = try await openID.keys(at: clocks.wall(), fresh: false)
            return try IDToken(text, keys: keys, expected)
        } catch IDToken.Refusal.unknownKey {
            // The issuer may have changed its keys.
            let keys = try await openID.keys(at: clocks.wall(), fresh: true)
            return try IDToken(text, keys: keys, expected)
        }
    }

    /// The member of staff with this email; a new one where the settings say so and nobody removed
    /// them.
    private func member(
        _ email: String,
        _ settings: OpenIDSettings,
        _ request: String
    ) async throws -> StaffMember {
        if let member = try await staff.member(email) { return member }
        guard let domain = settings.domain, email.hasSuffix("@\(domain)"),
            try await records.member(email) == nil
        else {
            throw Refusal.forbidden(
                "sso_unknown",
                "Nobody with this email works here. An admin can invite you."
            )
        }
        do {
            return try await auditLog.audited(
                Deed("staff.add", "staff:\(email)", StaffRole.viewer.rawValue),
                by: Actor(name: "issuer", role: "issuer", request: request)
            ) { try await staff.add(email, role: .viewer) }
        } catch let refusal as Refusal where refusal.status == 409 {
            // They signed in twice at once.
            guard let member = try await staff.member(email) else { throw refusal }
            return member
        }
    }

    private func failed(_ error: any Error) -> any Error {
        if error is StorageError || error is Refusal { return error }
        logger.warning("the issuer failed", metadata: ["error": "\(error)"])
        return Refusal.ssoFailed(502)
    }

    private func derived(_ secret: String, _ purpose: String) -> String {
        sealing.code(of: secret, as: "openid \(purpose)")
    }
}

extension Refusal {
    static func ssoFailed(_ status: Int) -> Refusal {
        Refusal(
            status,
            .authenticationError,
            "sso_failed",
            "The sign-in at the issuer did not work. Begin again."
        )
    }
}
