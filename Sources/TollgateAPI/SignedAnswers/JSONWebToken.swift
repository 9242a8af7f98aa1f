import Foundation

/// A JWT in compact form, taken apart; its signature is still to be checked by someone with a curve.
public struct JSONWebToken: Hashable, Sendable {
    /// The protected header.
    public struct Header: Hashable, Codable, Sendable {
        public var alg: String
        public var kid: String?
        public var typ: String?

        public init(alg: String = "ES256", kid: String?, typ: String? = "JWT") {
            self.alg = alg
            self.kid = kid
            self.typ = typ
        }
    }

    public var header: Header
    /// The claims' bytes, not yet trusted.
    public var payload: Data
    /// `header.payload` as it came: what the signature covers.
    public var signingInput: Data
    /// r ‖ s, 64 bytes for ES256.
    public var signature: Data

    /// Takes `compact` apart; nil unless it is exactly three base64url parts with a JSON header.
    public init?(compact: String) {
        let parts = compact.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let headerBytes = Base64URL.decode(parts[0]),
            let payload = Base64URL.decode(parts[1]), let signature = Base64URL.decode(parts[2]),
            let header = try? APIJSON.decode(Header.self, from: headerBytes)
        else { return nil }
        self.header = header
        self.payload = payload
        self.signature = signature
        signingInput = Data((parts[0] + "." + parts[1]).utf8)
    }

    /// The bytes to sign for these claims; the token is these, a dot, and the signature in base64url.
    public static func signingInput(header: Header, claims: some Encodable) throws -> String {
        let header = Base64URL.encode(try APIJSON.encode(header))
        return header + "." + Base64URL.encode(try APIJSON.encode(claims))
    }
}
