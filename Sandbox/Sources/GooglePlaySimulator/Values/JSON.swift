import Foundation

/// A JSON value, as it goes over the wire.
enum JSON: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    /// The member of an object, `nil` where there is none or it is null.
    subscript(key: String) -> JSON? {
        guard case .object(let members) = self, let member = members[key], member != .null else {
            return nil
        }
        return member
    }

    var text: String? { if case .string(let text) = self { text } else { nil } }
    var flag: Bool? { if case .bool(let flag) = self { flag } else { nil } }
    var list: [JSON]? { if case .array(let list) = self { list } else { nil } }

    /// A whole number; Google writes those of 64 bits as strings.
    var whole: Int64? {
        switch self {
        case .integer(let number): number
        case .string(let text): Int64(text)
        default: nil
        }
    }

    /// The bytes that are sent, keys in order.
    var bytes: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)) ?? Data("null".utf8)
    }

    /// - Returns: `nil` where the bytes are no JSON.
    init?(bytes: Data) {
        guard let value = try? JSONDecoder().decode(JSON.self, from: bytes) else { return nil }
        self = value
    }

    // MARK: - Parts that may be missing

    static func text(_ text: String?) -> JSON? { text.map(JSON.string) }
    static func time(_ instant: Int64?) -> JSON? {
        instant.map { .string(Timestamp.text($0)) }
    }
    /// An integer of 64 bits, which Google writes as a string.
    static func long(_ number: Int64?) -> JSON? { number.map { .string("\($0)") } }
    static func whole(_ number: Int?) -> JSON? { number.map { .integer(Int64($0)) } }
    /// An empty object, which says something by being there.
    static func mark(_ isThere: Bool) -> JSON? { isThere ? .object([:]) : nil }
    /// A list, left out where it is empty, as Google does.
    static func items(_ list: [JSON]) -> JSON? { list.isEmpty ? nil : .array(list) }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    init(stringLiteral text: String) { self = .string(text) }
    init(booleanLiteral flag: Bool) { self = .bool(flag) }
    init(integerLiteral number: Int64) { self = .integer(number) }
    init(arrayLiteral elements: JSON...) { self = .array(elements) }

    /// Members without a value are left out.
    init(dictionaryLiteral elements: (String, JSON?)...) {
        var members: [String: JSON] = [:]
        for (name, value) in elements { members[name] = value }
        self = .object(members)
    }
}

extension JSON: Codable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // The most frequent types first: a type that does not fit throws, and a throw takes time.
        if container.decodeNil() {
            self = .null
        } else if let text = try? container.decode(String.self) {
            self = .string(text)
        } else if let members = try? container.decode([String: JSON].self) {
            self = .object(members)
        } else if let number = try? container.decode(Int64.self) {
            self = .integer(number)
        } else if let flag = try? container.decode(Bool.self) {
            self = .bool(flag)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else {
            self = .array(try container.decode([JSON].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let flag): try container.encode(flag)
        case .integer(let number): try container.encode(number)
        case .number(let number): try container.encode(number)
        case .string(let text): try container.encode(text)
        case .array(let list): try container.encode(list)
        case .object(let members): try container.encode(members)
        }
    }
}
