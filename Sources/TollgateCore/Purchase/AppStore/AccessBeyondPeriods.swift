/// Access past the newest period: grace, a status that reaches further, the renewal window (RULES
/// §2.3, §2.4, §2.10, §3).
struct AccessBeyondPeriods {
    let record: AppStoreRecord
    let key: Purchase.Key
    /// The periods that have begun, in the order of their starts.
    let ordered: [PeriodRecord]
    /// The newest of them, as `newestPeriod(in:)` finds it.
    let last: PeriodRecord
    let history: CatalogHistory

    /// - Parameter evaluation: takes the questions to the store that come up.
    func intervals(_ evaluation: inout Evaluation) -> [AccessInterval] {
        guard last.period.kind == .autoRenewable, let end = last.period.end,
            record.replacement(of: last) == nil
        else { return [] }
        if let upgraded = last.upgradedBy { return ofUnknownPlan(since: upgraded) }
        let revoked = record.revocation(of: last)
        let cut = record.end(of: last, in: ordered)
        guard cut == end || cut == revoked else { return resumed() }
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
                evidence: evidence,
                offer: last.period.offerKind
            )
        }
        var intervals: [AccessInterval] = []
        let failure = FailedRenewal(record: record, period: last)
        if revoked == nil, let (graceEnd, evidence) = failure.grace {
            intervals.append(interval(.grace, evidence, since: end, until: graceEnd))
        }
        let further = reached(past: end, revoked, &evaluation)
        intervals += further
        if revoked != nil, intervals.isEmpty { return resumed() }
        if revoked == nil, !failure.hasFailed, let renewal = record.renewal,
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
        past end: Instant,
        _ revoked: Instant?,
        _ evaluation: inout Evaluation
    ) -> [AccessInterval] {
        guard let status = record.status, status.value.isEntitling,
            let reach = status.value.reachesTo,
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
            guard revoked <= stated, reach > end || isUndone(by: status) else { return [] }
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
        let gone = anew.flatMap { record.revocation(of: $0) }
        if let anew, gone == nil, stated >= revoked ?? end {
            further.product = StoreProduct(.appStore, anew.period.product)
        } else {
            evaluation.wanted.append(question)
        }
        return gone.map({ $0 <= stated }) ?? true ? [further] : []
    }

    /// The access of the plan that took the newest one's place, where only a status 1 or 4 tells of it
    /// (RULES §2.4).
    ///
    /// The status must not be older than the upgrade, or it may be about the plan that was replaced.
    private func ofUnknownPlan(since upgraded: Instant) -> [AccessInterval] {
        // The parts of one message are signed within a minute.
        func isOfNewPlan(_ stated: Stated) -> Bool {
            upgraded <= stated.instant.advanced(by: 60_000)
        }
        guard let status = record.status, status.value.isEntitling, isOfNewPlan(status.stated),
            record.revocation(of: last).map({ $0 <= status.stated.instant }) ?? true,
            let cut = record.end(of: last, in: ordered), let reach = status.value.reachesTo
        else { return [] }
        let terms = record.renewal.flatMap { isOfNewPlan($0.stated) ? $0.value : nil }
        let product = renewedProduct(terms, at: cut) ?? StoreProduct(.appStore, last.period.product)
        func interval(_ ground: Ground, since: Instant, until: Instant) -> AccessInterval {
            AccessInterval(
                product: product,
                since: since,
                until: until,
                ground: ground,
                evidence: status.source,
                lacksRenewalTerms: true
            )
        }
        let active = interval(.status, since: cut, until: reach)
        guard status.value.value == SubscriptionStatus.billingGrace else { return [active] }
        let graceEnd = terms?.graceEnd ?? FailedRenewal.undatedEnd(status.stated)
        return [active, interval(.grace, since: max(cut, reach), until: graceEnd)]
    }

    /// The plan that the terms renew as, if the catalog sells it.
    ///
    /// `autoRenewProductId` is never above the running plan, since an upgrade takes effect at once.
    private func renewedProduct(_ terms: RenewalTerms?, at instant: Instant) -> StoreProduct? {
        guard let next = terms?.nextProduct else { return nil }
        let product = StoreProduct(.appStore, next)
        let known = history.product(product, in: key.application, at: instant)
        return known?.kind == .autoRenewable ? product : nil
    }

    /// Whether a status was signed after the newest period's revocation had been stated, in another
    /// message: the store has taken it back since.
    private func isUndone(by status: Newest<SubscriptionStatus>) -> Bool {
        guard let revocation = last.revocation else { return false }
        return status.isNewer(than: revocation.stated, by: revocation.source)
    }

    /// An older period that was signed as valid after the newest one was revoked: a family share
    /// that is given anew (RULES §2.10).
    private func resumed() -> [AccessInterval] {
        record.resumedPeriods(before: last, in: ordered).compactMap { older in
            older.period.end.map { end in
                AccessInterval(
                    product: StoreProduct(.appStore, older.period.product),
                    since: older.newest.stated.instant,
                    until: end,
                    ground: older.period.isFamilyShared ? .family : .payment,
                    evidence: older.period.transactionID,
                    offer: older.period.offerKind,
                    lacksRenewalTerms: true
                )
            }
        }
    }
}
