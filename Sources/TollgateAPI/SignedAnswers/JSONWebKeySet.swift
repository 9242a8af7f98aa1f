import Foundation

/// The answer of `GET /.well-known/jwks.json` (RFC 7517), P-256 keys only.
public struct JSONWebKeySet: Hashable, Codable, Sendable {
    public var keys: [Key]

    public init(keys: [Key]) { self.keys = keys }

    /// The key with this id.
    public subscript(keyID: String) -> Key? { keys.first { $0.kid == keyID } }

    /// One public key.
    public struct Key: Hashable, Codable, Sendable {
        public var kty: String
        public var crv: String
        /// 32 bytes, base64url.
        public var x: String
        /// 32 bytes, base64url.
        public var y: String
        public var kid: String
        public var alg: String?
        public var use: String?

        public init(kid: String, x: Data, y: Data) {
            kty = "EC"
            crv = "P-256"
            self.x = Base64URL.encode(x)
            self.y = Base64URL.encode(y)
            self.kid = kid
            alg = "ES256"
            use = "sig"
        }

        /// The uncompressed point (X9.63: `04 ‖ x ‖ y`), or nil if this is no P-256 key for ES256.
        public var x963Representation: Data? {
            guard kty == "EC", crv == "P-256", alg == nil || alg == "ES256",
                use == nil || use == "sig",
                let x = Base64URL.decode(x), let y = Base64URL.decode(y),
                x.count == 32, y.count == 32
            else { return nil }
            return Data([4]) + x + y
        }
    }
}
