/// The parameters of one request, taken out one by one; what nobody took is unknown to Stripe.
struct Parameters: Sendable {
    private var fields: [String: Form]
    private let prefix: String

    init(_ fields: [String: Form], prefix: String = "") {
        self.fields = fields
        self.prefix = prefix
    }

    /// The full name as errors show it: `items[0][price]`.
    func name(_ field: String) -> String { prefix.isEmpty ? field : "\(prefix)[\(field)]" }

    func has(_ field: String) -> Bool { fields[field] != nil }

    private mutating func take(_ field: String) -> Form? { fields.removeValue(forKey: field) }

    /// Text as it was sent, empty included; `nil` if it was not sent.
    mutating func raw(_ field: String) throws -> String? {
        switch take(field) {
        case nil: return nil
        case .text(let text): return text
        case .fields:
            throw APIError.invalid("Invalid string: \(name(field))", param: name(field))
        }
    }

    /// Text, `nil` if it was not sent or is empty.
    mutating func string(_ field: String, maximum: Int = 5_000) throws -> String? {
        guard let text = try raw(field), !text.isEmpty else { return nil }
        guard text.count <= maximum else {
            throw APIError.invalid(
                "Invalid string: \(text.prefix(20))…; must be at most \(maximum) characters",
                code: "parameter_invalid_string_too_long",
                param: name(field)
            )
        }
        return text
    }

    mutating func required(_ field: String, maximum: Int = 5_000) throws -> String {
        guard has(field) else { throw APIError.missing(parameter: name(field)) }
        guard let text = try string(field, maximum: maximum) else {
            throw APIError.invalid(
                "You passed an empty string for '\(name(field))'. We assume empty values are an "
                    + "attempt to unset a parameter; however '\(name(field))' cannot be unset.",
                code: "parameter_invalid_empty",
                param: name(field)
            )
        }
        return text
    }

    /// Instants (to the year 5138) and amounts in minor units; what is multiplied by another such
    /// number or by a thousand still fits.
    private static let reasonable = -latest...latest
    /// The last instant that is taken, in UNIX seconds.
    static let latest = 99_999_999_999

    /// An instant in UNIX seconds, which may be said as `now`.
    mutating func instant(_ field: String, now: Int) throws -> Int? {
        guard case .text("now") = fields[field] else {
            return try int(field, in: 0...Self.reasonable.upperBound)
        }
        fields[field] = nil
        return now
    }

    mutating func int(_ field: String, in range: ClosedRange<Int>? = nil) throws -> Int? {
        guard let text = try string(field) else { return nil }
        guard let value = Int(text) else {
            throw APIError.invalid(
                "Invalid integer: \(text)",
                code: "parameter_invalid_integer",
                param: name(field)
            )
        }
        let range = range ?? Self.reasonable
        if !range.contains(value) {
            throw APIError.invalid(
                value < range.lowerBound
                    ? "This value must be greater than or equal to \(range.lowerBound)."
                    : "This value must be less than or equal to \(range.upperBound).",
                code: "parameter_invalid_integer",
                param: name(field)
            )
        }
        return value
    }

    mutating func decimal(_ field: String) throws -> Double? {
        guard let text = try string(field) else { return nil }
        guard let value = Double(text), value.isFinite else {
            throw APIError.invalid("Invalid decimal: \(text)", param: name(field))
        }
        return value
    }

    mutating func bool(_ field: String) throws -> Bool? {
        guard let text = try string(field) else { return nil }
        switch text {
        case "true": return true
        case "false": return false
        default: throw APIError.invalid("Invalid boolean: \(text)", param: name(field))
        }
    }

    mutating func choice(_ field: String, of choices: [String]) throws -> String? {
        guard let text = try string(field) else { return nil }
        guard choices.contains(text) else {
            throw APIError.invalid(
                "Invalid \(name(field)): must be one of \(choices.joined(separator: ", "))",
                param: name(field)
            )
        }
        return text
    }

    mutating func strings(_ field: String) throws -> [String]? {
        switch take(field) {
        case nil: return nil
        case .text(""): return []
        case .text:
            throw APIError.invalid("Invalid array", param: name(field))
        case .fields(let elements):
            return try Self.inOrder(elements).map { key, element in
                guard case .text(let text) = element else {
                    throw APIError.invalid("Invalid string", param: "\(name(field))[\(key)]")
                }
                return text
            }
        }
    }

