import Foundation

/// The account token of what is bought in the App Store signed out (RULES §8).
///
/// It follows from the secret by which the purchase is claimed. Nobody finds the secret from the token,
/// nor from the `client_reference_id` of the same secret.
public enum VisitorToken {
    /// The first bytes of every such token, by which a server tells it from a customer's own.
    private static let mark = Array("tlgt".utf8)

    /// The text whose SHA-256 becomes the token.
    public static func hashedText(of secret: String) -> String { "app_store:" + secret }

    /// The token, in the form of a random UUID (RFC 9562, version 4).
    ///
    /// - Parameter hash: SHA-256 of ``hashedText(of:)``.
    public static func token(hash: some Sequence<UInt8>) -> UUID {
        var bytes = Array((mark + hash).prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    /// True where `token` has the form of such a token.
    public static func isOne(_ token: UUID) -> Bool {
        withUnsafeBytes(of: token.uuid) { bytes in
            bytes.starts(with: mark) && bytes[6] >> 4 == 4
        }
    }
}
