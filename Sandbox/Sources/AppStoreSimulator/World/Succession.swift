/// Succession: a subscription goes on under another original transaction id.
enum Succession {
    /// The customer switches from a plan to a bundle that includes it, outside of the app.
    ///
    /// What was left of the plan's period is revoked without a refund of Apple's kinds; the bundle's
    /// first period begins, without a token. Which notifications Apple sends is not documented.
    static func switchToBundle(_ world: inout World, _ originalID: String, at now: Int64)
        throws(Refusal) -> Transaction
    {
        let old = try continuable(world, originalID)
        for var replaced in world.period(of: old) where !replaced.isRevoked {
            replaced.revocation = .init(date: now, reason: 2, type: nil)
            world.record(replaced, at: now)
        }
        Refunds.revoke(&world, old)
        world.announce("REVOKE", subscription: originalID)
        let product = try world.product(old.productID)
        let end = world.renewals.endOfFirstPeriod(of: product, offer: nil, from: now)
        let id = try succeed(
            &world,
            old,
            until: end,
            token: nil,
            price: product.price,
            isBundle: true,
            at: now
        )
        world.announce("SUBSCRIBED", "INITIAL_BUY", subscription: id)
        return try world.transaction(id)
    }

    /// The app's backend moves a subscription to the Advanced Commerce API: what is paid goes on
    /// under another original transaction id.
    static func migrate(_ world: inout World, _ originalID: String, at now: Int64) throws(Refusal)
        -> Transaction
    {
        var old = try continuable(world, originalID)
        old.state = .expired
        old.autoRenews = false
        world.record(old)
        let token = old.appAccountToken
        let id = try succeed(&world, old, until: old.renewalDate, token: token, price: 0, at: now)
        world.announce("MIGRATION", subscription: id)
        return try world.transaction(id)
    }

    private static func continuable(_ world: World, _ originalID: String) throws(Refusal)
        -> Subscription
    {
        let subscription = try world.subscription(originalID)
        guard subscription.state == .active, subscription.sharedFrom == nil else {
            throw .notPossible("Only an active subscription of one's own can go on elsewhere.")
        }
        return subscription
    }

    private static func succeed(
        _ world: inout World,
        _ old: Subscription,
        until end: Int64,
        token: String?,
        price: Int64,
        isBundle: Bool = false,
        at now: Int64
    ) throws(Refusal) -> String {
        let product = try world.product(old.productID)
        let id = world.nextTransactionID()
        var transaction = Transaction(
            id: id,
            originalID: id,
            customer: old.customer,
            webOrderLineItemID: world.nextLineItemID(),
            orderID: world.nextOrderID(),
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
        world.record(transaction, at: now)
        var subscription = Subscription(product, group: old.group, transaction, until: end, at: now)
        subscription.previousOriginalID = old.originalTransactionID
        subscription.isBundle = isBundle ? true : nil
        subscription.begins(product, offer: nil, from: now, to: end, lasting: world.renewals)
        subscription.anchor = end
        subscription.periodsSinceAnchor = 0
        world.record(subscription)
        return id
    }
}