    /// The object in `field`, read by `read`, which must take all of it.
    mutating func object<Value>(
        _ field: String,
        _ read: (inout Parameters) throws -> Value
    ) throws -> Value? {
        switch take(field) {
        case nil, .text(""): return nil
        case .text:
            throw APIError.invalid("Invalid object", param: name(field))
        case .fields(let fields):
            var inner = Parameters(fields, prefix: name(field))
            let value = try read(&inner)
            try inner.finish()
            return value
        }
    }

    /// The list of objects in `field`, each read by `read`.
    mutating func objects<Value>(
        _ field: String,
        _ read: (inout Parameters) throws -> Value
    ) throws -> [Value]? {
        switch take(field) {
        case nil: return nil
        case .text(""): return []
        case .text:
            throw APIError.invalid("Invalid array", param: name(field))
        case .fields(let elements):
            return try Self.inOrder(elements).map { key, element in
                guard case .fields(let fields) = element else {
                    throw APIError.invalid("Invalid object", param: "\(name(field))[\(key)]")
                }
                var inner = Parameters(fields, prefix: "\(name(field))[\(key)]")
                let value = try read(&inner)
                try inner.finish()
                return value
            }
        }
    }

    private static func inOrder(_ elements: [String: Form]) -> [(String, Form)] {
        elements.sorted { (Int($0.key) ?? .max, $0.key) < (Int($1.key) ?? .max, $1.key) }
            .map { ($0.key, $0.value) }
    }

    /// Accepts parameters that change nothing here.
    mutating func ignore(_ fields: String...) {
        for field in fields { _ = take(field) }
    }

    /// Parameters that are stored as they came: objects become objects, numbers stay text.
    mutating func verbatim(_ field: String) -> JSON? { take(field).map(Self.json) }

    private static func json(_ form: Form) -> JSON {
        switch form {
        case .text("true"): .bool(true)
        case .text("false"): .bool(false)
        case .text(""): .null
        case .text(let text): .string(text)
        case .fields(let fields) where fields.keys.allSatisfy { Int($0) != nil }:
            .array(inOrder(fields).map { json($0.1) })
        case .fields(let fields): .object(fields.mapValues(json))
        }
    }

    /// Refuses what was not taken.
    func finish() throws {
        guard let first = fields.keys.min() else { return }
        throw APIError.unknown(parameter: name(first))
    }
}

extension Parameters {
    /// Puts texts into `object` under the same names; an empty one unsets.
    mutating func patch(_ object: inout JSON, _ fields: String...) throws {
        for field in fields {
            guard let text = try raw(field) else { continue }
            object[field] = text.isEmpty ? .null : .string(text)
        }
    }

    mutating func patchBool(_ object: inout JSON, _ field: String) throws {
        if let value = try bool(field) { object[field] = .bool(value) }
    }

    /// Merges `metadata`: an empty value removes a key, empty metadata removes them all.
    /// https://docs.stripe.com/metadata
    mutating func metadata(into object: inout JSON, _ field: String = "metadata") throws {
        guard let sent = take(field) else { return }
        let full = name(field)
        guard case .fields(let entries) = sent else {
            guard sent == .text("") else { throw APIError.invalid("Invalid object", param: full) }
            object[field] = [:]
            return
        }
        var metadata = object[field].members ?? [:]
        for (key, value) in entries {
            guard case .text(let text) = value, key.count <= 40, text.count <= 500 else {
                throw APIError.invalid(
                    "Metadata keys can have up to 40 characters, values are strings of up to 500.",
                    param: "\(full)[\(key)]"
                )
            }
            metadata[key] = text.isEmpty ? nil : .string(text)
        }
        guard metadata.count <= 50 else {
            throw APIError.invalid("Metadata can have up to 50 keys.", param: full)
        }
        object[field] = .object(metadata)
    }

    /// An address, with every line present.
    mutating func address(_ field: String) throws -> JSON? {
        try object(field) { part in
            var address = JSON.object(nulls: "city country line1 line2 postal_code state", [:])
            try part.patch(&address, "city", "country", "line1", "line2", "postal_code", "state")
            return address
        }
    }

    /// Whether a text can stand behind a link: any scheme but those that run in the page.
    static func isLink(_ url: String) -> Bool {
        guard let colon = url.firstIndex(of: ":") else { return false }
        let scheme = url[..<colon].lowercased()
        return !scheme.isEmpty && !["javascript", "data", "vbscript", "file"].contains(scheme)
            && scheme.allSatisfy {
                $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0))
            }
            && !url.contains { $0.isNewline || $0 == " " }
    }
}
