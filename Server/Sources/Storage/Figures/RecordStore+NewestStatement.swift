public import TollgateCore

extension RecordStore {
    /// The latest instant of which the newest rows of the journal speak, by their senders' clocks;
    /// `nil` where there are none.
    public func newestStatement() async throws -> Instant? {
        try await driver.read { connection in
            try connection.query(
                """
                SELECT max(stated) FROM (
                    SELECT stated FROM journal ORDER BY id DESC LIMIT 1000
                ) AS newest
                """
            ).first?.optionalInt64(0).map { Instant(milliseconds: $0) }
        }
    }
}
