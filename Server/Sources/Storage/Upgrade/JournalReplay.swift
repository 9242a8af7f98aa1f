internal import TollgateCore

/// The journal of one database, derived again into another: row after row, in the journal's order.
struct JournalReplay: Sendable {
    let source: any StorageDriver
    let scratch: any StorageDriver
    /// The last journal row that was replayed.
    private(set) var reached: Int64 = 0
    /// How many there were.
    private(set) var replayed: Int64 = 0
    private var history = CatalogHistory()

    init(of source: any StorageDriver, into scratch: any StorageDriver) {
        self.source = source
        self.scratch = scratch
    }

    /// The last row of the source's journal, and how many there are.
    func end() async throws -> (last: Int64, count: Int64) {
        let rows = try await source.read { connection in
            try connection.query("SELECT coalesce(max(id), 0), count(*) FROM journal").first
        }
        return (try rows?.int64(0) ?? 0, try rows?.int64(1) ?? 0)
    }

    /// Replays what has come since.
    mutating func run(upTo last: Int64, progress: (Int64) -> Void) async throws {
        while true {
            let from = reached
            let rows = try await source.read { connection in
                try connection.query(
                    """
                    SELECT journal.id, dedupe_key, subject, kind, stated, facts, profile.id, profile.body,
                        CASE WHEN kind = 3 THEN journal.body END
                    FROM journal LEFT JOIN profile ON profile.customer = journal.subject
                    WHERE journal.id > $1 AND journal.id <= $2 ORDER BY journal.id LIMIT 1000
                    """,
                    [.integer(from), .integer(last)]
                )
            }
            guard let end = rows.last else { return }
            let before = history
            history = try await scratch.write { connection in
                var history = before
                for row in rows { history = try Self.replay(row, history, connection) }
                return history
            }
            reached = try end.int64(0)
            replayed += Int64(rows.count)
            progress(replayed)
        }
    }

    private static func replay(
        _ row: Row,
        _ history: CatalogHistory,
        _ connection: any StorageConnection
    ) throws -> CatalogHistory {
        let content = try JournalContent(kept: row.bytes(5))
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
            var said = try item(.facts(facts))
            // Figures need what customers said; what stores said stands in the facts.
            said.body = try row.optionalBytes(8)
            batch = Batch(connection, history: history, items: [said])
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
        batch.isReplay = true
        _ = try batch.run()
        return batch.rows.history
    }
}
