public import Foundation

/// Unguessable bytes, and the names made of them.
public struct RandomSource: Sendable {
    /// So many bytes.
    public let bytes: @Sendable (Int) -> [UInt8]

    public init(_ bytes: @escaping @Sendable (Int) -> [UInt8]) {
        self.bytes = bytes
    }

    /// A new identifier: the prefix and 24 random letters and digits.
    public func id(_ prefix: String, length: Int = 24) -> String {
        let alphabet = Array("0123456789abcdefghijklmnopqrstuvwxyz")
        return prefix + String(bytes(length).map { alphabet[Int($0) % alphabet.count] })
    }

    /// A random UUID (version 4).
    public func uuid() -> UUID {
        var bytes = bytes(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
