internal import Crypto
internal import TollgateCore

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

    /// - Parameters:
    ///   - source: the database to be proven; only read.
    ///   - scratch: an empty one for the result.
    public init(of source: any StorageDriver, into scratch: any StorageDriver) {
        self.source = source
        self.scratch = scratch
    }

    /// - Parameter progress: told how many rows were replayed so far, and of how many.
    public func verify(progress: @Sendable (Int64, Int64) -> Void = { _, _ in }) async throws
        -> Report
    {
        try await scratch.migrate()
        let total = try await source.read { connection in
            try connection.query("SELECT count(*), coalesce(max(id), 0) FROM journal").first
        }
        let count = try total?.int64(0) ?? 0
        let last = try total?.int64(1) ?? 0
        var history = CatalogHistory()
        var after: Int64 = 0
        var replayed: Int64 = 0
        while true {
            let from = after
            let rows = try await source.read { connection in
                try connection.query(
                    """
                    SELECT journal.id, dedupe_key, subject, kind, stated, facts, profile.id, profile.body
                    FROM journal LEFT JOIN profile ON profile.customer = journal.subject
                    WHERE journal.id > $1 AND journal.id <= $2 ORDER BY journal.id LIMIT 1000
                    """,
                    [.integer(from), .integer(last)]
                )
            }
            guard let end = rows.last else { break }
            after = try end.int64(0)
            let before = history
            history = try await scratch.write { connection in
                var history = before
                for row in rows { history = try Self.replay(row, history, connection) }
                return history
            }
            replayed += Int64(rows.count)
            progress(replayed, count)
        }
        return try await compare(replayed)
    }

    private static func replay(
        _ row: Row,
        _ history: CatalogHistory,
        _ connection: any StorageConnection
    ) throws -> CatalogHistory {
        let content = try RecordDecoder.decode(JournalContent.self, from: row.bytes(5))
        guard let kind = JournalItem.Kind(rawValue: try row.int64(3)) else {
            throw StorageError(.corrupt, "a journal row of unknown kind")
        }
        func item(_ content: JournalItem.Content) throws -> JournalItem {
            JournalItem(
                dedupeKey: try RowKey(bytes: row.bytes(1)),
                subject: try RowKey(bytes: row.bytes(2)),
                kind: kind,
                stated: Instant(milliseconds: try row.int64(4)),
                content: content
            )
        }
        var batch: Batch
        switch content {
        case .facts(let facts):
            batch = Batch(connection, history: history, items: [try item(.facts(facts))])
        case .adopted(let version):
            batch = Batch(connection, history: history, items: [try item(.adopt(version))])
        case .registered(let customer, let aliases):
            let registration = Registration(
                customer: customer,
                aliases: [],
                profile: try row.optionalBytes(7) ?? []
            )
            batch = Batch(connection, history: history, items: [try item(.register(registration))])
            batch.replayedAliases = aliases
        case .erased(let customer):
            batch = Batch(connection, history: history, items: [try item(.erase(customer))])
        case .spent(let decision):
            let order = SpendOrder(
                customer: Customer.ID(""),
                environment: .production,
                amount: decision.amount,
                bodyHash: decision.bodyHash
            )
            batch = Batch(connection, history: history, items: [try item(.spend(order))])
            batch.replayedDecision = decision
        }
        _ = try batch.run()
        return batch.history
    }

    private static let tables = [
        "SELECT key, version, record, posted FROM purchase WHERE posted IS NOT NULL ORDER BY key",
        "SELECT holder, purchase FROM holding ORDER BY holder, purchase",
        """
        SELECT key, environment, sequence, balance, next_change, answer FROM customer
        WHERE sequence > 0 ORDER BY key
        """,
        "SELECT id, lot, customer, amount FROM transfer ORDER BY id",
        "SELECT key, customer FROM alias ORDER BY key",
    ]

    private func compare(_ replayed: Int64) async throws -> Report {
        var report = Report(replayed: replayed, digests: [], differences: [])
        for (name, sql) in zip(
            ["purchase", "holding", "customer", "transfer", "alias"],
            Self.tables
        ) {
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
            for row in rows {
                for value in row.values {
                    switch value {
                    case .null: hash.update(data: [0])
                    case .integer(let integer):
                        withUnsafeBytes(of: integer.bigEndian) { hash.update(bufferPointer: $0) }
                    case .text(let text): hash.update(data: Array(text.utf8))
                    case .blob(let bytes):
                        withUnsafeBytes(of: Int64(bytes.count).bigEndian) {
                            hash.update(bufferPointer: $0)
                        }
                        hash.update(data: bytes)
                    }
                }
            }
            return (rows.count, RowKey(digest: hash.finalize()).hex)
        }
    }
}
