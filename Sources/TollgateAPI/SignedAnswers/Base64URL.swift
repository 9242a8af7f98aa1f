import Foundation

/// The alphabet of JOSE (RFC 4648 §5), without padding.
public enum Base64URL {
    public static func encode(_ data: Data) -> String {
        var text: [UInt8] = []
        data.withUnsafeBytes { append($0, to: &text) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the encoding of `bytes` to an ASCII text.
    public static func append(_ bytes: UnsafeRawBufferPointer, to text: inout [UInt8]) {
        text.reserveCapacity(text.count + (bytes.count * 4 + 2) / 3)
        alphabet.withUnsafeBufferPointer { alphabet in
            // Bits shifted out at the top are no longer needed.
            var bits: UInt32 = 0
            var pending: UInt32 = 0
            for byte in bytes {
                bits = bits << 8 | UInt32(byte)
                pending += 8
                while pending >= 6 {
                    pending -= 6
                    text.append(alphabet[Int(bits >> pending & 63)])
                }
            }
            if pending > 0 { text.append(alphabet[Int(bits << (6 - pending) & 63)]) }
        }
    }

    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8
    )

    /// The bytes, or nil for anything outside the alphabet (padding too: one value, one spelling).
    public static func decode(_ text: some StringProtocol) -> Data? {
        guard text.utf8.allSatisfy(isInAlphabet) else { return nil }
        var base64 = text.replacingOccurrences(of: "-", with: "+")
            .replacingOccurrences(of: "_", with: "/")
        base64 += String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
        return Data(base64Encoded: base64)
    }

    private static func isInAlphabet(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
