/// Strict Base64 (RFC 4648): one text per byte sequence, so two texts never stand for the same bytes.
///
/// In tables: it is on the path of every notification, 14 KB each way.
package enum Base64 {
    /// What `text` encodes in section 5's alphabet without padding, as JWS writes it (RFC 7515,
    /// section 2).
    ///
    /// - Returns: `nil` for what no encoder would have written.
    package static func decodeURL(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        decode(text, url.first)
    }

    /// The same in section 4's alphabet with padding, as `x5c` writes it (RFC 7515, section 4.1.6).
    package static func decode(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        var count = text.count
        while count > 0, text.count - count < 2, text[count - 1] == UInt8(ascii: "=") { count -= 1 }
        return decode(UnsafeRawBufferPointer(rebasing: text[..<count]), standard.first)
    }

    /// Appends the base64url of `bytes` to `text`, without padding.
    package static func appendURL(_ bytes: UnsafeRawBufferPointer, to text: inout [UInt8]) {
        guard let source = bytes.baseAddress, !bytes.isEmpty else { return }
        let groups = bytes.count / 3
        let rest = bytes.count % 3
        let length = groups * 4 + (rest == 0 ? 0 : rest + 1)
        let table = encoding.first
        let start = text.count
        text.append(contentsOf: repeatElement(0, count: groups * 4 + 4))
        text.withUnsafeMutableBytes { buffer in
            guard var target = buffer.baseAddress.map({ $0 + start }) else { return }
            var input = source.assumingMemoryBound(to: UInt8.self)
            for _ in 0..<groups {
                let value = Int(input[0]) << 16 | Int(input[1]) << 8 | Int(input[2])
                target.storeBytes(of: table[value >> 12], as: UInt16.self)
                target.storeBytes(of: table[value & 0xfff], toByteOffset: 2, as: UInt16.self)
                input += 3
                target += 4
            }
            guard rest > 0 else { return }
            let value = Int(input[0]) << 16 | (rest == 2 ? Int(input[1]) << 8 : 0)
            target.storeBytes(of: table[value >> 12], as: UInt16.self)
            target.storeBytes(of: table[value & 0xfff], toByteOffset: 2, as: UInt16.self)
        }
        text.removeLast(text.count - start - length)
    }

    package static func encodeURL(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        Array(bytes).withUnsafeBytes { appendURL($0, to: &text) }
        return String(decoding: text, as: UTF8.self)
    }

    private static func decode(
        _ text: UnsafeRawBufferPointer,
        _ table: UnsafePointer<UInt32>
    ) -> [UInt8]? {
        let rest = text.count % 4
        guard rest != 1 else { return nil }
        guard let source = text.baseAddress, !text.isEmpty else { return [] }
        let groups = text.count / 4
        var isCanonical = true
        let bytes = [UInt8](unsafeUninitializedCapacity: groups * 3 + 4) { buffer, count in
            guard var target = buffer.baseAddress.map({ UnsafeMutableRawPointer($0) }) else {
                return
            }
            var input = source.assumingMemoryBound(to: UInt8.self)
            var invalid: UInt32 = 0
            for _ in 0..<groups {
                let value =
                    table[Int(input[0])] | table[256 + Int(input[1])]
                    | table[512 + Int(input[2])] | table[768 + Int(input[3])]
                invalid |= value
                // Four bytes at once; the fourth is overwritten by the next, or is spare.
                target.storeBytes(of: (value << 8).bigEndian, as: UInt32.self)
                input += 4
                target += 3
            }
            if rest >= 2 {
                var value = table[Int(input[0])] | table[256 + Int(input[1])]
                if rest == 3 { value |= table[512 + Int(input[2])] }
                invalid |= value
                target.storeBytes(of: UInt8(truncatingIfNeeded: value >> 16), as: UInt8.self)
                if rest == 3 {
                    target.storeBytes(
                        of: UInt8(truncatingIfNeeded: value >> 8),
                        toByteOffset: 1,
                        as: UInt8.self
                    )
                }
                // An encoder leaves the bits past the last byte zero.
                isCanonical = value & (rest == 2 ? 0xffff : 0xff) == 0
            }
            if invalid & wrong != 0 { isCanonical = false }
            count = groups * 3 + max(0, rest - 1)
        }
        return isCanonical ? bytes : nil
    }

    // MARK: - Tables

    private static let wrong: UInt32 = 0x8000_0000

    private static func alphabet(_ last: String) -> [UInt8] {
        Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\(last)".utf8)
    }

    /// Memory that is filled once and never changes or goes away, hence safe to share.
    private struct Table<Entry>: @unchecked Sendable {
        let first: UnsafePointer<Entry>

        init(count: Int, _ entry: (Int) -> Entry) {
            let memory = UnsafeMutablePointer<Entry>.allocate(capacity: count)
            for index in 0..<count { (memory + index).initialize(to: entry(index)) }
            first = UnsafePointer(memory)
        }
    }

    private static let url = decoding(alphabet("-_"))
    private static let standard = decoding(alphabet("+/"))

    /// For each of the four places in a group, what each character stands for there, in 24 bits.
    private static func decoding(_ alphabet: [UInt8]) -> Table<UInt32> {
        Table(count: 1024) { index in
            guard let value = alphabet.firstIndex(of: UInt8(index % 256)) else { return wrong }
            return UInt32(value) << (18 - 6 * UInt32(index / 256))
        }
    }

    /// For each twelve bits their two characters, in the order of memory.
    private static let encoding: Table<UInt16> = {
        let letters = alphabet("-_")
        return Table(count: 4096) { index in
            (UInt16(letters[index >> 6]) << 8 | UInt16(letters[index & 63])).bigEndian
        }
    }()
}
