/// The billing of a subscription that replaces another one.
///
/// https://developer.android.com/google/play/billing/subscriptions#replacement-modes
enum ReplacementMode: String, Hashable, Sendable, Codable, CaseIterable {
    case withTimeProration = "WITH_TIME_PRORATION"
    case chargeProratedPrice = "CHARGE_PRORATED_PRICE"
    case withoutProration = "WITHOUT_PRORATION"
    case chargeFullPrice = "CHARGE_FULL_PRICE"
    case deferred = "DEFERRED"
    case keepExisting = "KEEP_EXISTING"
}

/// A change of plan, a re-signup or a top-up: the old purchase ends and a new token takes over.
struct Replacement {
    var old: Subscription
    /// Bought already, but without anything that it takes over.
    var new: Subscription
    var mode: ReplacementMode
    var circumstances: Circumstances

    private var now: Int64 { circumstances.now }
    private var oldBase: SubscriptionItem? { old.items.first { $0.isOwned } }

    /// - Returns: the effects on the new token; `old` is left as it is read from now on.
    mutating func perform() throws(Refusal) -> [SubscriptionEffect] {
        try check()
        new.linkedToken = old.token
        new.startTime = now
        new.phase = .active
        new.decision = nil
        var lines: [Order.Line] = []
        for index in new.items.indices {
            let product = new.items[index].productID
            if index > 0 || mode == .keepExisting, let kept = existing(product) {
                new.items[index] = kept
                // Its price and its rest stay.
                new.items[index].replacement = note(kept, .keepExisting)
            } else if index > 0 {
                lines.append(add(index))
            } else {
                lines += try replaceBase()
            }
        }
        takeOverRemoved()
        if mode == .deferred { try takeOverDeferred() }
        if new.isPrepaid { new.items[0].extendAfter = topUpEnd }
        new.awaitAcknowledgement(circumstances)
        new.touch()
        old.replace(at: now, circumstances.behaviour)
        let effects: [SubscriptionEffect] =
            lines.isEmpty ? [] : [.charge(.init(orderID: new.orderID, lines: lines))]
        return effects + [.hint(.purchased)]
    }

    private func check() throws(Refusal) {
        guard old.isLive else { throw .notPossible("The purchase to be replaced is over.") }
        guard old.isAcknowledged else {
            throw .notPossible("A purchase that is not acknowledged cannot be replaced.")
        }
        guard oldBase?.price.currency == new.items[0].price.currency else {
            throw .notPossible(
                "A plan in \(new.items[0].price.currency) cannot replace one in "
                    + "\(oldBase?.price.currency ?? "another currency")."
            )
        }
        if new.isPrepaid, mode != .chargeFullPrice {
            throw .invalid("Prepaid plans are changed to with CHARGE_FULL_PRICE only.")
        }
        if old.isPrepaid, new.isPrepaid, let after = oldBase?.extendAfter, after > now {
            throw .notPossible("Only one top-up that is not used yet is possible at a time.")
        }
    }

    private func existing(_ product: String) -> SubscriptionItem? {
        old.items.first { $0.productID == product && $0.isOwned && !$0.isBeingRemoved }
    }

    private func note(
        _ item: SubscriptionItem,
        _ mode: ReplacementMode
    ) -> SubscriptionItem.ItemReplacement {
        .init(
            productID: item.productID,
            planID: item.plan.basePlanID,
            offerID: item.offerID,
            mode: mode,
            at: now
        )
    }

    /// The start of a top-up's own time; the next top-up is sold from then on.
    private var topUpEnd: Int64? { oldBase?.plan.isPrepaid == true ? oldBase?.expiry : nil }

    // MARK: - Items

    /// The unused part of the old base item's price.
    ///
    /// Time that a change of plan carried over is worth what the plan's price says.
    private func credit(_ item: SubscriptionItem) -> Money {
        guard let period = item.period, let start = item.start, let end = item.expiry,
            end > now, end > start
        else { return Money(currency: item.price.currency, micros: 0) }
        guard period.kind != .proration else {
            let whole = circumstances.durations.end(of: item.plan.period, from: start) - start
            return item.price.times(end - now, over: whole)
        }
        return period.price.times(end - now, over: end - start)
    }

    /// The time that `credit` pays for, where the new plan's price pays for `length`.
    ///
    /// A century at most: a plan of next to nothing would last longer than calendars do.
    private func time(of length: Int64, for credit: Money) -> Int64 {
        let price = max(1, new.items[0].price.micros)
        let time = Double(length) * Double(credit.micros) / Double(price)
        return Int64(min(time, Double(100 * 366 * Timestamp.day)))
    }

