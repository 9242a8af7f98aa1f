#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// One value in the text: a range of bytes and what they are.
///
/// The nodes of a text stand in its order; a container is followed by what it contains, a name by
/// its value.
struct Node {
    /// The range in the text; of a string without its quotes.
    var start: UInt32
    var end: UInt32
    /// The node after this one and all that it contains.
    ///
    /// A name has its hash here instead.
    var next: UInt32
    /// Bits 0 to 7: kind.
    ///
    /// Bits 8 to 31: of a container the number of its elements or members, of a string with escapes
    /// one more than its place in `Document.unescapedRanges`.
    var tag: UInt32

    @inline(__always)
    init(_ kind: JSON.Kind, from start: Int, to end: Int, next: Int) {
        self.start = UInt32(truncatingIfNeeded: start)
        self.end = UInt32(truncatingIfNeeded: end)
        self.next = UInt32(truncatingIfNeeded: next)
        tag = UInt32(kind.rawValue)
    }

    var kind: JSON.Kind { JSON.Kind(rawValue: UInt8(truncatingIfNeeded: tag)) ?? .null }
    var count: Int { Int(tag >> 8) }
}

/// A text and the places of its values.
///
/// Never changes after reading.
final class Document: Sendable {
    let text: [UInt8]
    let nodes: ContiguousArray<Node>
    /// Strings that had escapes, decoded, one after the other.
    let unescaped: [UInt8]
    let unescapedRanges: [Range<Int>]

    init(_ text: [UInt8]) throws(JSON.ParsingError) {
        self.text = text
        guard text.count <= JSON.maximumLength else {
            throw JSON.ParsingError(.tooLong, at: JSON.maximumLength)
        }
        let result = text.withUnsafeBytes { bytes in
            var parser = Parser(bytes)
            return Result { () throws(JSON.ParsingError) -> Parser.Output in
                try parser.parse()
            }
        }
        let output = try result.get()
        nodes = output.nodes
        unescaped = output.unescaped
        unescapedRanges = output.unescapedRanges
    }

    /// The index of the value that follows the one at `index`.
    func index(after index: Int) -> Int {
        Int(nodes[index].next)
    }

    /// Lends what a string or number says.
    func withContent<Result>(
        _ index: Int,
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        let node = nodes[index]
        if node.kind == .string, node.count > 0 {
            let range = unescapedRanges[node.count - 1]
            return try unescaped.withUnsafeBytes {
                try body(UnsafeRawBufferPointer(rebasing: $0[range]))
            }
        }
        return try text.withUnsafeBytes {
            try body(UnsafeRawBufferPointer(rebasing: $0[Int(node.start)..<Int(node.end)]))
        }
    }

    /// The index of the value of `name` in the object at `index`.
    func member(of index: Int, _ name: UnsafeRawBufferPointer) -> Int? {
        nodes.withUnsafeBufferPointer { nodes in
            let object = nodes[index]
            guard object.kind == .object else { return nil }
            let hash = nameHash(name)
            let end = Int(object.next)
            var at = index + 1
            while at < end {
                if nodes[at].next == hash, content(of: nodes[at], equals: name) { return at + 1 }
                at = Int(nodes[at + 1].next)
            }
            return nil
        }
    }

    private func content(of node: Node, equals other: UnsafeRawBufferPointer) -> Bool {
        if node.count > 0 {
            let range = unescapedRanges[node.count - 1]
            return unescaped.withUnsafeBytes {
                areEqual(UnsafeRawBufferPointer(rebasing: $0[range]), other)
            }
        }
        return text.withUnsafeBytes {
            areEqual(UnsafeRawBufferPointer(rebasing: $0[Int(node.start)..<Int(node.end)]), other)
        }
    }
}

/// Whether the same bytes stand in both.
@inline(__always)
func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    guard left.count == right.count else { return false }
    guard left.count > 0, let leftBase = left.baseAddress, let rightBase = right.baseAddress else {
        return true
    }
    return memcmp(leftBase, rightBase, left.count) == 0
}

/// A number that tells most names apart by length and ends; equal names have equal numbers.
///
/// No protection against crafted collisions: what relies on it stays fast without.
@inline(__always)
func nameHash(_ name: UnsafeRawBufferPointer) -> UInt32 {
    let count = name.count
    var mixed = UInt64(truncatingIfNeeded: count)
    if count >= 8 {
        let head = name.loadUnaligned(fromByteOffset: 0, as: UInt64.self)
        let tail = name.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
        let middle = name.loadUnaligned(fromByteOffset: (count - 8) >> 1, as: UInt64.self)
        mixed = (mixed ^ head) &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 29) ^ tail) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 32) ^ middle) &* 0x94D0_49BB_1331_11EB
    } else {
        for byte in name { mixed = (mixed << 8) | UInt64(byte) }
        mixed = (mixed ^ UInt64(truncatingIfNeeded: count)) &* 0x9E37_79B9_7F4A_7C15
    }
    return UInt32(truncatingIfNeeded: mixed >> 32)
}
