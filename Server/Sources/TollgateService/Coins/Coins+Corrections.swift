internal import Storage
internal import Stores
public import TollgateAPI
public import TollgateCore

extension Coins {
    /// Gives a customer coins, or takes some away, without a purchase.
    ///
    /// - Parameters:
    ///   - amount: more than zero gives, less takes; taking may lead into debt.
    ///   - reason: kept with it until the customer is erased.
    ///   - token: names the wish: asked twice, it is done once.
    /// - Throws: refusals 400 `parameter_invalid`, 404 `resource_missing`, 409
    ///   `idempotency_mismatch`, 410 `customer_erased`.
    public func adjust(
        _ amount: Int64,
        of customer: String,
        in environment: StoreEnvironment? = nil,
        reason: String,
        token: String
    ) async throws -> API.CoinBalance {
        guard amount != 0, (-StaffCoins.largest...StaffCoins.largest).contains(amount) else {
            throw Refusal.invalid(
                "amount",
                "A correction gives or takes 1 to \(StaffCoins.largest) coins."
            )
        }
        guard (3...500).contains(reason.utf8.count) else {
            throw Refusal.invalid("reason", "A reason has 3 to 500 characters.")
        }
        let id = Customer.ID(try await directory.customer(customer).id)
        let now = await clocks.now()
        let key = Purchase.Key(
            store: .tollgate,
            environment: environment ?? defaultEnvironment,
            application: "-",
            id: "coins_\(RowKey("staff coins", id.rawValue, token).hex)"
        )
        let item = JournalItem.message(
            dedupeKey: RowKey("staff coins", key.canonical),
            subject: RecordStore.subject(of: key),
            kind: .command,
            stated: now,
            facts: [
                Fact(
                    purchase: key,
                    source: key.id,
                    stated: Stated(now),
                    statement: .coins(StaffCoins(customer: id, amount: amount))
                )
            ],
            received: Array(reason.utf8)
        )
        let outcome = try await records.submit(item)
        // Whoever goes back to a form that was sent, and changes the amount, must not be told that
        // this one was posted, too.
        if case .duplicate = outcome,
            try await records.record(of: key)?.coins?.value.amount != amount
        {
            throw Refusal.idempotency(
                .idempotencyMismatch,
                "This form was sent before with another amount, and only that one was posted. "
                    + "Load the page again to correct the coins once more."
            )
        }
        return try await balance(of: id.rawValue, in: key.environment)
    }
}
