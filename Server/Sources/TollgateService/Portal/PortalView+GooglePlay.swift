internal import TollgateCore

extension PortalView.Purchase {
    /// A purchase in Google Play, by its newest read.
    ///
    /// - Parameter runs: `true` if the customer's part of it runs, also where it opens nothing.
    mutating func describe(
        _ play: GooglePlayRecord,
        _ until: Instant?,
        _ timeline: Timeline,
        runs: Bool,
        at now: Instant
    ) {
        if let subscription = play.subscription?.value {
            describe(subscription, play, until, timeline, runs: runs, at: now)
        } else {
            state = play.stateOfPurchase(until, isActive: isActive)
        }
    }

    private mutating func describe(
        _ subscription: GooglePlaySubscription,
        _ play: GooglePlayRecord,
        _ until: Instant?,
        _ timeline: Timeline,
        runs: Bool,
        at now: Instant
    ) {
        let end = subscription.items.compactMap(\.expiry).max()
        let isReplaced = play.replaced.map { $0 <= now } ?? false
        renews =
            ["ACTIVE", "IN_GRACE_PERIOD", "ON_HOLD"].contains(subscription.state) && !isReplaced
            && subscription.items.contains { $0.renews && $0.isRemoved != true }
        switch subscription.state {
        case "PENDING": state = .processing
        case "PENDING_PURCHASE_CANCELED": state = .notPaid
        case "ON_HOLD": state = .paymentFailed(accessUntil: nil)
        case "IN_GRACE_PERIOD": state = .paymentFailed(accessUntil: until ?? end)
        case "PAUSED": state = .paused
        default:
            let isTrial = subscription.items.contains { $0.phase == "freeTrial" }
            if runs, let end = end ?? until {
                state =
                    !renews ? .endsAt(until ?? end) : isTrial ? .trial(until: end) : .renews(end)
            } else if let refunded = play.refundedWhole {
                state = .refunded(refunded, renews: nil)
            } else {
                let last = timeline.entries.compactMap(\.until).max() ?? play.replaced ?? end
                state = last.map { $0 <= now ? .ended($0) : .startsLater } ?? .inactive
            }
        }
    }
}

extension GooglePlayRecord {
    /// The time at which the newest order was refunded as a whole, or voided; `nil`: it was not.
    fileprivate var refundedWhole: Instant? {
        let newest = orders.map(\.value).filter(\.isPaid)
            .max { ($0.paid, $0.id) < ($1.paid, $1.id) }
        guard let newest else { return voids.map(\.value.at).max() }
        return newest.refunds.first { !$0.isPartial }?.at
            ?? voids.map(\.value).first { $0.order == newest.id && $0.quantity == nil }?.at
    }

    /// The state of a one-time purchase.
    fileprivate func stateOfPurchase(_ until: Instant?, isActive: Bool) -> PortalState {
        guard let purchase = purchase?.value else { return .inactive }
        switch purchase.state {
        case "PENDING": return .processing
        case "CANCELLED":
            guard let completed else { return .notPaid }
            return .refunded(refundedWhole ?? cancelled ?? completed, renews: nil)
        default:
            if isActive { return until.map { .endsAt($0) } ?? .forever }
            return completed.map { .bought($0) } ?? .inactive
        }
    }
}

extension GooglePlayOrder {
    /// The time of the payment; orders without one come first.
    fileprivate var paid: Instant { processed ?? created ?? Instant(milliseconds: .min) }
}
