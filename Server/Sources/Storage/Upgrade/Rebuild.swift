internal import Crypto

/// Derives everything again from the journal and compares (RULES §10).
public struct Rebuild: Sendable {
    /// What differs in one table.
    public struct Difference: Sendable {
        public var table: String
        public var rows: Int
        public var rebuiltRows: Int
    }

    public struct Report: Sendable {
        /// Journal rows replayed.
        public var replayed: Int64
        /// Of each derived table, rows and a hash over all of them in the order of their keys.
        public var digests: [(table: String, rows: Int, digest: String)]
        public var differences: [Difference]

        public var isIdentical: Bool { differences.isEmpty }
    }

    private let source: any StorageDriver
    private let scratch: any StorageDriver
    /// Derives the figures of reports; `nil` where they are not compared.
    private let figures: (@Sendable (RecordStore) async throws -> Void)?

    /// - Parameters:
    ///   - source: the database to be proven; only read.
    ///   - scratch: an empty one for the result.
    ///   - figures: derives the figures of reports, to compare them too; those of `source` must have
    ///     followed its journal to the end.
    public init(
        of source: any StorageDriver,
        into scratch: any StorageDriver,
        figures: (@Sendable (RecordStore) async throws -> Void)? = nil
    ) {
        self.source = source
        self.scratch = scratch
        self.figures = figures
    }

    /// - Parameter progress: told how many rows were replayed so far, and of how many.
    public func verify(progress: @Sendable (Int64, Int64) -> Void = { _, _ in }) async throws
        -> Report
    {
        try await scratch.migrate()
        var replay = JournalReplay(of: source, into: scratch)
        let end = try await replay.end()
        try await replay.run(upTo: end.last) { progress($0, end.count) }
        if let figures { try await figures(try await RecordStore(scratch)) }
        return try await compare(replay.replayed)
    }

    private static let tables = [
        "SELECT key, version, record, posted FROM purchase WHERE posted IS NOT NULL ORDER BY key",
        "SELECT holder, purchase FROM holding ORDER BY holder, purchase",
        // Sequences go on where an earlier engine had them, also for whom this one derives nothing.
        """
        SELECT key, environment, sequence - coalesce(added, 0), balance, next_change, answer
        FROM customer LEFT JOIN resequenced ON resequenced.customer = customer.key
        WHERE sequence > coalesce(added, 0) ORDER BY key
        """,
        "SELECT id, lot, customer, amount FROM transfer ORDER BY id",
        "SELECT key, customer FROM alias ORDER BY key",
    ]

    private static let figureTables = [
        """
        SELECT subject, kind, number, environment, day, customer, body FROM figure
        ORDER BY subject, kind, number
        """,
        """
        SELECT environment, measure, grain, day, store, product, country, currency, offer, app,
        detail, extra, items, units, amount FROM rollup
        """,
    ]

    private func compare(_ replayed: Int64) async throws -> Report {
        var report = Report(replayed: replayed, digests: [], differences: [])
        let names = ["purchase", "holding", "customer", "transfer", "alias", "figure", "rollup"]
        let tables = Self.tables + (figures == nil ? [] : Self.figureTables)
        for (name, sql) in zip(names, tables) {
            let (rows, digest) = try await Self.digest(sql, source)
            let (rebuiltRows, rebuiltDigest) = try await Self.digest(sql, scratch)
            report.digests.append((name, rows, digest))
            if digest != rebuiltDigest {
                report.differences.append(
                    Difference(table: name, rows: rows, rebuiltRows: rebuiltRows)
                )
            }
        }
        return report
    }

    private static func digest(
        _ sql: String,
        _ driver: any StorageDriver
    ) async throws -> (Int, String) {
        try await driver.read { connection in
            var hash = SHA256()
            let rows = try connection.query(sql)
            guard sql.contains("ORDER BY") else {
                // Databases sort texts by rules of their own.
                for row in rows.map({ Self.bytes(of: $0) }).sorted(by: {
                    $0.lexicographicallyPrecedes($1)
                }) {
                    hash.update(data: row)
                }
                return (rows.count, RowKey(digest: hash.finalize()).hex)
            }
            for row in rows { hash.update(data: Self.bytes(of: row)) }
            return (rows.count, RowKey(digest: hash.finalize()).hex)
        }
    }

    private static func bytes(of row: Row) -> [UInt8] {
        var bytes: [UInt8] = []
        for value in row.values {
            switch value {
            case .null: bytes.append(0)
            case .integer(let integer):
                withUnsafeBytes(of: integer.bigEndian) { bytes += $0 }
            case .text(let text): bytes += Array(text.utf8)
            case .blob(let blob):
                withUnsafeBytes(of: Int64(blob.count).bigEndian) { bytes += $0 }
                bytes += blob
            }
        }
        return bytes
    }
}
