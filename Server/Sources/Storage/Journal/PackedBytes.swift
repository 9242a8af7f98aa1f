internal import Foundation

/// Makes journal rows smaller by what they have in common with every other row: the names of fields
/// and the usual values, which are kept in the program (`JournalVocabulary`) instead.
///
/// Small rows share a page of the database, so that a batch writes fewer of them.
///
/// Packed is LZ77 with the vocabulary before the first byte. After the marker and the vocabulary's
/// number comes the length of what was packed, then sequences: a byte whose upper half counts
/// literals and whose lower half counts, from four on, the bytes to be repeated; a half of 15 goes
/// on in further bytes, up to one that is not 255; the literals; how far back the repetition begins
/// (two bytes, the lower first). The last sequence has no repetition.
package enum PackedBytes {
    /// The first byte; neither a record nor any other form of a body begins with it.
    package static let marker: UInt8 = 2

    private static let shortestMatch = 4
    /// Below it there is nothing to be gained.
    private static let shortest = 64
    /// What a distance of two bytes reaches over.
    private static let window = 65_535

    /// The packed form, or `bytes` themselves where that is no shorter.
    ///
    /// What is packed has been unpacked once and compared.
    package static func pack(_ bytes: [UInt8], _ vocabulary: JournalVocabulary) -> [UInt8] {
        let words = vocabulary.words
        guard bytes.count >= shortest, bytes.count <= window - words.bytes.count else {
            return bytes
        }
        var packed: [UInt8] = [marker, vocabulary.rawValue]
        packed.reserveCapacity(bytes.count / 2 + 64)
        append(bytes.count, to: &packed)
        appendSequences(of: bytes, after: words, to: &packed)
        guard packed.count < bytes.count, (try? unpack(packed)) == bytes else { return bytes }
        return packed
    }

    /// What was packed, or `bytes` themselves if they do not begin with the marker.
    ///
    /// Throws `.corrupt` for what begins so and was not made by `pack`; never traps.
    package static func unpacked(_ bytes: [UInt8]) throws(StorageError) -> [UInt8] {
        bytes.first == marker ? try unpack(bytes) : bytes
    }

    private static func unpack(_ packed: [UInt8]) throws(StorageError) -> [UInt8] {
        var reader = Reader(packed)
        guard try reader.byte() == marker,
            let vocabulary = JournalVocabulary(rawValue: try reader.byte())
        else { throw StorageError(.corrupt, "a journal row of a form from the future") }
        let words = vocabulary.words.bytes
        let length = try reader.number()
        guard length <= window - words.count else { throw reader.damaged }
        return try withUnsafeTemporaryAllocation(byteCount: words.count + length, alignment: 1) {
            text throws(StorageError) in
            // What is repeated may stand in the vocabulary.
            text.copyBytes(from: words)
            try unpackSequences(&reader, to: text, from: words.count)
            return Array(UnsafeRawBufferPointer(rebasing: text[words.count...]))
        }
    }

    /// Fills `text`, of which all before `start` is there.
    private static func unpackSequences(
        _ reader: inout Reader,
        to text: UnsafeMutableRawBufferPointer,
        from start: Int
    ) throws(StorageError) {
        var position = start
        while position < text.count {
            let token = try reader.byte()
            position += try reader.copyLiterals(
                try reader.count(token >> 4),
                to: UnsafeMutableRawBufferPointer(rebasing: text[position...])
            )
            if position == text.count { break }
            let distance = try Int(reader.byte()) | Int(reader.byte()) << 8
            let repeated = try reader.count(token & 15) + shortestMatch
            guard distance > 0, distance <= position, repeated <= text.count - position else {
                throw reader.damaged
            }
            let end = position + repeated
            if distance >= repeated {
                UnsafeMutableRawBufferPointer(rebasing: text[position..<end]).copyMemory(
                    from: UnsafeRawBufferPointer(
                        rebasing: text[(position - distance)..<(end - distance)]
                    )
                )
            } else {
                // It repeats what it has just written.
                for index in position..<end { text[index] = text[index - distance] }
            }
            position = end
        }
        guard reader.isAtEnd else { throw reader.damaged }
    }

    private static func appendSequences(
        of bytes: [UInt8],
        after words: JournalVocabulary.Words,
        to packed: inout [UInt8]
    ) {
        let start = words.bytes.count
        let end = start + bytes.count
        withUnsafeTemporaryAllocation(of: UInt16.self, capacity: Hashes.count) { table in
            _ = table.initialize(from: words.places)
            withUnsafeTemporaryAllocation(byteCount: end, alignment: 8) { text in
                text.copyBytes(from: words.bytes)
                UnsafeMutableRawBufferPointer(rebasing: text[start...]).copyBytes(from: bytes)
                var position = start
                var literals = start
                while position + shortestMatch <= end {
                    let four = text.loadUnaligned(fromByteOffset: position, as: UInt32.self)
                    let hash = Hashes.of(four)
                    var earlier = Int(table[hash])
                    table[hash] = UInt16(truncatingIfNeeded: position)
                    guard earlier < position,
                        text.loadUnaligned(fromByteOffset: earlier, as: UInt32.self) == four
                    else {
                        position += 1
                        continue
                    }
                    var length = shortestMatch
                    while position + length < end,
                        text[position + length] == text[earlier + length]
                    {
                        length += 1
                    }
                    while position > literals, earlier > 0, text[position - 1] == text[earlier - 1]
                    {
                        position -= 1
                        earlier -= 1
                        length += 1
                    }
                    append(
                        UnsafeRawBufferPointer(rebasing: text[literals..<position]),
                        repeating: (length, position - earlier),
                        to: &packed
                    )
                    position += length
                    literals = position
                    if position + 2 <= end {
                        let behind = position - 2
                        let last = text.loadUnaligned(fromByteOffset: behind, as: UInt32.self)
                        table[Hashes.of(last)] = UInt16(truncatingIfNeeded: behind)
                    }
                }
                guard literals < end else { return }
                append(
                    UnsafeRawBufferPointer(rebasing: text[literals..<end]),
                    repeating: nil,
                    to: &packed
                )
            }
        }
    }

    private static func append(
        _ literals: UnsafeRawBufferPointer,
        repeating match: (length: Int, distance: Int)?,
        to packed: inout [UInt8]
    ) {
        let repeated = match.map { $0.length - shortestMatch } ?? 0
        packed.append(UInt8(min(literals.count, 15) << 4 | min(repeated, 15)))
        appendRest(literals.count, to: &packed)
        packed.append(contentsOf: literals)
        guard let match else { return }
        packed.append(UInt8(truncatingIfNeeded: match.distance))
        packed.append(UInt8(truncatingIfNeeded: match.distance >> 8))
        appendRest(repeated, to: &packed)
    }

    private static func appendRest(_ count: Int, to packed: inout [UInt8]) {
        guard count >= 15 else { return }
        var rest = count - 15
        while rest >= 255 {
            packed.append(255)
            rest -= 255
        }
        packed.append(UInt8(rest))
    }

    private static func append(_ number: Int, to packed: inout [UInt8]) {
        packed.append(UInt8(truncatingIfNeeded: number))
        packed.append(UInt8(truncatingIfNeeded: number >> 8))
    }

    private struct Reader {
        private let packed: [UInt8]
        private var position = 0

        init(_ packed: [UInt8]) { self.packed = packed }

        var isAtEnd: Bool { position == packed.count }
        var damaged: StorageError { StorageError(.corrupt, "a packed journal row is damaged") }

        mutating func byte() throws(StorageError) -> UInt8 {
            guard position < packed.count else { throw damaged }
            defer { position += 1 }
            return packed[position]
        }

        mutating func number() throws(StorageError) -> Int {
            try Int(byte()) | Int(byte()) << 8
        }

        /// A count that begins with half a byte.
        mutating func count(_ half: UInt8) throws(StorageError) -> Int {
            guard half == 15 else { return Int(half) }
            var count = 15
            while true {
                let more = try byte()
                count += Int(more)
                guard more == 255 else { return count }
                guard count <= window else { throw damaged }
            }
        }

        /// Copies so many bytes to the start of `text`.
        ///
        /// - Returns: `count`.
        mutating func copyLiterals(
            _ count: Int,
            to text: UnsafeMutableRawBufferPointer
        ) throws(StorageError) -> Int {
            guard count <= packed.count - position, count <= text.count else { throw damaged }
            text.copyBytes(from: packed[position..<(position + count)])
            position += count
            return count
        }
    }
}

extension PackedBytes {
    /// Where four bytes were seen last.
    enum Hashes {
        private static let bits = 12
        static let count = 1 << bits

        static func of(_ four: UInt32) -> Int {
            Int((four &* 2_654_435_761) >> (32 - UInt32(bits)))
        }
    }
}
