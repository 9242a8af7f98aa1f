/// Refunds: Apple gives money back, takes that back, or declines
/// (<https://developer.apple.com/documentation/storekit/transaction/beginrefundrequest>).
enum Refunds {
    /// Apple gives the money back, whole or a share of it in thousandths of a percent.
    static func refund(
        _ world: inout World,
        _ id: String,
        reason: Int,
        percentage: Int?,
        at now: Int64
    ) throws(Refusal) {
        let sale = try Self.sale(world, id)
        let (refunded, id) = (sale[0], sale[0].id)
        guard refunded.ownership == .purchased else {
            throw .notPossible("A family member paid nothing.")
        }
        guard !refunded.isRevoked else { throw .notPossible("It was refunded before.") }
        guard reason == 0 || reason == 1 else { throw .invalid("reason is 0 or 1.") }
        if let percentage, !(1...100_000).contains(percentage) {
            throw .invalid("percentage is from 1 to 100000.")
        }
        let isWhole = percentage == nil || percentage == 100_000
        for var copy in sale {
            copy.revocation = .init(
                date: now,
                reason: reason,
                type: isWhole ? "REFUND_FULL" : "REFUND_PRORATED",
                percentage: percentage ?? 100_000
            )
            world.record(copy, at: now)
            ConsumptionRequests.settle(&world, copy.id)
        }
        guard let subscription = world.subscriptions[refunded.originalID] else {
            world.announce("REFUND", transaction: id)
            FamilySharing.revokeShares(&world, of: refunded, at: now)
            return
        }
        // The running period is lost with the last transaction that represents it.
        let isLost =
            world.period(of: subscription).allSatisfy(\.isRevoked)
            && world.period(of: subscription).contains { $0.id == id }
        if isLost {
            revoke(&world, subscription)
        } else if subscription.latestTransactionID == id,
            let left = world.period(of: subscription).last(where: { !$0.isRevoked })
        {
            var changed = subscription
            changed.latestTransactionID = left.id
            world.record(changed)
        }
        world.announce("REFUND", transaction: id, subscription: refunded.originalID)
        if isLost {
            let assigned = (subscription.seatHolders ?? []).compactMap { world.subscriptions[$0] }
            for share in world.shares(of: refunded.originalID) + assigned {
                try FamilySharing.revokeShare(&world, share.originalTransactionID, at: now)
            }
        }
    }

    /// A transaction as it was sold, and after it the ids that restoring made of it.
    private static func sale(_ world: World, _ id: String) throws(Refusal) -> [Transaction] {
        let asked = try world.transaction(id)
        let copies = world.transactionsOf(asked.customer).filter {
            $0.isSameSale(as: asked) && $0.ownership == asked.ownership
        }
        return copies.isEmpty ? [asked] : copies
    }

    static func revoke(_ world: inout World, _ subscription: Subscription) {
        var changed = subscription
        changed.state = .revoked
        changed.autoRenews = false
        changed.gracePeriodExpiresDate = nil
        changed.billingRetryEnds = nil
        world.record(changed)
    }

    /// Apple takes a refund back; the renewal date stays what it was.
    static func reverse(_ world: inout World, _ id: String, at now: Int64) throws(Refusal) {
        let sale = try Self.sale(world, id)
        let (restored, id) = (sale[0], sale[0].id)
        guard let reason = restored.revocation?.reason, restored.isRevoked,
            restored.ownership == .purchased
        else {
            throw .notPossible("It was not refunded.")
        }
        if reason == 2, isReplaced(world, restored.originalID) {
            throw .notPossible("It was switched to a bundle, which was not refunded.")
        }
        for var copy in sale {
            if world.behaviour.reversalClearsRevocation {
                copy.revocation = nil
            } else {
                copy.revocation?.isReversed = true
            }
            world.record(copy, at: now)
        }
        guard var subscription = world.subscriptions[restored.originalID] else {
            world.announce("REFUND_REVERSED", transaction: id)
            return
        }
        if world.period(of: subscription).contains(where: { $0.id == id }),
            subscription.state == .revoked
        {
            subscription.state = subscription.renewalDate > now ? .active : .expired
            subscription.expirationIntent = 1
            world.record(subscription)
        }
        world.announce("REFUND_REVERSED", transaction: id, subscription: restored.originalID)
    }

    /// `true` while a bundle that was not revoked continues the subscription.
    private static func isReplaced(_ world: World, _ id: String) -> Bool {
        world.subscriptions.values.contains { $0.previousOriginalID == id && $0.state != .revoked }
    }

    static func decline(_ world: inout World, _ id: String) throws(Refusal) {
        let transaction = try world.transaction(id)
        for copy in try sale(world, id) { ConsumptionRequests.settle(&world, copy.id) }
        world.announce(
            "REFUND_DECLINED",
            transaction: id,
            subscription: world.subscriptions[transaction.originalID]?.originalTransactionID
        )
    }
}
