extension Purchase {
    /// The coins of an App Store period, once per period whatever its transaction ids.
    ///
    /// - Parameter ordered: all periods of the purchase.
    func credit(
        _ record: PeriodRecord,
        in ordered: [PeriodRecord],
        to owner: HolderNames,
        in history: CatalogHistory,
        _ evaluation: inout Evaluation
    ) {
        let period = record.period
        let product = StoreProduct(.appStore, period.product)
        guard !period.isFamilyShared, let known = history.product(product, at: period.start),
            let credit = Self.coins(known.coins, times: period.quantity), credit > 0
        else { return }
        let replaced = replacement(of: record, in: ordered)
        var clawed: Int64 = 0
        if let revoked = revocation(of: record), period.isSwitched != true {
            // The refund of an upgrade is by time, below.
            let isUpgrade = period.revokedShare == nil && replaced.map { revoked <= $0 } ?? false
            if !isUpgrade {
                clawed = Self.share(credit, period.revokedShare ?? Self.whole, of: Self.whole)
            }
        } else if let seats = period.revokedSeats {
            clawed = Self.share(credit, seats, of: period.quantity)
        }
        if let replaced, let end = period.end {
            let (used, paid) = (
                period.start.milliseconds(to: replaced), period.start.milliseconds(to: end)
            )
            clawed = credit - Self.share(credit - clawed, used, of: paid)
        }
        evaluation.lots.append(
            CoinLot(
                id: period.id,
                owner: owner,
                credit: credit,
                clawed: clawed,
                credited: period.start
            )
        )
    }

    /// When another plan replaced the period before its end, so that the money for the rest went back
    /// (RULES §2.13).
    private func replacement(of record: PeriodRecord, in ordered: [PeriodRecord]) -> Instant? {
        let period = record.period
        guard period.kind == .autoRenewable, let end = period.end else { return nil }
        let next = ordered.first {
            $0.period.start > period.start && !$0.period.isAddition(to: period)
        }?.period
        var replaced = earlier(record.upgradedBy, record.upgradedBy == nil ? nil : next?.start)
        if let next, replaced == nil, record.revocation == nil, next.product != period.product {
            replaced = next.start
        }
        return replaced.flatMap { $0 < end ? $0 : nil }
    }

    /// 100 % in Apple's thousandths of a percent.
    private static let whole: Int64 = 100_000

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
        guard let credit = Self.coins(product.coins, times: line.quantity), credit > 0 else {
            return
        }
        let clawed = Self.share(credit, taken.amount, of: taken.of)
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
                var credit = Self.coins(known.coins, times: line.quantity)
            else { continue }
            if line.isProration {
                credit = Self.share(credit, line.length, of: period(of: line, known, lines))
            }
            guard credit > 0 else { continue }
            let taken = takenBack(of: invoice.amount, paying: invoice.id)
            let back = Self.share(credit, taken.amount, of: taken.of)
            evaluation.lots.append(
                CoinLot(
                    id: line.id,
                    owner: owner,
                    credit: credit,
                    clawed: min(credit, credit - paid.kept(of: credit) + back),
                    credited: known.kind == .autoRenewable ? line.start : paid.begins
                )
            )
        }
    }

    /// How long the whole period is of which a proration charges a part.
    private func period(
        of line: StripeInvoice.Line,
        _ product: Catalog.Product,
        _ lines: [PaidLine]
    ) -> Int64 {
        let full = lines.last {
            !$0.line.isProration && $0.line.end == line.end && $0.line.start <= line.start
                && $0.line.isOfOneItem(with: line)
        }
        if let full { return full.line.length }
        guard let end = product.duration?.adding(to: line.start.milliseconds) else { return 0 }
        return line.start.milliseconds(to: Instant(milliseconds: end))
    }

    /// `coins × quantity`, or `nil` where the quantity is nonsense: no sum of lots may overflow.
    private static func coins(_ coins: Int64, times quantity: Int64) -> Int64? {
        let (credit, overflow) = coins.multipliedReportingOverflow(by: max(0, quantity))
        return overflow || credit > largestCredit ? nil : credit
    }

    /// A trillion coins: nine million such lots still fit into a balance.
    private static let largestCredit: Int64 = 1_000_000_000_000

    /// `floor(credit × part / whole)`, never more than the credit.
    static func share(_ credit: Int64, _ part: Int64, of whole: Int64) -> Int64 {
        guard whole > 0 else { return 0 }
        let bounded = max(0, min(part, whole))
        let (high, low) = credit.multipliedFullWidth(by: bounded)
        return whole.dividingFullWidth((high, low)).quotient
    }
}
