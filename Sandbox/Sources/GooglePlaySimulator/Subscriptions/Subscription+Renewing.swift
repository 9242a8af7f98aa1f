extension Subscription {
    /// The first payment went through.
    mutating func pay(_ circumstances: Circumstances) -> [SubscriptionEffect] {
        let now = circumstances.now
        phase = .active
        decision = nil
        startTime = now
        var lines: [Order.Line] = []
        for index in items.indices where !items[index].isEnded && items[index].expiry == nil {
            if isAwaited(items[index].productID) { continue }
            lines.append(
                items[index].begin(
                    at: now,
                    order: orderID,
                    durations: circumstances.durations
                )
            )
        }
        awaitAcknowledgement(circumstances)
        touch()
        return [.charge(.init(orderID: orderID, lines: lines)), .hint(.purchased)]
    }

    mutating func awaitAcknowledgement(_ circumstances: Circumstances) {
        let prepaid = isPrepaid ? items.first?.plan.period : nil
        acknowledgeBy =
            circumstances.now
            + circumstances.durations.acknowledgement(
                of: prepaid,
                testMinutes: circumstances.behaviour.testAcknowledgementMinutes
            )
    }

    /// The first payment was not made in time.
    mutating func endPending(at now: Int64) -> [SubscriptionEffect] {
        phase = .pendingCanceled
        decision = nil
        endedAt = now
        touch()
        return [.hint(.pendingPurchaseCanceled)]
    }

    /// Returns `true` if an item starts when another one ends.
    private func isAwaited(_ product: String) -> Bool {
        items.contains { $0.deferredReplacement == product && !$0.isEnded }
    }

    // MARK: - The end of a period

    /// Renews what reached its end, or ends it.
    mutating func renewDue(_ circumstances: Circumstances) -> [SubscriptionEffect] {
        let now = circumstances.now
        let due = items.indices.filter { items[$0].isOwned && items[$0].expiry ?? .max <= now }
        guard !due.isEmpty else { return [] }
        if isPrepaid { return expire(at: now) }
        if let length = pause {
            phase = .paused(until: circumstances.durations.pauseEnd(length, from: now))
            pause = nil
            return [.hint(.paused)]
        }
        if let ending = endInsteadOfRenewing(due, circumstances) { return ending }
        var renewing: [String] = []
        for index in due {
            if let successor = items[index].deferredReplacement {
                renewing.append(successor)
            } else if !items[index].isBeingRemoved {
                renewing.append(items[index].productID)
            }
        }
        guard !renewing.isEmpty else {
            for index in due { items[index].end(at: now) }
            return items.contains(where: \.isOwned)
                ? [.hint(.itemsChanged)] : expire(at: now)
        }
        return circumstances.pays
            ? charge(renewing, from: now, hint: .renewed, circumstances)
            : decline(renewing, circumstances)
    }

    /// Ends a subscription at a renewal that may not be: no consent, a cancellation that waited for
    /// the end of the commitment, a licence tester's last renewal.
    private mutating func endInsteadOfRenewing(
        _ due: [Int],
        _ circumstances: Circumstances
    ) -> [SubscriptionEffect]? {
        let now = circumstances.now
        let isCanceled = due.contains { index in
            guard let committed = items[index].installments else { return false }
            return committed.isCancellationPending && committed.remaining == 0
        }
        if isCanceled {
            return [.hint(.canceled)] + expire(at: now)
        }
        let isOver =
            isTest && circumstances.behaviour.limitsTestRenewals
            && renewals - (introductoryRenewals ?? 0) >= Durations.testRenewals
        guard isOver || due.contains(where: { items[$0].lacksConsent(at: now) }) else {
            return nil
        }
        cancellation = .system
        return [.hint(.canceled)] + expire(at: now)
    }

    /// Charges for the next periods of `products`, which begin at `start`.
    mutating func charge(
        _ products: [String],
        from start: Int64,
        hint: SubscriptionHint,
        _ circumstances: Circumstances
    ) -> [SubscriptionEffect] {
        let order = nextOrderID
        var lines: [Order.Line] = []
        for index in items.indices where !items[index].isEnded {
            let isReplaced =
                items[index].deferredReplacement.map(products.contains) ?? false
            if isReplaced || items[index].isBeingRemoved && items[index].expiry ?? .max <= start {
                items[index].end(at: start)
                // The replacement has happened: it is announced no longer.
                if isReplaced { items[index].deferredReplacement = nil }
            } else if products.contains(items[index].productID) {
                items[index].applyPriceChange(at: circumstances.now)
                lines.append(
                    items[index].begin(
                        at: start,
                        order: order,
                        durations: circumstances.durations
                    )
                )
            }
        }
        renewals += 1
        let isBase = items.contains { $0.latestOrder == order && $0.period?.kind == .base }
        if !isBase { introductoryRenewals = (introductoryRenewals ?? 0) + 1 }
        phase = .active
        declined = nil
        touch()
        return [.charge(.init(orderID: order, lines: lines)), .hint(hint)]
    }

    // MARK: - Declined payments

    /// A renewal that the buyer's payment method does not take.
    mutating func decline(
        _ products: [String],
        _ circumstances: Circumstances
    ) -> [SubscriptionEffect] {
        let now = circumstances.now
        declined = Declined(products: products, since: now, orderID: nextOrderID)
        let plan = recoveryPlan
        let grace = circumstances.durations.grace(plan.grace)
        if grace > 0 {
            phase = .grace(until: now + grace)
            _ = extendGrace(circumstances)
            return [.hint(.inGracePeriod)]
        }
        if circumstances.behaviour.hasSilentGrace, !isTest {
            phase = .retrying(until: now + Timestamp.day)
            extendDeclined(to: now + Timestamp.day)
            return []
        }
        return enterHold(circumstances)
    }

    /// The plan with the shortest grace period decides for all items.
    private var recoveryPlan: BasePlan {
        let plans = items.filter { $0.isOwned || isDeclined($0) }.map(\.plan)
        let shortest = plans.min {
            ($0.grace.length, -$0.hold.length) < ($1.grace.length, -$1.hold.length)
        }
        return shortest ?? items[0].plan
    }

    mutating func extendGrace(_ circumstances: Circumstances) -> [SubscriptionEffect] {
        guard case .grace(let until) = phase else { return [] }
        let isDaily = circumstances.behaviour.graceExtendsDaily && !isTest
        extendDeclined(to: isDaily ? min(until, circumstances.now + Timestamp.day) : until)
        return []
    }

    private mutating func extendDeclined(to instant: Int64) {
        for index in items.indices
        where items[index].goesOnInGrace && items[index].expiry ?? .max < instant {
            items[index].expiry = instant
        }
        touch()
    }

    mutating func leaveGrace(_ circumstances: Circumstances) -> [SubscriptionEffect] {
        circumstances.pays ? recover(circumstances) : enterHold(circumstances)
    }

    private mutating func enterHold(_ circumstances: Circumstances) -> [SubscriptionEffect] {
        let now = circumstances.now
        let hold = circumstances.durations.hold(recoveryPlan.hold)
        for index in items.indices where items[index].isOwned {
            let expiry = items[index].expiry ?? now
            if !isDeclined(items[index]) { items[index].suspended = max(0, expiry - now) }
            items[index].expiry = min(expiry, now)
        }
        touch()
        guard hold > 0 else { return leaveHold(circumstances) }
        phase = .hold(until: now + hold)
        return [.hint(.onHold)]
    }

    /// The hold ended without payment: what was declined ends, the rest gets its time back.
    mutating func leaveHold(_ circumstances: Circumstances) -> [SubscriptionEffect] {
        let now = circumstances.now
        cancellation = .system
        for index in items.indices where items[index].isOwned {
            items[index].autoRenews = false
            if let rest = items[index].suspended, rest > 0 {
                items[index].expiry = now + rest
                items[index].suspended = nil
            } else {
                if circumstances.behaviour.endedHoldMovesExpiry { items[index].expiry = now }
                items[index].end(at: now)
            }
        }
        declined = nil
        touch()
        guard items.contains(where: \.isOwned) else { return [.hint(.canceled)] + expire(at: now) }
        phase = .canceled
        return [.hint(.canceled)]
    }

    /// The payment method works again.
    mutating func recover(_ circumstances: Circumstances) -> [SubscriptionEffect] {
        guard let declined else { return [] }
        let now = circumstances.now
        switch phase {
        case .retrying, .grace:
            // The renewal date stays what it was.
            return charge(declined.products, from: declined.since, hint: .renewed, circumstances)
        case .hold:
            for index in items.indices {
                guard let rest = items[index].suspended else { continue }
                items[index].expiry = now + rest
                items[index].suspended = nil
            }
            return charge(declined.products, from: now, hint: .recovered, circumstances)
        default: return []
        }
    }
}
