import Foundation

/// A JSON value, the material of every object that the simulator serves.
///
/// Members whose name starts with an underscore are the simulator's own notes on an object; they
/// are stored with it and never rendered.
enum JSON: Hashable, Sendable {
    case null
    case bool(Bool)
    case int(Int)
    case double(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    init(_ value: String?) { self = value.map(JSON.string) ?? .null }
    init(_ value: Int?) { self = value.map(JSON.int) ?? .null }
    init(_ value: Bool?) { self = value.map(JSON.bool) ?? .null }
    init(_ values: [String]) { self = .array(values.map(JSON.string)) }

    /// An object with `members`, and with null for each of the space-separated `nulls` it lacks.
    static func object(nulls: String, _ members: [String: JSON]) -> JSON {
        var all = members
        for name in nulls.split(separator: " ") where all[String(name)] == nil {
            all[String(name)] = .null
        }
        return .object(all)
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    init(stringLiteral value: String) { self = .string(value) }
    init(integerLiteral value: Int) { self = .int(value) }
    init(booleanLiteral value: Bool) { self = .bool(value) }
    init(arrayLiteral elements: JSON...) { self = .array(elements) }
    init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}

extension JSON {
    var string: String? { if case .string(let value) = self { value } else { nil } }
    var int: Int? { if case .int(let value) = self { value } else { nil } }
    var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    var array: [JSON]? { if case .array(let value) = self { value } else { nil } }
    var members: [String: JSON]? { if case .object(let value) = self { value } else { nil } }
    var isNull: Bool { self == .null }

    /// The number, whole or not.
    var number: Double? {
        switch self {
        case .int(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    /// The text of a member that objects of its kind always have.
    var text: String { string ?? "" }
    /// The whole number of a member that objects of its kind always have.
    var count: Int { int ?? 0 }
    /// The elements of an array, or of the page inside a list object.
    var elements: [JSON] { array ?? self["data"].array ?? [] }
    /// The id of an object, whether it is expanded or only named.
    var reference: String? { string ?? self["id"].string }

    /// A member; null if there is none or this is no object.
    subscript(name: String) -> JSON {
        get { members?[name] ?? .null }
        set {
            guard case .object(var members) = self else { return }
            self = .null  // so that the dictionary is held once and changed in place
            members[name] = newValue
            self = .object(members)
        }
    }

    /// Removes a member altogether, where `.null` would only make it null.
    mutating func remove(_ name: String) {
        guard case .object(var members) = self else { return }
        members[name] = nil
        self = .object(members)
    }
}

extension JSON {
    /// The value without the simulator's notes on it.
    var stripped: JSON {
        switch self {
        case .object(let members):
            .object(
                members.filter { !$0.key.hasPrefix("_") }.mapValues(\.stripped)
            )
        case .array(let elements): .array(elements.map(\.stripped))
        default: self
        }
    }

    /// The JSON text: `id` and `object` first, then by name, so that equal values give equal bytes.
    var rendered: String {
        var text = ""
        write(to: &text)
        return text
    }

    private func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .int(let value): text += String(value)
        case .double(let value): text += String(value)
        case .string(let value): Self.write(value, to: &text)
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += "," }
                value.write(to: &text)
            }
            text += "]"
        case .object(let members): Self.write(members, to: &text)
        }
    }

    private static func write(_ members: [String: JSON], to text: inout String) {
        let leading = ["id", "object"].filter { members[$0] != nil }
        let rest = members.keys.filter { $0 != "id" && $0 != "object" && !$0.hasPrefix("_") }
        text += "{"
        for (index, name) in (leading + rest.sorted()).enumerated() {
            if index > 0 { text += "," }
            write(name, to: &text)
            text += ":"
            (members[name] ?? .null).write(to: &text)
        }
        text += "}"
    }

    /// Whether it stands in JSON as it is, as nearly every string does.
    private static func isPlain(_ string: String) -> Bool {
        string.withCString { strcspn($0, escaped) } == string.utf8.count
    }

    /// Quotation mark, reverse solidus and the control characters, of which the first ends the text.
    private static let escaped = String(
        decoding: [UInt8(ascii: "\""), UInt8(ascii: "\\")] + Array(1..<0x20),
        as: UTF8.self
    )

    private static func write(_ string: String, to text: inout String) {
        text += "\""
        if isPlain(string) {
            text += string + "\""
            return
        }
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where scalar.value < 0x20:
                text += "\\u" + String(scalar.value + 0x10000, radix: 16).dropFirst()
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
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
        } else if let number = try? container.decode(Int.self) {
            self = .int(number)
        } else if let flag = try? container.decode(Bool.self) {
            self = .bool(flag)
        } else if let number = try? container.decode(Double.self) {
            self = .double(number)
        } else {
            self = .array(try container.decode([JSON].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        case .object(let members): try container.encode(members)
        }
    }

    /// Reads JSON text.
    init(parsing bytes: Data) throws {
        self = try JSONDecoder().decode(JSON.self, from: bytes)
    }
}
