/// Unpacks gzip (RFC 1952) and the DEFLATE in it (RFC 1951).
///
/// Reports come as gzip files, whatever `Content-Encoding` says, so no HTTP client unpacks them.
/// What it writes is bounded: a small file may not become a large one without end.
package struct Inflate {
    /// What is wrong with the bytes.
    package enum Failure: Error, Hashable, CustomStringConvertible {
        case notGzip
        case truncated
        case invalid
        case tooLarge
        case checksum

        package var description: String {
            switch self {
            case .notGzip: "it is not packed with gzip"
            case .truncated: "it ends too early"
            case .invalid: "it cannot be unpacked"
            case .tooLarge: "it is too large unpacked"
            case .checksum: "its checksum is wrong"
            }
        }
    }

    /// The contents of a gzip file, all its members one after another.
    ///
    /// - Parameter limit: the most bytes that it may have.
    package static func gunzip(_ bytes: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
        var output: [UInt8] = []
        var position = 0
        repeat {
            position = try header(bytes, at: position)
            var inflate = Inflate(bytes, at: position, limit: limit - output.count)
            try inflate.run()
            position = inflate.position
            guard bytes.count - position >= 8 else { throw .truncated }
            guard little(bytes, position, 4) == UInt64(CRC32.of(inflate.output)),
                little(bytes, position + 4, 4)
                    == UInt64(UInt32(truncatingIfNeeded: inflate.output.count))
            else { throw .checksum }
            position += 8
            output += inflate.output
        } while position < bytes.count
        return output
    }

    private static func little(_ bytes: [UInt8], _ start: Int, _ count: Int) -> UInt64 {
        (0..<count).reduce(0) { $0 | UInt64(bytes[start + $1]) << UInt64(8 * $1) }
    }

    /// Where the compressed data of a member begins.
    private static func header(_ bytes: [UInt8], at start: Int) throws(Failure) -> Int {
        guard bytes.count - start >= 18 else { throw .notGzip }
        guard bytes[start] == 0x1F, bytes[start + 1] == 0x8B, bytes[start + 2] == 8 else {
            throw .notGzip
        }
        let flags = bytes[start + 3]
        var position = start + 10
        if flags & 0x04 != 0 {
            guard position + 2 <= bytes.count else { throw .truncated }
            position += 2 + Int(little(bytes, position, 2))
        }
        // Name and comment end with a zero.
        for flag in [UInt8(0x08), 0x10] where flags & flag != 0 {
            guard position <= bytes.count, let end = bytes[position...].firstIndex(of: 0) else {
                throw .truncated
            }
            position = end + 1
        }
        if flags & 0x02 != 0 { position += 2 }
        guard position <= bytes.count else { throw .truncated }
        return position
    }

    // MARK: - DEFLATE

    private let bytes: [UInt8]
    private var position: Int
    private var bits: UInt32 = 0
    private var bitCount = 0
    private let limit: Int
    private var output: [UInt8] = []

    private init(_ bytes: [UInt8], at position: Int, limit: Int) {
        self.bytes = bytes
        self.position = position
        self.limit = limit
    }

    private mutating func run() throws(Failure) {
        var isLast = false
        while !isLast {
            isLast = try take(1) == 1
            switch try take(2) {
            case 0: try stored()
            case 1: try compressed(Self.fixedLengths, Self.fixedDistances)
            case 2:
                let (lengths, distances) = try dynamicCodes()
                try compressed(lengths, distances)
            default: throw .invalid
            }
        }
        // Whole bytes that were looked at but not used go back.
        position -= bitCount / 8
    }

    private mutating func take(_ count: Int) throws(Failure) -> Int {
        while bitCount < count {
            guard position < bytes.count else { throw .truncated }
            bits |= UInt32(bytes[position]) << UInt32(bitCount)
            position += 1
            bitCount += 8
        }
        let value = bits & ((1 << UInt32(count)) - 1)
        bits >>= UInt32(count)
        bitCount -= count
        return Int(value)
    }

    private mutating func stored() throws(Failure) {
        position -= bitCount / 8
        (bits, bitCount) = (0, 0)
        guard bytes.count - position >= 4 else { throw .truncated }
        let length = Int(bytes[position]) | Int(bytes[position + 1]) << 8
        let check = Int(bytes[position + 2]) | Int(bytes[position + 3]) << 8
        guard length == ~check & 0xFFFF else { throw .invalid }
        position += 4
        guard bytes.count - position >= length else { throw .truncated }
        guard output.count + length <= limit else { throw .tooLarge }
        output += bytes[position..<position + length]
        position += length
    }

    private mutating func compressed(_ lengths: Code, _ distances: Code) throws(Failure) {
        while true {
            let symbol = try decode(lengths)
            switch symbol {
            case ..<256:
                guard output.count < limit else { throw .tooLarge }
                output.append(UInt8(symbol))
            case 256: return
            case 257...285:
                let base = Self.lengthBases[symbol - 257]
                let length = base.value + (try take(base.extra))
                let distanceSymbol = try decode(distances)
                guard distanceSymbol < Self.distanceBases.count else { throw .invalid }
                let distanceBase = Self.distanceBases[distanceSymbol]
                let distance = distanceBase.value + (try take(distanceBase.extra))
                guard distance <= output.count else { throw .invalid }
                guard output.count + length <= limit else { throw .tooLarge }
                for _ in 0..<length { output.append(output[output.count - distance]) }
            default: throw .invalid
            }
        }
    }

    /// A canonical Huffman code: how many codes each length has, and the symbols in their order.
    private struct Code {
        var counts = [Int](repeating: 0, count: 16)
        var symbols: [Int] = []

        init(_ lengths: [Int]) {
            for length in lengths { counts[length] += 1 }
            counts[0] = 0
            for length in 1...15 {
                symbols += lengths.indices.filter { lengths[$0] == length }
            }
        }

        /// Whether no length promises more codes than there can be.
        var isSound: Bool {
            var left = 1
            for length in 1...15 {
                left = left * 2 - counts[length]
                if left < 0 { return false }
            }
            return true
        }
    }

    private mutating func decode(_ code: Code) throws(Failure) -> Int {
        var (value, first, index) = (0, 0, 0)
        for length in 1...15 {
            value |= try take(1)
            let count = code.counts[length]
            if value - first < count { return code.symbols[index + value - first] }
            index += count
            first = (first + count) << 1
            value <<= 1
        }
        throw .invalid
    }

    private mutating func dynamicCodes() throws(Failure) -> (Code, Code) {
        let lengthCount = try take(5) + 257
        let distanceCount = try take(5) + 1
        let codeCount = try take(4) + 4
        guard lengthCount <= 286, distanceCount <= 30 else { throw .invalid }
        var codeLengths = [Int](repeating: 0, count: 19)
        for index in 0..<codeCount { codeLengths[Self.codeOrder[index]] = try take(3) }
        let code = Code(codeLengths)
        guard code.isSound else { throw .invalid }
        var lengths: [Int] = []
        while lengths.count < lengthCount + distanceCount {
            let symbol = try decode(code)
            switch symbol {
            case ..<16: lengths.append(symbol)
            case 16:
                guard let last = lengths.last else { throw .invalid }
                lengths += Array(repeating: last, count: 3 + (try take(2)))
            case 17: lengths += Array(repeating: 0, count: 3 + (try take(3)))
            default: lengths += Array(repeating: 0, count: 11 + (try take(7)))
            }
        }
        guard lengths.count == lengthCount + distanceCount, lengths[256] > 0 else {
            throw .invalid
        }
        let codes = (
            Code(Array(lengths[..<lengthCount])), Code(Array(lengths[lengthCount...]))
        )
        guard codes.0.isSound, codes.1.isSound else { throw .invalid }
        return codes
    }

    private static let codeOrder = [
        16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
    ]

    private static let lengthBases: [(value: Int, extra: Int)] = {
        var bases = (0..<8).map { (value: $0 + 3, extra: 0) }
        var value = 11
        for extra in 1...5 {
            for _ in 0..<4 {
                bases.append((value, extra))
                value += 1 << extra
            }
        }
        return bases + [(258, 0)]
    }()

    private static let distanceBases: [(value: Int, extra: Int)] = {
        var bases = (0..<4).map { (value: $0 + 1, extra: 0) }
        var value = 5
        for extra in 1...13 {
            for _ in 0..<2 {
                bases.append((value, extra))
                value += 1 << extra
            }
        }
        return bases
    }()

    private static let fixedLengths = Code(
        Array(repeating: 8, count: 144) + Array(repeating: 9, count: 112)
            + Array(repeating: 7, count: 24) + Array(repeating: 8, count: 8)
    )
    private static let fixedDistances = Code(Array(repeating: 5, count: 30))
}

/// The checksum of gzip.
enum CRC32 {
    static func of(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~UInt32(0)) { table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] ^ ($0 >> 8) }
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in
            value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1
        }
    }
}