    private mutating func replaceBase() throws(Refusal) -> [Order.Line] {
        guard let base = oldBase, let start = base.start, let end = base.expiry else {
            throw .notPossible("The purchase to be replaced has no running item.")
        }
        new.items[0].replacement = note(base, mode)
        let durations = circumstances.durations
        switch mode {
        case .withTimeProration:
            let full = durations.end(of: new.items[0].plan.period, from: now) - now
            return [carryOn(until: now + max(time(of: full, for: credit(base)), 1), paying: 0)]
        case .withoutProration, .keepExisting:
            return [carryOn(until: max(end, now), paying: 0)]
        case .chargeProratedPrice:
            // The guide reckons in the old plan's periods: $36 a year is $3 a month.
            let rest = max(0, end - now)
            let full = durations.end(of: base.plan.period, from: start) - start
            let (count, ofCount) = base.plan.period.ratio(to: new.items[0].plan.period)
            let cost = new.items[0].price.times(rest * count, over: full * ofCount)
            let due = cost - credit(base)
            guard due.micros > 0 else {
                throw .invalid("CHARGE_PRORATED_PRICE is for upgrades only.")
            }
            return [carryOn(until: end, paying: due.micros)]
        case .chargeFullPrice:
            let credit = new.isPrepaid && old.isPrepaid ? nil : self.credit(base)
            let line = new.items[0].begin(at: now, order: new.orderID, durations: durations)
            let length = (new.items[0].expiry ?? now) - now
            if let credit {
                new.items[0].expiry = now + length + time(of: length, for: credit)
            } else {
                // A top-up goes on top of what is left.
                new.items[0].expiry = max(end, now) + length
            }
            return [line]
        case .deferred:
            return []
        }
    }

    /// The new base item begins with a period that is not a whole one.
    private mutating func carryOn(until end: Int64, paying micros: Int64) -> Order.Line {
        let total = Money(currency: new.items[0].price.currency, micros: micros)
        new.items[0].period = PricedPeriod(
            kind: .proration,
            length: new.items[0].plan.period,
            price: total
        )
        new.items[0].upcoming = []
        new.items[0].start = now
        new.items[0].expiry = end
        new.items[0].latestOrder = new.orderID
        return new.items[0].line(paying: total)
    }

    /// A new add-on runs to the base item's end, for a share of its price.
    private mutating func add(_ index: Int) -> Order.Line {
        guard let end = new.items[0].expiry ?? oldBase?.expiry, end > now,
            new.items[index].upcoming.isEmpty
        else {
            return new.items[index].begin(
                at: now,
                order: new.orderID,
                durations: circumstances.durations
            )
        }
        let full = circumstances.durations.end(of: new.items[index].plan.period, from: now) - now
        let total = new.items[index].price.times(min(end - now, full), over: full)
        new.items[index].period = PricedPeriod(
            kind: .proration,
            length: new.items[index].plan.period,
            price: total
        )
        new.items[index].start = now
        new.items[index].expiry = end
        new.items[index].latestOrder = new.orderID
        return new.items[index].line(paying: total)
    }

    /// Items that the new purchase does not name run out.
    private mutating func takeOverRemoved() {
        let named = Set(new.items.map(\.productID))
        for item in old.items.dropFirst()
        where item.isOwned && !named.contains(item.productID) && item.expiry ?? 0 > now {
            var removed = item
            removed.isBeingRemoved = true
            removed.autoRenews = false
            new.items.append(removed)
        }
    }

    /// DEFERRED: the old item runs to its end, the new one has none yet.
    private mutating func takeOverDeferred() throws(Refusal) {
        guard var base = oldBase else {
            throw .notPossible("The purchase to be replaced has no running item.")
        }
        base.autoRenews = false
        base.deferredReplacement = new.items[0].productID
        base.priceChange = nil
        new.items.insert(base, at: 0)
    }
}

extension Subscription {
    /// Another token takes over.
    mutating func replace(at now: Int64, _ behaviour: Behaviour) {
        cancellation = .replacement
        if behaviour.replacedTokenExpiresAtOnce {
            end(at: now)
        } else {
            phase = .canceled
            for index in items.indices { items[index].autoRenews = false }
            touch()
        }
    }
}
