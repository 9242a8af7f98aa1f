import AppStoreSimulator

/// The access of subscriptions by Apple's documentation alone. Each rule names its page.
extension AppStoreTruth {
    /// The access and coins of one account's auto-renewable transactions.
    ///
    /// A customer can have several subscriptions of one group, of their own and shared by a family, and
    /// gets what each of them gives:
    /// https://developer.apple.com/documentation/storekit/product/subscriptioninfo/status-swift.property
    ///
    /// - Parameter transactions: without aliases.
    func read(
        subscriptionsIn transactions: [Transaction],
        _ subscriptions: [String: SimulatedAppStore.Subscription],
        _ token: String,
        _ truth: inout Truth
    ) {
        // As they were made: what a family member shares anew may have been bought long before.
        let chains = transactions.grouped(by: \.originalID).map { original, chain in
            (original, chain.sorted { (Int64($0.id) ?? 0) < (Int64($1.id) ?? 0) })
        }
        let byOriginal = Dictionary(uniqueKeysWithValues: chains)
        for (original, chain) in chains {
            guard let subscription = subscriptions[original] else { continue }
            read(chain, of: byOriginal, subscription, token, &truth)
        }
    }

    private func read(
        _ chain: [Transaction],
        of chains: [String: [Transaction]],
        _ subscription: SimulatedAppStore.Subscription,
        _ token: String,
        _ truth: inout Truth
    ) {
        let former = predecessors(of: chain, in: chains)
        var inherited = former.flatMap(\.self).compactMap(\.appAccountToken).last
        let isShown = ([chain] + former).contains { $0.first.map { shows($0.originalID) } ?? false }
        var running: (transaction: Transaction, isOwn: Bool)?
        for transaction in chain {
            inherited = transaction.appAccountToken ?? inherited
            let isOwn = inherited.map { $0 == token } ?? isShown
            if isOwn {
                credit(transaction, replaced: replacement(of: transaction, by: chain), &truth)
            }
            if transaction.purchaseDate <= now { running = (transaction, isOwn) }
        }
        guard let running, running.isOwn else { return }
        let latest = running.transaction
        // One that the store calls active has come back since it was replaced.
        let isActive = [.active, .billingGrace].contains(subscription.state)
        if let since = replacement(of: chain, in: chains), latest.purchaseDate < since,
            since <= now,
            !isActive
        {
            return
        }
        let parts = period(of: latest, in: chain)
        if subscription.state == .revoked,
            !parts.contains(where: { $0.id == subscription.latestTransactionID })
        {
            // A renewal charged ahead was refunded: what of the running period stays is disputed.
            return truth.unsure.formUnion(keys(latest.productID))
        }
        guard isRunning(parts, latest, subscription) else { return }
        truth.has.formUnion(keys(latest.productID))
    }

    /// The subscriptions that a chain of transactions continues, the oldest first.
    ///
    /// `previousOriginalTransactionId` is that of the same subscription before a migration, so whose
    /// that was, this is:
    /// https://developer.apple.com/documentation/appstoreservernotifications/previousoriginaltransactionid
    private func predecessors(
        of chain: [Transaction],
        in chains: [String: [Transaction]]
    ) -> [[Transaction]] {
        var found: [[Transaction]] = []
        var next = chain.compactMap(\.previousOriginalID).first
        while let original = next, let former = chains[original], found.count < 100 {
            found.insert(former, at: 0)
            next = former.compactMap(\.previousOriginalID).first
        }
        return found
    }

    /// When another subscription replaced this one.
    ///
    /// For a bundle's transaction `previousOriginalTransactionId` is that of the subscription which it replaced:
    /// https://developer.apple.com/documentation/storekit/transaction/previousoriginaltransactionid
    private func replacement(
        of chain: [Transaction],
        in chains: [String: [Transaction]]
    ) -> Int64? {
        let all = chains.values.joined()
        return all.filter { $0.previousOriginalID == chain[0].originalID }.map(\.purchaseDate).min()
    }

    /// All transactions that represent the period of the latest one.
    ///
    /// Added seats are a transaction of their own, which does not replace the one before, and every one
    /// of the period says so:
    /// https://developer.apple.com/documentation/appstoreserverapi/additionaltransactionreason
    private func period(of latest: Transaction, in chain: [Transaction]) -> [Transaction] {
        guard latest.additionalReason != nil else { return [latest] }
        return chain.filter {
            $0.additionalReason != nil && $0.expiresDate == latest.expiresDate
                && $0.productID == latest.productID
        }
    }

    /// Whether a period gives access now.
    ///
    /// - A revoked transaction gives none:
    ///   https://developer.apple.com/documentation/appstoreserverapi/revocationdate. Of several that
    ///   represent a period every one must be revoked:
    ///   https://developer.apple.com/documentation/appstoreserverapi/revokedseatquantity
    /// - A refund that was reversed is none, of that transaction alone:
    ///   https://developer.apple.com/documentation/appstoreservernotifications/notificationtype
    /// - What is paid runs to its `expiresDate`:
    ///   https://developer.apple.com/documentation/appstoreserverapi/expiresdate; an active one, to the
    ///   renewal date, which an extension moves; in grace, to the end of that:
    ///   https://developer.apple.com/documentation/appstoreserverapi/status
    private func isRunning(
        _ parts: [Transaction],
        _ latest: Transaction,
        _ subscription: SimulatedAppStore.Subscription
    ) -> Bool {
        guard parts.contains(where: { !isRevoked($0) }) else { return false }
        if let end = latest.expiresDate, now < end { return true }
        switch subscription.state {
        case .active: return now < subscription.renewalDate
        case .billingGrace: return subscription.gracePeriodExpiresDate.map { now < $0 } ?? false
        case .expired, .billingRetry, .revoked: return false
        }
    }

    /// Whether a transaction is revoked, and money went back: whoever switched to a bundle got none.
    func isRefunded(_ transaction: Transaction) -> Bool {
        guard isRevoked(transaction), let revocation = transaction.revocation else { return false }
        return revocation.type != nil || [0, 1].contains(revocation.reason)
    }

    // MARK: - Coins

    /// The part of a credit that was taken back.
    ///
    /// - A refund takes its share: all of it, or `revocationPercentage` thousandths of a percent:
    ///   https://developer.apple.com/documentation/appstoreserverapi/revocationtype
    /// - Whoever switched to a bundle got no refund; the reason says so in the place of one:
    ///   https://developer.apple.com/documentation/storekit/transaction/revocationreason-swift.struct/upgradedtobundle
    /// - Seats that were refunded take theirs, and the transaction stays valid for the others:
    ///   https://developer.apple.com/documentation/appstoreserverapi/revokedseatquantity
    func takenBack(of credit: Int64, _ transaction: Transaction, isOfUpgrade: Bool) -> Int64 {
        let seats = Int64(transaction.revokedSeats ?? 0)
        let back = credit * seats / Int64(max(1, transaction.quantity))
        // An upgrade's refund comes without a percentage, where the store tells of it at all.
        guard !isOfUpgrade, isRefunded(transaction), let revocation = transaction.revocation
        else { return back }
        return back + (credit - back) * Int64(revocation.percentage ?? 100_000) / 100_000
    }
}
