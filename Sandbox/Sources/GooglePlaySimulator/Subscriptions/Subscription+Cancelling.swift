extension Subscription {
    /// The subscriber, or the developer on their behalf, stops renewals.
    ///
    /// An installment plan goes on until what it commits to is paid.
    mutating func cancel(
        _ cancellation: Cancellation,
        stopsPayments: Bool = false,
        at now: Int64
    ) throws(Refusal) -> [SubscriptionEffect] {
        guard isRenewing else {
            throw .notPossible("The subscription does not renew: nothing can be canceled.")
        }
        if case .paused = phase {
            self.cancellation = cancellation
            return [.hint(.canceled)] + expire(at: now)
        }
        if isInDecline {
            self.cancellation = cancellation
            return [.hint(.canceled)] + expire(at: now)
        }
        if !stopsPayments, let index = items.firstIndex(where: { $0.installments != nil }),
            items[index].installments?.remaining ?? 0 > 0
        {
            self.cancellation = cancellation
            items[index].installments?.isCancellationPending = true
            touch()
            return [.hint(.cancellationScheduled)]
        }
        self.cancellation = cancellation
        phase = .canceled
        pause = nil
        for index in items.indices { items[index].autoRenews = false }
        touch()
        return [.hint(.canceled)]
    }

    /// The subscriber takes a cancellation back, before the subscription ends.
    mutating func restore(at now: Int64) throws(Refusal) -> [SubscriptionEffect] {
        let isPending = items.contains { $0.installments?.isCancellationPending == true }
        switch cancellation {
        case .user: break
        case .system, .developer, .replacement, nil:
            throw .notPossible("Only what the subscriber canceled can be restored.")
        }
        guard isPending || phase == .canceled, expiry ?? 0 > now else {
            throw .notPossible("The subscription is not canceled, or it has ended.")
        }
        cancellation = nil
        phase = .active
        for index in items.indices where !items[index].isEnded {
            let goes = items[index].isBeingRemoved || items[index].deferredReplacement != nil
            items[index].autoRenews = !goes
            items[index].installments?.isCancellationPending = false
        }
        touch()
        return [.hint(.restarted)]
    }

    /// Ends access at once and gives money back.
    mutating func revoke(
        _ refund: Revocation,
        source: VoidedPurchase.Source,
        reason: VoidedPurchase.Reason,
        at now: Int64
    ) throws(Refusal) -> [SubscriptionEffect] {
        guard isLive else { throw .notPossible("The subscription is over.") }
        switch refund {
        case .full, .prorated:
            let voids = latestOrders.map { order, items in
                SubscriptionEffect.void(
                    .init(
                        orderID: order,
                        source: source,
                        reason: reason,
                        products: items.map(\.productID),
                        share: refund == .full ? nil : unusedShare(of: items.first, at: now)
                    )
                )
            }
            end(at: now)
            return voids + [.hint(.revoked)]
        case .order(let order):
            end(at: now)
            return [
                .void(.init(orderID: order, source: source, reason: reason)),
                .hint(.revoked),
            ]
        case .item(let product):
            return try revokeItem(product, source: source, reason: reason, at: now)
        }
    }

    /// The money that goes back with the access.
    ///
    /// https://developer.android.com/google/play/billing/subscription-with-addons#revoke-refund
    enum Revocation: Hashable, Sendable {
        /// The latest order of each item.
        case full
        /// The unused part of the latest order of each item.
        case prorated
        /// One item's, and its access alone.
        case item(String)
        /// One order's, and all access.
        case order(String)
    }

    /// The latest order of each owned item, with the items that it paid for.
    private var latestOrders: [(order: String, items: [SubscriptionItem])] {
        var orders: [(order: String, items: [SubscriptionItem])] = []
        for item in items where item.isOwned {
            let order = item.latestOrder ?? latestOrderID
            if let index = orders.firstIndex(where: { $0.order == order }) {
                orders[index].items.append(item)
            } else {
                orders.append((order, [item]))
            }
        }
        return orders
    }

    private mutating func revokeItem(
        _ product: String,
        source: VoidedPurchase.Source,
        reason: VoidedPurchase.Reason,
        at now: Int64
    ) throws(Refusal) -> [SubscriptionEffect] {
        guard !isPrepaid, !isInDecline,
            let index = items.firstIndex(where: { $0.productID == product && $0.isOwned }),
            items[index].expiry ?? 0 > now
        else {
            throw .notPossible(
                "Only an item that is owned, of a plan that renews and is paid, is revoked alone."
            )
        }
        let order = items[index].latestOrder ?? latestOrderID
        let void = SubscriptionEffect.Void(
            orderID: order,
            source: source,
            reason: reason,
            productID: product
        )
        items[index].end(at: now)
        touch()
        guard items.contains(where: \.isOwned) else {
            cancellation = .developer
            return [.void(void), .hint(.canceled)] + expire(at: now)
        }
        return [.void(void), .hint(.itemsChanged)]
    }

    /// The part of the running period that is left, in millionths.
    private func unusedShare(of item: SubscriptionItem?, at now: Int64) -> Int64 {
        guard let start = item?.start, let end = item?.expiry, end > start
        else { return 1_000_000 }
        return max(0, min(1_000_000, (end - now) * 1_000_000 / (end - start)))
    }

    // MARK: - Moving the billing date

    /// Moves the next billing date of all items.
    mutating func `defer`(by length: Int64) throws(Refusal) -> [SubscriptionEffect] {
        guard phase == .active else {
            throw .notPossible("Only an active subscription is deferred.")
        }
        guard (Timestamp.day...366 * Timestamp.day).contains(length) || isTest && length > 0 else {
            throw .invalid("A subscription is deferred by one day to one year at a time.")
        }
        for index in items.indices where items[index].isOwned {
            items[index].expiry = items[index].expiry.map { $0 + length }
        }
        touch()
        return [.hint(.deferred)]
    }

    // MARK: - Pauses

    /// Schedules a pause for the period's end, or with `nil` takes it back.
    mutating func schedulePause(_ length: BillingPeriod?) throws(Refusal) -> [SubscriptionEffect] {
        guard phase == .active, isRenewing, let plan = items.first?.plan else {
            throw .notPossible("Only an active subscription that renews is paused.")
        }
        guard let length else {
            guard pause != nil else { throw .notPossible("No pause is scheduled.") }
            pause = nil
            touch()
            return [.hint(.pauseScheduleChanged)]
        }
        let isWeekly = plan.period.length < 28 * Timestamp.day
        let isAnnual = plan.period.length > 300 * Timestamp.day
        let isAllowed =
            isWeekly
            ? length.unit == .week && (1...4).contains(length.count)
            : length.unit == .month && (1...3).contains(length.count)
        guard isAllowed, !isAnnual else {
            throw .invalid(
                "A weekly plan pauses for P1W to P4W, others for P1M to P3M, annual ones not."
            )
        }
        pause = length
        touch()
        return [.hint(.pauseScheduleChanged)]
    }

    /// A pause ends: by itself, or because the subscriber wants it.
    mutating func resume(_ circumstances: Circumstances) -> [SubscriptionEffect] {
        guard case .paused = phase else { return [] }
        let products = items.filter { $0.isOwned && !$0.isBeingRemoved }.map(\.productID)
        touch()
        if circumstances.pays {
            return charge(products, from: circumstances.now, hint: .recovered, circumstances)
        }
        // Straight to account hold, without grace.
        let now = circumstances.now
        declined = Declined(products: products, since: now, orderID: nextOrderID)
        let hold = circumstances.durations.hold(items[0].plan.hold)
        phase = .hold(until: now + hold)
        return [.hint(.onHold)]
    }
}
