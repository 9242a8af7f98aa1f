import HTTPTypes
import Foundation

/// `openapi.json`, as far as a test needs to understand it.
struct OpenAPIDocument: Sendable {
    /// One method of one path.
    struct Operation: Sendable {
        var method: String
        var template: String
        var content: JSONValue

        /// The names of the security schemes, any of which will do.
        var security: [String] {
            (content["security"].array ?? []).flatMap { ($0.object ?? [:]).keys }.sorted()
        }

        /// The path with `id` in its place.
        func path(id: String) -> String {
            template.replacingOccurrences(of: "{id}", with: id)
        }
    }

    let root: JSONValue
    /// Sorted by path and method.
    let operations: [Operation]

    init(root: JSONValue) {
        self.root = root
        operations = (root["paths"].object ?? [:]).sorted { $0.key < $1.key }
            .flatMap { path, item in
                (item.object ?? [:]).sorted { $0.key < $1.key }.map {
                    Operation(method: $0.key.uppercased(), template: path, content: $0.value)
                }
            }
    }

    /// The file that the server embeds.
    static let ofServer: OpenAPIDocument = {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources/TollgateServer/Pages/openapi.json")
        let root = try? JSONDecoder().decode(JSONValue.self, from: Data(contentsOf: file))
        return OpenAPIDocument(root: root ?? .null)
    }()

    func operation(_ method: String, _ path: String) -> Operation? {
        let parts = path.prefix { $0 != "?" }.split(separator: "/")
        return operations.filter { $0.method == method }.first { operation in
            let template = operation.template.split(separator: "/")
            return template.count == parts.count
                && zip(template, parts).allSatisfy { $0.first == "{" || $0 == $1 }
        }
    }

    /// What the document does not say of this answer; empty where all is as described.
    func problems(with answer: Answer, to method: String, _ path: String) -> [String] {
        guard let operation = operation(method, path) else {
            return [404, 405].contains(answer.status)
                ? check(answer.json, root["components"]["schemas"]["Error"], "error")
                : ["\(method) \(path) is not described"]
        }
        let responses = operation.content["responses"]
        let response = responses["\(answer.status)"]
        guard response != .null else { return ["status \(answer.status) is not described"] }
        // A redirection has no body.
        if response["content"] == .null, answer.bytes.isEmpty { return [] }
        let type = answer.headers[.contentType]?.prefix { $0 != ";" } ?? ""
        let media = response["content"][String(type)]
        guard media != .null else { return ["content type \(type) is not described"] }
        var problems: [String] = []
        if let code = answer.code, !(response["description"].string ?? "").contains("`\(code)`") {
            problems.append("code \(code) is not described for \(answer.status)")
        }
        guard type == "application/json" else { return problems }
        return problems + check(answer.json, media["schema"], "body")
    }

    /// The paths of what a body of this schema may not hold as null.
    func neverNull(in schema: JSONValue) -> [[String]] {
        if let reference = schema["$ref"].string {
            let name = reference.split(separator: "/").last.map(String.init) ?? ""
            return neverNull(in: root["components"]["schemas"][name])
        }
        if schema["items"] != .null {
            return neverNull(in: schema["items"]).map { ["[]"] + $0 }
        }
        return (schema["properties"].object ?? [:]).sorted { $0.key < $1.key }.flatMap {
            name,
            property in
            let inner = neverNull(in: property).map { [name] + $0 }
            return isNullable(property) ? inner : [[name]] + inner
        }
    }

    private func isNullable(_ schema: JSONValue) -> Bool {
        if let reference = schema["$ref"].string {
            let name = reference.split(separator: "/").last.map(String.init) ?? ""
            return isNullable(root["components"]["schemas"][name])
        }
        return schema["type"].string == "null"
            || (schema["type"].array ?? []).contains { $0.string == "null" }
            || (schema["oneOf"].array ?? []).contains { isNullable($0) }
    }

    /// Compares a value with the part of JSON Schema that our document uses.
    private func check(_ value: JSONValue, _ schema: JSONValue, _ place: String) -> [String] {
        if let reference = schema["$ref"].string {
            let name = reference.split(separator: "/").last.map(String.init) ?? ""
            return check(value, root["components"]["schemas"][name], place)
        }
        if let choices = schema["oneOf"].array {
            return choices.contains { check(value, $0, place).isEmpty }
                ? [] : ["\(place) is none of \(choices.count) choices"]
        }
        var types = schema["type"].array?.compactMap(\.string) ?? []
        if let type = schema["type"].string { types = [type] }
        guard types.contains(value.typeName) else {
            return ["\(place) is of type \(value.typeName), not \(types)"]
        }
        if let allowed = schema["enum"].array, !allowed.contains(value) {
            return ["\(place) is not one of \(allowed.compactMap(\.string))"]
        }
        if schema["const"] != .null, schema["const"] != value { return ["\(place) is not const"] }
        var problems: [String] = []
        for (index, element) in (value.array ?? []).enumerated() {
            problems += check(element, schema["items"], "\(place)[\(index)]")
        }
        if let object = value.object {
            problems += check(object, of: schema, place)
        }
        return problems
    }

    private func check(
        _ object: [String: JSONValue],
        of schema: JSONValue,
        _ place: String
    ) -> [String] {
        var problems: [String] = []
        for required in schema["required"].array?.compactMap(\.string) ?? []
        where object[required] == nil {
            problems.append("\(place).\(required) is missing")
        }
        let properties = schema["properties"].object ?? [:]
        for (name, value) in object.sorted(by: { $0.key < $1.key }) {
            if let property = properties[name] {
                problems += check(value, property, "\(place).\(name)")
            } else if schema["additionalProperties"].object != nil {
                problems += check(value, schema["additionalProperties"], "\(place).\(name)")
            } else if schema["additionalProperties"].bool != true, !properties.isEmpty {
                problems.append("\(place).\(name) is not described")
            }
        }
        return problems
    }
}
