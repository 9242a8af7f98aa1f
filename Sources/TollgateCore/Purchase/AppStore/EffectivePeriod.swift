/// One of the App Store's periods with the ends that its record gives it; for reports.
public struct EffectivePeriod: Hashable, Sendable {
    public var period: Period
    /// Who bought it, by the names under which the facts know them.
    public var buyer: HolderNames
    /// Where what was paid for ends: its own end, cut by a refund, an upgrade or the next period;
    /// `nil`: never.
    public var end: Instant?
    /// Until when a failed renewal of it was tolerated after that.
    public var graceEnd: Instant?
    /// When the store took it back, unless it has taken that back since (RULES §2.2), took nothing
    /// back because the customer switched to a bundle (RULES §2.12), or gave back only the time that a
    /// change of plan left, without saying how much that is (RULES §2.13).
    public var revoked: Instant?
    /// Whether it began; a renewal that was charged ahead may not have (RULES §2.14).
    public var hasBegun: Bool
    /// Whether it adds seats to a period that another transaction represents (RULES §2.11).
    public var isAddition: Bool
    /// The refunds of some of its `period.quantity` seats, before it was revoked as a whole if it was
    /// (RULES §2.11), in the order of time.
    public var seatRefunds: [SeatRefund] = []
}

extension AppStoreRecord {
    /// The App Store's periods in the order of their starts, as reports count them: without the
    /// renewal window and the reach of a status, which are mercy and no payment.
    func effectivePeriods(_ ownership: Ownership) -> [EffectivePeriod] {
        let all = orderedPeriods
        let ordered = begunPeriods(among: all)
        let newest = newestPeriod(in: ordered)
        return epochs(of: all).flatMap { epoch in
            let buyer = ownership.buyer(of: epoch)
            return epoch.periods.map { record in
                let isKept =
                    record.period.gaveNothingBack || isRefundOfChange(record, in: ordered)
                var effective = EffectivePeriod(
                    period: record.period,
                    buyer: buyer,
                    end: end(of: record, in: ordered),
                    revoked: isKept ? nil : revocation(of: record),
                    hasBegun: !neverBegan(record),
                    isAddition: ordered.contains { record.period.isAddition(to: $0.period) }
                )
                effective.seatRefunds = record.seatRefunds.filter { refund in
                    effective.revoked.map { refund.stated < $0 } ?? true
                }
                if record.period.kind == .autoRenewable, effective.revoked == nil,
                    record.period.id == newest?.period.id, let end = record.period.end,
                    effective.end == end
                {
                    effective.graceEnd = FailedRenewal(record: self, period: record).grace?.0
                }
                if effective.revoked == nil, effective.end == record.period.end,
                    let stated = statedGrace(of: record, in: ordered)
                {
                    effective.graceEnd = stated
                }
                return effective
            }
        }
    }
}
