extension World {
    /// Answers a search: clauses joined by AND, `field:"value"`, `metadata["key"]:"value"`,
    /// `created>n`. https://docs.stripe.com/search
    func search(_ kind: Kind, _ call: inout Call) throws -> JSON {
        let query = try call.parameters.required("query")
        let limit = try call.parameters.int("limit", in: 1...100) ?? 10
        let page = try call.parameters.int("page", in: 0...1_000_000) ?? 0
        let clauses = try query.split(separator: " AND ").map { try SearchClause(String($0)) }
        let known = all(kind).reversed().filter { $0["deleted"].bool != true }
        let found = known.filter { object in
            clauses.allSatisfy { $0.matches(object) }
        }
        let rest = found.dropFirst(page)
        return [
            "object": "search_result", "url": .string("/v1/\(kind.rawValue)s/search"),
            "data": .array(Array(rest.prefix(limit))), "has_more": .bool(rest.count > limit),
            "next_page": rest.count > limit ? .string(String(page + limit)) : .null,
        ]
    }
}

/// One condition of a search.
struct SearchClause {
    private let field: [String]
    private let sign: Character
    private let value: String
    private let isNegated: Bool

    init(_ text: String) throws {
        var text = text[...]
        while text.first == " " { text.removeFirst() }
        isNegated = text.first == "-"
        if isNegated { text.removeFirst() }
        guard let end = text.firstIndex(where: { ":~<>".contains($0) }) else {
            throw APIError.invalid("We were unable to parse your search query.", param: "query")
        }
        sign = text[end]
        value = text[text.index(after: end)...].filter { !"\"'=\\".contains($0) }
        let name = text[..<end]
        field = name.split(whereSeparator: { "[].\"'".contains($0) }).map(String.init)
    }

    func matches(_ object: JSON) -> Bool {
        let found = field.reduce(object) { $0[$1] }
        return holds(for: found) != isNegated
    }

    private func holds(for found: JSON) -> Bool {
        switch sign {
        case "~": return (found.string ?? "").lowercased().contains(value.lowercased())
        case "<": return (found.int ?? .max) < (Int(value) ?? .min)
        case ">": return (found.int ?? .min) > (Int(value) ?? .max)
        default:
            if value == "null" { return found.isNull }
            if let number = found.int { return String(number) == value }
            if let flag = found.bool { return String(flag) == value }
            return found.string?.lowercased() == value.lowercased()
        }
    }
}
