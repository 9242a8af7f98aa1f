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
        return writer.record.bytes
    }
}

/// The bytes so far and how many containers are open.
///
/// A container that writes closes those deeper than itself, since `Codable` does not say when one
/// ends.
private final class RecordWriter {
    var record = RecordBytes()
    var depth = 0

    func close(to depth: Int) {
        while self.depth > depth {
            record.close()
            self.depth -= 1
        }
    }

    func openMap() -> Int {
        record.openMap()
        depth += 1
        return depth
    }

    func openList() -> Int {
        record.openList()
        depth += 1
        return depth
    }

    func write(_ value: some Encodable) throws {
        switch value {
        case let value as Int64: record.add(value)
        case let value as String: record.add(value)
        default:
            let start = depth
            try value.encode(to: ValueEncoder(writer: self))
            close(to: start)
        }
    }
}

private struct ValueEncoder: Encoder {
    let writer: RecordWriter
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(KeyedWriter<Key>(writer: writer, depth: writer.openMap()))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        UnkeyedWriter(writer: writer, depth: writer.openList())
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
        writer.record.add(key.stringValue)
    }

    func encodeNil(forKey key: Key) {
        self.key(key)
        writer.record.addNil()
    }

    func encode(_ value: Bool, forKey key: Key) {
        self.key(key)
        writer.record.add(value)
    }

    func encode(_ value: String, forKey key: Key) {
        self.key(key)
        writer.record.add(value)
    }

    func encode(_ value: Int64, forKey key: Key) {
        self.key(key)
        writer.record.add(value)
    }

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

    private mutating func element() {
        writer.close(to: depth)
        count += 1
    }

    mutating func encodeNil() {
        element()
        writer.record.addNil()
    }

    mutating func encode(_ value: Bool) throws {
        element()
        writer.record.add(value)
    }

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

    private func unsupported(_ value: Any) -> EncodingError {
        .invalidValue(
            value,
            EncodingError.Context(codingPath: [], debugDescription: "records hold no floats")
        )
    }

    func encodeNil() { writer.record.addNil() }
    func encode(_ value: Bool) { writer.record.add(value) }
    func encode(_ value: String) { writer.record.add(value) }
    func encode(_ value: Int64) { writer.record.add(value) }
    func encode(_ value: Int) { writer.record.add(Int64(value)) }
    func encode(_ value: Int8) { writer.record.add(Int64(value)) }
    func encode(_ value: Int16) { writer.record.add(Int64(value)) }
    func encode(_ value: Int32) { writer.record.add(Int64(value)) }
    func encode(_ value: UInt8) { writer.record.add(Int64(value)) }
    func encode(_ value: UInt16) { writer.record.add(Int64(value)) }
    func encode(_ value: UInt32) { writer.record.add(Int64(value)) }
    func encode(_ value: UInt) throws { throw unsupported(value) }
    func encode(_ value: UInt64) throws { throw unsupported(value) }
    func encode(_ value: Float) throws { throw unsupported(value) }
    func encode(_ value: Double) throws { throw unsupported(value) }
    func encode(_ value: some Encodable) throws { try writer.write(value) }
}
