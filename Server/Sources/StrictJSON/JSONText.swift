/// JSON to send: members stay in the order given, absent ones are left out.
package enum JSONText {
    case string(String)
    case integer(Int64)
    case bool(Bool)
    case strings([String])
    indirect case list([JSONText])
    indirect case members([(String, JSONText)])

    /// An object of the members that are there.
    package static func object(_ members: [(String, JSONText?)]) -> JSONText {
        .members(members.compactMap { name, value in value.map { (name, $0) } })
    }

    /// The text in UTF-8.
    package var bytes: [UInt8] { Array(text.utf8) }

    private var text: String {
        switch self {
        case .string(let value): Self.quoted(value)
        case .integer(let value): String(value)
        case .bool(let value): value ? "true" : "false"
        case .strings(let values): "[" + values.map(Self.quoted).joined(separator: ",") + "]"
        case .list(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
        case .members(let members):
            "{" + members.map { Self.quoted($0) + ":" + $1.text }.joined(separator: ",") + "}"
        }
    }

    private static func quoted(_ value: String) -> String {
        var text = "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\u{0}"..<"\u{20}":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }
}

extension Optional where Wrapped == String {
    package var json: JSONText? { map(JSONText.string) }
}

extension Optional where Wrapped == Int64 {
    package var json: JSONText? { map(JSONText.integer) }
}
