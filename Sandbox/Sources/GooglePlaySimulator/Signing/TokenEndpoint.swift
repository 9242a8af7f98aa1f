import Foundation

/// The token endpoint, `oauth2.googleapis.com/token`, for service accounts; by real time.
///
/// https://developers.google.com/identity/protocols/oauth2/service-account
struct TokenEndpoint: Hashable, Sendable, Codable {
    /// Named as audience by clients, wherever the endpoint itself is.
    static let audience = "https://oauth2.googleapis.com/token"
    static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    static let scopes = [
        "https://www.googleapis.com/auth/androidpublisher",
        "https://www.googleapis.com/auth/pubsub",
        "https://www.googleapis.com/auth/cloud-platform",
        "https://www.googleapis.com/auth/devstorage.read_only",
        "https://www.googleapis.com/auth/devstorage.full_control",
        "https://www.googleapis.com/auth/devstorage.read_write",
    ]

    struct Grant: Hashable, Sendable, Codable {
        var scopes: [String]
        /// UNIX seconds.
        var expires: Int64
    }

    struct Failure: Error, Hashable {
        var error: String
        var description: String
        var wire: JSON { ["error": .string(error), "error_description": .string(description)] }
    }

    private(set) var grants: [String: Grant] = [:]

    /// - Returns: the claims of an assertion that `account` signed.
    static func claims(
        of assertion: String,
        _ account: ServiceAccount,
        tokenURL: String,
        seconds: Int64
    ) throws(Failure) -> JSON {
        func refuse(_ words: String) -> Failure {
            Failure(error: "invalid_grant", description: words)
        }
        let head = assertion.split(separator: ".").first.map(String.init) ?? ""
        guard let header = Base64URL.bytes(head).flatMap(JSON.init(bytes:)),
            header["alg"]?.text == "RS256"
        else { throw refuse("Invalid JWT: Failed to parse the header, or it is not RS256.") }
        if let key = header["kid"]?.text, key != account.identity.keyID {
            throw refuse("Invalid JWT Signature.")
        }
        guard let claims = account.identity.verify(assertion) else {
            throw refuse("Invalid JWT Signature.")
        }
        guard claims["iss"]?.text == account.email else {
            throw refuse("Invalid grant: account not found")
        }
        guard let audience = claims["aud"]?.text, audience == Self.audience || audience == tokenURL
        else { throw refuse("Invalid JWT: Failed audience check.") }
        guard let issued = claims["iat"]?.whole, let expires = claims["exp"]?.whole,
            issued <= seconds + 300, expires > seconds - 300, expires - issued <= 3600
        else {
            throw refuse(
                "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable "
                    + "timeframe. Check your iat and exp values in the JWT claim."
            )
        }
        return claims
    }

    /// A new access token for `scope`.
    mutating func grant(
        _ scope: String,
        token: String,
        seconds: Int64
    ) throws(Failure) -> JSON {
        let scopes = scope.split(separator: " ").map(String.init)
        guard !scopes.isEmpty, scopes.allSatisfy(Self.scopes.contains) else {
            throw Failure(
                error: "invalid_scope",
                description: "Invalid OAuth scope or ID token audience provided."
            )
        }
        grants = grants.filter { $0.value.expires > seconds }
        grants[token] = Grant(scopes: scopes, expires: seconds + 3599)
        return [
            "access_token": .string(token), "expires_in": 3599, "token_type": "Bearer",
        ]
    }

    /// Lets a token in that was never asked for; it does not end.
    mutating func admit(_ token: String) {
        grants[token] = Grant(scopes: Self.scopes, expires: .max)
    }

    /// Returns `true` if a request's bearer token is good for one of `scopes`: one that was granted, or one
    /// that the account signed for itself, as Google's newer libraries do.
    func accepts(
        _ authorization: String?,
        of account: ServiceAccount,
        scopes: [String],
        seconds: Int64
    ) -> Bool {
        guard let authorization, authorization.hasPrefix("Bearer ") else { return false }
        let token = String(authorization.dropFirst(7))
        if token.split(separator: ".").count == 3, !token.hasPrefix("ya29."),
            let claims = account.identity.verify(token)
        {
            return claims["iss"]?.text == account.email && claims["exp"]?.whole ?? 0 > seconds
                && (claims["aud"] != nil || claims["scope"] != nil)
        }
        guard let grant = grants[token], grant.expires > seconds else { return false }
        return grant.scopes.contains { granted in
            scopes.contains(granted) || granted.hasSuffix("/cloud-platform")
        }
    }

    /// All access tokens are void from now on.
    mutating func forgetAll() { grants = [:] }
}
