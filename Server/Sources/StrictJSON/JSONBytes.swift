/// JSON to send, written byte by byte in the order in which it is added.
///
/// For the answers that are asked for most; others are written as `JSONText`. Strings have the bytes
/// that Foundation's `JSONEncoder` writes without escaping slashes.
package struct JSONBytes: Sendable {
    package private(set) var bytes: [UInt8] = []

    package init(capacity: Int) {
        bytes.reserveCapacity(capacity)
    }

    /// Adds JSON as it stands.
    package mutating func add(_ text: StaticString) {
        bytes.append(
            contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        )
    }

    /// Adds JSON as it stands.
    package mutating func add(raw json: [UInt8]) {
        bytes.append(contentsOf: json)
    }

    package mutating func add(_ value: Int64) {
        bytes.append(contentsOf: String(value).utf8)
    }

    /// Adds a string (RFC 8259 §7).
    package mutating func add(quoted value: String) {
        bytes.append(UInt8(ascii: "\""))
        var value = value
        value.withUTF8 { text in
            if text.allSatisfy({ $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C }) {
                bytes.append(contentsOf: text)
            } else {
                for byte in text { add(escaped: byte) }
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func add(escaped byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): add("\\\"")
        case UInt8(ascii: "\\"): add("\\\\")
        case 0x08: add("\\b")
        case 0x09: add("\\t")
        case 0x0A: add("\\n")
        case 0x0C: add("\\f")
        case 0x0D: add("\\r")
        case 0..<0x20:
            add(byte < 0x10 ? "\\u000" : "\\u00")
            bytes.append(contentsOf: String(byte, radix: 16).utf8)
        default: bytes.append(byte)
        }
    }
}
