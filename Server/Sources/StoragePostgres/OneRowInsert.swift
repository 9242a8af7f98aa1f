/// An INSERT of one row, of which one of many rows is made.
struct OneRowInsert {
    /// Into which table.
    let table: String
    private var head: String
    /// Its values: parameters by their place in a row, and constants as they are written.
    private var values: [Value]
    private let tail: Substring

    private enum Value {
        case parameter(Int)
        case constant(String)
    }

    /// Returns `nil` where many rows cannot share the statement: another kind of statement, a value that is
    /// reckoned, or an end that names a row's own values.
    init?(_ sql: String) {
        let beginning = "INSERT INTO "
        guard sql.hasPrefix(beginning), let opening = sql.firstRange(of: "VALUES ("),
            let closing = sql[opening.upperBound...].firstIndex(of: ")")
        else { return nil }
        let group = sql[opening.upperBound..<closing]
        tail = sql[sql.index(after: closing)...]
        guard !group.contains("("), !tail.contains("$") else { return nil }
        table = String(sql.dropFirst(beginning.count).prefix { $0 != " " })
        head = String(sql[..<opening.lowerBound])
        values = group.split(separator: ",").map { part in
            let text = part.drop { $0.isWhitespace }
            guard text.first == "$", let number = Int(text.dropFirst()) else {
                return .constant(String(text))
            }
            return .parameter(number - 1)
        }
    }

    /// The same with an `id`, the last of a row's values.
    func withID() -> OneRowInsert? {
        guard let closing = head.lastIndex(of: ")") else { return nil }
        var insert = self
        insert.head.insert(contentsOf: ", id", at: closing)
        let parameters = values.count { if case .parameter = $0 { true } else { false } }
        insert.values.append(.parameter(parameters))
        return insert
    }

    /// The statement for so many rows, of `width` values each.
    func statement(rows: Int, width: Int) -> String {
        let groups = (0..<rows).map { row in
            let words = values.map { value in
                switch value {
                case .parameter(let place): "$\(row * width + place + 1)"
                case .constant(let text): text
                }
            }
            return "(\(words.joined(separator: ", ")))"
        }
        return "\(head)VALUES \(groups.joined(separator: ", "))\(tail)"
    }
}
