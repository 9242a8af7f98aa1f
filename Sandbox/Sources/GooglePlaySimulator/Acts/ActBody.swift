import Foundation

/// Bodies of the control API: snake_case, and a key that nobody knows is refused by its name.
enum ActBody {
    static func decode<Body: Decodable>(_ type: Body.Type, from bytes: Data) throws(Refusal) -> Body
    {
        let bytes = bytes.isEmpty ? Data("{}".utf8) : bytes
        guard let json = JSON(bytes: bytes), case .object = json else {
            throw .invalid("The body is not a JSON object.")
        }
        return try decode(type, from: json)
    }

    static func decode<Body: Decodable>(_ type: Body.Type, from json: JSON) throws(Refusal) -> Body
    {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .custom { path in
            guard let key = path.last else { return Key(stringValue: "") }
            return key.intValue == nil ? Key(stringValue: swiftName(key.stringValue)) : key
        }
        let body: Body
        do {
            body = try decoder.decode(type, from: json.bytes)
        } catch let error as DecodingError {
            throw .invalid(words(error))
        } catch let refusal as Refusal {
            throw refusal
        } catch {
            throw .invalid("The body cannot be read.")
        }
        if let unknown = unknownKey(in: json, of: body, at: "") {
            throw .invalid("Unknown key: \(unknown)")
        }
        return body
    }

    /// `base` with those members changed that `json` names; all others are as in the beginning.
    static func overlay<Value: Codable>(_ json: JSON, on base: Value) throws(Refusal) -> Value {
        guard let bytes = try? JSONEncoder().encode(base),
            case .object(var members) = JSON(bytes: bytes), case .object(let changes) = json
        else { throw .invalid("The body is not a JSON object.") }
        for (name, value) in changes {
            guard members[swiftName(name)] != nil else { throw .invalid("Unknown key: \(name)") }
            members[swiftName(name)] = value
        }
        do {
            return try JSONDecoder().decode(Value.self, from: JSON.object(members).bytes)
        } catch let error as DecodingError {
            throw .invalid(words(error))
        } catch {
            throw .invalid("The body cannot be read.")
        }
    }

    /// `product_id` → `productID`.
    static func swiftName(_ name: String) -> String {
        let parts = name.split(separator: "_", omittingEmptySubsequences: true)
        guard let first = parts.first else { return name }
        return String(first)
            + parts.dropFirst().map { part in
                switch part {
                case "id": "ID"
                case "ids": "IDs"
                case "url": "URL"
                default: part.prefix(1).uppercased() + part.dropFirst()
                }
            }.joined()
    }

    /// `productID` → `product_id`.
    static func wireName(_ name: String) -> String {
        var text = ""
        var wasUpper = true
        for letter in name {
            if letter.isUppercase, !wasUpper { text.append("_") }
            wasUpper = letter.isUppercase
            text.append(contentsOf: letter.lowercased())
        }
        return text
    }

    private static func unknownKey(in json: JSON, of value: Any, at path: String) -> String? {
        var mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .optional {
            guard let inner = mirror.children.first?.value else { return nil }
            return unknownKey(in: json, of: inner, at: path)
        }
        switch json {
        case .array(let list) where mirror.displayStyle == .collection:
            for (index, pair) in zip(list, mirror.children).enumerated() {
                let place = path.isEmpty ? "\(index)" : "\(path).\(index)"
                if let found = unknownKey(in: pair.0, of: pair.1.value, at: place) { return found }
            }
            return nil
        case .object(let members) where mirror.displayStyle == .struct:
            if value is JSON { return nil }
            mirror = Mirror(reflecting: value)
            var properties: [String: Any] = [:]
            for child in mirror.children {
                if let label = child.label { properties[label] = child.value }
            }
            for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                let place = path.isEmpty ? name : "\(path).\(name)"
                guard let property = properties[swiftName(name)] else { return place }
                if let found = unknownKey(in: member, of: property, at: place) { return found }
            }
            return nil
        default: return nil
        }
    }

    private static func words(_ error: DecodingError) -> String {
        let (path, words): ([any CodingKey], String) =
            switch error {
            case .keyNotFound(let key, let context): (context.codingPath + [key], "is missing")
            case .typeMismatch(_, let context), .valueNotFound(_, let context),
                .dataCorrupted(let context):
                (context.codingPath, "is not what is expected there")
            @unknown default: ([], "")
            }
        let place = path.map { $0.intValue.map(String.init) ?? wireName($0.stringValue) }
        return place.isEmpty
            ? "The body is not the JSON that is expected."
            : "'\(place.joined(separator: "."))' \(words)."
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
