public import TollgateCore

// What a store itself thinks a customer may use: shown beside our answer, never obeyed (RULES §5).
// Operational: it can be asked again.
extension QuestionStore {
    /// Keeps the newest word of Stripe's on a customer.
    public func keepOpinion(
        _ body: [UInt8],
        of customer: Customer.ID,
        in environment: StoreEnvironment,
        at instant: Instant
    ) async throws {
        let row = RowKey(Holder.customer(customer)).inEnvironment(environment)
        try await driver.execute(
            """
            INSERT INTO opinion (customer, body, stated) VALUES ($1, $2, $3)
            ON CONFLICT (customer) DO UPDATE
            SET body = excluded.body, stated = excluded.stated
            WHERE opinion.stated <= excluded.stated
            """,
            [row.value, .blob(body), .integer(instant.milliseconds)]
        )
    }

    /// What was kept last.
    public func opinion(
        of customer: Customer.ID,
        in environment: StoreEnvironment
    ) async throws -> [UInt8]? {
        let rows = try await driver.readNow(
            "SELECT body FROM opinion WHERE customer = $1",
            [RowKey(Holder.customer(customer)).inEnvironment(environment).value]
        )
        return try rows.first?.bytes(0)
    }
}
