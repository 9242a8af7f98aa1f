internal import StrictJSON
public import Crypto
import Foundation
internal import TextFormats

extension AppStore {
    /// A key for the App Store Server API, as App Store Connect gives it out.
    public struct APIKey: Sendable {
        /// The team's issuer id.
        public let issuerID: String
        /// The key's id, ten characters.
        public let keyID: String
        let privateKey: P256.Signing.PrivateKey

        /// A key at hand.
        public init(issuerID: String, keyID: String, privateKey: P256.Signing.PrivateKey) {
            self.issuerID = issuerID
            self.keyID = keyID
            self.privateKey = privateKey
        }

        /// A key from the text of its `.p8` file (PKCS#8 in PEM).
        public init(issuerID: String, keyID: String, pem: String) throws {
            self.init(
                issuerID: issuerID,
                keyID: keyID,
                privateKey: try P256.Signing.PrivateKey(pemRepresentation: pem)
            )
        }

        /// A token that proves who asks.
        ///
        /// - Parameters:
        ///   - bundleID: The app.
        ///   - issuedAt: Seconds since 1970, by the wall clock.
        public func token(bundleID: String, issuedAt: Int64) throws -> String {
            try jws([
                ("iss", .string(issuerID)), ("iat", .integer(issuedAt)),
                ("exp", .integer(issuedAt + BearerToken.lifetime)),
                ("aud", .string("appstoreconnect-v1")), ("bid", .string(bundleID)),
            ])
        }

        /// A compact JWS of `claims`, signed with this key.
        func jws(_ claims: [(String, JSONText?)]) throws -> String {
            let header = JSONText.object([
                ("alg", .string("ES256")), ("kid", .string(keyID)), ("typ", .string("JWT")),
            ])
            let input =
                Base64.encodeURL(header.bytes) + "."
                + Base64.encodeURL(JSONText.object(claims).bytes)
            let signature = try privateKey.signature(for: SHA256.hash(data: Array(input.utf8)))
            return input + "." + Base64.encodeURL(signature.rawRepresentation)
        }
    }
}
