import Foundation
import JWTKit
import StrictJSON

extension GooglePlay {
    /// The token by which a push proves that it comes from our Pub/Sub subscription: signed by Google,
    /// for our audience, about our service account.
    ///
    /// The signature and the audience alone prove nothing: any Google Cloud project may have a token
    /// minted for any audience. The email must be ours, and verified.
    public struct PushTokenVerifier: Sendable {
        /// A reason to refuse a token.
        public enum Refusal: Error, Hashable, Sendable {
            /// It is no JSON Web Token with a key id, signed by RS256.
            case form
            /// No key of Google's has this id; newer keys may.
            case unknownKey(String)
            case signature
            case issuer
            case audience
            case email
            case expired
            /// Its `iat` is ahead of our clock.
            case notYet
        }

        /// The audience of the push subscription; by default the URL of its endpoint.
        public let audience: String
        /// The email of the subscription's service account.
        public let serviceAccountEmail: String
        /// The tolerated difference between Google's clock and ours, in seconds.
        public let leeway: Int64

        public init(audience: String, serviceAccountEmail: String, leeway: Int64 = 60) {
            self.audience = audience
            self.serviceAccountEmail = serviceAccountEmail
            self.leeway = leeway
        }

        /// Verifies a token.
        ///
        /// - Parameters:
        ///   - token: The value of `Authorization`, without `Bearer`.
        ///   - keys: Google's keys.
        ///   - now: The wall clock in UNIX seconds.
        public func verify(_ token: String, keys: PushKeys, now: Int64) async throws(Refusal) {
            guard token.utf8.count <= 16 << 10, let header = Self.header(of: token),
                header.alg == "RS256", header.crit == nil
            else { throw .form }
            guard keys.ids.contains(header.kid) else { throw .unknownKey(header.kid) }
            let claims: Claims
            do {
                claims = try await keys.collection.verify(token, as: Claims.self)
            } catch let error as JWTError where error.errorType == .signatureVerificationFailed {
                throw .signature
            } catch {
                throw .form
            }
            try check(claims, now: now)
        }

        /// Judges the claims of a token as if its signature had been right.
        func check(claims json: [UInt8], now: Int64) throws(Refusal) {
            guard let claims = try? JSONDecoder().decode(Claims.self, from: Data(json)) else {
                throw .form
            }
            try check(claims, now: now)
        }

        private func check(_ claims: Claims, now: Int64) throws(Refusal) {
            guard ["https://accounts.google.com", "accounts.google.com"].contains(claims.iss) else {
                throw .issuer
            }
            guard claims.aud == audience else { throw .audience }
            guard claims.email == serviceAccountEmail, claims.email_verified == true else {
                throw .email
            }
            guard claims.exp > Double(now - leeway) else { throw .expired }
            guard claims.iat <= Double(now + leeway) else { throw .notYet }
        }

        struct Header: Decodable {
            var alg: String
            var kid: String
            var crit: [String]?
        }

        static func header(of token: String) -> Header? {
            let parts = token.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 3 else { return nil }
            guard let bytes = Base64Text.bytes(of: parts[0]) else { return nil }
            return try? JSONDecoder().decode(Header.self, from: Data(bytes))
        }

        private struct Claims: JWTPayload {
            var iss: String
            var aud: String
            var email: String?
            var email_verified: Bool?
            var iat: Double
            var exp: Double

            // Dates are checked against the clock that the caller gives.
            func verify(using algorithm: some JWTAlgorithm) async throws {}
        }
    }

    /// Google's keys for push tokens, as a JSON Web Key Set.
    public struct PushKeys: Sendable {
        /// The ids of the keys.
        public let ids: Set<String>
        let collection: JWTKeyCollection

        /// Reads `https://www.googleapis.com/oauth2/v3/certs`.
        ///
        /// Keys of other kinds are skipped: Google may add some.
        ///
        /// - Throws: `DecodingError` where it is no set of keys, or one without an RSA key.
        public init(jwks body: [UInt8]) async throws(DecodingError) {
            let keys = JWTKeyCollection()
            var ids: Set<String> = []
            for key in (try? JSON(body))?["keys"]?.elements.map(\.self) ?? [] {
                guard let id = Self.usableID(key),
                    let jwk = try? JSONDecoder().decode(JWK.self, from: Data(key.rawBytes)),
                    (try? await keys.add(jwk: jwk)) != nil
                else { continue }
                ids.insert(id)
            }
            guard !ids.isEmpty else {
                throw DecodingError(object: "JWKS", field: "keys", expected: "a set of RSA keys")
            }
            (self.ids, collection) = (ids, keys)
        }

        /// The id of an RSA key for signatures; `nil` for any other.
        private static func usableID(_ key: JSON) -> String? {
            guard key["kty"]?.string == "RSA", key["use"]?.string ?? "sig" == "sig",
                key["alg"]?.string ?? "RS256" == "RS256"
            else { return nil }
            return key["kid"]?.string
        }
    }
}
