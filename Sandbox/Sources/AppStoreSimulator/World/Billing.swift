/// Billing: a subscription renews, fails to renew, passes grace and retry, and expires
/// (<https://developer.apple.com/documentation/storekit/handling-subscriptions-billing>).
enum Billing {
    /// The subtype of EXPIRED by expiration intent; 5 has none.
    static let expirySubtypes = [
        1: "VOLUNTARY", 2: "BILLING_RETRY", 3: "PRICE_INCREASE", 4: "PRODUCT_NOT_FOR_SALE",
    ]

    /// Does what is due for one subscription at its instant.
    static func performDue(_ world: inout World, _ originalID: String, at now: Int64) {
        guard let subscription = world.subscriptions[originalID] else { return }
        switch subscription.state {
        case .active: reachEnd(&world, of: subscription, at: now)
        case .billingGrace: endGrace(&world, of: subscription)
        case .billingRetry: expire(&world, subscription, intent: 2, "BILLING_RETRY", at: now)
        case .expired, .revoked: break
        }
    }

    private static func reachEnd(_ world: inout World, of subscription: Subscription, at now: Int64)
    {
        guard subscription.autoRenews else {
            let intent = subscription.expirationIntent ?? 1
            return expire(&world, subscription, intent: intent, expirySubtypes[intent], at: now)
        }
        if let increase = subscription.priceIncrease, !increase.isAccepted, !subscription.isBound {
            return expireAtEnd(&world, subscription, intent: 3, "PRICE_INCREASE", at: now)
        }
        guard let product = world.products[subscription.nextProductID], product.isForSale else {
            return expireAtEnd(&world, subscription, intent: 4, "PRODUCT_NOT_FOR_SALE", at: now)
        }
        if let limit = world.renewalLimit, subscription.renewals >= limit {
            return expireAtEnd(&world, subscription, intent: 1, "VOLUNTARY", at: now)
        }
        if world.customers[subscription.customer]?.billingFails == true {
            return failRenewal(&world, of: subscription, product: product)
        }
        renew(&world, subscription, at: now)
    }

    /// A renewal charged ahead of the end may be refused ahead of it, but ends at the end.
    private static func expireAtEnd(
        _ world: inout World,
        _ subscription: Subscription,
        intent: Int,
        _ subtype: String,
        at now: Int64
    ) {
        guard now < subscription.renewalDate else {
            return expire(&world, subscription, intent: intent, subtype, at: now)
        }
        var changed = subscription
        changed.autoRenews = false
        changed.expirationIntent = intent
        world.record(changed)
    }

    private static func failRenewal(
        _ world: inout World,
        of subscription: Subscription,
        product: Product
    ) {
        var changed = subscription
        changed.billingRetryEnds = subscription.renewalDate + world.renewals.billingRetry
        changed.failedRenewal = subscription.renewalDate
        changed.state = .billingRetry
        if let days = world.graceDays {
            changed.state = .billingGrace
            changed.gracePeriodExpiresDate =
                subscription.renewalDate
                + world.renewals.grace(of: product.period ?? .month, days: days)
        }
        changed.expirationIntent = 2
        world.record(changed)
        world.announce(
            "DID_FAIL_TO_RENEW",
            changed.state == .billingGrace ? "GRACE_PERIOD" : nil,
            subscription: changed.originalTransactionID
        )
        FamilySharing.followShares(
            &world,
            of: changed.originalTransactionID,
            at: changed.renewalDate
        )
    }

    private static func endGrace(_ world: inout World, of subscription: Subscription) {
        var changed = subscription
        changed.state = .billingRetry
        let ended = changed.gracePeriodExpiresDate ?? changed.renewalDate
        changed.gracePeriodExpiresDate = nil
        world.record(changed)
        world.announce("GRACE_PERIOD_EXPIRED", subscription: changed.originalTransactionID)
        FamilySharing.followShares(&world, of: changed.originalTransactionID, at: ended)
    }

    static func expire(
        _ world: inout World,
        _ subscription: Subscription,
        intent: Int,
        _ subtype: String?,
        at now: Int64
    ) {
        var changed = subscription
        changed.state = .expired
        changed.autoRenews = false
        changed.expirationIntent = intent
        changed.gracePeriodExpiresDate = nil
        changed.billingRetryEnds = nil
        changed.pendingOffer = nil
        world.record(changed)
        world.announce("EXPIRED", subtype, subscription: changed.originalTransactionID)
        FamilySharing.followShares(&world, of: changed.originalTransactionID, at: now)
    }

