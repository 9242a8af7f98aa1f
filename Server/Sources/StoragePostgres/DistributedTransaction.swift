internal import Storage

/// One open transaction where tables lie on several machines.
///
/// Each statement costs a trip to a machine and back, so what is asked or written of many rows goes in
/// one statement, to all machines at once.
struct DistributedTransaction: StorageConnection {
    let dialect = Dialect.citus
    let inner: PostgresTransaction

    /// Fewer rows go one by one, by statements that are prepared.
    private static let fewestRows = 4
    /// More rows make a statement that takes longer to read than it saves.
    private static let mostRows = 256

    private static let spread = Set(Distribution.tables.map(\.name))

    func query(_ sql: String, _ parameters: [SQLValue]) throws(StorageError) -> [Row] {
        try inner.query(sql, parameters)
    }

    func execute(_ sql: String, _ parameters: [SQLValue]) throws(StorageError) -> Int {
        try inner.execute(sql, parameters)
    }

    func queryMany(_ sql: String, _ rows: [[SQLValue]]) throws(StorageError) -> [[Row]] {
        try inner.queryMany(sql, rows)
    }

    func define(_ statement: String) throws(StorageError) {
        try inner.define(statement)
    }

    /// Of rows that share a statement only their sum is known: as many as were touched count as one, the
    /// last as none.
    ///
    /// Rows of an `ON CONFLICT … DO UPDATE` must have different keys.
    func executeMany(_ sql: String, _ rows: [[SQLValue]]) throws(StorageError) -> [Int] {
        guard rows.count >= Self.fewestRows else { return try inner.executeMany(sql, rows) }
        var touched = 0
        if let insert = Self.shared(sql) {
            try inTurn(rows) { some throws(StorageError) in
                touched += try run(insert, some).affected
            }
        } else if let update = OneRowUpdate(sql), Self.spread.contains(update.table) {
            for (isGiven, alike) in Dictionary(grouping: rows, by: { $0.map { $0 != .null } }) {
                try inTurn(alike) { some throws(StorageError) in
                    touched += try inner.runOnce(
                        update.statement(rows: some.count, isGiven: isGiven),
                        some.flatMap { $0.filter { $0 != .null } }
                    ).affected
                }
            }
        } else {
            return try inner.executeMany(sql, rows)
        }
        return rows.indices.map { $0 < touched ? 1 : 0 }
    }

    /// The ids are drawn before: rows come back from several machines in any order.
    func insertMany(_ sql: String, _ rows: [[SQLValue]]) throws(StorageError) -> [Int64] {
        guard rows.count >= Self.fewestRows else { return try inner.insertMany(sql, rows) }
        guard let insert = Self.shared(sql)?.withID() else {
            throw StorageError(.other, "rows of this table have no ids")
        }
        let drawn = try query(
            """
            SELECT nextval(pg_get_serial_sequence($1, 'id')) FROM generate_series(1, $2)
            """,
            [.text(insert.table), .integer(Int64(rows.count))]
        )
        let ids = try drawn.map { row throws(StorageError) in try row.int64(0) }
        let numbered = zip(rows, ids).map { $0 + [.integer($1)] }
        try inTurn(numbered) { some throws(StorageError) in _ = try run(insert, some) }
        return ids
    }

    func find(
        _ columns: String,
        in table: String,
        by keys: [String],
        _ rows: [[SQLValue]]
    ) throws(StorageError) -> [[Row]] {
        guard rows.count >= Self.fewestRows else {
            return try inner.find(columns, in: table, by: keys, rows)
        }
        var found = FoundRows(keys: keys.count)
        try inTurn(rows) { some throws(StorageError) in
            let wanted = keys.enumerated().map { key, name in
                let places = some.indices.map { "$\($0 * keys.count + key + 1)" }
                return "\(name) IN (\(places.joined(separator: ", ")))"
            }
            let sql = """
                SELECT \(keys.joined(separator: ", ")), \(columns) FROM \(table)
                WHERE \(wanted.joined(separator: " AND "))
                """
            found.take(try inner.runOnce(sql, some.flatMap(\.self)).rows)
        }
        return rows.map { found[$0] }
    }

    /// One statement makes, locks and reads: Citus locks the rows of a SELECT on one machine only.
    func lock(
        _ columns: String,
        in table: String,
        making made: [String],
        _ rows: [[SQLValue]]
    ) throws(StorageError) -> [[Row]] {
        guard rows.count >= Self.fewestRows else {
            return try inner.lock(columns, in: table, making: made, rows)
        }
        let places = made.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        let insert = Self.shared(
            """
            INSERT INTO \(table) (\(made.joined(separator: ", "))) VALUES (\(places))
            ON CONFLICT (\(made[0])) DO UPDATE SET \(made[1]) = \(table).\(made[1])
            RETURNING \(made[0]), \(columns)
            """
        )
        guard let insert else { throw StorageError(.other, "this table lies on one machine") }
        var found = FoundRows(keys: 1)
        try inTurn(rows) { some throws(StorageError) in found.take(try run(insert, some).rows) }
        return rows.map { found[[$0[0]]] }
    }

    private static func shared(_ sql: String) -> OneRowInsert? {
        OneRowInsert(sql).flatMap { spread.contains($0.table) ? $0 : nil }
    }

    private func run(
        _ insert: OneRowInsert,
        _ rows: [[SQLValue]]
    ) throws(StorageError) -> (rows: [Row], affected: Int) {
        let sql = insert.statement(rows: rows.count, width: rows[0].count)
        return try inner.runOnce(sql, rows.flatMap(\.self))
    }

    private func inTurn(
        _ rows: [[SQLValue]],
        _ step: ([[SQLValue]]) throws(StorageError) -> Void
    ) throws(StorageError) {
        for start in stride(from: 0, to: rows.count, by: Self.mostRows) {
            try step(Array(rows[start...].prefix(Self.mostRows)))
        }
    }
}

/// Rows by the values of their first columns, which are their key.
private struct FoundRows {
    let keys: Int
    private var rows: [[SQLValue]: [Row]] = [:]

    init(keys: Int) {
        self.keys = keys
    }

    mutating func take(_ found: [Row]) {
        for row in found {
            rows[Array(row.values.prefix(keys)), default: []]
                .append(Row(Array(row.values.dropFirst(keys))))
        }
    }

    subscript(_ key: [SQLValue]) -> [Row] { rows[key] ?? [] }
}
