extension Purchase {
    /// Periods decide, half-open; then grace, status and the renewal window (RULES §2, §3).
    func evaluateAppStore(in history: CatalogHistory, _ evaluation: inout Evaluation) {
        let ordered = orderedPeriods
        for epoch in epochs {
            let start = epoch.periods.first?.period.start ?? Instant(milliseconds: 0)
            var access = PurchaseAccess()
            for record in epoch.periods {
                let product = StoreProduct(.appStore, record.period.product)
                guard let known = history.product(product, at: record.period.start) else {
                    evaluation.unknownProducts.append(product)
                    if record.period.kind == .autoRenewable || record.period.kind == .nonConsumable
                    {
                        access.intervals.append(interval(of: record, in: ordered))
                    } else if record.period.kind == .nonRenewing {
                        access.passes.append(pass(of: record, duration: nil))
                    }
                    continue
                }
                add(record, in: ordered, as: known, to: &access)
            }
            if let last = ordered.last, epoch.periods.last?.period.id == last.period.id {
                access.intervals += beyond(last, in: ordered, &evaluation)
            }
            access.intervals.removeAll(where: \.isVoid)
            let owners = owners(of: epoch, policy: history.ownership(at: start))
            for owner in owners { evaluation.add(access, to: owner) }
            let buyer = buyer(of: epoch)
            for record in epoch.periods { credit(record, to: buyer, in: history, &evaluation) }
        }
    }

    /// What one period of a product that the catalog knows gives.
    private func add(
        _ record: PeriodRecord,
        in ordered: [PeriodRecord],
        as known: Catalog.Product,
        to access: inout PurchaseAccess
    ) {
        let kind = record.period.kind
        if kind == .nonRenewing || (kind == .unstated && known.kind == .nonRenewing) {
            access.passes.append(pass(of: record, duration: known.duration))
            return
        }
        if kind == .consumable || (kind == .unstated && known.kind == .consumable) { return }
        if record.period.end == nil, kind != .nonConsumable, known.kind == .freeSubscription {
            access.intervals += freeIntervals(of: record, until: end(of: record, in: []))
            return
        }
        var interval = interval(of: record, in: ordered)
        if record.period.end == nil, kind != .nonConsumable, known.kind == .autoRenewable {
            // A legacy receipt may carry no expiry; then the catalog's duration is what was paid.
            let paid = known.duration?.adding(to: record.period.start.milliseconds)
                .map { Instant(milliseconds: $0) }
            interval.until = earlier(interval.until, paid ?? record.period.start)
        }
        access.intervals.append(interval)
    }

    private func interval(of record: PeriodRecord, in ordered: [PeriodRecord]) -> AccessInterval {
        AccessInterval(
            product: StoreProduct(.appStore, record.period.product),
            since: record.period.start,
            until: end(of: record, in: ordered),
            ground: record.period.isFamilyShared ? .family : .payment,
            evidence: record.period.transactionID
        )
    }

    private func pass(of record: PeriodRecord, duration: CalendarDuration?) -> Pass {
        Pass(
            product: StoreProduct(.appStore, record.period.product),
            purchased: record.period.start,
            duration: duration,
            cut: revocation(of: record),
            evidence: record.period.transactionID
        )
    }

    /// The earliest of `expiresDate`, an unreversed revocation, a revoked status, the start of the
    /// next period, and for an upgraded one the earliest word of the upgrade (RULES §2.1, §2.5).
    func end(of record: PeriodRecord, in ordered: [PeriodRecord]) -> Instant? {
        var end = earlier(record.period.end, revocation(of: record))
        end = earlier(end, record.upgradedBy)
        guard record.period.kind == .autoRenewable else { return end }
        if let next = ordered.first(where: {
            ($0.period.start, $0.period.id) > (record.period.start, record.period.id)
        }) {
            end = earlier(end, next.period.start)
        }
        if let revokedBy = revokedStatus, record.period.start < revokedBy {
            end = earlier(end, revokedBy)
        }
        return end
    }

    /// When the store took the period back, unless it has taken that back since (RULES §2.2).
    func revocation(of record: PeriodRecord) -> Instant? {
        guard let revoked = record.period.revoked else { return nil }
        if let reversal, revoked <= reversal.stated.instant { return nil }
        return revoked
    }

