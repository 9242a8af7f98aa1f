// Coins by order, taken back by what Google Play lists as voided (RULES §18.5).
extension GooglePlayRecord {
    /// The coins of each order of a subscription.
    func creditPeriods(
        to owner: HolderNames,
        of application: String,
        in history: CatalogHistory,
        _ evaluation: inout Evaluation
    ) {
        for charge in charges where !(inheritedOrders ?? []).contains(charge.id) {
            if let since = history.coinsSince, isUndated(charge, since: since) { continue }
            guard let known = history.product(charge.sold, in: application, at: charge.begins)
            else { continue }
            let credit = charge.credited(known.coins)
            guard credit > 0 else { continue }
            evaluation.lots.append(
                CoinLot(
                    id: "\(charge.id)/\(charge.product)",
                    owner: owner,
                    credit: credit,
                    clawed: takenBack(of: credit, paidBy: charge.id),
                    credited: charge.begins,
                    paid: charge.order?.processed
                )
            )
        }
    }

    /// Returns `true` if a charge may be older than an instant: of what the first read names, only the
    /// order says when it began.
    private func isUndated(_ charge: Charge, since instant: Instant) -> Bool {
        guard let began, began < instant, line(charge.id, charge.product)?.start == nil else {
            return false
        }
        return charge.begins == periods.map(\.first).min()
    }

    /// One product that an order charged for.
    struct Charge {
        /// The order's id.
        var id: String
        var product: String
        var sold: StoreProduct
        var begins: Instant
        var isProration: Bool
        /// Nil before a read of the order.
        var order: GooglePlayOrder?

        /// Of a period that a change of plan began, the share of the listed price that was charged, which
        /// may be more than all of it.
        func credited(_ coins: Int64) -> Int64 {
            guard isProration else { return coins }
            guard let order, let line = order.lines.first(where: { $0.product == product }),
                let charged = order.comparable(line), let listed = line.listing?.micros,
                listed > 0,
                let whole = CoinLot.coins(coins, times: charged / listed)
            else { return 0 }
            return whole + CoinLot.share(coins, charged % listed, of: listed)
        }
    }

    /// The charges that reads name as paid, and those that orders state from before the first read.
    var charges: [Charge] {
        var charges = periods.map { period in
            let order = readOfOrder(period.order)?.value
            let line = line(period.order, period.product)
            return Charge(
                id: period.order,
                product: period.product,
                sold: period.sold,
                begins: line?.start ?? period.first,
                isProration: period.isProration
                    ?? (line?.phase == GooglePlaySubscription.proration),
                order: order
            )
        }
        for order in orders.map(\.value) where order.isPaid {
            for line in order.lines {
                guard let start = line.start,
                    !charges.contains(where: { $0.id == order.id && $0.product == line.product })
                else { continue }
                charges.append(
                    Charge(
                        id: order.id,
                        product: line.product,
                        sold: line.sold,
                        begins: start,
                        isProration: line.phase == GooglePlaySubscription.proration,
                        order: order
                    )
                )
            }
        }
        return charges
    }

    /// The coins of an order that an entry of the list of voided purchases takes back: the share of its
    /// money that was refunded, as a later read of the order says, else all.
    private func takenBack(of coins: Int64, paidBy id: String) -> Int64 {
        let voided = voids.map(\.value).filter { $0.order == id }.map(\.at).max()
        guard let voided else { return 0 }
        guard let read = readOfOrder(id), read.stated.instant >= voided,
            let paid = read.value.total?.micros
        else { return coins }
        var back: Int64 = 0
        for refund in read.value.refunds {
            back += max(0, min(refund.total?.micros ?? paid, paid - back))
        }
        return back == 0 ? coins : CoinLot.share(coins, back, of: paid)
    }

    /// The coins of one line of what was bought once.
    ///
    /// - Parameter taken: the number of pieces that were taken back.
    func credit(
        _ line: GooglePlayPurchase.Line,
        _ taken: Int64,
        _ product: Catalog.Product,
        since start: Instant,
        to owner: HolderNames,
        _ evaluation: inout Evaluation
    ) {
        guard let credit = CoinLot.coins(product.coins, times: line.quantity), credit > 0 else {
            return
        }
        evaluation.lots.append(
            CoinLot(
                id: line.sold.id,
                owner: owner,
                credit: credit,
                clawed: CoinLot.share(credit, taken, of: line.quantity),
                credited: start
            )
        )
    }

    /// The number of pieces of a line that were taken back, as the list of voided purchases says, and the
    /// instant from which on none was left.
    ///
    /// A bundle is refunded as a whole, so parts are of what is the only product.
    /// https://developer.android.com/google/play/billing/one-time-product-bundles
    func taken(of line: GooglePlayPurchase.Line) -> (count: Int64, end: Instant?) {
        var count: Int64 = 0
        let isBundle = (purchase?.value.lines.count ?? 0) > 1
        let entries = voids.map(\.value).filter { !isBundle || $0.quantity == nil }
        for void in entries.sorted(by: { ($0.at, $0.order) < ($1.at, $1.order) }) {
            let rest = max(0, line.quantity - count)
            count += void.quantity.map { max(0, min($0, rest)) } ?? rest
            if count >= line.quantity { return (line.quantity, void.at) }
        }
        return purchase?.value.isOver == true ? (line.quantity, cancelled) : (count, nil)
    }
}
