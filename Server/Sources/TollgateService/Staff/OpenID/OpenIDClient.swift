internal import Foundation
internal import StrictJSON
internal import Synchronization
internal import TollgateCore

/// How staff sign in at an issuer of OpenID Connect.
public struct OpenIDSettings: Hashable, Sendable {
    /// `https://login.example.com`, exactly as the issuer calls itself.
    public var issuer: String
    public var clientID: String
    /// `nil` for a public client.
    public var clientSecret: String?
    /// What the button says; the issuer's host where it is left out.
    public var name: String
    /// Whoever has a verified email in this domain gets an account as a viewer; `nil`: nobody does.
    public var domain: String?

    public init(
        issuer: String,
        clientID: String,
        clientSecret: String? = nil,
        name: String? = nil,
        domain: String? = nil
    ) {
        self.issuer = issuer
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.name = name ?? URL(string: issuer)?.host() ?? issuer
        self.domain = domain?.lowercased()
    }
}

/// One request to an issuer.
public struct OpenIDRequest: Hashable, Sendable {
    public var url: String
    public var headers: [String: String] = [:]
    /// What to post; `nil` reads.
    public var form: String?
}

/// Carries requests to an issuer; an answer has at most 256 KB.
public typealias OpenIDTransport =
    @Sendable (OpenIDRequest) async throws -> (status: Int, body: [UInt8])

/// Speaks to an issuer (OpenID Connect Discovery 1.0; RFC 6749 §4.1; RFC 7636).
public final class OpenIDClient: Sendable {
    public let settings: OpenIDSettings
    private let transport: OpenIDTransport
    private let known = Mutex(Known())

    private struct Known {
        var provider: Provider?
        var providerRead: Instant?
        var keys: JSON?
        var keysRead: Instant?
    }

    /// What the issuer says of itself.
    struct Provider: Sendable {
        var authorization: String
        var token: String
        var keys: String
        /// Where it tells of a person; `nil` where it names no safe address: most sign-ins do
        /// without.
        var userinfo: String?
        /// Whether the secret goes into the form: the issuer takes it nowhere else.
        var secretInForm: Bool
    }

    /// The issuer did not do as it should; for the log.
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    public init(_ settings: OpenIDSettings, transport: @escaping OpenIDTransport) {
        self.settings = settings
        self.transport = transport
    }

    /// Asked for again after an hour.
    func provider(at now: Instant) async throws -> Provider {
        let kept = known.withLock { ($0.provider, $0.providerRead) }
        if let provider = kept.0, let read = kept.1, Self.isFresh(read, now, 3_600_000) {
            return provider
        }
        let base =
            settings.issuer.hasSuffix("/") ? String(settings.issuer.dropLast()) : settings.issuer
        let json = try await read("\(base)/.well-known/openid-configuration")
        // An issuer that calls itself otherwise is another one (Discovery §4.3).
        guard json["issuer"]?.string == settings.issuer else {
            throw Failure(
                description: "the issuer calls itself otherwise than TOLLGATE_OIDC_ISSUER"
            )
        }
        func address(_ value: JSON?) throws -> String {
            guard let text = value?.string, OpenIDSettings.isSafe(text) else {
                throw Failure(description: "the issuer names no address that begins with https://")
            }
            return text
        }
        var methods: [String] = []
        if let named = json["token_endpoint_auth_methods_supported"]?.elements {
            for method in named { methods.append(method.string ?? "") }
        }
        let provider = Provider(
            authorization: try address(json["authorization_endpoint"]),
            token: try address(json["token_endpoint"]),
            keys: try address(json["jwks_uri"]),
            userinfo: try? address(json["userinfo_endpoint"]),
            secretInForm: methods.contains("client_secret_post")
                && !methods.contains("client_secret_basic")
        )
        known.withLock {
            $0.provider = provider
            $0.providerRead = now
        }
        return provider
    }

    /// The issuer's keys.
    ///
    /// - Parameter fresh: reads them again, at most once a minute.
    func keys(at now: Instant, fresh: Bool) async throws -> JSON {
        let kept = known.withLock { ($0.keys, $0.keysRead) }
        if let keys = kept.0, let read = kept.1, Self.isFresh(read, now, fresh ? 60_000 : 3_600_000)
        {
            return keys
        }
        let keys = try await read(try await provider(at: now).keys)
        known.withLock {
            $0.keys = keys
            $0.keysRead = now
        }
        return keys
    }

    private static func isFresh(_ read: Instant, _ now: Instant, _ lifetime: Int64) -> Bool {
        (0..<lifetime).contains(now.milliseconds - read.milliseconds)
    }

    /// The tokens that a code is exchanged for.
    struct Tokens: Sendable {
        var id: String
        /// Opens the userinfo endpoint; `nil` where the issuer gave none for a bearer.
        var access: String?
    }

    /// Gives a code for tokens.
    func tokens(
        _ code: String,
        redirectURL: String,
        verifier: String,
        at now: Instant
    ) async throws -> Tokens {
        let provider = try await provider(at: now)
        var fields = [
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirectURL),
            ("client_id", settings.clientID), ("code_verifier", verifier),
        ]
        var headers = ["Accept": "application/json"]
        if let secret = settings.clientSecret {
            if provider.secretInForm {
                fields.append(("client_secret", secret))
            } else {
                // Each part is escaped before (RFC 6749 §2.3.1).
                let pair = "\(settings.clientID.percentEncoded):\(secret.percentEncoded)"
                headers["Authorization"] = "Basic \(Data(pair.utf8).base64EncodedString())"
            }
        }
        let form = fields.map { "\($0.0)=\($0.1.percentEncoded)" }.joined(separator: "&")
        let answer = try await transport(
            OpenIDRequest(url: provider.token, headers: headers, form: form)
        )
        guard answer.status == 200, let json = try? JSON(answer.body),
            let token = json["id_token"]?.string
        else { throw Failure(description: "the issuer's token endpoint answered \(answer.status)") }
        let isBearer = json["token_type"]?.string?.lowercased() == "bearer"
        return Tokens(id: token, access: isBearer ? json["access_token"]?.string : nil)
    }

    /// The issuer's claims about the owner of an access token; `nil` where it has no such endpoint.
    func userinfo(_ access: String?, at now: Instant) async throws -> JSON? {
        guard let url = try await provider(at: now).userinfo, let access, !access.isEmpty,
            access.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return try await read(
            url,
            headers: ["Authorization": "Bearer \(access)", "Accept": "application/json"]
        )
    }

    private func read(_ url: String, headers: [String: String] = [:]) async throws -> JSON {
        let answer = try await transport(OpenIDRequest(url: url, headers: headers))
        guard answer.status == 200, let json = try? JSON(answer.body), json.kind == .object else {
            throw Failure(description: "the issuer answered \(answer.status) at \(url)")
        }
        return json
    }
}

extension OpenIDSettings {
    /// Whether an address may be an issuer's: `https://`, or this machine.
    public static func isSafe(_ address: String) -> Bool {
        guard let url = URL(string: address), let host = url.host(), !host.isEmpty else {
            return false
        }
        return url.scheme == "https"
            || url.scheme == "http" && ["127.0.0.1", "localhost", "[::1]", "::1"].contains(host)
    }
}