    /// The clock of a status 5 that still stands.
    private var revokedStatus: Instant? {
        guard let status, status.value.value == SubscriptionStatus.revoked else { return nil }
        if let reversal, status.stated <= reversal.stated { return nil }
        return status.stated.instant
    }

    /// Access past the newest period: grace, a status that reaches further, or the renewal window.
    private func beyond(
        _ last: PeriodRecord,
        in ordered: [PeriodRecord],
        _ evaluation: inout Evaluation
    ) -> [AccessInterval] {
        guard last.period.kind == .autoRenewable, let end = last.period.end else { return [] }
        let revoked = revocation(of: last)
        let cut = self.end(of: last, in: ordered)
        guard cut == end || cut == revoked else { return [] }
        let product = StoreProduct(.appStore, last.period.product)
        func interval(
            _ until: Instant,
            _ ground: Ground,
            _ evidence: String,
            since: Instant? = nil
        ) -> AccessInterval {
            AccessInterval(
                product: product,
                since: since ?? end,
                until: until,
                ground: ground,
                evidence: evidence
            )
        }
        var intervals: [AccessInterval] = []
        if revoked == nil, let (graceEnd, evidence) = grace(after: end) {
            intervals.append(interval(graceEnd, .grace, evidence))
        }
        // A status older than the revocation knew nothing of it; a newer one speaks of a renewal
        // that was lost.
        if let status,
            status.value.value == SubscriptionStatus.active
                || status.value.value == SubscriptionStatus.billingGrace,
            let reach = status.value.reachesTo, reach > end,
            revoked.map({ $0 <= status.stated.instant }) ?? true
        {
            // After a refund it is the status that says from when on something newer runs.
            let since = revoked == nil ? nil : Swift.min(end, status.stated.instant)
            var further = interval(reach, .status, status.source, since: since)
            // What a family member shares anew may have been bought before what they lost.
            let anew = ordered.last {
                $0.period.end == reach && $0.period.isFamilyShared && $0.upgradedBy == nil
            }
            let gone = anew.flatMap { revocation(of: $0) }
            if let anew, gone == nil, status.stated.instant >= revoked ?? end {
                further.product = StoreProduct(.appStore, anew.period.product)
            } else {
                evaluation.wanted.append(Wanted(kind: .subscriptionStatus, object: key.id))
            }
            if gone.map({ $0 <= status.stated.instant }) ?? true { intervals.append(further) }
        }
        if revoked == nil, !hasFailed(since: last.period.start), let renewal,
            renewal.value.willRenew, !renewal.value.awaitsConsent,
            renewal.value.graceEnd.map({ $0 <= end }) ?? true
        {
            intervals.append(interval(end, .renewal, renewal.source))
        }
        return intervals
    }

    /// Whether the status says that billing has failed.
    ///
    /// One from before the newest period began was about an older one: that period has been paid
    /// since.
    private func hasFailed(since start: Instant) -> Bool {
        standingFailure.map { $0.instant >= start } ?? false
    }

    /// The clock of a status 2, 3 or 5 that no reversal has made void.
    private var standingFailure: Stated? {
        guard let status, status.value.isFailed else { return nil }
        if status.value.value == SubscriptionStatus.revoked, revokedStatus == nil { return nil }
        return status.stated
    }

    /// Until when a failed payment is tolerated, and who says so (RULES §2.3).
    func grace(after end: Instant) -> (Instant, String)? {
        var graceEnd: Instant
        let evidence: String
        let stated: Stated
        if let renewal, let granted = renewal.value.graceEnd, granted > end {
            (graceEnd, evidence, stated) = (granted, renewal.source, renewal.stated)
        } else if let status, status.value.value == SubscriptionStatus.billingGrace {
            graceEnd = status.stated.instant.advanced(by: Self.undatedGrace)
            (evidence, stated) = (status.source, status.stated)
        } else {
            return nil
        }
        if let failure = standingFailure, stated < failure {
            graceEnd = min(graceEnd, failure.instant)
        }
        return graceEnd > end ? (graceEnd, evidence) : nil
    }

    /// Three days in milliseconds: Apple's shortest grace period.
    private static let undatedGrace: Int64 = 3 * 86_400_000
}
