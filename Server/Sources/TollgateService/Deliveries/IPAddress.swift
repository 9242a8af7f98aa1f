internal import Foundation

/// An IP address, in the one spelling that everybody reads alike.
public struct IPAddress: Hashable, Sendable {
    /// 4 or 16 bytes.
    public let bytes: [UInt8]

    /// Four decimal numbers without leading zeros, or RFC 4291's forms with or without brackets; nil
    /// for anything else, also for what some resolvers take for an address (`127.1`, `0x7f000001`).
    public init?(_ text: String) {
        var text = text[...]
        if text.hasPrefix("["), text.hasSuffix("]") { text = text.dropFirst().dropLast() }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        let isVersion6 = text.contains(":")
        var bytes = [UInt8](repeating: 0, count: isVersion6 ? 16 : 4)
        guard inet_pton(isVersion6 ? AF_INET6 : AF_INET, String(text), &bytes) == 1 else {
            return nil
        }
        self.bytes = bytes
    }

    public init?(bytes: [UInt8]) {
        guard [4, 16].contains(bytes.count) else { return nil }
        self.bytes = bytes
    }

    /// Whether it is somewhere on the internet, by the registries of special addresses (RFC 6890 and
    /// what came after), and not this machine, a neighbour or a service of the cloud.
    public var isPublic: Bool {
        bytes.count == 4 ? Self.isPublic4(bytes) : isPublic6
    }

    private static func isPublic4(_ bytes: [UInt8]) -> Bool {
        let (a, b, c) = (bytes[0], bytes[1], bytes[2])
        switch a {
        case 0, 10, 127: return false
        case 100: return !(64...127).contains(b)
        case 169: return b != 254
        case 172: return !(16...31).contains(b)
        case 192:
            return !(b == 168 || (b == 0 && (c == 0 || c == 2)) || (b == 88 && c == 99))
        case 198: return !((18...19).contains(b) || (b == 51 && c == 100))
        case 203: return !(b == 0 && c == 113)
        default: return a < 224
        }
    }

    /// Global unicast only (2000::/3), without the parts of it that lead somewhere else: addresses
    /// of version 4 in any wrapping are judged by none of their wrappings but refused.
    private var isPublic6: Bool {
        guard bytes[0] & 0xE0 == 0x20 else { return false }
        let first = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
        let second = UInt16(bytes[2]) << 8 | UInt16(bytes[3])
        switch first {
        case 0x2001:
            // Teredo, benchmarking, ORCHID and others of 2001::/23; documentation.
            return second >= 0x0200 && second != 0x0DB8
        case 0x2002: return false
        case 0x3FFF: return second >= 0x1000
        default: return true
        }
    }
}

extension IPAddress: CustomStringConvertible {
    public var description: String {
        if bytes.count == 4 { return bytes.map { "\($0)" }.joined(separator: ".") }
        return stride(from: 0, to: 16, by: 2).map {
            String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16)
        }.joined(separator: ":")
    }
}
