internal import SandboxClock

extension SimulatedAppStore.World {
    /// The subtype of EXPIRED by expiration intent; 5 has none.
    static let expirySubtypes = [
        1: "VOLUNTARY", 2: "BILLING_RETRY", 3: "PRICE_INCREASE", 4: "PRODUCT_NOT_FOR_SALE",
    ]

    /// Does what is due for one subscription at its instant.
    mutating func performDue(_ originalID: String, at now: Int64) {
        guard let subscription = subscriptions[originalID] else { return }
        switch subscription.state {
        case .active: reachEnd(of: subscription, at: now)
        case .billingGrace: endGrace(of: subscription)
        case .billingRetry: expire(subscription, intent: 2, "BILLING_RETRY", at: now)
        case .expired, .revoked: break
        }
    }

    private mutating func reachEnd(of subscription: Subscription, at now: Int64) {
        guard subscription.autoRenews else {
            let intent = subscription.expirationIntent ?? 1
            return expire(subscription, intent: intent, Self.expirySubtypes[intent], at: now)
        }
        if let increase = subscription.priceIncrease, !increase.isAccepted, !subscription.isBound {
            return expireAtEnd(subscription, intent: 3, "PRICE_INCREASE", at: now)
        }
        guard let product = products[subscription.nextProductID], product.isForSale else {
            return expireAtEnd(subscription, intent: 4, "PRODUCT_NOT_FOR_SALE", at: now)
        }
        if let renewalLimit, subscription.renewals >= renewalLimit {
            return expireAtEnd(subscription, intent: 1, "VOLUNTARY", at: now)
        }
        if customers[subscription.customer]?.billingFails == true {
            return failRenewal(of: subscription, product: product)
        }
        renew(subscription, at: now)
    }

    /// A renewal charged ahead of the end may be refused ahead of it, but ends at the end.
    private mutating func expireAtEnd(
        _ subscription: Subscription,
        intent: Int,
        _ subtype: String,
        at now: Int64
    ) {
        guard now < subscription.renewalDate else {
            return expire(subscription, intent: intent, subtype, at: now)
        }
        var changed = subscription
        changed.autoRenews = false
        changed.expirationIntent = intent
        record(changed)
    }

    private mutating func failRenewal(of subscription: Subscription, product: Product) {
        var changed = subscription
        changed.billingRetryEnds = subscription.renewalDate + renewals.billingRetry
        changed.failedRenewal = subscription.renewalDate
        changed.state = .billingRetry
        if let graceDays {
            changed.state = .billingGrace
            changed.gracePeriodExpiresDate =
                subscription.renewalDate
                + renewals.grace(of: product.period ?? .month, days: graceDays)
        }
        changed.expirationIntent = 2
        record(changed)
        announce(
            "DID_FAIL_TO_RENEW",
            changed.state == .billingGrace ? "GRACE_PERIOD" : nil,
            subscription: changed.originalTransactionID
        )
        followShares(of: changed.originalTransactionID, at: changed.renewalDate)
    }

    private mutating func endGrace(of subscription: Subscription) {
        var changed = subscription
        changed.state = .billingRetry
        let ended = changed.gracePeriodExpiresDate ?? changed.renewalDate
        changed.gracePeriodExpiresDate = nil
        record(changed)
        announce("GRACE_PERIOD_EXPIRED", subscription: changed.originalTransactionID)
        followShares(of: changed.originalTransactionID, at: ended)
    }

    mutating func expire(
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
        record(changed)
        announce("EXPIRED", subtype, subscription: changed.originalTransactionID)
        followShares(of: changed.originalTransactionID, at: now)
    }

