/// An identifier that cannot be mistaken for another kind's, yet is coded as a bare string.
public struct Identifier<Subject>: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    public static func < (left: Self, right: Self) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension Identifier: Codable {
    public init(from decoder: any Decoder) throws {
        rawValue = try decoder.singleValueContainer().decode(String.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

/// Lets an identifier be the key of an encoded dictionary; Apple's older systems do not know that.
@available(iOS 15.4, macOS 12.3, tvOS 15.4, watchOS 8.5, *)
extension Identifier: CodingKeyRepresentable {
    public var codingKey: any CodingKey { rawValue.codingKey }

    public init?<T: CodingKey>(codingKey: T) {
        rawValue = codingKey.stringValue
    }
}

extension Identifier: CustomStringConvertible {
    public var description: String { rawValue }
}

/// One person, as the app's backend knows them.
public enum Customer {
    public typealias ID = Identifier<Customer>
}
