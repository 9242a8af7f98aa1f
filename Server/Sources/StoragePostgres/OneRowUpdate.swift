/// An UPDATE of one row, of which one of many rows is made.
struct OneRowUpdate {
    /// Of which table.
    let table: String
    private let change: Substring
    private let condition: Substring

    /// Returns `nil` for another kind of statement.
    init?(_ sql: String) {
        let beginning = "UPDATE "
        guard sql.hasPrefix(beginning), let place = sql.firstRange(of: "WHERE ") else { return nil }
        table = String(sql.dropFirst(beginning.count).prefix { $0 != " " })
        change = sql[..<place.lowerBound]
        condition = sql[place.lowerBound...]
    }

    /// The statement for so many rows.
    ///
    /// - Parameter isGiven: whether the rows have a value for each parameter; others are null in all rows,
    ///   and are not passed: of nulls alone nobody knows the type.
    func statement(rows: Int, isGiven: [Bool]) -> String {
        let names = isGiven.indices.filter { isGiven[$0] }.map { "p\($0 + 1)" }
        let groups = (0..<rows).map { row in
            let places = names.indices.map { "$\(row * names.count + $0 + 1)" }
            return "(\(places.joined(separator: ", ")))"
        }
        return """
            \(Self.named(change, isGiven))
            FROM (VALUES \(groups.joined(separator: ", "))) AS v (\(names.joined(separator: ", ")))
            \(Self.named(condition, isGiven))
            """
    }

    /// `text` with the columns of `v`, or null, in the place of its parameters.
    private static func named(_ text: Substring, _ isGiven: [Bool]) -> String {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        return parts.dropFirst().reduce(into: String(parts[0])) { named, part in
            let digits = part.prefix { $0.isNumber }
            let place = (Int(digits) ?? 1) - 1
            named += (isGiven[place] ? "v.p\(digits)" : "NULL") + part.dropFirst(digits.count)
        }
    }
}
