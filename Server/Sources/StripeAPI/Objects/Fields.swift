import StrictJSON

/// The fields of one JSON object, read one by one; every error names the field.
///
/// A field that may be absent may also be `null`. A field of a wrong type is an error even if we
/// could do without: it says that the shape is not the one we know.
struct Fields {
    let json: JSON
    let object: String

    init(_ json: JSON, of object: String) throws(Stripe.DecodingError) {
        guard json.kind == .object else {
            throw Stripe.DecodingError(object: object, field: "", expected: "an object")
        }
        self.json = json
        self.object = object
    }

    /// For types that say what they are: also checks the field `object`.
    init<Value: Stripe.Object>(_ json: JSON, of type: Value.Type) throws(Stripe.DecodingError) {
        try self.init(json, of: type.objectName)
        guard json["object"]?.string == type.objectName else {
            throw error("object", "‘\(type.objectName)’")
        }
    }

    func error(_ field: StaticString, _ expected: String) -> Stripe.DecodingError {
        Stripe.DecodingError(object: object, field: "\(field)", expected: expected)
    }

    /// The value of a field that is there and not null.
    func value(_ field: StaticString) -> JSON? {
        guard let value = json[field], !value.isNull else { return nil }
        return value
    }

    // MARK: - Scalars

    func optionalString(_ field: StaticString) throws(Stripe.DecodingError) -> String? {
        guard let value = value(field) else { return nil }
        guard let string = value.string else { throw error(field, "a string") }
        return string
    }

    func string(_ field: StaticString) throws(Stripe.DecodingError) -> String {
        guard let string = try optionalString(field) else { throw error(field, "a string") }
        return string
    }

    func optionalInteger(_ field: StaticString) throws(Stripe.DecodingError) -> Int64? {
        guard let value = value(field) else { return nil }
        guard let integer = value.int64 else { throw error(field, "a whole number") }
        return integer
    }

    func integer(_ field: StaticString) throws(Stripe.DecodingError) -> Int64 {
        guard let integer = try optionalInteger(field) else {
            throw error(field, "a whole number")
        }
        return integer
    }

    func optionalBool(_ field: StaticString) throws(Stripe.DecodingError) -> Bool? {
        guard let value = value(field) else { return nil }
        guard let bool = value.bool else { throw error(field, "true or false") }
        return bool
    }

    func bool(_ field: StaticString) throws(Stripe.DecodingError) -> Bool {
        guard let bool = try optionalBool(field) else { throw error(field, "true or false") }
        return bool
    }

    func optionalWord<Word: Stripe.OpenEnum>(
        _ field: StaticString
    ) throws(Stripe.DecodingError) -> Word? {
        guard let string = try optionalString(field) else { return nil }
        return Word(rawValue: string)
    }

    func word<Word: Stripe.OpenEnum>(_ field: StaticString) throws(Stripe.DecodingError) -> Word {
        Word(rawValue: try string(field))
    }

    // MARK: - Objects

    /// The fields of an object inside this one.
    func optionalFields(_ field: StaticString) throws(Stripe.DecodingError) -> Fields? {
        guard let value = value(field) else { return nil }
        return try Fields(value, of: "\(object).\(field)")
    }

    func optionalObject<Value: Stripe.Object>(
        _ field: StaticString
    ) throws(Stripe.DecodingError) -> Value? {
        guard let value = value(field) else { return nil }
        return try Value(value)
    }

    func object<Value: Stripe.Object>(_ field: StaticString) throws(Stripe.DecodingError) -> Value {
        guard let value: Value = try optionalObject(field) else {
            throw error(field, "an object")
        }
        return value
    }

    func optionalReference<Value: Stripe.IdentifiedObject>(
        _ field: StaticString
    ) throws(Stripe.DecodingError) -> Stripe.IDOrObject<Value>? {
        guard let value = value(field) else { return nil }
        if let id = value.string { return Stripe.IDOrObject(id: id, json: nil) }
        guard value.kind == .object, let id = value["id"]?.string else {
            throw error(field, "an id or an object")
        }
        return Stripe.IDOrObject(id: id, json: value)
    }

    func reference<Value: Stripe.IdentifiedObject>(
        _ field: StaticString
    ) throws(Stripe.DecodingError) -> Stripe.IDOrObject<Value> {
        guard let reference: Stripe.IDOrObject<Value> = try optionalReference(field) else {
            throw error(field, "an id or an object")
        }
        return reference
    }

    func optionalList<Element: Stripe.Object>(
        _ field: StaticString
    ) throws(Stripe.DecodingError) -> Stripe.List<Element>? {
        guard let value = value(field) else { return nil }
        return try Stripe.List(value, in: object, field: "\(field)")
    }

    func list<Element: Stripe.Object>(
        _ field: StaticString
    ) throws(Stripe.DecodingError) -> Stripe.List<Element> {
        guard let list: Stripe.List<Element> = try optionalList(field) else {
            throw error(field, "a list")
        }
        return list
    }

    /// `metadata`; empty where Stripe leaves it out.
    func metadata() throws(Stripe.DecodingError) -> [String: String] {
        guard let value = value("metadata") else { return [:] }
        guard value.kind == .object else { throw error("metadata", "an object of strings") }
        var metadata: [String: String] = [:]
        for (name, value) in value.members {
            guard let string = value.string else {
                throw error("metadata", "an object of strings")
            }
            metadata[name] = string
        }
        return metadata
    }
}
