/// Renewal preferences: a customer changes the plan, redeems an offer, or turns renewal off and on.
enum RenewalPreferences {
    /// Changes to another plan of the group: up at once, down at the next renewal.
    static func changePlan(
        _ world: inout World,
        of subscription: Subscription,
        to product: Product,
        at now: Int64
    ) throws(Refusal) -> Transaction {
        guard subscription.state == .active, subscription.sharedFrom == nil else {
            throw .notPossible("Only an active subscription of one's own can be changed.")
        }
        guard product.subscriptionGroup == subscription.group else {
            throw .invalid("\(product.id) is not in group \(subscription.group).")
        }
        var changed = subscription
        let original = subscription.originalTransactionID
        if product.id == subscription.productID {
            if subscription.autoRenewProductID != product.id {
                changed.autoRenewProductID = product.id
                if !changed.isBound { changed.renewalPrice = product.price }
                world.record(changed)
                world.announce("DID_CHANGE_RENEWAL_PREF", subscription: original)
            } else if !subscription.autoRenews || subscription.commitment?.renews == false {
                try setAutoRenew(&world, true, of: original, at: now)
            } else {
                throw .notPossible("Already subscribed to \(product.id).")
            }
            return try world.latestTransaction(of: original)
        }
        let current = try world.product(subscription.productID)
        let isUpgrade = (product.level ?? 1) < (current.level ?? 1)
        let isEqualCrossgrade =
            product.level == current.level && product.period == current.period
        guard isUpgrade || isEqualCrossgrade else {
            changed.autoRenewProductID = product.id
            if !changed.isBound { changed.renewalPrice = product.price }
            changed.autoRenews = true
            changed.commitment?.renews = true
            world.record(changed)
            world.announce("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE", subscription: original)
            return try world.latestTransaction(of: original)
        }
        return try upgrade(&world, changed, to: product, offer: nil, at: now)
    }

    /// Replaces the running period by one of `product` that begins now.
    static func upgrade(
        _ world: inout World,
        _ subscription: Subscription,
        to product: Product,
        offer: Offer?,
        at now: Int64
    ) throws(Refusal) -> Transaction {
        var changed = subscription
        let original = subscription.originalTransactionID
        let replaced = try world.transaction(subscription.latestTransactionID)
        // A renewal may have been charged ahead of the period that runs: both are replaced.
        let running = world.transactionsOf(subscription.customer).filter {
            $0.originalID == original && $0.purchaseDate < replaced.purchaseDate
                && $0.expiresDate.map { now < $0 } ?? false && $0.additionalReason == nil
                && !$0.isRevoked && !$0.isUpgraded
        }
        for var part in running + world.period(of: subscription) {
            part.isUpgraded = true
            if world.behaviour.upgradeSendsRefund {
                part.revocation = .init(date: now, reason: 0, type: "REFUND_PRORATED")
            }
            world.record(part, at: now)
        }
        let end = world.renewals.endOfFirstPeriod(of: product, offer: offer, from: now)
        let transaction = Transaction(
            id: world.nextTransactionID(),
            originalID: original,
            customer: subscription.customer,
            webOrderLineItemID: world.nextLineItemID(),
            orderID: world.nextOrderID(),
            productID: product.id,
            kind: .autoRenewable,
            subscriptionGroup: subscription.group,
            purchaseDate: now,
            originalPurchaseDate: replaced.originalPurchaseDate,
            expiresDate: end,
            quantity: 1,
            appAccountToken: subscription.appAccountToken,
            ownership: .purchased,
            reason: .purchase,
            offer: offer,
            commitment: world.renewals.commitment(of: product, offer: offer, from: now),
            price: offer?.price ?? product.price,
            currency: product.currency
        )
        world.record(transaction, at: now)
        changed.productID = product.id
        changed.autoRenewProductID = product.id
        changed.autoRenews = true
        changed.latestTransactionID = transaction.id
        changed.priceIncrease = nil
        changed.begins(product, offer: offer, from: now, to: end, lasting: world.renewals)
        world.record(changed)
        world.announce(
            offer == nil ? "DID_CHANGE_RENEWAL_PREF" : "OFFER_REDEEMED",
            "UPGRADE",
            subscription: original
        )
        if world.behaviour.upgradeSendsRefund {
            world.announce("REFUND", transaction: replaced.id, subscription: original)
        }
        FamilySharing.followShares(&world, of: original, at: now)
        return try world.latestTransaction(of: original)
    }

