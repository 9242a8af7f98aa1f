/// CBOR (RFC 8949) as it is written: maps with text keys, integers in their shortest form.
package struct RecordBytes {
    private(set) var bytes: [UInt8] = []

    init() {
        bytes.reserveCapacity(1024)
    }

    mutating func openMap() { bytes.append(0xBF) }
    mutating func openList() { bytes.append(0x9F) }
    mutating func close() { bytes.append(0xFF) }
    mutating func addNil() { bytes.append(0xF6) }
    mutating func add(_ value: Bool) { bytes.append(value ? 0xF5 : 0xF4) }

    mutating func add(_ value: Int64) {
        if value >= 0 { head(0, UInt64(value)) } else { head(1, UInt64(bitPattern: ~value)) }
    }

    mutating func add(_ value: String) {
        var value = value
        value.withUTF8 { text in
            head(3, UInt64(text.count))
            bytes.append(contentsOf: text)
        }
    }

    /// A key or a case that is known when this is compiled.
    mutating func add(_ value: StaticString) {
        head(3, UInt64(value.utf8CodeUnitCount))
        value.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    /// What is CBOR already.
    mutating func add(encoded value: [UInt8]) { bytes += value }

    private mutating func head(_ major: UInt8, _ value: UInt64) {
        let major = major << 5
        let length: UInt64
        switch value {
        case 0..<24: return bytes.append(major | UInt8(value))
        case 24..<0x100: length = 1
        case 0x100..<0x1_0000: length = 2
        case 0x1_0000..<0x1_0000_0000: length = 4
        default: length = 8
        }
        bytes.append(major | UInt8(24 + length.trailingZeroBitCount))
        for place in stride(from: Int(length - 1) * 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> place))
        }
    }
}
