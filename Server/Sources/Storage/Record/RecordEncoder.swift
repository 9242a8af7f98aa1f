/// Writes values as CBOR (RFC 8949): maps with text keys in the order of declaration, integers in
/// their shortest form, no floats.
///
/// Equal values have equal bytes, as long as they hold no dictionaries and no sets; ours do not.
package enum RecordEncoder {
    /// - Throws: what `Codable` throws, of parts that fall back to it.
    package static func encode(_ value: some RecordWritable) throws -> [UInt8] {
        var record = RecordBytes()
        try value.write(to: &record)
        return record.bytes
    }

    /// - Throws: whatever the value's own `encode(to:)` throws, and for floats.
    package static func encode(_ value: some Encodable) throws -> [UInt8] {
        try encodeCodable(value)
    }

    /// The same bytes by way of `Codable`.
    package static func encodeCodable(_ value: some Encodable) throws -> [UInt8] {
        let writer = RecordWriter()
        try value.encode(to: ValueEncoder(writer: writer))
        writer.close(to: 0)
        return writer.bytes
    }
}

/// The bytes so far and how many containers are open.
///
/// A container that writes closes those deeper than itself, since `Codable` does not say when one
/// ends.
private final class RecordWriter {
    var bytes: [UInt8] = []
    var depth = 0

    init() {
        bytes.reserveCapacity(512)
    }

    func close(to depth: Int) {
        while self.depth > depth {
            bytes.append(0xFF)
            self.depth -= 1
        }
    }

    func open(_ marker: UInt8) -> Int {
        bytes.append(marker)
        depth += 1
        return depth
    }

    func head(_ major: UInt8, _ value: UInt64) {
        let major = major << 5
        switch value {
        case 0..<24: bytes.append(major | UInt8(value))
        case 24..<0x100: bytes += [major | 24, UInt8(value)]
        case 0x100..<0x1_0000: bytes += [major | 25, UInt8(value >> 8), UInt8(value & 0xFF)]
        case 0x1_0000..<0x1_0000_0000:
            bytes.append(major | 26)
            for shift in stride(from: 24, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
            }
        default:
            bytes.append(major | 27)
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
            }
        }
    }

    func write(_ value: Int64) {
        if value >= 0 { head(0, UInt64(value)) } else { head(1, UInt64(bitPattern: ~value)) }
    }

    func write(_ value: String) {
        var value = value
        value.withUTF8 { text in
            head(3, UInt64(text.count))
            bytes.append(contentsOf: text)
        }
    }

    func write(_ value: Bool) {
        bytes.append(value ? 0xF5 : 0xF4)
    }

    func writeNil() {
        bytes.append(0xF6)
    }

    func write(_ value: some Encodable) throws {
        switch value {
        case let value as Int64: write(value)
        case let value as String: write(value)
        default:
            let start = depth
            try value.encode(to: ValueEncoder(writer: self))
            close(to: start)
        }
    }

    func unsupported(_ value: Any, _ path: [any CodingKey]) -> EncodingError {
        .invalidValue(
            value,
            EncodingError.Context(codingPath: path, debugDescription: "records hold no floats")
        )
    }
}

private struct ValueEncoder: Encoder {
    let writer: RecordWriter
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(KeyedWriter<Key>(writer: writer, depth: writer.open(0xBF)))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        UnkeyedWriter(writer: writer, depth: writer.open(0x9F))
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        SingleWriter(writer: writer)
    }
}

