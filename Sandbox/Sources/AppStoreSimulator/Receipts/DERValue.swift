/// One DER element: tag, length, content.
///
/// Enough to write and read back our own receipts.
struct DERValue: Sendable {
    var tag: UInt8
    var content: [UInt8]

    static func sequence(_ children: [DERValue]) -> Self {
        Self(tag: 0x30, content: children.flatMap(\.bytes))
    }

    static func set(_ children: [DERValue]) -> Self {
        Self(tag: 0x31, content: children.flatMap(\.bytes))
    }

    /// `[number]`, constructed.
    static func tagged(_ number: UInt8, _ content: [UInt8]) -> Self {
        Self(tag: 0xA0 | number, content: content)
    }

    static func octets(_ bytes: [UInt8]) -> Self { Self(tag: 0x04, content: bytes) }
    static func utf8(_ text: String) -> Self { Self(tag: 0x0C, content: Array(text.utf8)) }
    static func ia5(_ text: String) -> Self { Self(tag: 0x16, content: Array(text.utf8)) }
    static let null = Self(tag: 0x05, content: [])

    /// - Parameter value: not negative.
    static func integer(_ value: Int64) -> Self {
        var bytes: [UInt8] = []
        var rest = UInt64(max(0, value))
        repeat {
            bytes.insert(UInt8(rest & 0xFF), at: 0)
            rest >>= 8
        } while rest > 0
        return unsigned(bytes)
    }

    /// A number given by its bytes, the most significant first.
    static func unsigned(_ bytes: [UInt8]) -> Self {
        let needsZero = bytes.first.map { $0 >= 0x80 } ?? true
        return Self(tag: 0x02, content: needsZero ? [0] + bytes : bytes)
    }

    static func identifier(_ arcs: [UInt64]) -> Self {
        var bytes = [UInt8(arcs[0] * 40 + arcs[1])]
        for arc in arcs.dropFirst(2) {
            var group = [UInt8(arc & 0x7F)]
            var rest = arc >> 7
            while rest > 0 {
                group.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
                rest >>= 7
            }
            bytes += group
        }
        return Self(tag: 0x06, content: bytes)
    }

    var bytes: [UInt8] {
        let count = content.count
        guard count >= 0x80 else { return [tag, UInt8(count)] + content }
        var length: [UInt8] = []
        var rest = count
        while rest > 0 {
            length.insert(UInt8(rest & 0xFF), at: 0)
            rest >>= 8
        }
        return [tag, 0x80 | UInt8(length.count)] + length + content
    }

    /// Reads one element that fills `bytes`.
    init?(_ bytes: [UInt8]) {
        guard let (value, rest) = Self.read(bytes[...]), rest.isEmpty else { return nil }
        self = value
    }

    init(tag: UInt8, content: [UInt8]) {
        self.tag = tag
        self.content = content
    }

    /// The elements inside, or `nil` when the content is none.
    var children: [DERValue]? {
        var children: [DERValue] = []
        var rest = content[...]
        while !rest.isEmpty {
            guard let (child, next) = Self.read(rest) else { return nil }
            children.append(child)
            rest = next
        }
        return children
    }

    /// The content as a number of at most seven bytes.
    var number: Int64? {
        guard tag == 0x02, (1...7).contains(content.count) else { return nil }
        return content.reduce(0) { $0 << 8 | Int64($1) }
    }

    private static func read(_ bytes: ArraySlice<UInt8>) -> (DERValue, ArraySlice<UInt8>)? {
        guard bytes.count >= 2 else { return nil }
        var index = bytes.startIndex + 2
        var length = Int(bytes[bytes.startIndex + 1])
        if length >= 0x80 {
            let count = length & 0x7F
            guard (1...4).contains(count), bytes.endIndex - index >= count else { return nil }
            length = bytes[index..<(index + count)].reduce(0) { $0 << 8 | Int($1) }
            index += count
        }
        guard bytes.endIndex - index >= length else { return nil }
        let end = index + length
        return (
            Self(tag: bytes[bytes.startIndex], content: Array(bytes[index..<end])), bytes[end...]
        )
    }
}