    /// Charges the next period: at the end of the running one, or late when a charge had failed.
    mutating func renew(_ subscription: Subscription, at now: Int64) {
        guard let product = products[subscription.nextProductID] else { return }
        var changed = subscription
        let original = subscription.originalTransactionID
        let recovered = subscription.state != .active
        let startsAnew = subscription.state == .billingRetry
        let previousEnd = subscription.renewalDate
        let purchaseDate =
            startsAnew || (recovered && behaviour.graceRecoveryStartsAtCharge) ? now : previousEnd
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
        let end = endOfNextPeriod(&changed, product: product, offer: offer.offer, from: cycleStart)
        let price =
            offer.offer?.price ?? (isNewPlan ? product.price : changed.renewalPrice)
        let commitment = nextCommitment(
            of: subscription,
            product: product,
            offer: offer.offer,
            from: cycleStart,
            startsAnew: startsAnew
        )
        let seats = self.seats(of: subscription)
        var transaction = Transaction(
            id: nextTransactionID(),
            originalID: original,
            customer: subscription.customer,
            webOrderLineItemID: nextLineItemID(),
            orderID: nextOrderID(),
            productID: product.id,
            kind: .autoRenewable,
            subscriptionGroup: subscription.group,
            purchaseDate: purchaseDate,
            originalPurchaseDate: transactions[original]?.originalPurchaseDate ?? purchaseDate,
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
        record(transaction, at: now)
        changed.goesOn(with: transaction, until: end)
        if changed.offerPeriodsLeft > 0, let running = changed.offer {
            changed.renewalPrice = running.price
        } else if offer.offer != nil || isNewPlan {
            changed.renewalPrice = product.price
        }
        record(changed)
        announce("DID_RENEW", recovered ? "BILLING_RECOVERY" : nil, subscription: original)
        followShares(of: original, at: now)
    }

    /// When the coming period ends.
    private func endOfNextPeriod(
        _ subscription: inout Subscription,
        product: Product,
        offer: Offer?,
        from cycleStart: Int64
    ) -> Int64 {
        if let offer, offer.discount != .payAsYouGo {
            let end = renewals.end(of: offer.period, times: offer.count, from: cycleStart)
            subscription.anchor = end
            subscription.periodsSinceAnchor = 0
            return end
        }
        subscription.periodsSinceAnchor += 1
        return renewals.end(
            of: product.period ?? .month,
            times: subscription.periodsSinceAnchor,
            from: subscription.anchor
        )
    }

    /// The offer that the coming period has, taken off the subscription's account.
    private func nextOffer(
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

    // MARK: - The customer's and Apple's hand on renewals

    mutating func setAutoRenew(_ isOn: Bool, of originalID: String, at now: Int64) throws(Refusal) {
        var changed = try subscription(originalID)
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
            record(changed)
            announceRenewalStatus(of: changed, isOn)
        case .billingGrace, .billingRetry:
            guard !isOn else { return }
            // Nothing paid is left, so cancelling ends it at once.
            changed.autoRenews = false
            changed.expirationIntent = 1
            record(changed)
            announceRenewalStatus(of: changed, false)
            expire(changed, intent: 1, "VOLUNTARY", at: now)
        }
    }

    private mutating func announceRenewalStatus(of subscription: Subscription, _ isOn: Bool) {
        announce(
            "DID_CHANGE_RENEWAL_STATUS",
            isOn ? "AUTO_RENEW_ENABLED" : "AUTO_RENEW_DISABLED",
            subscription: subscription.originalTransactionID
        )
    }

    /// Moves the renewal date, at most twice in 365 days; returns the new one.
    mutating func extend(
        _ originalID: String,
        days: Int,
        at now: Int64
    ) throws(Refusal) -> Int64 {
        var changed = try subscription(originalID)
        guard changed.sharedFrom == nil else {
            throw .notPossible("Family members follow the buyer's extension.")
        }
        guard (1...90).contains(days) else { throw .invalid("An extension is of 1 to 90 days.") }
        guard isExtensible(changed) else {
            throw .notPossible("The subscription is not in a paid period.")
        }
        let year = 365 * CivilDate.millisecondsPerDay
        guard changed.extensions.filter({ now - $0 < year }).count < 2 else {
            throw .notPossible("It was extended twice within a year.")
        }
        changed.extensions.append(now)
        changed.renewalDate += renewals.extensionLength(days: days)
        changed.commitment?.expires += renewals.extensionLength(days: days)
        changed.anchor = changed.renewalDate
        changed.periodsSinceAnchor = 0
        if behaviour.extensionMovesExpiresDate {
            for var part in period(of: changed) {
                part.expiresDate = changed.renewalDate
                record(part, at: now)
            }
        }
        record(changed)
        announce("RENEWAL_EXTENDED", subscription: originalID)
        followShares(of: originalID, at: now)
        return changed.renewalDate
    }

    /// In a period that was paid for, with nothing wrong.
    func isExtensible(_ subscription: Subscription) -> Bool {
        guard subscription.state == .active,
            let latest = transactions[subscription.latestTransactionID]
        else { return false }
        return (latest.price ?? 0) > 0
    }

    /// Raises a product's price for everyone who has it, with or without asking them.
    mutating func raisePrice(
        of productID: String,
        to price: Int64,
        consentRequired: Bool
    ) throws(Refusal) {
        var product = try product(productID)
        guard price > product.price else { throw .invalid("The new price is not higher.") }
        product.price = price
        products[productID] = product
        for id in subscriptions.keys.sorted() {
            guard var changed = subscriptions[id], changed.state == .active, changed.autoRenews,
                changed.autoRenewProductID == productID, changed.sharedFrom == nil
            else { continue }
            changed.priceIncrease = .init(price: price, isAccepted: !consentRequired)
            record(changed)
            announce("PRICE_INCREASE", consentRequired ? "PENDING" : "ACCEPTED", subscription: id)
        }
    }

    mutating func consentToPriceIncrease(_ originalID: String) throws(Refusal) {
        var changed = try subscription(originalID)
        guard let increase = changed.priceIncrease, !increase.isAccepted else {
            throw .notPossible("No price increase waits for consent.")
        }
        changed.priceIncrease = .init(price: increase.price, isAccepted: true)
        record(changed)
        announce("PRICE_INCREASE", "ACCEPTED", subscription: originalID)
    }
}

extension SimulatedAppStore.Subscription {
    /// Notes that another period is paid for.
    fileprivate mutating func goesOn(
        with transaction: SimulatedAppStore.Transaction,
        until end: Int64
    ) {
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
