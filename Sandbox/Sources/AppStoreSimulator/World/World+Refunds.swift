extension SimulatedAppStore.World {
    /// Apple gives the money back, whole or a share of it in thousandths of a percent.
    mutating func refund(
        _ id: String,
        reason: Int,
        percentage: Int?,
        at now: Int64
    ) throws(Refusal) {
        let sale = try self.sale(id)
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
            record(copy, at: now)
            settleConsumptionRequest(copy.id)
        }
        guard let subscription = subscriptions[refunded.originalID] else {
            announce("REFUND", transaction: id)
            revokeShares(of: refunded, at: now)
            return
        }
        // The running period is lost with the last transaction that represents it.
        let isLost =
            period(of: subscription).allSatisfy(\.isRevoked)
            && period(of: subscription).contains { $0.id == id }
        if isLost {
            revoke(subscription)
        } else if subscription.latestTransactionID == id,
            let left = period(of: subscription).last(where: { !$0.isRevoked })
        {
            var changed = subscription
            changed.latestTransactionID = left.id
            record(changed)
        }
        announce("REFUND", transaction: id, subscription: refunded.originalID)
        if isLost {
            let assigned = (subscription.seatHolders ?? []).compactMap { subscriptions[$0] }
            for share in shares(of: refunded.originalID) + assigned {
                try revokeFamilyShare(share.originalTransactionID, at: now)
            }
        }
    }

    /// A transaction as it was sold, and after it the ids that restoring made of it.
    private func sale(_ id: String) throws(Refusal) -> [Transaction] {
        let asked = try transaction(id)
        let copies = transactionsOf(asked.customer).filter {
            $0.isSameSale(as: asked) && $0.ownership == asked.ownership
        }
        return copies.isEmpty ? [asked] : copies
    }

    mutating func revoke(_ subscription: Subscription) {
        var changed = subscription
        changed.state = .revoked
        changed.autoRenews = false
        changed.gracePeriodExpiresDate = nil
        changed.billingRetryEnds = nil
        record(changed)
    }

    /// Apple takes a refund back; the renewal date stays what it was.
    mutating func reverseRefund(_ id: String, at now: Int64) throws(Refusal) {
        let sale = try self.sale(id)
        let (restored, id) = (sale[0], sale[0].id)
        guard let reason = restored.revocation?.reason, restored.isRevoked,
            restored.ownership == .purchased
        else {
            throw .notPossible("It was not refunded.")
        }
        if reason == 2, isReplaced(restored.originalID) {
            throw .notPossible("It was switched to a bundle, which was not refunded.")
        }
        for var copy in sale {
            if behaviour.reversalClearsRevocation {
                copy.revocation = nil
            } else {
                copy.revocation?.isReversed = true
            }
            record(copy, at: now)
        }
        guard var subscription = subscriptions[restored.originalID] else {
            announce("REFUND_REVERSED", transaction: id)
            return
        }
        if period(of: subscription).contains(where: { $0.id == id }),
            subscription.state == .revoked
        {
            subscription.state = subscription.renewalDate > now ? .active : .expired
            subscription.expirationIntent = 1
            record(subscription)
        }
        announce("REFUND_REVERSED", transaction: id, subscription: restored.originalID)
    }

    /// `true` while a bundle that was not revoked continues the subscription.
    private func isReplaced(_ id: String) -> Bool {
        subscriptions.values.contains { $0.previousOriginalID == id && $0.state != .revoked }
    }

    mutating func declineRefund(_ id: String) throws(Refusal) {
        let transaction = try transaction(id)
        for copy in try sale(id) { settleConsumptionRequest(copy.id) }
        announce(
            "REFUND_DECLINED",
            transaction: id,
            subscription: subscriptions[transaction.originalID]?.originalTransactionID
        )
    }
}
