public import Foundation

/// Decodes JSON and refuses what nobody reads: a key that is misspelt must not pass for one that was
/// left out.
///
/// `{"prise": 990}` → "Unknown key: data.0.prise".
public enum StrictKeys {
    /// - Throws: `UnknownKey` or `Unreadable`.
    public static func decode<Value: Decodable>(
        _ type: Value.Type,
        from bytes: Data
    ) throws -> Value {
        do {
            return try JSONDecoder().decode(Checked<Value>.self, from: bytes).value
        } catch let error as DecodingError {
            throw Unreadable(error)
        }
    }

    /// A value that is not what is asked for.
    public struct Unreadable: Error, Hashable, Sendable, CustomStringConvertible {
        public let description: String

        init(_ error: DecodingError) {
            let (path, words): ([any CodingKey], String) =
                switch error {
                case .keyNotFound(let key, let context):
                    (context.codingPath + [key], "is missing")
                case .typeMismatch(_, let context), .valueNotFound(_, let context),
                    .dataCorrupted(let context):
                    (context.codingPath, "is not what is expected there")
                @unknown default: ([], "")
                }
            let place = path.map { $0.intValue.map(String.init) ?? $0.stringValue }
                .joined(separator: ".")
            description =
                place.isEmpty ? "It is not the JSON that is expected" : "'\(place)' \(words)"
        }
    }

    /// A key that no type asks for.
    public struct UnknownKey: Error, Hashable, Sendable, CustomStringConvertible {
        /// Where it stands: `data.0.prise`.
        public let path: String
        public var description: String { "Unknown key: \(path)" }
    }
}

private struct Checked<Value: Decodable>: Decodable {
    let value: Value

    init(from decoder: any Decoder) throws {
        value = try Value(from: CheckingDecoder(base: decoder))
    }
}

private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

/// Knows a type's keys by what its `CodingKeys` make of those that are there.
private struct CheckingDecoder: Decoder {
    let base: any Decoder
    var codingPath: [any CodingKey] { base.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { base.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        let present = try base.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue)
        if let unknown = present.filter({ Key(stringValue: $0) == nil }).min() {
            let path = codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
            throw StrictKeys.UnknownKey(path: (path + [unknown]).joined(separator: "."))
        }
        return KeyedDecodingContainer(
            CheckingContainer(base: try base.container(keyedBy: type))
        )
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        CheckingList(base: try base.unkeyedContainer())
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        try base.singleValueContainer()
    }
}

/// Hands scalars on, and checks what has keys of its own.
private struct CheckingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let base: KeyedDecodingContainer<Key>
    var codingPath: [any CodingKey] { base.codingPath }
    var allKeys: [Key] { base.allKeys }

    func contains(_ key: Key) -> Bool { base.contains(key) }
    func decodeNil(forKey key: Key) throws -> Bool { try base.decodeNil(forKey: key) }
    func decode(_: Bool.Type, forKey key: Key) throws -> Bool {
        try base.decode(Bool.self, forKey: key)
    }
    func decode(_: String.Type, forKey key: Key) throws -> String {
        try base.decode(String.self, forKey: key)
    }
    func decode(_: Double.Type, forKey key: Key) throws -> Double {
        try base.decode(Double.self, forKey: key)
    }
    func decode(_: Float.Type, forKey key: Key) throws -> Float {
        try base.decode(Float.self, forKey: key)
    }
    func decode(_: Int.Type, forKey key: Key) throws -> Int {
        try base.decode(Int.self, forKey: key)
    }
    func decode(_: Int8.Type, forKey key: Key) throws -> Int8 {
        try base.decode(Int8.self, forKey: key)
    }
    func decode(_: Int16.Type, forKey key: Key) throws -> Int16 {
        try base.decode(Int16.self, forKey: key)
    }
    func decode(_: Int32.Type, forKey key: Key) throws -> Int32 {
        try base.decode(Int32.self, forKey: key)
    }
    func decode(_: Int64.Type, forKey key: Key) throws -> Int64 {
        try base.decode(Int64.self, forKey: key)
    }
    func decode(_: UInt.Type, forKey key: Key) throws -> UInt {
        try base.decode(UInt.self, forKey: key)
    }
    func decode(_: UInt8.Type, forKey key: Key) throws -> UInt8 {
        try base.decode(UInt8.self, forKey: key)
    }
    func decode(_: UInt16.Type, forKey key: Key) throws -> UInt16 {
        try base.decode(UInt16.self, forKey: key)
    }
    func decode(_: UInt32.Type, forKey key: Key) throws -> UInt32 {
        try base.decode(UInt32.self, forKey: key)
    }
    func decode(_: UInt64.Type, forKey key: Key) throws -> UInt64 {
        try base.decode(UInt64.self, forKey: key)
    }

    func decode<Value: Decodable>(_: Value.Type, forKey key: Key) throws -> Value {
        try base.decode(Checked<Value>.self, forKey: key).value
    }

    func nestedContainer<Inner: CodingKey>(
        keyedBy type: Inner.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Inner> {
        try CheckingDecoder(base: base.superDecoder(forKey: key)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try CheckingDecoder(base: base.superDecoder(forKey: key)).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { CheckingDecoder(base: try base.superDecoder()) }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        CheckingDecoder(base: try base.superDecoder(forKey: key))
    }
}

private struct CheckingList: UnkeyedDecodingContainer {
    var base: any UnkeyedDecodingContainer
    var codingPath: [any CodingKey] { base.codingPath }
    var count: Int? { base.count }
    var isAtEnd: Bool { base.isAtEnd }
    var currentIndex: Int { base.currentIndex }

    mutating func decodeNil() throws -> Bool { try base.decodeNil() }
    mutating func decode(_: Bool.Type) throws -> Bool { try base.decode(Bool.self) }
    mutating func decode(_: String.Type) throws -> String { try base.decode(String.self) }
    mutating func decode(_: Double.Type) throws -> Double { try base.decode(Double.self) }
    mutating func decode(_: Float.Type) throws -> Float { try base.decode(Float.self) }
    mutating func decode(_: Int.Type) throws -> Int { try base.decode(Int.self) }
    mutating func decode(_: Int8.Type) throws -> Int8 { try base.decode(Int8.self) }
    mutating func decode(_: Int16.Type) throws -> Int16 { try base.decode(Int16.self) }
    mutating func decode(_: Int32.Type) throws -> Int32 { try base.decode(Int32.self) }
    mutating func decode(_: Int64.Type) throws -> Int64 { try base.decode(Int64.self) }
    mutating func decode(_: UInt.Type) throws -> UInt { try base.decode(UInt.self) }
    mutating func decode(_: UInt8.Type) throws -> UInt8 { try base.decode(UInt8.self) }
    mutating func decode(_: UInt16.Type) throws -> UInt16 { try base.decode(UInt16.self) }
    mutating func decode(_: UInt32.Type) throws -> UInt32 { try base.decode(UInt32.self) }
    mutating func decode(_: UInt64.Type) throws -> UInt64 { try base.decode(UInt64.self) }

    mutating func decode<Value: Decodable>(_: Value.Type) throws -> Value {
        try base.decode(Checked<Value>.self).value
    }

    mutating func nestedContainer<Inner: CodingKey>(
        keyedBy type: Inner.Type
    ) throws -> KeyedDecodingContainer<Inner> {
        try CheckingDecoder(base: base.superDecoder()).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try CheckingDecoder(base: base.superDecoder()).unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder {
        CheckingDecoder(base: try base.superDecoder())
    }
}
