/// Reads what `RecordEncoder` wrote.
package enum RecordDecoder {
    /// - Throws: `DecodingError` for bytes that are no record of this type; never traps.
    package static func decode<Value: Decodable>(
        _ type: Value.Type,
        from bytes: [UInt8]
    ) throws -> Value {
        try decode(RecordSource(bytes))
    }

    /// The same value by way of `Codable`.
    package static func decodeCodable<Value: Decodable>(
        _ type: Value.Type,
        from bytes: [UInt8]
    ) throws -> Value {
        try decode(RecordSource(bytes, isDirect: false))
    }

    private static func decode<Value: Decodable>(_ source: RecordSource) throws -> Value {
        guard try source.skip(0) == source.bytes.count else {
            throw source.corrupt("something follows the record")
        }
        return try Value(from: ValueDecoder(source: source, offset: 0))
    }
}

/// The bytes, and how to walk over them.
final class RecordSource {
    let bytes: [UInt8]
    /// Behind the container that begins at an index, once it was walked through; else 0.
    ///
    /// Without it what is nested would be walked through once for each level around it.
    private var ends: [UInt32]

    private let isDirect: Bool

    /// - Parameter isDirect: whether values that can shall read themselves.
    init(_ bytes: [UInt8], isDirect: Bool = true) {
        self.bytes = bytes
        self.isDirect = isDirect
        ends = [UInt32](repeating: 0, count: bytes.count)
    }

    func corrupt(_ reason: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: reason))
    }

    func byte(_ offset: Int) throws -> UInt8 {
        guard bytes.indices.contains(offset) else { throw corrupt("the record ends too early") }
        return bytes[offset]
    }

    /// Major type, argument, and the offset behind the head.
    func head(_ offset: Int) throws -> (major: UInt8, value: UInt64, next: Int) {
        let first = try byte(offset)
        let short = first & 0x1F
        guard short >= 24 else { return (first >> 5, UInt64(short), offset + 1) }
        let length: Int
        switch short {
        case 24: length = 1
        case 25: length = 2
        case 26: length = 4
        case 27: length = 8
        default: throw corrupt("a length of no kind we write")
        }
        var value: UInt64 = 0
        for index in 1...length { value = try value << 8 | UInt64(byte(offset + index)) }
        return (first >> 5, value, offset + 1 + length)
    }

    func text(_ offset: Int) throws -> (range: Range<Int>, next: Int) {
        let (major, value, next) = try head(offset)
        guard major == 3, let length = Int(exactly: value), length <= bytes.count - next else {
            throw corrupt("not a text")
        }
        return (next..<next + length, next + length)
    }

    func string(_ offset: Int) throws -> String {
        String(decoding: bytes[try text(offset).range], as: UTF8.self)
    }

    func int64(_ offset: Int) throws -> Int64 {
        let (major, value, _) = try head(offset)
        guard major <= 1, let magnitude = Int64(exactly: value) else {
            throw corrupt("not an integer")
        }
        return major == 0 ? magnitude : ~magnitude
    }

    func bool(_ offset: Int) throws -> Bool {
        switch try byte(offset) {
        case 0xF5: return true
        case 0xF4: return false
        default: throw corrupt("not a truth value")
        }
    }

    func isNil(_ offset: Int) -> Bool {
        bytes.indices.contains(offset) && bytes[offset] == 0xF6
    }

    /// The offset behind the value at `offset`.
    func skip(_ offset: Int, depth: Int = 0) throws -> Int {
        guard depth < 64 else { throw corrupt("nested too deep") }
        switch try byte(offset) {
        case 0xF4, 0xF5, 0xF6: return offset + 1
        case 0xBF, 0x9F:
            guard ends[offset] == 0 else { return Int(ends[offset]) }
            var next = offset + 1
            while try byte(next) != 0xFF { next = try skip(next, depth: depth + 1) }
            ends[offset] = UInt32(clamping: next + 1)
            return next + 1
        default:
            let (major, _, next) = try head(offset)
            switch major {
            case 0, 1: return next
            case 3: return try text(offset).next
            default: throw corrupt("a value of no kind we write")
            }
        }
    }

    func decode<Value: Decodable>(_ type: Value.Type, _ offset: Int) throws -> Value {
        if type == Int64.self, let value = try int64(offset) as? Value { return value }
        if type == String.self, let value = try string(offset) as? Value { return value }
        if isDirect, let direct = type as? any RecordReadable.Type {
            var cursor = RecordCursor(source: self, offset: offset)
            if let value = try? direct.init(reading: &cursor) as? Value { return value }
        }
        return try Value(from: ValueDecoder(source: self, offset: offset))
    }
}

