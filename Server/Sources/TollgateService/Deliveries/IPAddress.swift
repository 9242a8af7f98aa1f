/// An IP address, in the one spelling that everybody reads alike.
public struct IPAddress: Hashable, Sendable {
    /// 4 or 16 bytes.
    public let bytes: [UInt8]

    /// Four decimal numbers without leading zeros, or RFC 4291's forms with or without brackets; nil
    /// for anything else, also for what some resolvers take for an address (`127.1`, `0x7f000001`).
    public init?(_ text: String) {
        var text = text[...]
        if text.hasPrefix("["), text.hasSuffix("]") { text = text.dropFirst().dropLast() }
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        guard let bytes = text.contains(":") ? Self.version6(text) : Self.version4(text) else {
            return nil
        }
        self.bytes = bytes
    }

    public init?(bytes: [UInt8]) {
        guard [4, 16].contains(bytes.count) else { return nil }
        self.bytes = bytes
    }

    private static func version4(_ text: Substring) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bytes: [UInt8] = []
        for part in parts {
            let isCanonical = part == "0" || (part.first.map { ("1"..."9").contains($0) } ?? false)
            guard isCanonical, part.utf8.count <= 3,
                part.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let byte = UInt8(part)
            else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    private static func version6(_ text: Substring) -> [UInt8]? {
        guard !text.contains("%") else { return nil }
        var halves: [[UInt8]] = []
        let sides = Self.sides(of: text)
        guard sides.count <= 2 else { return nil }
        for (index, side) in sides.enumerated() {
            guard let bytes = groups(side, isLast: index == sides.count - 1) else { return nil }
            halves.append(bytes)
        }
        if halves.count == 1 { return halves[0].count == 16 ? halves[0] : nil }
        let missing = 16 - halves[0].count - halves[1].count
        guard missing >= 2 else { return nil }
        return halves[0] + Array(repeating: 0, count: missing) + halves[1]
    }

    /// What stands before and after `::`.
    private static func sides(of text: Substring) -> [Substring] {
        var sides: [Substring] = []
        var start = text.startIndex
        var index = text.startIndex
        while index < text.endIndex {
            let next = text.index(after: index)
            if text[index] == ":", next < text.endIndex, text[next] == ":" {
                sides.append(text[start..<index])
                start = text.index(after: next)
                index = start
            } else {
                index = next
            }
        }
        return sides + [text[start...]]
    }

    private static func groups(_ side: Substring, isLast: Bool) -> [UInt8]? {
        if side.isEmpty { return [] }
        let parts = side.split(separator: ":", omittingEmptySubsequences: false)
        var bytes: [UInt8] = []
        for (index, part) in parts.enumerated() {
            if isLast, index == parts.count - 1, part.contains(".") {
                guard let four = version4(part) else { return nil }
                bytes += four
                continue
            }
            guard (1...4).contains(part.utf8.count), part.allSatisfy(\.isHexDigit),
                let group = UInt16(part, radix: 16)
            else { return nil }
            bytes += [UInt8(group >> 8), UInt8(group & 0xFF)]
        }
        return bytes.count <= 16 ? bytes : nil
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
