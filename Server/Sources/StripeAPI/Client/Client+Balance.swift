extension Stripe.Client {
    // MARK: - The balance

    /// What is in the balance right now.
    public func balance() async throws(Stripe.RequestError) -> Stripe.Answer<Stripe.Balance> {
        try await get(["balance"])
    }

    /// What moved the balance, the newest first, each with what it is about.
    ///
    /// - Parameters:
    ///   - since: only what was booked at this UNIX second or later.
    ///   - until: only what was booked before this one.
    ///   - payout: only what went to the bank with this automatic payout.
    public func balanceTransactions(
        since: Int64? = nil,
        until: Int64? = nil,
        payout: String? = nil
    ) -> Stripe.AutoPaging<Stripe.BalanceTransaction> {
        var parameters: Stripe.Parameters = ["expand": .list([.string("data.source")])]
        parameters.add("payout", payout)
        var created: Stripe.Parameters = [:]
        created.add("gte", since)
        created.add("lt", until)
        parameters.add("created", created)
        return all(["balance_transactions"], parameters)
    }

    /// All payouts, the newest first.
    ///
    /// - Parameter since: only those made at this UNIX second or later.
    public func payouts(since: Int64? = nil) -> Stripe.AutoPaging<Stripe.Payout> {
        var parameters: Stripe.Parameters = [:]
        if let since { parameters.add("created", .hash(["gte": .integer(since)])) }
        return all(["payouts"], parameters)
    }
}
