extension StripeRecord {
    /// The coins of one line of a Checkout payment.
    ///
    /// Named by price, since a line's own id is known only to who has read it.
    func credit(
        _ line: StripePayment.Line,
        of record: PaymentRecord,
        _ product: Catalog.Product,
        to owner: HolderNames,
        _ taken: TakenBack,
        _ evaluation: inout Evaluation
    ) {
        guard let credit = CoinLot.coins(product.coins, times: line.quantity), credit > 0 else {
            return
        }
        let clawed = CoinLot.share(credit, taken.amount, of: taken.of)
        evaluation.lots.append(
            CoinLot(
                id: line.price,
                owner: owner,
                credit: credit,
                clawed: clawed,
                credited: record.begins
            )
        )
    }

    /// The coins of a plan's invoices, which follow its money (RULES §5.5).
    func credit(
        _ lines: [PaidLine],
        to owner: HolderNames,
        in history: CatalogHistory,
        _ evaluation: inout Evaluation
    ) {
        for paid in lines {
            let (line, invoice) = (paid.line, paid.invoice)
            let product = StoreProduct(.stripe, line.price)
            guard let known = history.product(product, at: line.start),
                var credit = CoinLot.coins(known.coins, times: line.quantity)
            else { continue }
            if line.isProration {
                credit = CoinLot.share(credit, line.length, of: period(of: line, known, lines))
            }
            guard credit > 0 else { continue }
            let taken = takenBack(of: invoice.amount, paying: invoice.id)
            let back = CoinLot.share(credit, taken.amount, of: taken.of)
            evaluation.lots.append(
                CoinLot(
                    id: line.id,
                    owner: owner,
                    credit: credit,
                    clawed: min(credit, credit - paid.kept(of: credit) + back),
                    credited: known.kind == .autoRenewable ? line.start : paid.begins,
                    paid: invoice.paid
                )
            )
        }
    }

    /// How long the whole period is of which a proration charges a part, in milliseconds.
    ///
    /// With flexible billing a year may end where a month does, on the anchor's day: the full line with
    /// the same end counts if it is about as long as the product lasts.
    private func period(
        of line: StripeInvoice.Line,
        _ product: Catalog.Product,
        _ lines: [PaidLine]
    ) -> Int64 {
        let listed = product.duration?.adding(to: line.end.milliseconds, times: -1)
            .map { Instant(milliseconds: $0).milliseconds(to: line.end) }
        let full = lines.last {
            !$0.line.isProration && $0.line.end == line.end && $0.line.start <= line.start
                && $0.line.isOfOneItem(with: line)
                && listed.map { [length = $0.line.length] in abs(length - $0) <= Self.slack }
                    ?? true
        }
        return full?.line.length ?? listed ?? 0
    }

    /// Months differ by three days at most, in milliseconds.
    private static let slack: Int64 = 3 * 86_400_000
}
