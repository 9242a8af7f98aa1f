// Access past the newest period: grace, a status that reaches further, the renewal window (RULES
// §2.3, §2.4, §2.10, §3).
extension AppStoreRecord {
    /// - Parameter last: the newest period, as `newestPeriod(in:)` finds it.
    func beyond(
        _ last: PeriodRecord,
        in ordered: [PeriodRecord],
        of key: Purchase.Key,
        _ evaluation: inout Evaluation
    ) -> [AccessInterval] {
        guard last.period.kind == .autoRenewable, let end = last.period.end,
            last.upgradedBy == nil, replacement(of: last) == nil
        else { return [] }
        let revoked = revocation(of: last)
        let cut = self.end(of: last, in: ordered)
        guard cut == end || cut == revoked else { return resumed(after: last, in: ordered) }
        let product = StoreProduct(.appStore, last.period.product)
        func interval(
            _ ground: Ground,
            _ evidence: String,
            since: Instant,
            until: Instant
        ) -> AccessInterval {
            AccessInterval(
                product: product,
                since: since,
                until: until,
                ground: ground,
                evidence: evidence
            )
        }
        var intervals: [AccessInterval] = []
        if revoked == nil, let (graceEnd, evidence) = grace(after: last) {
            intervals.append(interval(.grace, evidence, since: end, until: graceEnd))
        }
        let further = reached(past: last, end, revoked, in: ordered, of: key, &evaluation)
        intervals += further
        if revoked != nil, intervals.isEmpty { return resumed(after: last, in: ordered) }
        if revoked == nil, !hasFailed(last), let renewal,
            renewal.value.willRenew, !renewal.value.awaitsConsent,
            renewal.stated.instant < last.period.start
                || renewal.value.graceEnd.map({ $0 <= end }) ?? true
        {
            // What was extended renews where the status reaches to.
            let due = further.last { $0.product == product }?.until ?? end
            intervals.append(interval(.renewal, renewal.source, since: due, until: due))
        }
        return intervals
    }

    /// What a status 1 or 4 gives that reaches past the newest period, or to the end of one whose
    /// revocation it does not know any more (RULES §2.4, §2.10).
    private func reached(
        past last: PeriodRecord,
        _ end: Instant,
        _ revoked: Instant?,
        in ordered: [PeriodRecord],
        of key: Purchase.Key,
        _ evaluation: inout Evaluation
    ) -> [AccessInterval] {
        guard let status, status.value.isEntitling, let reach = status.value.reachesTo,
            revoked == nil ? reach > end : reach >= end
        else { return [] }
        let stated = status.stated.instant
        let question = Wanted(kind: .subscriptionStatus, object: key.id)
        guard last.period.start <= stated else {
            // It was signed before this period began, and says nothing of what follows it.
            evaluation.wanted.append(question)
            return []
        }
        // After a refund it is the status that says from when on something newer runs.
        var since = end
        if let revoked {
            guard revoked <= stated, reach > end || isUndone(last, by: status) else { return [] }
            since = Swift.min(end, stated)
        }
        var further = AccessInterval(
            product: StoreProduct(.appStore, last.period.product),
            since: since,
            until: reach,
            ground: .status,
            evidence: status.source
        )
        // What a family member shares anew may have been bought before what they lost.
        let anew = ordered.last {
            $0.period.id != last.period.id && $0.period.end == reach && $0.period.isFamilyShared
                && $0.upgradedBy == nil
        }
        let gone = anew.flatMap { revocation(of: $0) }
        if let anew, gone == nil, stated >= revoked ?? end {
            further.product = StoreProduct(.appStore, anew.period.product)
        } else {
            evaluation.wanted.append(question)
        }
        return gone.map({ $0 <= stated }) ?? true ? [further] : []
    }

    /// Whether a status was signed after the period's revocation had been stated, in another
    /// message: the store has taken it back since.
    private func isUndone(_ record: PeriodRecord, by status: Newest<SubscriptionStatus>) -> Bool {
        guard let revocation = record.revocation else { return false }
        return isNewer(
            status.stated,
            status.source,
            than: revocation.stated,
            revocation.source
        )
    }

    /// An older period that was signed as valid after the newest one was revoked: a family share
    /// that is given anew (RULES §2.10).
    private func resumed(
        after last: PeriodRecord,
        in ordered: [PeriodRecord]
    ) -> [AccessInterval] {
        let lost: (stated: Stated, source: String)
        if let status, status.value.value == SubscriptionStatus.revoked {
            lost = (status.stated, status.source)
        } else if let revocation = last.revocation {
            lost = (revocation.stated, revocation.source)
        } else {
            return []
        }
        return ordered.compactMap { record in
            guard record.period.kind == .autoRenewable, record.upgradedBy == nil,
                record.period.start < last.period.start, let end = record.period.end,
                isStatedValid(record, since: lost.stated, by: lost.source)
            else { return nil }
            return AccessInterval(
                product: StoreProduct(.appStore, record.period.product),
                since: record.newest.stated.instant,
                until: end,
                ground: record.period.isFamilyShared ? .family : .payment,
                evidence: record.period.transactionID
            )
        }
    }

    // MARK: - Failed payments

    /// Whether the status says that billing has failed.
    ///
    /// One from before the newest period began was about an older one: that period has been paid
    /// since.
    private func hasFailed(_ last: PeriodRecord) -> Bool {
        standingFailure(of: last).map { $0.instant >= last.period.start } ?? false
    }

    /// The clock of a status 2, 3 or 5 that nothing newer has made void.
    private func standingFailure(of last: PeriodRecord) -> Stated? {
        guard let status, status.value.isFailed else { return nil }
        if status.value.value == SubscriptionStatus.revoked, revokedByStatus(last) == nil {
            return nil
        }
        return status.stated
    }

    /// Until when a failed payment is tolerated, and who says so (RULES §2.3).
    func grace(after last: PeriodRecord) -> (Instant, String)? {
        guard let end = last.period.end else { return nil }
        var graceEnd: Instant
        let evidence: String
        let stated: Stated
        if let renewal, let granted = renewal.value.graceEnd, granted > end,
            renewal.stated.instant >= last.period.start
        {
            (graceEnd, evidence, stated) = (granted, renewal.source, renewal.stated)
        } else if let status, status.value.value == SubscriptionStatus.billingGrace,
            status.stated.instant >= last.period.start
        {
            graceEnd = status.stated.instant.advanced(by: Self.undatedGrace)
            (evidence, stated) = (status.source, status.stated)
        } else {
            return nil
        }
        if let failure = standingFailure(of: last), stated < failure {
            graceEnd = min(graceEnd, failure.instant)
        }
        return graceEnd > end ? (graceEnd, evidence) : nil
    }

    /// Three days in milliseconds: Apple's shortest grace period.
    private static let undatedGrace: Int64 = 3 * 86_400_000
}
