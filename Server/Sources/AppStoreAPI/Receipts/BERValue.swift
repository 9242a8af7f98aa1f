import Foundation

/// One value of ASN.1 in the Basic Encoding Rules, with indefinite lengths, as receipts use them.
///
/// Reads hostile input in bounded time: every byte is visited once per level, and levels are
/// counted.
struct BERValue {
    /// Class, constructed bit and number as they stand in the first byte.
    let identifier: UInt8
    /// The content, without the end marker of an indefinite length.
    let content: ArraySlice<UInt8>

    /// Receipts nest some twelve deep.
    static let deepest = 16
    /// More than any receipt has in one place; it bounds the time that a hostile one costs.
    private static let mostElements = 50_000

    var isConstructed: Bool { identifier & 0x20 != 0 }
    /// Class and number.
    var tag: UInt8 { identifier & 0xDF }

    static let sequence: UInt8 = 0x10
    static let set: UInt8 = 0x11
    static let objectIdentifier: UInt8 = 0x06
    static let octetString: UInt8 = 0x04
    static let integer: UInt8 = 0x02
    static let utf8String: UInt8 = 0x0C
    static let ia5String: UInt8 = 0x16
    static let contextZero: UInt8 = 0x80

    /// Reads the first value of `bytes` and leaves what follows.
    init?(_ bytes: inout ArraySlice<UInt8>, depth: Int = 0) {
        guard depth <= Self.deepest, let identifier = bytes.first, identifier & 0x1F != 0x1F else {
            return nil
        }
        var rest = bytes.dropFirst()
        guard let length = rest.popFirst() else { return nil }
        self.identifier = identifier
        switch length {
        case 0..<0x80:
            guard rest.count >= Int(length) else { return nil }
            content = rest.prefix(Int(length))
            bytes = rest.dropFirst(Int(length))
        case 0x80:
            // Indefinite: values follow until one of type and length 0.
            guard identifier & 0x20 != 0 else { return nil }
            let start = rest.startIndex
            var elements = 0
            while !(rest.first == 0 && rest.dropFirst().first == 0) {
                elements += 1
                guard elements <= Self.mostElements, BERValue(&rest, depth: depth + 1) != nil else {
                    return nil
                }
            }
            content = bytes[start..<rest.startIndex]
            bytes = rest.dropFirst(2)
        default:
            let count = Int(length & 0x7F)
            guard (1...4).contains(count), rest.count >= count else { return nil }
            let size = rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(count)
            guard rest.count >= size else { return nil }
            content = rest.prefix(size)
            bytes = rest.dropFirst(size)
        }
    }

    /// The values inside of a constructed one; nil if they cannot be read.
    var elements: [BERValue]? {
        guard isConstructed else { return nil }
        var rest = content
        var values: [BERValue] = []
        while !rest.isEmpty {
            guard values.count < Self.mostElements, let value = BERValue(&rest) else { return nil }
            values.append(value)
        }
        return values
    }

    /// The bytes of an OCTET STRING, which may come in pieces; nil if it is none.
    func octets(depth: Int = 0) -> [UInt8]? {
        guard tag == Self.octetString, depth <= Self.deepest else { return nil }
        guard isConstructed else { return Array(content) }
        guard let elements else { return nil }
        var bytes: [UInt8] = []
        for element in elements {
            guard let part = element.octets(depth: depth + 1) else { return nil }
            bytes += part
        }
        return bytes
    }

    /// A small INTEGER.
    var int64: Int64? {
        guard tag == Self.integer, (1...8).contains(content.count), let first = content.first
        else { return nil }
        let sign: Int64 = first & 0x80 != 0 ? -1 : 0
        return content.reduce(sign) { $0 << 8 | Int64($1) }
    }

    /// The text of a UTF8String or IA5String.
    var string: String? {
        guard tag == Self.utf8String || tag == Self.ia5String, !isConstructed else { return nil }
        return String(bytes: content, encoding: .utf8)
    }
}
