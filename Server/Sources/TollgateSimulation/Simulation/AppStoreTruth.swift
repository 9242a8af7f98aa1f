import AppStoreSimulator
import TollgateCore

/// What a customer must have by the App Store's own books.
///
/// Shares nothing with the engine that is judged by it but the catalog's list of products.
struct AppStoreTruth {
    let catalog: Catalog
    /// UNIX milliseconds.
    let now: Int64
    /// Transactions whose refund the store took back, with when.
    let reversed: [String: Int64]
    /// Purchases without a token that the customer's device has shown: original transaction ids.
    let shown: Set<String>
    /// Before this instant another system has credited what was paid for.
    var coinsSince: Int64 = .min

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
        read(
            subscriptionsIn: distinct.filter { $0.kind == .autoRenewable },
            subscriptions,
            token,
            &truth
        )
        for one in distinct where one.kind != .autoRenewable {
            guard owns(one.appAccountToken, one.originalID, token) else { continue }
            read(one, &truth)
        }
        return truth
    }

    /// A restore on another device may make new ids for the same purchase; the line item stays.
    ///
    /// https://developer.apple.com/documentation/appstoreserverapi/transactionid,
    /// https://developer.apple.com/documentation/appstoreserverapi/weborderlineitemid. Apple does not say whether added seats have a line item of their own.
    func withoutAliases(_ transactions: [Transaction]) -> [Transaction] {
        var seen: Set<String> = []
        return transactions.filter { transaction in
            let item = transaction.webOrderLineItemID ?? transaction.originalID
            return seen.insert("\(item) \(transaction.purchaseDate)").inserted
        }
    }

    /// Whether the customer's device has shown a purchase.
    func shows(_ original: String) -> Bool { shown.contains(original) }

    private func owns(_ stated: String?, _ id: String, _ token: String) -> Bool {
        stated.map { $0 == token } ?? shown.contains(id)
    }

    /// Whether a transaction is refunded or revoked, and that was not reversed.
    ///
    /// https://developer.apple.com/documentation/appstoreservernotifications/notificationtype
    /// (REFUND_REVERSED: what was revoked because of the refund has to be reinstated)
    func isRevoked(_ transaction: Transaction) -> Bool {
        guard let revocation = transaction.revocation else { return false }
        return reversed[transaction.id].map { $0 < revocation.date } ?? true
    }

    // MARK: - All else

    /// Access and coins of what is not a subscription that renews.
    ///
    /// What is bought once stays until `revocationDate`. How long a non-renewing subscription lasts is
    /// for the app to say:
    /// https://developer.apple.com/documentation/appstoreserverapi/revocationdate,
    /// https://developer.apple.com/documentation/storekit/product/producttype-swift.struct/nonrenewable
    private func read(_ one: Transaction, _ truth: inout Truth) {
        switch one.kind {
        case .nonRenewing:
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

    /// When another plan took the place of a running one; Apple then refunds the rest pro rata
    /// (https://developer.apple.com/app-store/subscriptions/#ranking).
    func replacement(of one: Transaction, by chain: [Transaction]) -> Int64? {
        guard one.isUpgraded else { return nil }
        // As they were made: a renewal may have been charged ahead of its start.
        return chain.drop { $0.id != one.id }.first {
            $0.productID != one.productID && $0.purchaseDate < one.expiresDate ?? .max
        }?.purchaseDate
    }

    /// The coins of a transaction, less what was refunded.
    ///
    /// Of a period that another plan replaced they are those of the time that was used, and a migration's
    /// first period brings none, nor does what was paid for before a move (docs/products.md): our choices,
    /// RULES §2.13, §8 and §6. It was paid for on its purchase date; a renewal may be charged a day ahead:
    /// https://developer.apple.com/help/app-store-connect/manage-subscriptions/overview
    func credit(_ transaction: Transaction, replaced: Int64? = nil, _ truth: inout Truth) {
        // The first period after a migration was paid for before it.
        let isMigrated =
            transaction.previousOriginalID != nil && transaction.price == 0
            && transaction.offer == nil
        guard transaction.ownership == .purchased, !isMigrated,
            let coins = product(transaction.productID)?.coins, coins > 0
        else { return }
        let ahead = transaction.reason == .renewal ? WorldPlan.day : 0
        if coinsSince != .min, (0..<ahead).contains(transaction.purchaseDate - coinsSince) {
            truth.areCoinsSure = false
        }
        guard transaction.purchaseDate >= coinsSince else { return }
        let credit = coins * Int64(transaction.quantity)
        let isOfUpgrade = replaced != nil && transaction.revocation?.percentage == nil
        var kept = credit - takenBack(of: credit, transaction, isOfUpgrade: isOfUpgrade)
        if let replaced, let end = transaction.expiresDate, replaced < end {
            kept =
                kept * max(0, replaced - transaction.purchaseDate)
                / (end - transaction.purchaseDate)
        }
        truth.coins += kept
    }

    private func product(_ id: String) -> Catalog.Product? {
        catalog.products.first { $0.appStoreProductID == id }
    }

    func keys(_ id: String) -> [String] {
        product(id)?.entitlements ?? []
    }
}

/// What a customer must have in one environment.
struct Truth {
    /// A non-renewing purchase.
    struct Pass {
        /// The catalog's id.
        var product: String
        var bought: Int64
        /// When it was refunded.
        var cut: Int64?
    }

    /// Lookup keys.
    var has: Set<String> = []
    /// Lookup keys of which the books do not say whether the customer has them.
    var unsure: Set<String> = []
    var passes: [Pass] = []
    /// Before what was spent.
    var coins: Int64 = 0
    /// Whether the books and the rules mean the same by them.
    var areCoinsSure = true
    /// By how many coins rounding may differ.
    var coinSlack: Int64 = 0

    static func + (left: Truth, right: Truth) -> Truth {
        Truth(
            has: left.has.union(right.has),
            unsure: left.unsure.union(right.unsure),
            passes: left.passes + right.passes,
            coins: left.coins + right.coins,
            areCoinsSure: left.areCoinsSure && right.areCoinsSure,
            coinSlack: left.coinSlack + right.coinSlack
        )
    }

    /// With what the passes give at `now`: each begins where the one before it ended.
    ///
    /// Stores know no such passes; it is our choice (`while_active: extend`, docs/products.md).
    func withPasses(at now: Int64, in catalog: Catalog) -> Truth {
        var truth = self
        func isSure(_ key: String) -> Bool { !unsure.contains(key) }
        for (product, passes) in passes.grouped(by: \.product) {
            let keys = catalog.product(id: product)?.entitlements ?? []
            var end = Int64.min
            for pass in passes.sorted(by: { $0.bought < $1.bought }) {
                let start = max(pass.bought, end)
                end = start + 30 * 86_400_000
                if let cut = pass.cut { end = max(start, min(end, cut)) }
                // Where it is not known when a pass ended, it is not known when the next one began.
                if start <= now, now < end { truth.has.formUnion(keys.filter(isSure)) }
            }
        }
        return truth
    }
}

extension Sequence {
    /// The elements by a key, in the order in which the keys come.
    func grouped<Key: Hashable>(by key: (Element) -> Key) -> [(Key, [Element])] {
        var order: [Key] = []
        var groups: [Key: [Element]] = [:]
        for element in self {
            let name = key(element)
            if groups[name] == nil { order.append(name) }
            groups[name, default: []].append(element)
        }
        return order.map { ($0, groups[$0] ?? []) }
    }
}
