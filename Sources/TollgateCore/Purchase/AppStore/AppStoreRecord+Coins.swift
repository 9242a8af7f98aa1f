extension AppStoreRecord {
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
            let credit = CoinLot.coins(known.coins, times: period.quantity), credit > 0
        else { return }
        let replaced = replacement(of: record, in: ordered)
        var clawed: Int64 = 0
        if let revoked = revocation(of: record), period.isSwitched != true {
            // The refund of an upgrade is by time, below.
            let isUpgrade = period.revokedShare == nil && replaced.map { revoked <= $0 } ?? false
            if !isUpgrade {
                clawed = CoinLot.share(credit, period.revokedShare ?? Self.whole, of: Self.whole)
            }
        } else if let seats = period.revokedSeats {
            clawed = CoinLot.share(credit, seats, of: period.quantity)
        }
        if let replaced, let end = period.end {
            let (used, paid) = (
                period.start.milliseconds(to: replaced), period.start.milliseconds(to: end)
            )
            clawed = credit - CoinLot.share(credit - clawed, used, of: paid)
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
}
