public import TollgateCore

extension RecordStore {
    /// The record of one purchase as of the newest commit; `nil` where nothing was ever stated.
    public func record(of purchase: Purchase.Key) async throws -> Purchase? {
        let rows = try await driver.readNow(
            "SELECT record FROM purchase WHERE key = $1",
            [RowKey(purchase).value]
        )
        guard let bytes = try rows.first?.bytes(0), !bytes.isEmpty else { return nil }
        return try RecordDecoder.decode(Purchase.self, from: bytes)
    }

    /// Queues a question to a store, unless it is queued already.
    public func want(_ wanted: Wanted, about key: Purchase.Key, at instant: Instant) async throws {
        try await driver.write { connection in
            _ = try connection.execute(
                """
                INSERT INTO wanted (key, kind, object, body, created) VALUES ($1, $2, $3, $4, $5)
                ON CONFLICT (key) DO UPDATE SET created = excluded.created
                WHERE wanted.created < excluded.created
                """,
                [
                    RowKey("wanted", wanted.kind.rawValue, wanted.object, key.canonical).value,
                    .text(wanted.kind.rawValue), .text(wanted.object),
                    .blob(Array(key.canonical.utf8)), .integer(instant.milliseconds),
                ]
            )
        }
    }

    /// The keys of all purchases of one store, in pages, in an order that does not change.
    ///
    /// - Parameter after: the row key of the last one of the page before.
    public func records(
        after last: RowKey? = nil,
        limit: Int64
    ) async throws -> [(row: RowKey, record: Purchase)] {
        try await driver.read { connection in
            try connection.query(
                "SELECT key, record FROM purchase WHERE key > $1 ORDER BY key LIMIT $2",
                [.blob(last?.bytes ?? []), .integer(limit)]
            ).compactMap { row in
                let bytes = try row.bytes(1)
                guard !bytes.isEmpty else { return nil }
                return (
                    try RowKey(bytes: row.bytes(0)),
                    try RecordDecoder.decode(Purchase.self, from: bytes)
                )
            }
        }
    }
}
