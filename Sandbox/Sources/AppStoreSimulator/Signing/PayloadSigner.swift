import Crypto
import Foundation

/// Signs objects as the App Store does: compact JWS, ES256, the chain in `x5c`.
struct PayloadSigner: Sendable {
    private let header: String
    private let key: P256.Signing.PrivateKey

    init(_ authority: CertificateAuthority) throws {
        struct Header: Encodable {
            var alg = "ES256"
            var x5c: [String]
        }
        header = try Self.encoder.encode(Header(x5c: authority.chain)).base64URL
        key = authority.signingKey
    }

    /// - Throws: only what `JSONEncoder` and the signing key may throw.
    func sign(_ payload: some Encodable) throws -> String {
        try sign(bytes: try Self.encoder.encode(payload))
    }

    /// Signs bytes that are no object of ours.
    func sign(bytes: Data) throws -> String {
        let signed = header + "." + bytes.base64URL
        let signature = try key.signature(for: Data(signed.utf8))
        return signed + "." + signature.rawRepresentation.base64URL
    }

    static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}

extension Data {
    /// Base64 for URLs, unpadded.
    var base64URL: String {
        var bytes = Array(base64EncodedData())
        while bytes.last == UInt8(ascii: "=") { bytes.removeLast() }
        bytes.withUnsafeMutableBufferPointer { bytes in
            for index in 0..<bytes.count {
                switch bytes[index] {
                case UInt8(ascii: "+"): bytes[index] = UInt8(ascii: "-")
                case UInt8(ascii: "/"): bytes[index] = UInt8(ascii: "_")
                default: break
                }
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// - Parameter base64URL: Base64 for URLs, unpadded; anything else gives `nil`.
    init?(base64URL: String) {
        guard !base64URL.contains(where: { "+/=".contains($0) }) else { return nil }
        var text =
            base64URL
            .replacingOccurrences(of: "-", with: "+")
            .replacingOccurrences(of: "_", with: "/")
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        self.init(base64Encoded: text)
    }
}
