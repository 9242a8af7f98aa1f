// Coins by order, taken back by what Google Play lists as voided (RULES §18.5).
extension GooglePlayRecord {
    /// The coins of each order of a subscription.
    func creditPeriods(
        to owner: HolderNames,
        of application: String,
        in history: CatalogHistory,
        _ evaluation: inout Evaluation
    ) {
        for charge in charges where !charge.isProration {
            guard !(inheritedOrders ?? []).contains(charge.order),
                let known = history.product(charge.sold, in: application, at: charge.begins),
                known.coins > 0
            else { continue }
            evaluation.lots.append(
                CoinLot(
                    id: "\(charge.order)/\(charge.product)",
                    owner: owner,
                    credit: known.coins,
                    clawed: takenBack(of: known.coins, paidBy: charge),
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
            for line in order.lines {
                guard let start = line.start,
                    !charges.contains(where: { $0.order == order.id && $0.product == line.product })
                else { continue }
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

    /// What an entry of the list of voided purchases takes back of an order's coins: the share that
    /// its money says, else all.
    private func takenBack(of coins: Int64, paidBy charge: Charge) -> Int64 {
        let isAlone = !charges.contains {
            $0.order == charge.order && $0.product != charge.product
        }
        let isVoided = voids.map(\.value).contains { void in
            guard void.order == charge.order else { return false }
            // An entry names no product: one that a later read shows running was not meant.
            guard !isAlone, let ran = charge.ran else { return true }
            return ran <= void.at
        }
        guard isVoided else { return 0 }
        guard let order = order(charge.order),
            let paid = (isAlone ? order.total : line(charge.order, charge.product)?.total)?.micros,
            paid > 0
        else { return coins }
        var back: Int64 = 0
        for refund in order.refunds {
            back += max(0, min(refund.total?.micros ?? paid, paid - back))
        }
        return back == 0 ? coins : CoinLot.share(coins, back, of: paid)
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
        guard let purchase, purchase.value.state != GooglePlayPurchase.cancelled,
            line.quantity > 0
        else { return line.quantity }
        // What is not stated takes nothing; nonsense neither.
        let rest = max(0, min(line.refundable ?? line.quantity, line.quantity))
        var taken = line.quantity - rest
        // Of a bundle an entry does not say which product it means; a later read does.
        let isBundle = purchase.value.lines.count > 1
        var listed: Int64 = 0
        for void in voids.map(\.value) {
            if let part = void.quantity {
                if !isBundle { listed += max(0, min(part, line.quantity - listed)) }
            } else if !isBundle || purchase.stated.instant <= void.at {
                listed = line.quantity
            }
        }
        taken = max(taken, listed)
        return min(taken, line.quantity)
    }
}