    /// Charges the next period: at the end of the running one, or late when a charge had failed.
    static func renew(_ world: inout World, _ subscription: Subscription, at now: Int64) {
        guard let product = world.products[subscription.nextProductID] else { return }
        var changed = subscription
        let original = subscription.originalTransactionID
        let recovered = subscription.state != .active
        let startsAnew = subscription.state == .billingRetry
        let previousEnd = subscription.renewalDate
        let purchaseDate =
            startsAnew || (recovered && world.behaviour.graceRecoveryStartsAtCharge)
            ? now : previousEnd
        let isNewPlan = subscription.productID != product.id

        if let increase = subscription.priceIncrease, !subscription.isBound {
            changed.renewalPrice = increase.price
            changed.priceIncrease = nil
        }
        let offer = nextOffer(for: &changed, product: product, previousEnd: previousEnd)
        let cycleStart = startsAnew ? now : previousEnd
        if startsAnew || isNewPlan || (offer.isFirst && offer.offer?.discount == .payAsYouGo) {
            changed.anchor = cycleStart
            changed.periodsSinceAnchor = 0
        }
        let end = endOfNextPeriod(world, &changed, product, offer.offer, from: cycleStart)
        let price = offer.offer?.price ?? (isNewPlan ? product.price : changed.renewalPrice)
        let commitment = world.renewals.nextCommitment(
            of: subscription,
            product: product,
            offer: offer.offer,
            from: cycleStart,
            startsAnew: startsAnew
        )
        let seats = Seats.left(world, of: subscription)
        var transaction = Transaction(
            id: world.nextTransactionID(),
            originalID: original,
            customer: subscription.customer,
            webOrderLineItemID: world.nextLineItemID(),
            orderID: world.nextOrderID(),
            productID: product.id,
            kind: .autoRenewable,
            subscriptionGroup: subscription.group,
            purchaseDate: purchaseDate,
            originalPurchaseDate: world.transactions[original]?.originalPurchaseDate
                ?? purchaseDate,
            expiresDate: end,
            quantity: seats,
            appAccountToken: subscription.appAccountToken,
            ownership: .purchased,
            reason: .renewal,
            offer: offer.offer,
            commitment: commitment,
            price: price * Int64(seats),
            currency: product.currency
        )
        transaction.revokedSeats = product.isMultiSeat ? 0 : nil
        transaction.previousOriginalID = subscription.previousOriginalID
        if subscription.isBundle ?? false { transaction.bundle = .init(of: transaction) }
        world.record(transaction, at: now)
        changed.goesOn(with: transaction, until: end)
        if changed.offerPeriodsLeft > 0, let running = changed.offer {
            changed.renewalPrice = running.price
        } else if offer.offer != nil || isNewPlan {
            changed.renewalPrice = product.price
        }
        world.record(changed)
        world.announce("DID_RENEW", recovered ? "BILLING_RECOVERY" : nil, subscription: original)
        FamilySharing.followShares(&world, of: original, at: now)
    }

    /// When the coming period ends.
    private static func endOfNextPeriod(
        _ world: World,
        _ subscription: inout Subscription,
        _ product: Product,
        _ offer: Offer?,
        from cycleStart: Int64
    ) -> Int64 {
        if let offer, offer.discount != .payAsYouGo {
            let end = world.renewals.end(of: offer.period, times: offer.count, from: cycleStart)
            subscription.anchor = end
            subscription.periodsSinceAnchor = 0
            return end
        }
        subscription.periodsSinceAnchor += 1
        return world.renewals.end(
            of: product.period ?? .month,
            times: subscription.periodsSinceAnchor,
            from: subscription.anchor
        )
    }

    /// The offer that the coming period has, taken off the subscription's account.
    private static func nextOffer(
        for subscription: inout Subscription,
        product: Product,
        previousEnd: Int64
    ) -> (offer: Offer?, isFirst: Bool) {
        if let pending = subscription.pendingOffer {
            subscription.pendingOffer = nil
            subscription.offer = pending
            subscription.offerPeriodsLeft =
                pending.discount == .payAsYouGo ? pending.count - 1 : 0
            return (pending, true)
        }
        if subscription.offerPeriodsLeft > 0, let running = subscription.offer {
            subscription.offerPeriodsLeft -= 1
            return (running, false)
        }
        // The price after an offer is the product's own, unless an increase is being kept away.
        if subscription.offer != nil { subscription.renewalPrice = product.price }
        subscription.offer = nil
        return (nil, false)
    }
}

extension SimulatedAppStore.Subscription {
    /// Notes that another period is paid for.
    fileprivate mutating func goesOn(with transaction: Transaction, until end: Int64) {
        productID = transaction.productID
        latestTransactionID = transaction.id
        renewalDate = end
        state = .active
        autoRenews = true
        expirationIntent = nil
        gracePeriodExpiresDate = nil
        billingRetryEnds = nil
        renewals += 1
        commitment = transaction.commitment
        if let commitment, commitment.isLast, !commitment.renews {
            autoRenews = false
            expirationIntent = 1
        }
    }
}
