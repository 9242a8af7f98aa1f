extension AppStoreRecord {
    /// The coins of an App Store period, once per period whatever its transaction ids.
    ///
    /// - Parameters:
    ///   - ordered: all periods of the purchase.
    ///   - application: the app that sold it.
    func credit(
        _ record: PeriodRecord,
        in ordered: [PeriodRecord],
        of application: String,
        to owner: HolderNames,
        in history: CatalogHistory,
        _ evaluation: inout Evaluation
    ) {
        let period = record.period
        let product = StoreProduct(.appStore, period.product)
        guard !period.isFamilyShared,
            let known = history.product(product, in: application, at: period.start),
            let whole = CoinLot.coins(known.coins, times: period.quantity),
            !isPaidElsewhere(period)
        else { return }
        let credit = period.installment?.part(of: whole) ?? whole
        guard credit > 0 else { return }
        let replaced = neverBegan(record) ? period.start : replacement(of: record, in: ordered)
        var clawed = CoinLot.share(credit, record.refundedSeats, of: period.quantity)
        clawed += CoinLot.share(
            credit - clawed,
            revokedShare(of: record, in: ordered),
            of: Self.whole
        )
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
                credited: period.start,
                paid: record.chargedAhead
            )
        )
    }

    /// The share of a period's money that its revocation gave back, in thousandths of a percent.
    private func revokedShare(of record: PeriodRecord, in ordered: [PeriodRecord]) -> Int64 {
        guard revocation(of: record) != nil, !record.period.gaveNothingBack,
            !isRefundOfChange(record, in: ordered)
        else { return 0 }
        return record.period.revokedShare ?? Self.whole
    }

    /// Returns `true` if a period's revocation is the refund of a change to another plan: by time, of a
    /// share that the store does not state (RULES §2.13).
    ///
    /// A renewal that never began gets back all of its money.
    func isRefundOfChange(_ record: PeriodRecord, in ordered: [PeriodRecord]) -> Bool {
        guard let revoked = revocation(of: record), record.period.revokedShare == nil,
            !neverBegan(record), let replaced = replacement(of: record, in: ordered)
        else { return false }
        // Apple dates it up to a few seconds after the new period.
        return revoked <= replaced.advanced(by: 60_000)
    }

    /// Whether a period was paid for in the purchase that this one continues: a migration's first one
    /// (RULES §8).
    private func isPaidElsewhere(_ period: Period) -> Bool {
        guard period.price == 0, period.offerType == nil, let end = period.end,
            let former = predecessors?.first(where: { $0.id == period.previous }),
            former.since == period.start, let paid = former.paidUntil
        else { return false }
        return end <= paid
    }

    /// When another plan replaced the period before its end, so that the money for the rest went back
    /// (RULES §2.13).
    private func replacement(of record: PeriodRecord, in ordered: [PeriodRecord]) -> Instant? {
        let period = record.period
        guard period.kind == .autoRenewable, let end = period.end else { return nil }
        guard !isReplacedAtOnce(record) else { return period.start }
        let next = ordered.first {
            $0.period.start > period.start && !$0.period.isAddition(to: period)
        }?.period
        var replaced = earlier(record.upgraded, record.upgradedBy == nil ? nil : next?.start)
        if let next, replaced == nil, next.product != period.product,
            isKnownToRun(record, at: next.start)
        {
            replaced = next.start
        }
        return replaced.flatMap { $0 < end ? $0 : nil }
    }

    /// Whether a period was not refunded by `instant`, or the store had said by then that its refund
    /// was taken back.
    private func isKnownToRun(_ record: PeriodRecord, at instant: Instant) -> Bool {
        guard let refund = record.revocation, refund.date <= instant else { return true }
        guard revocation(of: record) == nil else { return false }
        var since = record.newest.value.revoked == nil ? record.newest.stated.instant : nil
        if let reversal = reversal(of: record)?.stated.instant, refund.date <= reversal {
            since = earlier(since, reversal)
        }
        return since.map { $0 <= instant } ?? false
    }

    /// 100 % in Apple's thousandths of a percent.
    private static let whole: Int64 = 100_000
}