    /// Redeems an offer on an active subscription: for the same plan or a lower one it applies
    /// at the next renewal, for a higher one now.
    static func redeem(
        _ world: inout World,
        _ offerID: String,
        on subscription: Subscription,
        product: Product,
        at now: Int64
    ) throws(Refusal) -> Transaction {
        guard subscription.state == .active else {
            throw .notPossible("An offer is redeemed on an active subscription; else buy with it.")
        }
        guard let offer = product.offers.first(where: { $0.id == offerID }) else {
            throw .notFound("offer \(offerID) of \(product.id)")
        }
        let current = try world.product(subscription.productID)
        let original = subscription.originalTransactionID
        if product.id != current.id, (product.level ?? 1) < (current.level ?? 1) {
            return try upgrade(&world, subscription, to: product, offer: offer, at: now)
        }
        var changed = subscription
        changed.pendingOffer = offer
        changed.autoRenews = true
        changed.autoRenewProductID = product.id
        changed.renewalPrice = offer.price
        world.record(changed)
        world.announce(
            "OFFER_REDEEMED",
            product.id == current.id ? nil : "DOWNGRADE",
            subscription: original
        )
        return try world.latestTransaction(of: original)
    }

    static func setAutoRenew(
        _ world: inout World,
        _ isOn: Bool,
        of originalID: String,
        at now: Int64
    ) throws(Refusal) {
        var changed = try world.subscription(originalID)
        guard changed.sharedFrom == nil else {
            throw .notPossible("A family member's share is the buyer's to cancel.")
        }
        switch changed.state {
        case .expired, .revoked:
            throw .notPossible("The subscription is over.")
        case .active:
            let wasOn = changed.autoRenews && changed.commitment?.renews != false
            guard wasOn != isOn else { return }
            changed.commitment?.renews = isOn
            if !isOn { changed.autoRenewProductID = changed.productID }
            // Who is bound pays on to the commitment's end.
            if isOn || !changed.isBound {
                changed.autoRenews = isOn
                changed.expirationIntent = isOn ? nil : 1
            }
            world.record(changed)
            announceRenewalStatus(&world, of: changed, isOn)
        case .billingGrace, .billingRetry:
            guard !isOn else { return }
            // Nothing paid is left, so cancelling ends it at once.
            changed.autoRenews = false
            changed.expirationIntent = 1
            world.record(changed)
            announceRenewalStatus(&world, of: changed, false)
            Billing.expire(&world, changed, intent: 1, "VOLUNTARY", at: now)
        }
    }

    /// Apple ends a subscription with its period, for a reason that it has no subtype for.
    static func end(_ world: inout World, _ originalID: String) throws(Refusal) {
        var subscription = try world.subscription(originalID)
        guard subscription.state == .active else {
            throw .notPossible("Only an active subscription can be ended.")
        }
        subscription.autoRenews = false
        subscription.expirationIntent = 5
        world.record(subscription)
    }

    private static func announceRenewalStatus(
        _ world: inout World,
        of subscription: Subscription,
        _ isOn: Bool
    ) {
        world.announce(
            "DID_CHANGE_RENEWAL_STATUS",
            isOn ? "AUTO_RENEW_ENABLED" : "AUTO_RENEW_DISABLED",
            subscription: subscription.originalTransactionID
        )
    }
}
