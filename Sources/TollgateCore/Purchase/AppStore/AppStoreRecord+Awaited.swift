extension AppStoreRecord {
    /// The period after whose end the App Store should say something: of those that run to their end
    /// the one that ends last.
    ///
    /// Not simply the newest: a renewal may never have begun, and a family may share an older purchase
    /// again. Where none runs to its end, the newest: what follows it is not known.
    var awaitedPeriod: (start: Instant, end: Instant)? {
        let ordered = begunPeriods().filter { $0.period.kind == .autoRenewable }
        guard let last = newestPeriod(in: ordered) else { return nil }
        let isWhole = end(of: last, in: ordered) == last.period.end
        let resumed = isWhole ? [] : resumedPeriods(before: last, in: ordered).map(\.period.id)
        let lasting = ordered.filter {
            $0.upgradedBy == nil && revocation(of: $0) == nil && replacement(of: $0) == nil
        }
        let spans = lasting.compactMap { record in
            let end =
                resumed.contains(record.period.id)
                ? record.period.end : end(of: record, in: ordered)
            return end.map { (start: record.period.start, end: $0) }
        }
        return spans.max { ($0.end, $0.start) < ($1.end, $1.start) }
            ?? last.period.end.map { (start: last.period.start, end: $0) }
    }

    /// The older periods that were signed as valid after the newest one was revoked: a family share
    /// that is given anew (RULES §2.10).
    func resumedPeriods(before last: PeriodRecord, in ordered: [PeriodRecord]) -> [PeriodRecord] {
        let lost: (stated: Stated, source: String)
        if let status, status.value.value == SubscriptionStatus.revoked {
            lost = (status.stated, status.source)
        } else if let revocation = last.revocation {
            lost = (revocation.stated, revocation.source)
        } else {
            return []
        }
        return ordered.filter { older in
            older.period.kind == .autoRenewable && older.upgradedBy == nil
                && older.period.start < last.period.start && older.period.end != nil
                && isStatedValid(older, since: lost.stated, by: lost.source)
        }
    }
}

extension Purchase {
    /// The period of a subscription in the App Store after whose end the store should say something;
    /// `nil`: it has none.
    public var awaitedPeriod: (start: Instant, end: Instant)? { appStore?.awaitedPeriod }
}
