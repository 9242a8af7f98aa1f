extension PlayStore {
    /// The time of the next event that happens by itself.
    var nextDue: Int64? {
        let dues =
            subscriptions.values.compactMap(\.nextDue) + products.values.compactMap(\.nextDue)
            + reviews.values.compactMap(\.dueAt)
        return dues.min()
    }

    /// Does everything that is due at `now`, in the order of its instants.
    mutating func happen(at now: Int64) {
        for _ in 0..<100_000 {
            guard let due = nextDue, due <= now else { return }
            for token in subscriptions.filter({ $1.nextDue.map { $0 <= due } ?? false }).keys
                .sorted()
            {
                happen(toSubscription: token)
            }
            for token in products.filter({ $1.nextDue.map { $0 <= due } ?? false }).keys.sorted() {
                guard var purchase = products[token], let own = purchase.nextDue,
                    let circumstances = try? circumstances(of: purchase.account, at: own)
                else { continue }
                let effects = purchase.happen(circumstances)
                put(purchase, effects, at: own)
            }
            for token in reviews.keys.sorted() {
                guard let own = reviews[token]?.dueAt, own <= due else { continue }
                decide(token, at: own)
            }
        }
    }

    private mutating func happen(toSubscription token: String) {
        guard var subscription = subscriptions[token], let own = subscription.nextDue,
            let circumstances = try? circumstances(of: subscription.account, at: own)
        else { return }
        // A payment that was waited for may replace another purchase, or come after its end.
        if subscription.phase == .pending, subscription.linkedToken != nil,
            subscription.decision?.isPaid == true,
            (try? PendingPurchase.pay(token, in: &self, at: own)) != nil
        {
            return
        }
        let effects =
            subscription.phase == .pending && subscription.linkedToken != nil
            ? subscription.endPending(at: own) : subscription.happen(circumstances)
        put(subscription, effects, at: own)
    }

    /// A refund that was reviewed, or that nobody answered in time, is decided.
    mutating func decide(_ review: String, at now: Int64) {
        guard var asked = reviews[review] else { return }
        asked.isDecided = true
        reviews[review] = asked
        if asked.preference == .decline {
            orders.change(asked.orderID) { $0.keepMoney(at: now) }
            return
        }
        try? chargeBack(asked.orderID, at: now)
    }

    /// A bank takes an order's money back: access ends too.
    mutating func chargeBack(_ orderID: String, at now: Int64) throws(Refusal) {
        let order = try order(orderID)
        orders.change(orderID) { $0.keepMoney(at: now) }
        if var purchase = products[order.token], purchase.state == .purchased {
            let effects = purchase.void(.init(source: .google, reason: .chargeback), at: now)
            put(purchase, effects, at: now)
        } else if var subscription = subscriptions[order.token], subscription.isLive,
            subscription.latestOrderID == orderID
        {
            let effects = try subscription.revoke(
                .order(orderID),
                source: .google,
                reason: .chargeback,
                at: now
            )
            put(subscription, effects, at: now)
        } else {
            refundOld(order, source: .google, reason: .chargeback, at: now)
        }
    }

    /// An order of the past goes back; the purchase that it belongs to goes on.
    mutating func refundOld(
        _ order: Order,
        source: VoidedPurchase.Source,
        reason: VoidedPurchase.Reason,
        at now: Int64
    ) {
        orders.change(order.id) { $0.refundAll(at: now, isChargeback: reason == .chargeback) }
        record(
            VoidedPurchase(
                token: order.token,
                orderID: order.id,
                isSubscription: subscriptions[order.token] != nil,
                purchasedAt: order.createdAt,
                voidedAt: now,
                source: source,
                reason: reason
            ),
            at: now
        )
    }
}
