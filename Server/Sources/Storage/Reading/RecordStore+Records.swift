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
