/// Strict base64: one text per byte sequence, so two texts never stand for the same bytes.
enum Base64 {
    /// RFC 4648, section 5, without padding, as JWS writes it (RFC 7515, section 2).
    static func decodeURL(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        decode(text, url)
    }

    /// RFC 4648, section 4, with padding, as `x5c` writes it (RFC 7515, section 4.1.6).
    static func decode(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        var count = text.count
        while count > 0, text.count - count < 2, text[count - 1] == UInt8(ascii: "=") { count -= 1 }
        return decode(UnsafeRawBufferPointer(rebasing: text[..<count]), standard)
    }

    /// Writes bytes as base64url without padding.
    static func encodeURL(_ bytes: some Sequence<UInt8>) -> String {
        let alphabet = Array(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8
        )
        var text: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                text.append(alphabet[Int(bits >> UInt32(count) & 63)])
            }
        }
        if count > 0 { text.append(alphabet[Int(bits << UInt32(6 - count) & 63)]) }
        return String(decoding: text, as: UTF8.self)
    }

    // MARK: - Tables

    /// For each of the four places of a group a table from character to its six bits, shifted to
    /// where they belong.
    ///
    /// `invalid` marks the rest.
    private static let invalid: UInt32 = 0x8000_0000
    private static let url = table("-_")
    private static let standard = table("+/")

    private static func table(_ last: String) -> [UInt32] {
        let alphabet = Array(
            ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + last).utf8
        )
        var table = [UInt32](repeating: invalid, count: 1024)
        for (value, character) in alphabet.enumerated() {
            for place in 0..<4 {
                table[place * 256 + Int(character)] = UInt32(value) << UInt32(18 - 6 * place)
            }
        }
        return table
    }

    private static func decode(_ text: UnsafeRawBufferPointer, _ table: [UInt32]) -> [UInt8]? {
        let rest = text.count & 3
        guard rest != 1 else { return nil }
        let groups = text.count >> 2
        let count = groups * 3 + (rest == 0 ? 0 : rest - 1)
        var isValid = true
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { output, initialized in
            isValid = table.withUnsafeBufferPointer { table in
                var seen: UInt32 = 0
                for group in 0..<groups {
                    let four = UInt32(
                        littleEndian: text.loadUnaligned(
                            fromByteOffset: group &* 4,
                            as: UInt32.self
                        )
                    )
                    let bits =
                        table[Int(four & 0xFF)] | table[256 &+ Int(four >> 8 & 0xFF)]
                        | table[512 &+ Int(four >> 16 & 0xFF)] | table[768 &+ Int(four >> 24)]
                    seen |= bits
                    let at = group &* 3
                    output[at] = UInt8(truncatingIfNeeded: bits >> 16)
                    output[at &+ 1] = UInt8(truncatingIfNeeded: bits >> 8)
                    output[at &+ 2] = UInt8(truncatingIfNeeded: bits)
                }
                if rest > 0 {
                    var bits = table[Int(text[groups * 4])] | table[256 + Int(text[groups * 4 + 1])]
                    if rest == 3 { bits |= table[512 + Int(text[groups * 4 + 2])] }
                    output[groups * 3] = UInt8(truncatingIfNeeded: bits >> 16)
                    if rest == 3 { output[groups * 3 + 1] = UInt8(truncatingIfNeeded: bits >> 8) }
                    // Bits that fill up the last character are zero, or it is another text.
                    let spare: UInt32 = rest == 2 ? 0xFFFF : 0xFF
                    seen |= bits & spare == 0 ? bits : invalid
                }
                return seen & invalid == 0
            }
            initialized = count
        }
        return isValid ? bytes : nil
    }
}
