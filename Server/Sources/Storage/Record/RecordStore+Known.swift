extension RecordStore {
    /// Those of `keys` under which a message is durable, journalled or parked.
    ///
    /// - Parameter keys: dedupe keys.
    public func known(_ keys: [RowKey]) async throws -> Set<RowKey> {
        try await driver.read { connection in
            let found = try connection.queryMany(
                """
                SELECT 1 FROM journal WHERE dedupe_key = $1
                UNION ALL SELECT 1 FROM parked WHERE key = $1
                """,
                keys.map { [$0.value] }
            )
            return Set(zip(keys, found).filter { !$0.1.isEmpty }.map(\.0))
        }
    }
}
