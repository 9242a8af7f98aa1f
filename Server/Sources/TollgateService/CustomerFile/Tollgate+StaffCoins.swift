internal import Storage
internal import Stores
public import TollgateAPI
public import TollgateCore

extension Tollgate {
    /// Gives a customer coins, or takes some away, without a purchase.
    ///
    /// - Parameters:
    ///   - amount: more than zero gives, less takes; taking may lead into debt.
    ///   - reason: kept with it until the customer is erased.
    ///   - token: names the wish: asked twice, it is done once.
    /// - Throws: refusals 400 `parameter_invalid`, 404 `resource_missing`, 409
    ///   `idempotency_mismatch`, 410 `customer_erased`.
    public func adjustCoins(
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
        let id = Customer.ID(try await self.customer(customer).id)
        let now = await clocks.now()
        let key = Purchase.Key(
            store: .tollgate,
            environment: environment ?? configuration.defaultEnvironment,
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
        let outcome = try await store.submit(item)
        // Whoever goes back to a form that was sent, and changes the amount, must not be told that
        // this one was posted, too.
        if case .duplicate = outcome,
            try await store.record(of: key)?.coins?.value.amount != amount
        {
            throw Refusal(
                409,
                .idempotencyError,
                .idempotencyMismatch,
                "This form was sent before with another amount, and only that one was posted. "
                    + "Load the page again to correct the coins once more."
            )
        }
        return try await coins(of: id.rawValue, in: key.environment)
    }

    /// Ends a grant now.
    ///
    /// - Throws: refusals 404 `resource_missing`, 409 `grant_ended`.
    public func endGrant(_ id: String, of customer: String) async throws {
        let customer = Customer.ID(try await self.customer(customer).id)
        var record: Purchase?
        for environment in StoreEnvironment.allCases where record == nil {
            let key = Purchase.Key(
                store: .tollgate,
                environment: environment,
                application: "-",
                id: id
            )
            let found = try await store.record(of: key)
            if found?.grant?.value.customer == customer { record = found }
        }
        guard let record, let grant = record.grant else { throw Refusal.missing("grant", id) }
        let now = await clocks.now()
        let stated = await later(than: grant.stated.instant)
        guard grant.value.until.map({ $0 > now }) ?? true else {
            throw Refusal(
                409,
                .invalidRequestError,
                "grant_ended",
                "This grant has ended already."
            )
        }
        var ended = grant.value
        ended.until = max(now, grant.value.since)
        try await journal(
            Fact(
                purchase: record.key,
                source: grant.source,
                stated: Stated(stated),
                statement: .grant(ended)
            ),
            dedupeKey: RowKey("grant end", record.key.canonical, "\(stated.milliseconds)")
        )
    }
}
