// What ends a period, and what goes on beyond the newest one (RULES §2, §3).
extension AppStoreRecord {
    /// Returns the earliest end of a period by all rules (RULES §2.1, §2.5, §8).
    func end(of record: PeriodRecord, in ordered: [PeriodRecord]) -> Instant? {
        guard !neverBegan(record), !isReplacedAtOnce(record) else { return record.period.start }
        var end = earlier(record.period.end, revocation(of: record))
        end = earlier(end, record.upgraded)
        guard record.period.kind == .autoRenewable else { return end }
        let period = record.period
        if let next = ordered.first(where: {
            $0.period.start > period.start && !$0.period.isAddition(to: period)
        }) {
            end = earlier(end, next.period.start)
        }
        end = earlier(end, replacement(of: record))
        return earlier(end, revokedByStatus(record))
    }

    /// Returns the newest period; of several transactions for it, one that was not revoked.
    func newestPeriod(in ordered: [PeriodRecord]) -> PeriodRecord? {
        guard let last = ordered.last, revocation(of: last) != nil else { return ordered.last }
        return ordered.last { record in
            (record.period.start == last.period.start
                || last.period.isAddition(to: record.period))
                && record.upgradedBy == nil && revocation(of: record) == nil
        } ?? last
    }

    // MARK: - Revocations

    /// Returns the time of the period's revocation; `nil` after a reversal (RULES §2.2).
    func revocation(of record: PeriodRecord) -> Instant? {
        guard let revoked = record.period.revoked else { return nil }
        if let reversal = reversal(of: record), revoked <= reversal.stated.instant { return nil }
        return revoked
    }

    /// Returns the latest REFUND_REVERSED of a period.
    ///
    /// One that names no period reverses the latest revocation up to its clock.
    func reversal(of record: PeriodRecord) -> Newest<String>? {
        guard let reversals else { return nil }
        if let named = reversals.first(where: { $0.value == record.period.id }) { return named }
        guard let unnamed = reversals.first, unnamed.value.isEmpty else { return nil }
        let reversed =
            periods.compactMap { other in other.period.revoked.map { ($0, other.period.id) } }
            .filter { $0.0 <= unnamed.stated.instant }
            .max { $0 < $1 }
        return reversed?.1 == record.period.id ? unnamed : nil
    }

    /// Returns the clock of a status 5 that ends the period uncontradicted (RULES §2.5, §2.10).
    func revokedByStatus(_ record: PeriodRecord) -> Instant? {
        guard let status, status.value.value == SubscriptionStatus.revoked,
            record.period.start < status.stated.instant,
            !isStatedValid(record, since: status.stated, by: status.source)
        else { return nil }
        return status.stated.instant
    }

    /// Returns `true` if a newer transaction or reversal says that the period is not revoked.
    func isStatedValid(
        _ record: PeriodRecord,
        since stated: Stated,
        by source: String
    ) -> Bool {
        guard revocation(of: record) == nil else { return false }
        let newest = record.newest
        if record.isSigned, newest.value.revoked == nil,
            newest.isNewer(than: stated, by: source)
        {
            return true
        }
        return reversal(of: record)?.isNewer(than: stated, by: source) ?? false
    }

    // MARK: - Disagreements

    /// `true` if statements disagree about the present; the store's answer then counts in any case.
    var isContested: Bool { asks(about: begunPeriods()) }

    /// Returns `true` if a newer statement with the same content changes nothing.
    func repeats(_ period: Period) -> Bool {
        let known = periods.first { $0.period.id == period.id }
        guard let known, known.newest.value == period || known.receipt?.value == period else {
            return false
        }
        guard let status, status.value.value == SubscriptionStatus.revoked,
            period.revoked == nil, let end = period.end
        else { return true }
        // After a status 5 it is news that a running period is not revoked.
        return end <= status.stated.instant || status.stated < known.newest.stated
    }

    /// Returns `true` if statements disagree, or the upgraded plan is unknown (RULES §2.1, §2.10).
    private func asks(about ordered: [PeriodRecord]) -> Bool {
        if let last = ordered.last, last.period.kind == .autoRenewable, last.upgradedBy != nil,
            replacement(of: last) == nil
        {
            return true
        }
        if isRefusedByReceipt || contradictsPaidPeriod(of: ordered) { return true }
        if ordered.contains(where: isContinuedInSpite) { return true }
        let status = status.flatMap { $0.value.value == SubscriptionStatus.revoked ? $0 : nil }
        return ordered.contains { record in
            if record.isContested { return true }
            guard let status, record.period.start < status.stated.instant,
                let end = record.period.end
            else { return false }
            return status.stated.instant < end && record.upgradedBy == nil
                && isStatedValid(record, since: status.stated, by: status.source)
        }
    }

    /// Returns `true` if a newer status 2 or 3 was signed within the newest period (RULES §2.5).
    private func contradictsPaidPeriod(of ordered: [PeriodRecord]) -> Bool {
        guard let status, status.value.isFailed,
            status.value.value != SubscriptionStatus.revoked,
            let last = newestPeriod(in: ordered), last.period.kind == .autoRenewable,
            last.period.start <= status.stated.instant
        else { return false }
        let newest = last.newest
        return status.isNewer(than: newest.stated, by: newest.source)
            && end(of: last, in: ordered).map { status.stated.instant < $0 } ?? false
    }

    /// Returns the question that a disagreement raises for the store.
    func question(about ordered: [PeriodRecord], of key: Purchase.Key) -> Wanted? {
        guard asks(about: ordered) else { return nil }
        let isPlan = ordered.contains { $0.period.kind == .autoRenewable }
        return Wanted(kind: isPlan ? .subscriptionStatus : .transactionHistory, object: key.id)
    }
}

extension Wanted.Kind {
    /// A subscription that is active beyond every known period.
    public static let subscriptionStatus = Self(rawValue: "subscription_status")
    /// All purchases of an App Store customer, found by any of their transactions.
    ///
    /// An unverified sender says that there is news.
    public static let transactionHistory = Self(rawValue: "transaction_history")
}
