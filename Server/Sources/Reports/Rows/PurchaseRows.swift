public import TollgateCore

/// Makes the sales and periods of one store's purchases.
public protocol StoreRows: Sendable {
    var store: Store { get }

    /// Adds the charges of a purchase, what went back of them, and its periods.
    ///
    /// - Parameter customer: the key of whoever is known under one of these names.
    func add(
        _ purchase: Purchase,
        in history: CatalogHistory,
        _ customer: (HolderNames) throws -> String,
        to rows: inout Reports.PurchaseRows
    ) rethrows
}

extension Reports {
    /// All rows of one purchase.
    public struct PurchaseRows: Hashable, Sendable {
        /// Charges and what went back, each charge before its refunds.
        public var sales: [Sale] = []
        /// The periods of a subscription in the order of their starts.
        public var periods: [PaidPeriod] = []
        public var coins: [CoinMove] = []

        public init(sales: [Sale] = [], periods: [PaidPeriod] = [], coins: [CoinMove] = []) {
            self.sales = sales
            self.periods = periods
            self.coins = coins
        }
    }

    /// The rows of a purchase: a function of its record and the catalog over time, without a clock.
    ///
    /// - Parameters:
    ///   - stores: those that sell; what another one gave brings no money.
    ///   - customer: the key of whoever is known under one of these names.
    public static func rows(
        of purchase: Purchase,
        by stores: [any StoreRows],
        in history: CatalogHistory,
        customer: (HolderNames) throws -> String
    ) rethrows -> PurchaseRows {
        var rows = PurchaseRows()
        for store in stores where store.store == purchase.key.store {
            try store.add(purchase, in: history, customer, to: &rows)
        }
        try addCoins(of: purchase, in: history, customer, to: &rows)
        return rows
    }

    /// A part of an amount, rounded down.
    package static func share(_ amount: Int64, _ part: Int64, of whole: Int64) -> Int64 {
        guard whole > 0, amount > 0 else { return 0 }
        let (high, low) = amount.multipliedFullWidth(by: max(0, min(part, whole)))
        return whole.dividingFullWidth((high, low)).quotient
    }

    /// `amount` cut into parts in proportion to `weights`, so that they add up to it exactly.
    package static func parts(of amount: Int64, by weights: [Int64]) -> [Int64] {
        let weights = weights.map { max(0, min($0, 1_000_000_000_000)) }
        let whole = weights.reduce(0, +)
        guard whole > 0 else {
            return weights.indices.map { $0 == 0 ? amount : 0 }
        }
        var given: Int64 = 0
        var weighed: Int64 = 0
        return weights.map { weight in
            weighed += weight
            let upTo = share(amount, weighed, of: whole)
            defer { given = upTo }
            return upTo - given
        }
    }

    /// What the catalog calls a store's product, and what it is.
    package static func product(
        _ id: String,
        of store: Store,
        by application: String? = nil,
        at instant: Instant,
        in history: CatalogHistory
    ) -> (id: String, known: Catalog.Product?) {
        let known = history.product(StoreProduct(store, id), in: application, at: instant)
        return (known?.id ?? id, known)
    }
}

// MARK: - Coins

extension Reports {
    private static func addCoins(
        of purchase: Purchase,
        in history: CatalogHistory,
        _ customer: (HolderNames) throws -> String,
        to rows: inout PurchaseRows
    ) rethrows {
        let sellsCoins = rows.sales.contains { sale in
            history.versions.contains { version in
                version.catalog.product(
                    StoreProduct(sale.store, sale.storeProduct),
                    in: purchase.key.application
                )
                .map { $0.coins > 0 } ?? false
            }
        }
        // Staff gives and takes coins without any sale.
        let isOurs = !purchase.key.store.isSelling
        guard sellsCoins || isOurs else { return }
        for lot in purchase.evaluate(in: history).lots {
            let sale = rows.sales.first { $0.kind == .charge && $0.lot == lot.id }
            guard sale != nil || isOurs else { continue }
            let back = rows.sales.last {
                $0.kind != .charge && $0.lot == lot.id
            }
            let owner = try customer(lot.owner)
            let taken = lot.clawed + max(0, -lot.credit)
            for (kind, coins, at) in [
                (CoinMove.Kind.sold, lot.credit, lot.credited),
                (.refunded, taken, back?.at ?? lot.credited),
            ] where coins > 0 {
                rows.coins.append(
                    CoinMove(
                        kind: kind,
                        store: purchase.key.store,
                        environment: purchase.key.environment,
                        purchase: purchase.key,
                        lot: lot.id,
                        product: sale?.product ?? "",
                        country: sale?.country ?? "",
                        coins: coins,
                        at: at,
                        customer: owner,
                        app: sale?.app
                    )
                )
            }
        }
    }
}
