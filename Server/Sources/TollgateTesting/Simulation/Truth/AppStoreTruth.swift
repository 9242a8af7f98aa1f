import AppStoreSimulator
import TollgateCore

/// What a customer must have by the App Store's own books, read by Apple's documentation alone.
///
/// Shares nothing with the engine that is judged by it but the catalog's list of products. Each rule
/// names the page it rests on; where no page decides, the truth is left open.
struct AppStoreTruth {
    let catalog: Catalog
    /// UNIX milliseconds.
    let now: Int64
    /// Transactions whose refund the store took back, with when.
    let reversed: [String: Int64]
    /// Purchases without a token that the customer's device has shown: original transaction ids.
    let shown: Set<String>

    typealias Transaction = SimulatedAppStore.Transaction

    /// - Parameters:
    ///   - subscriptions: by original transaction id.
    ///   - token: the customer's own.
    func read(
        _ transactions: [Transaction],
        subscriptions: [String: SimulatedAppStore.Subscription],
        token: String
    ) -> Truth {
        var truth = Truth()
        let distinct = withoutAliases(transactions)
        let plans = distinct.filter { $0.kind == .autoRenewable }
        for (original, chain) in plans.grouped(by: \.originalID) {
            guard let subscription = subscriptions[original] else { continue }
            read(chain, subscription, token, continuing: predecessor(of: chain, in: plans), &truth)
        }
        for one in distinct where one.kind != .autoRenewable {
            guard owns(one.appAccountToken, one.originalID, token) else { continue }
            read(one, &truth)
        }
        return truth
    }

    /// A restore on another device may make new ids for the same purchase.
    ///
    /// https://developer.apple.com/documentation/appstoreserverapi/weborderlineitemid
    private func withoutAliases(_ transactions: [Transaction]) -> [Transaction] {
        var seen: Set<String> = []
        return transactions.filter { transaction in
            seen.insert(transaction.sale).inserted
        }
    }

    /// A token says whose a purchase is; one without is theirs whose device shows it.
    ///
    /// https://developer.apple.com/documentation/appstoreserverapi/appaccounttoken
    private func owns(_ stated: String?, _ id: String, _ token: String) -> Bool {
        stated.map { $0 == token } ?? shown.contains(id)
    }

    /// Refunded, or taken from a family, and not given back.
    ///
    /// REFUND_REVERSED names one transaction, and what was taken back because of *its* refund is
    /// given again; refunds of other transactions stay.
    /// https://developer.apple.com/documentation/appstoreserverapi/revocationdate
    /// https://developer.apple.com/documentation/appstoreservernotifications/notificationtype
    private func isRevoked(_ transaction: Transaction) -> Bool {
        transaction.revocation != nil && reversed[transaction.id] == nil
    }

    // MARK: - Subscriptions

    /// What a subscription replaced, as when a plan is switched to a bundle; it is the same
    /// customer's.
    ///
    /// https://developer.apple.com/documentation/storekit/transaction/previousoriginaltransactionid
    private func predecessor(of chain: [Transaction], in plans: [Transaction]) -> [Transaction] {
        guard let previous = chain.compactMap(\.previousOriginalID).first else { return [] }
        return plans.filter { $0.originalID == previous }
    }

    private func read(
        _ chain: [Transaction],
        _ subscription: SimulatedAppStore.Subscription,
        _ token: String,
        continuing predecessor: [Transaction],
        _ truth: inout Truth
    ) {
        // As they were made: what a family member shares anew may have been bought long before.
        let ordered = chain.sorted { (Int64($0.id) ?? 0) < (Int64($1.id) ?? 0) }
        var inherited = predecessor.last { $0.appAccountToken != nil }?.appAccountToken
        let isShown = predecessor.contains { shown.contains($0.originalID) }
        var running: (transaction: Transaction, isOwn: Bool)?
        for transaction in ordered {
            inherited = transaction.appAccountToken ?? inherited
            let isOwn =
                owns(inherited, transaction.originalID, token) || (inherited == nil && isShown)
            if isOwn { credit(transaction, &truth) }
            if transaction.purchaseDate <= now { running = (transaction, isOwn) }
        }
        guard let running, running.isOwn else { return }
        let latest = running.transaction
        truth.unsure.formUnion(givenBackBeside(latest, in: ordered))
        if subscription.state == .revoked, subscription.latestTransactionID != latest.id {
            // A renewal charged ahead was refunded: no page says what of the running period stays.
            return truth.unsure.formUnion(keys(latest.productID))
        }
        let period = transactions(besides: latest, in: ordered) + [latest]
        guard period.contains(where: { isRunning($0, subscription) }) else { return }
        truth.has.formUnion(keys(latest.productID))
    }

