// Subscriptions that go on under another original transaction id.
extension SimulatedAppStore.World {
    /// The customer switches from a plan to a bundle that includes it, outside of the app.
    ///
    /// What was left of the plan's period is revoked without a refund of Apple's kinds; the bundle's
    /// first period begins, without a token. Which notifications Apple sends is not documented.
    mutating func switchToBundle(_ originalID: String, at now: Int64) throws(Refusal) -> Transaction
    {
        let old = try continuable(originalID)
        for var replaced in period(of: old) where !replaced.isRevoked {
            replaced.revocation = .init(date: now, reason: 2, type: nil)
            record(replaced, at: now)
        }
        revoke(old)
        announce("REVOKE", subscription: originalID)
        let product = try product(old.productID)
        let end = endOfFirstPeriod(of: product, offer: nil, from: now)
        let id = try succeed(
            old,
            until: end,
            token: nil,
            price: product.price,
            isBundle: true,
            at: now
        )
        announce("SUBSCRIBED", "INITIAL_BUY", subscription: id)
        return try transaction(id)
    }

    /// The app's backend moves a subscription to the Advanced Commerce API: what is paid goes on
    /// under another original transaction id.
    mutating func migrate(_ originalID: String, at now: Int64) throws(Refusal) -> Transaction {
        var old = try continuable(originalID)
        old.state = .expired
        old.autoRenews = false
        record(old)
        let token = old.appAccountToken
        let id = try succeed(old, until: old.renewalDate, token: token, price: 0, at: now)
        announce("MIGRATION", subscription: id)
        return try transaction(id)
    }

    private func continuable(_ originalID: String) throws(Refusal) -> Subscription {
        let subscription = try subscription(originalID)
        guard subscription.state == .active, subscription.sharedFrom == nil else {
            throw .notPossible("Only an active subscription of one's own can go on elsewhere.")
        }
        return subscription
    }

    private mutating func succeed(
        _ old: Subscription,
        until end: Int64,
        token: String?,
        price: Int64,
        isBundle: Bool = false,
        at now: Int64
    ) throws(Refusal) -> String {
        let product = try product(old.productID)
        let id = nextTransactionID()
        var transaction = Transaction(
            id: id,
            originalID: id,
            customer: old.customer,
            webOrderLineItemID: nextLineItemID(),
            orderID: nextOrderID(),
            productID: product.id,
            kind: .autoRenewable,
            subscriptionGroup: old.group,
            purchaseDate: now,
            originalPurchaseDate: now,
            expiresDate: end,
            quantity: 1,
            appAccountToken: token,
            ownership: .purchased,
            reason: .purchase,
            price: price,
            currency: product.currency
        )
        transaction.previousOriginalID = old.originalTransactionID
        if isBundle { transaction.bundle = .init(of: transaction) }
        record(transaction, at: now)
        var subscription = Subscription(
            originalTransactionID: id,
            customer: old.customer,
            group: old.group,
            productID: product.id,
            autoRenewProductID: product.id,
            latestTransactionID: id,
            renewalDate: end,
            renewalPrice: product.price,
            appAccountToken: token,
            recentStart: now,
            anchor: now
        )
        subscription.previousOriginalID = old.originalTransactionID
        subscription.isBundle = isBundle ? true : nil
        start(&subscription, product: product, offer: nil, from: now, to: end)
        subscription.anchor = end
        subscription.periodsSinceAnchor = 0
        record(subscription)
        return id
    }
}
