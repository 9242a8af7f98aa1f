// Coins by order, taken back by what Google Play lists as voided (RULES §18.5).
extension GooglePlayRecord {
    /// The coins of each order of a subscription.
    func creditPeriods(
        to owner: HolderNames,
        _ ownership: Ownership,
        in history: CatalogHistory,
        _ evaluation: inout Evaluation
    ) {
        for charge in charges where !(inheritedOrders ?? []).contains(charge.order) {
            guard !charge.isProration,
                let known = history.product(
                    charge.sold,
                    in: ownership.key.application,
                    at: charge.begins
                ), known.coins > 0
            else { continue }
            evaluation.lots.append(
                CoinLot(
                    id: "\(charge.order)/\(charge.product)",
                    owner: owner,
                    credit: known.coins,
                    clawed: isTakenBack(charge) ? known.coins : 0,
                    credited: charge.begins
                )
            )
        }
    }

    /// One product that an order charged for.
    private struct Charge {
        var order: String
        var product: String
        var sold: StoreProduct
        var begins: Instant
        var isProration: Bool
        /// The latest clock at which a read showed it running; `nil`: none did.
        var ran: Instant?
    }

    /// What reads named as paid, and what orders say was paid before anybody read.
    private var charges: [Charge] {
        var charges = periods.map { period in
            let line = line(period.order, period.product)
            return Charge(
                order: period.order,
                product: period.product,
                sold: period.sold,
                begins: line?.start ?? period.first,
                isProration: period.isProration
                    ?? (line?.phase == GooglePlaySubscription.proration),
                ran: period.last
            )
        }
        for order in orders.map(\.value) where order.isPaid {
            for line in order.lines where period(order.id, line.product) == nil {
                guard let start = line.start else { continue }
                charges.append(
                    Charge(
                        order: order.id,
                        product: line.product,
                        sold: line.sold,
                        begins: start,
                        isProration: line.phase == GooglePlaySubscription.proration
                    )
                )
            }
        }
        return charges
    }

    /// Whether an order was voided.
    ///
    /// An entry does not say of which product: one that a later read shows running was not meant.
    private func isTakenBack(_ charge: Charge) -> Bool {
        let isAlone = periods.allSatisfy {
            $0.order != charge.order || $0.product == charge.product
        }
        return voids.map(\.value).contains { void in
            guard void.order == charge.order else { return false }
            guard !isAlone, let ran = charge.ran else { return true }
            return ran <= void.at
        }
    }

    /// The coins of one line of what was bought once.
    ///
    /// - Parameter taken: how many of it were taken back.
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

    /// How many of a line were taken back: as the list of voided purchases says, or a read.
    func taken(of line: GooglePlayPurchase.Line) -> Int64 {
        guard let purchase, purchase.value.state != GooglePlayPurchase.cancelled else {
            return line.quantity
        }
        let read = line.refundable.map { max(0, line.quantity - $0) } ?? 0
        // Of a bundle an entry does not say which product it means; a later read does.
        let isBundle = purchase.value.lines.count > 1
        let listed = voids.map(\.value).filter { void in
            !isBundle || (void.quantity == nil && purchase.stated.instant <= void.at)
        }
        var sum = read
        if listed.contains(where: { $0.quantity == nil }) {
            sum = line.quantity
        } else {
            var voided: Int64 = 0
            for void in listed where voided < line.quantity { voided += max(0, void.quantity ?? 0) }
            sum = max(sum, voided)
        }
        return min(sum, line.quantity)
    }
}