    /// The others that represent the same period, after seats were added: access ends only when every
    /// one of them is revoked.
    ///
    /// https://developer.apple.com/documentation/appstoreserverapi/additionaltransactionreason
    /// https://developer.apple.com/documentation/appstoreserverapi/revokedseatquantity
    private func transactions(
        besides latest: Transaction,
        in chain: [Transaction]
    ) -> [Transaction] {
        guard latest.additionalReason != nil else { return [] }
        return chain.filter {
            $0.id != latest.id && $0.additionalReason != nil
                && $0.expiresDate == latest.expiresDate
        }
    }

    /// What a plan gives that was refunded, bought anew as another one, and then given back: no page
    /// says whether it runs beside the newer one.
    private func givenBackBeside(_ latest: Transaction, in chain: [Transaction]) -> [String] {
        chain.filter {
            $0.id != latest.id && reversed[$0.id] != nil && !$0.isUpgraded
                && $0.purchaseDate <= now && $0.expiresDate ?? 0 > now
        }.flatMap { keys($0.productID) }
    }

    /// Whether the newest transaction of a subscription that has begun gives access now.
    ///
    /// - It does until `expiresDate`, whatever becomes of the renewal:
    ///   https://developer.apple.com/documentation/appstoreserverapi/expiresdate
    /// - While the status is 1, until the renewal date, which Apple may move:
    ///   https://developer.apple.com/documentation/appstoreserverapi/status
    ///   https://developer.apple.com/documentation/appstoreserverapi/extend-a-subscription-renewal-date
    /// - In grace (4), until `gracePeriodExpiresDate`; in billing retry (3) not:
    ///   https://developer.apple.com/documentation/storekit/reducing-involuntary-subscriber-churn
    private func isRunning(
        _ latest: Transaction,
        _ subscription: SimulatedAppStore.Subscription
    ) -> Bool {
        guard !isRevoked(latest) else { return false }
        if let end = latest.expiresDate, now < end { return true }
        switch subscription.state {
        case .active: return now < subscription.renewalDate
        case .billingGrace: return subscription.gracePeriodExpiresDate.map { now < $0 } ?? false
        case .expired, .billingRetry, .revoked: return false
        }
    }

    // MARK: - All else

    /// https://developer.apple.com/documentation/storekit/handling-refund-notifications
    private func read(_ one: Transaction, _ truth: inout Truth) {
        switch one.kind {
        case .nonRenewing:
            // Apple says of it only when it was bought; how long it lasts is the seller's to know.
            // https://developer.apple.com/documentation/appstoreserverapi/type
            let cut = isRevoked(one) ? one.revocation?.date : nil
            truth.passes.append(
                Truth.Pass(
                    product: product(one.productID)?.id ?? "",
                    bought: one.purchaseDate,
                    cut: cut
                )
            )
        case .nonConsumable:
            if !isRevoked(one) { truth.has.formUnion(keys(one.productID)) }
        case .consumable, .autoRenewable: credit(one, &truth)
        }
    }

    /// Coins for each transaction that was paid for, less the share of its price that went back.
    ///
    /// - The quantity counts: https://developer.apple.com/documentation/appstoreserverapi/quantity
    /// - A share is in thousandths of a percent; without one all went back:
    ///   https://developer.apple.com/documentation/appstoreserverapi/revocationpercentage
    /// - A family member paid nothing:
    ///   https://developer.apple.com/documentation/appstoreserverapi/inappownershiptype
    /// - An upgrade alone gives back nothing of what was sold before:
    ///   https://developer.apple.com/documentation/appstoreserverapi/isupgraded
    /// - Nor does a switch to a bundle:
    ///   https://developer.apple.com/documentation/storekit/transaction/revocationreason-swift.struct/upgradedtobundle
    /// - Of a multiseat purchase the seats count that were not refunded:
    ///   https://developer.apple.com/documentation/appstoreserverapi/revokedseatquantity
    private func credit(_ transaction: Transaction, _ truth: inout Truth) {
        guard transaction.ownership == .purchased,
            let coins = product(transaction.productID)?.coins, coins > 0
        else { return }
        let credit = coins * Int64(transaction.quantity - (transaction.revokedSeats ?? 0))
        truth.coins += credit
        guard isRevoked(transaction), let revocation = transaction.revocation,
            revocation.isRefund
        else { return }
        if transaction.isUpgraded, revocation.percentage == nil {
            // A refund beside an upgrade, of a part that nobody names.
            truth.areCoinsSure = false
        }
        truth.coins -= credit * Int64(revocation.percentage ?? 100_000) / 100_000
    }

    private func product(_ id: String) -> Catalog.Product? {
        catalog.products.first { $0.appStoreProductID == id }
    }

    /// What a product of the App Store's gives.
    func keys(_ id: String) -> [String] {
        product(id)?.entitlements ?? []
    }
}

extension SimulatedAppStore.Transaction {
    /// What all ids of one sale have in common.
    var sale: String { webOrderLineItemID.map { "\($0) \(purchaseDate)" } ?? originalID }
}

extension SimulatedAppStore.Transaction.Revocation {
    /// Whether money went back; not where the customer switched to a bundle.
    var isRefund: Bool { type != nil }
}
