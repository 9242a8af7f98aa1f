extension SimulatedAppStore.World {
    /// A customer taps the buy button and confirms; returns the transaction the device gets.
    mutating func buy(
        _ productID: String,
        by customerID: String,
        appAccountToken: String?,
        quantity: Int,
        offer offerID: String?,
        allowsIntroductoryOffer: Bool? = nil,
        at now: Int64
    ) throws(Refusal) -> Transaction {
        let product = try product(productID)
        let customer = try customer(customerID)
        guard product.isForSale else { throw .notPossible("\(productID) is not for sale.") }
        let most = product.isMultiSeat ? 1000 : 10
        guard (1...most).contains(quantity) else {
            throw .invalid("quantity is from 1 to \(most).")
        }
        guard quantity == 1 || product.kind == .consumable || product.isMultiSeat else {
            throw .invalid("Only a consumable, or a multiseat subscription, has a quantity.")
        }
        guard !customer.billingFails else {
            throw .notPossible("The card of \(customerID) is refused.")
        }
        let token = appAccountToken?.lowercased() ?? customer.appAccountToken
        if product.kind == .autoRenewable {
            return try subscribe(
                to: product,
                customer,
                token: token,
                seats: quantity,
                offer: offerID,
                allowsIntroductoryOffer: allowsIntroductoryOffer,
                at: now
            )
        }
        if product.kind == .nonConsumable,
            let owned = transactionsOf(customerID).last(where: {
                $0.productID == productID && !$0.isRevoked
            })
        {
            return owned  // Buying it again is free and changes nothing.
        }
        let id = nextTransactionID()
        let transaction = Transaction(
            id: id,
            originalID: id,
            customer: customerID,
            orderID: nextOrderID(),
            productID: productID,
            kind: product.kind,
            purchaseDate: now,
            originalPurchaseDate: now,
            quantity: quantity,
            appAccountToken: token,
            ownership: .purchased,
            reason: .purchase,
            price: product.price * Int64(quantity),
            currency: product.currency
        )
        record(transaction, at: now)
        announce("ONE_TIME_CHARGE", transaction: id)
        share(transaction, at: now)
        return transactions[id] ?? transaction
    }

    private mutating func subscribe(
        to product: Product,
        _ customer: Customer,
        token: String?,
        seats: Int,
        offer offerID: String?,
        allowsIntroductoryOffer: Bool?,
        at now: Int64
    ) throws(Refusal) -> Transaction {
        let group = product.subscriptionGroup ?? product.id
        // What others share is no subscription of one's own that could be changed or taken up again.
        let previous = subscriptions(of: customer.id, in: group).first { $0.sharedFrom == nil }
        if let previous, let taken = try takeUp(previous, product, offer: offerID, at: now) {
            return taken
        }
        let introductory = allowsIntroductoryOffer
        let offer = try offer(offerID, of: product, for: customer, allowsIntroductory: introductory)
        let id = nextTransactionID()
        let continues = previous != nil && behaviour.resubscribeKeepsOriginalTransactionID
        let originalID = continues ? previous?.originalTransactionID ?? id : id
        let end = endOfFirstPeriod(of: product, offer: offer, from: now)
        var transaction = Transaction(
            id: id,
            originalID: originalID,
            customer: customer.id,
            webOrderLineItemID: nextLineItemID(),
            orderID: nextOrderID(),
            productID: product.id,
            kind: .autoRenewable,
            subscriptionGroup: group,
            purchaseDate: now,
            originalPurchaseDate: transactions[originalID]?.originalPurchaseDate ?? now,
            expiresDate: end,
            quantity: seats,
            appAccountToken: token,
            ownership: .purchased,
            reason: .purchase,
            offer: offer,
            commitment: commitment(of: product, offer: offer, from: now),
            price: (offer?.price ?? product.price) * Int64(seats),
            currency: product.currency
        )
        transaction.revokedSeats = product.isMultiSeat ? 0 : nil
        record(transaction, at: now)
        var subscription = Subscription(
            originalTransactionID: originalID,
            customer: customer.id,
            group: group,
            productID: product.id,
            autoRenewProductID: product.id,
            latestTransactionID: id,
            renewalDate: end,
            renewalPrice: product.price,
            appAccountToken: token,
            recentStart: now,
            anchor: now
        )
        start(&subscription, product: product, offer: offer, from: now, to: end)
        if let previous, now - previous.renewalDate <= renewals.ignoredGap,
            previous.state == .expired
        {
            subscription.recentStart = previous.recentStart
        }
        record(subscription)
        let subtype = previous == nil ? "INITIAL_BUY" : "RESUBSCRIBE"
        announce("SUBSCRIBED", subtype, subscription: originalID)
        share(transaction, at: now)
        return try latestTransaction(of: originalID)
    }

    /// Buys in a group in which a subscription runs.
    ///
    /// - Returns: `nil` where it has ended.
    private mutating func takeUp(
        _ current: Subscription,
        _ product: Product,
        offer: String?,
        at now: Int64
    ) throws(Refusal) -> Transaction? {
        switch current.state {
        case .active:
            if let offer { return try redeem(offer, on: current, product: product, at: now) }
            return try changePlan(of: current, to: product, at: now)
        case .billingGrace, .billingRetry:
            renew(current, at: now)
            return try latestTransaction(of: current.originalTransactionID)
        case .expired, .revoked: return nil
        }
    }

    /// Changes to another plan of the group: up at once, down at the next renewal.
    mutating func changePlan(
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
                record(changed)
                announce("DID_CHANGE_RENEWAL_PREF", subscription: original)
            } else if !subscription.autoRenews || subscription.commitment?.renews == false {
                try setAutoRenew(true, of: original, at: now)
            } else {
                throw .notPossible("Already subscribed to \(product.id).")
            }
            return try latestTransaction(of: original)
        }
        let current = try self.product(subscription.productID)
        let isUpgrade = (product.level ?? 1) < (current.level ?? 1)
        let isEqualCrossgrade =
            product.level == current.level && product.period == current.period
        guard isUpgrade || isEqualCrossgrade else {
            changed.autoRenewProductID = product.id
            if !changed.isBound { changed.renewalPrice = product.price }
            changed.autoRenews = true
            changed.commitment?.renews = true
            record(changed)
            announce("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE", subscription: original)
            return try latestTransaction(of: original)
        }
        return try upgrade(changed, to: product, offer: nil, at: now)
    }

    /// Replaces the running period by one of `product` that begins now.
    mutating func upgrade(
        _ subscription: Subscription,
        to product: Product,
        offer: Offer?,
        at now: Int64
    ) throws(Refusal) -> Transaction {
        var changed = subscription
        let original = subscription.originalTransactionID
        let replaced = try transaction(subscription.latestTransactionID)
        // A renewal may have been charged ahead of the period that runs: both are replaced.
        let running = transactionsOf(subscription.customer).filter {
            $0.originalID == original && $0.purchaseDate < replaced.purchaseDate
                && $0.expiresDate.map { now < $0 } ?? false && $0.additionalReason == nil
                && !$0.isRevoked && !$0.isUpgraded
        }
        for var part in running + period(of: subscription) {
            part.isUpgraded = true
            if behaviour.upgradeSendsRefund {
                part.revocation = .init(date: now, reason: 0, type: "REFUND_PRORATED")
            }
            record(part, at: now)
        }
        let end = endOfFirstPeriod(of: product, offer: offer, from: now)
        let transaction = Transaction(
            id: nextTransactionID(),
            originalID: original,
            customer: subscription.customer,
            webOrderLineItemID: nextLineItemID(),
            orderID: nextOrderID(),
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
            commitment: commitment(of: product, offer: offer, from: now),
            price: offer?.price ?? product.price,
            currency: product.currency
        )
        record(transaction, at: now)
        changed.productID = product.id
        changed.autoRenewProductID = product.id
        changed.autoRenews = true
        changed.latestTransactionID = transaction.id
        changed.priceIncrease = nil
        start(&changed, product: product, offer: offer, from: now, to: end)
        record(changed)
        announce(
            offer == nil ? "DID_CHANGE_RENEWAL_PREF" : "OFFER_REDEEMED",
            "UPGRADE",
            subscription: original
        )
        if behaviour.upgradeSendsRefund {
            announce("REFUND", transaction: replaced.id, subscription: original)
        }
        followShares(of: original, at: now)
        return try latestTransaction(of: original)
    }

    /// Redeems an offer on an active subscription: for the same plan or a lower one it applies
    /// at the next renewal, for a higher one now.
    mutating func redeem(
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
        let current = try self.product(subscription.productID)
        let original = subscription.originalTransactionID
        if product.id != current.id, (product.level ?? 1) < (current.level ?? 1) {
            return try upgrade(subscription, to: product, offer: offer, at: now)
        }
        var changed = subscription
        changed.pendingOffer = offer
        changed.autoRenews = true
        changed.autoRenewProductID = product.id
        changed.renewalPrice = offer.price
        record(changed)
        announce(
            "OFFER_REDEEMED",
            product.id == current.id ? nil : "DOWNGRADE",
            subscription: original
        )
        return try latestTransaction(of: original)
    }

    /// The customer restores on another device: what counts, perhaps under new transaction ids.
    mutating func restore(_ transaction: Transaction, at now: Int64) -> Transaction {
        guard behaviour.restoreMakesNewTransactionIDs else { return transaction }
        var alias = Transaction(
            id: nextTransactionID(),
            originalID: transaction.originalID,
            customer: transaction.customer,
            webOrderLineItemID: transaction.webOrderLineItemID,
            orderID: transaction.orderID,
            productID: transaction.productID,
            kind: transaction.kind,
            subscriptionGroup: transaction.subscriptionGroup,
            purchaseDate: transaction.purchaseDate,
            originalPurchaseDate: transaction.originalPurchaseDate,
            expiresDate: transaction.expiresDate,
            quantity: transaction.quantity,
            appAccountToken: transaction.appAccountToken,
            ownership: transaction.ownership,
            reason: transaction.reason,
            offer: transaction.offer,
            commitment: transaction.commitment,
            price: transaction.price,
            currency: transaction.currency
        )
        alias.isFinished = true
        alias.revokedSeats = transaction.revokedSeats
        alias.additionalReason = transaction.additionalReason
        alias.previousOriginalID = transaction.previousOriginalID
        alias.bundle = transaction.bundle
        record(alias, at: now)
        return alias
    }

    func latestTransaction(of originalID: String) throws(Refusal) -> Transaction {
        try transaction(try subscription(originalID).latestTransactionID)
    }

    private func offer(
        _ id: String?,
        of product: Product,
        for customer: Customer,
        allowsIntroductory: Bool?
    ) throws(Refusal) -> Offer? {
        if let id {
            guard let offer = product.offers.first(where: { $0.id == id }) else {
                throw .notFound("offer \(id) of \(product.id)")
            }
            return offer
        }
        let hadOne = transactionsOf(customer.id).contains {
            $0.subscriptionGroup == product.subscriptionGroup && $0.offer?.kind == .introductory
        }
        // What the app's server signed comes before the store's own rule.
        return allowsIntroductory ?? !hadOne ? product.introductoryOffer : nil
    }

    func endOfFirstPeriod(of product: Product, offer: Offer?, from start: Int64) -> Int64 {
        let period = product.period ?? .month
        guard let offer, offer.discount != .payAsYouGo else {
            return renewals.end(of: period, times: 1, from: start)
        }
        return renewals.end(of: offer.period, times: offer.count, from: start)
    }

    /// Sets the subscription's counters for a period that just began as the first of its kind.
    func start(
        _ subscription: inout Subscription,
        product: Product,
        offer: Offer?,
        from start: Int64,
        to end: Int64
    ) {
        subscription.renewalDate = end
        subscription.offer = offer
        subscription.offerPeriodsLeft = 0
        subscription.pendingOffer = nil
        subscription.renewalPrice = product.price
        subscription.commitment = commitment(of: product, offer: offer, from: start)
        if let offer, offer.discount == .payAsYouGo {
            subscription.offerPeriodsLeft = offer.count - 1
            if offer.count > 1 { subscription.renewalPrice = offer.price }
        }
        let isFullPeriod = offer == nil || offer?.discount == .payAsYouGo
        subscription.anchor = isFullPeriod ? start : end
        subscription.periodsSinceAnchor = isFullPeriod ? 1 : 0
    }
}

extension SimulatedAppStore.Period {
    static let month = Self(count: 1, unit: .month)

    private init(count: Int, unit: Unit) {
        self.count = count
        self.unit = unit
    }
}
