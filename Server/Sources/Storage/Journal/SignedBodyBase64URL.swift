/// Base64url without padding, as JWS has it (RFC 7515 §2), in tables: it is on the path of every
/// notification, 14 KB each way.
enum Base64URL {
    /// What `text` encodes; nil if it is not base64url, or not as an encoder would have written it.
    static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        let rest = text.count % 4
        guard rest != 1 else { return nil }
        guard let source = text.baseAddress, !text.isEmpty else { return [] }
        let groups = text.count / 4
        let table = decoding.first
        var isCanonical = true
        let bytes = [UInt8](unsafeUninitializedCapacity: groups * 3 + 4) { buffer, count in
            guard var target = buffer.baseAddress.map({ UnsafeMutableRawPointer($0) }) else {
                return
            }
            var input = source
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

    /// Appends the encoding of `bytes` to `text`.
    static func append(_ bytes: UnsafeBufferPointer<UInt8>, to text: inout [UInt8]) {
        guard let source = bytes.baseAddress, !bytes.isEmpty else { return }
        let groups = bytes.count / 3
        let rest = bytes.count % 3
        let length = groups * 4 + (rest == 0 ? 0 : rest + 1)
        let table = encoding.first
        let start = text.count
        text.append(contentsOf: repeatElement(0, count: groups * 4 + 4))
        text.withUnsafeMutableBytes { buffer in
            guard var target = buffer.baseAddress.map({ $0 + start }) else { return }
            var input = source
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

    private static let wrong: UInt32 = 0x8000_0000
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8
    )

    /// Memory that is filled once and never changes or goes away, hence safe to share.
    private struct Table<Entry>: @unchecked Sendable {
        let first: UnsafePointer<Entry>

        init(count: Int, _ entry: (Int) -> Entry) {
            let memory = UnsafeMutablePointer<Entry>.allocate(capacity: count)
            for index in 0..<count { (memory + index).initialize(to: entry(index)) }
            first = UnsafePointer(memory)
        }
    }

    /// For each of the four places in a group, what each character stands for there, in 24 bits.
    private static let decoding = Table<UInt32>(count: 1024) { index in
        guard let value = alphabet.firstIndex(of: UInt8(index % 256)) else { return wrong }
        return UInt32(value) << (18 - 6 * UInt32(index / 256))
    }

    /// For each twelve bits their two characters, in the order of memory.
    private static let encoding = Table<UInt16>(count: 4096) { index in
        (UInt16(alphabet[index >> 6]) << 8 | UInt16(alphabet[index & 63])).bigEndian
    }
}
