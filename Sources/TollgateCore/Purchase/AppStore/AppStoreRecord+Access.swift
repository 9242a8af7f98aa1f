extension AppStoreRecord {
    /// Periods decide, half-open; then grace, status and the renewal window (RULES §2, §3).
    func evaluate(
        _ ownership: Ownership,
        in history: CatalogHistory,
        _ evaluation: inout Evaluation
    ) {
        let all = orderedPeriods
        let ordered = begunPeriods(among: all)
        let newest = newestPeriod(in: ordered)
        let application = ownership.key.application
        for epoch in epochs(of: all) {
            var access = PurchaseAccess()
            for record in epoch.periods {
                let product = StoreProduct(.appStore, record.period.product)
                let start = record.period.start
                guard let known = history.product(product, in: application, at: start) else {
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
            if let last = newest, epoch.contains(last) {
                let beyond = AccessBeyondPeriods(
                    record: self,
                    key: ownership.key,
                    ordered: ordered,
                    last: last,
                    history: history
                )
                access.intervals += beyond.intervals(&evaluation)
            }
            access.intervals.removeAll(where: \.isVoid)
            let owners = ownership.owners(of: epoch, policy: history.ownership(at: epoch.start))
            for owner in owners { evaluation.add(access, to: owner) }
            let buyer = ownership.buyer(of: epoch)
            for record in epoch.periods {
                credit(record, in: ordered, of: application, to: buyer, in: history, &evaluation)
            }
        }
        if let question = question(about: ordered, of: ownership.key),
            !evaluation.wanted.contains(question)
        {
            evaluation.wanted.append(question)
        }
        if ownership.key.isOfXcode { evaluation.wanted = [] }
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
            evidence: record.period.transactionID,
            offer: record.period.offerKind,
            lacksRenewalTerms: record.period.kind == .autoRenewable && !tells(of: record.period)
        )
    }

    /// Whether the terms say if a period renews: those that were turned off before it began are of an
    /// earlier time, since it was bought.
    private func tells(of period: Period) -> Bool {
        guard let renewal else { return false }
        return renewal.value.willRenew || period.start <= renewal.stated.instant
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

    /// A free subscription: for ever, but for the times for which the app reported it as removed.
    private func freeIntervals(of record: PeriodRecord, until end: Instant?) -> [AccessInterval] {
        let start = record.period.start
        return (freeSubscription?.spans(since: start) ?? [(start, nil)]).map { span in
            AccessInterval(
                product: StoreProduct(.appStore, record.period.product),
                since: span.since,
                until: earlier(span.until, end),
                ground: record.period.isFamilyShared ? .family : .payment,
                evidence: record.period.transactionID
            )
        }
    }
}
