extension Sequence<UInt8> {
    /// Two lower-case hexadecimal digits for each byte.
    @inlinable package var hex: String {
        var digits: [UInt8] = []
        digits.reserveCapacity(2 * underestimatedCount)
        for byte in self {
            for half in [byte >> 4, byte & 15] {
                digits.append(half < 10 ? UInt8(ascii: "0") + half : UInt8(ascii: "a") + half - 10)
            }
        }
        return String(decoding: digits, as: UTF8.self)
    }
}
