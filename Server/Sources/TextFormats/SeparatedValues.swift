/// Rows of comma-separated values (RFC 4180).
package struct SeparatedValues {
    private let bytes: [UInt8]
    private var place = 0
    private var ended = 0
    /// The number of the line on which the last row began.
    package private(set) var line = 0
    /// Whether the last row ended within quotes, since nothing closed them.
    package private(set) var isUnclosed = false

    /// - Parameter bytes: UTF-8; a byte order mark is none of the first value.
    package init(_ bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
        if self.bytes.starts(with: [0xEF, 0xBB, 0xBF]) { place = 3 }
    }

    /// The values of the next row; `nil` after the last one.
    package mutating func next() -> [String]? {
        guard place < bytes.count else { return nil }
        ended += 1
        line = ended
        var values: [String] = []
        var value: [UInt8] = []
        isUnclosed = false
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            switch byte {
            case UInt8(ascii: "\"") where isUnclosed && next(is: UInt8(ascii: "\"")):
                value.append(byte)
                place += 1
            case UInt8(ascii: "\""): isUnclosed.toggle()
            case UInt8(ascii: ",") where !isUnclosed:
                values.append(String(decoding: value, as: UTF8.self))
                value = []
            case UInt8(ascii: "\n") where !isUnclosed, UInt8(ascii: "\r") where !isUnclosed:
                if byte == UInt8(ascii: "\r"), next(is: UInt8(ascii: "\n")) { place += 1 }
                return values + [String(decoding: value, as: UTF8.self)]
            default:
                if byte == UInt8(ascii: "\n") { ended += 1 }
                value.append(byte)
            }
        }
        return values + [String(decoding: value, as: UTF8.self)]
    }

    private func next(is byte: UInt8) -> Bool { place < bytes.count && bytes[place] == byte }
}
