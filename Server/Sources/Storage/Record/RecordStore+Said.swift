public import TollgateCore

extension RecordStore {
    /// What `customer` has said that is kept in the journal and nowhere else, oldest first: the exact
    /// bytes, and when.
    ///
    /// What was erased is left out.
    public func said(
        by customer: Customer.ID
    ) async throws -> [(body: [UInt8], stated: Instant)] {
        let rows = try await driver.read { connection in
            try connection.query(
                "SELECT body, stated FROM journal WHERE subject = $1 AND body IS NOT NULL ORDER BY id",
                [Self.subject(of: customer).value]
            )
        }
        return try rows.compactMap { row in
            // Reasons of spends were once kept without the form of a body; they are no statements.
            guard let body = try? SignedBody.expand(try row.bytes(0), segment: { _ in nil }) else {
                return nil
            }
            return (body, Instant(milliseconds: try row.int64(1)))
        }
    }
}