private struct KeyedWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let writer: RecordWriter
    let depth: Int
    var codingPath: [any CodingKey] { [] }

    private func key(_ key: Key) {
        writer.close(to: depth)
        writer.write(key.stringValue)
    }

    func encodeNil(forKey key: Key) {
        self.key(key)
        writer.writeNil()
    }

    func encode(_ value: Bool, forKey key: Key) {
        self.key(key)
        writer.write(value)
    }

    func encode(_ value: String, forKey key: Key) {
        self.key(key)
        writer.write(value)
    }

    func encode(_ value: Int64, forKey key: Key) {
        self.key(key)
        writer.write(value)
    }

    func encode(_ value: Int, forKey key: Key) { encode(Int64(value), forKey: key) }
    func encode(_ value: Int8, forKey key: Key) { encode(Int64(value), forKey: key) }
    func encode(_ value: Int16, forKey key: Key) { encode(Int64(value), forKey: key) }
    func encode(_ value: Int32, forKey key: Key) { encode(Int64(value), forKey: key) }
    func encode(_ value: UInt8, forKey key: Key) { encode(Int64(value), forKey: key) }
    func encode(_ value: UInt16, forKey key: Key) { encode(Int64(value), forKey: key) }
    func encode(_ value: UInt32, forKey key: Key) { encode(Int64(value), forKey: key) }
    func encode(_ value: UInt, forKey key: Key) throws { throw writer.unsupported(value, [key]) }
    func encode(_ value: UInt64, forKey key: Key) throws { throw writer.unsupported(value, [key]) }
    func encode(_ value: Float, forKey key: Key) throws { throw writer.unsupported(value, [key]) }
    func encode(_ value: Double, forKey key: Key) throws { throw writer.unsupported(value, [key]) }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        self.key(key)
        try writer.write(value)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        self.key(key)
        return ValueEncoder(writer: writer).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        self.key(key)
        return ValueEncoder(writer: writer).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { ValueEncoder(writer: writer) }

    func superEncoder(forKey key: Key) -> any Encoder {
        self.key(key)
        return ValueEncoder(writer: writer)
    }
}

private struct UnkeyedWriter: UnkeyedEncodingContainer {
    let writer: RecordWriter
    let depth: Int
    var count = 0
    var codingPath: [any CodingKey] { [] }

    init(writer: RecordWriter, depth: Int) {
        self.writer = writer
        self.depth = depth
    }

    private mutating func element() {
        writer.close(to: depth)
        count += 1
    }

    mutating func encodeNil() {
        element()
        writer.writeNil()
    }

    mutating func encode(_ value: Bool) throws {
        element()
        writer.write(value)
    }

    mutating func encode(_ value: Float) throws { throw writer.unsupported(value, []) }
    mutating func encode(_ value: Double) throws { throw writer.unsupported(value, []) }

    mutating func encode(_ value: some Encodable) throws {
        element()
        try writer.write(value)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
        element()
        return ValueEncoder(writer: writer).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        element()
        return ValueEncoder(writer: writer).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder {
        element()
        return ValueEncoder(writer: writer)
    }
}

private struct SingleWriter: SingleValueEncodingContainer {
    let writer: RecordWriter
    var codingPath: [any CodingKey] { [] }

    func encodeNil() { writer.writeNil() }
    func encode(_ value: Bool) { writer.write(value) }
    func encode(_ value: String) { writer.write(value) }
    func encode(_ value: Int64) { writer.write(value) }
    func encode(_ value: Int) { writer.write(Int64(value)) }
    func encode(_ value: Int8) { writer.write(Int64(value)) }
    func encode(_ value: Int16) { writer.write(Int64(value)) }
    func encode(_ value: Int32) { writer.write(Int64(value)) }
    func encode(_ value: UInt8) { writer.write(Int64(value)) }
    func encode(_ value: UInt16) { writer.write(Int64(value)) }
    func encode(_ value: UInt32) { writer.write(Int64(value)) }
    func encode(_ value: UInt) throws { throw writer.unsupported(value, []) }
    func encode(_ value: UInt64) throws { throw writer.unsupported(value, []) }
    func encode(_ value: Float) throws { throw writer.unsupported(value, []) }
    func encode(_ value: Double) throws { throw writer.unsupported(value, []) }
    func encode(_ value: some Encodable) throws { try writer.write(value) }
}