private struct ValueDecoder: Decoder {
    let source: RecordSource
    let offset: Int
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(try KeyedReader<Key>(source: source, offset: offset))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try UnkeyedReader(source: source, offset: offset)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        SingleReader(source: source, offset: offset)
    }
}

private struct KeyedReader<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let source: RecordSource
    /// Where each key's text and value lie.
    private var entries: [(key: Range<Int>, value: Int)] = []
    var codingPath: [any CodingKey] { [] }

    init(source: RecordSource, offset: Int) throws {
        self.source = source
        guard try source.byte(offset) == 0xBF else { throw source.corrupt("not a map") }
        var next = offset + 1
        while try source.byte(next) != 0xFF {
            let (range, value) = try source.text(next)
            entries.append((range, value))
            next = try source.skip(value)
        }
    }

    private func find(_ key: some CodingKey) -> Int? {
        var name = key.stringValue
        return name.withUTF8 { wanted in
            for entry in entries where entry.key.count == wanted.count {
                if source.bytes[entry.key].elementsEqual(wanted) { return entry.value }
            }
            return nil
        }
    }

    private func value(_ key: Key) throws -> Int {
        guard let offset = find(key) else {
            throw DecodingError.keyNotFound(
                key,
                DecodingError.Context(codingPath: [], debugDescription: "no such key")
            )
        }
        return offset
    }

    var allKeys: [Key] {
        entries.compactMap {
            Key(stringValue: String(decoding: source.bytes[$0.key], as: UTF8.self))
        }
    }

    func contains(_ key: Key) -> Bool { find(key) != nil }
    func decodeNil(forKey key: Key) throws -> Bool { source.isNil(try value(key)) }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        try source.bool(value(key))
    }
    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try source.string(value(key))
    }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
        try source.int64(value(key))
    }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try source.decode(type, value(key))
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        KeyedDecodingContainer(try KeyedReader<Nested>(source: source, offset: value(key)))
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try UnkeyedReader(source: source, offset: value(key))
    }

    func superDecoder() throws -> any Decoder { throw source.corrupt("records have no superclass") }
    func superDecoder(forKey key: Key) throws -> any Decoder {
        ValueDecoder(source: source, offset: try value(key))
    }
}

private struct UnkeyedReader: UnkeyedDecodingContainer {
    let source: RecordSource
    private var offset: Int
    private(set) var currentIndex = 0
    var codingPath: [any CodingKey] { [] }
    var count: Int? { nil }

    init(source: RecordSource, offset: Int) throws {
        self.source = source
        guard try source.byte(offset) == 0x9F else { throw source.corrupt("not a list") }
        self.offset = offset + 1
    }

    var isAtEnd: Bool {
        !source.bytes.indices.contains(offset) || source.bytes[offset] == 0xFF
    }

    private mutating func element() throws -> Int {
        guard !isAtEnd else { throw source.corrupt("the list ends too early") }
        let element = offset
        offset = try source.skip(offset)
        currentIndex += 1
        return element
    }

    mutating func decodeNil() throws -> Bool {
        guard source.isNil(offset) else { return false }
        _ = try element()
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if type == Bool.self, let value = try source.bool(element()) as? Value { return value }
        return try source.decode(type, element())
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        KeyedDecodingContainer(try KeyedReader<Nested>(source: source, offset: element()))
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try UnkeyedReader(source: source, offset: element())
    }

    mutating func superDecoder() throws -> any Decoder {
        ValueDecoder(source: source, offset: try element())
    }
}

private struct SingleReader: SingleValueDecodingContainer {
    let source: RecordSource
    let offset: Int
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { source.isNil(offset) }
    func decode(_ type: Bool.Type) throws -> Bool { try source.bool(offset) }
    func decode(_ type: String.Type) throws -> String { try source.string(offset) }
    func decode(_ type: Int64.Type) throws -> Int64 { try source.int64(offset) }
    func decode(_ type: Int.Type) throws -> Int {
        guard let value = Int(exactly: try source.int64(offset)) else {
            throw source.corrupt("out of range")
        }
        return value
    }
    func decode(_ type: UInt8.Type) throws -> UInt8 {
        guard let value = UInt8(exactly: try source.int64(offset)) else {
            throw source.corrupt("out of range")
        }
        return value
    }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try source.decode(type, offset)
    }
}
