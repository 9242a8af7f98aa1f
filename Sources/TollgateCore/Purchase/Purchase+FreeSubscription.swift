extension Purchase {
    /// A free subscription that the app reported, without any purchase in a store.
    func evaluateFreeSubscription(_ evaluation: inout Evaluation) {
        guard let reports = freeSubscription, let newest = reports.last else { return }
        let intervals = spans(of: reports, since: reports[0].stated.instant)
            .map { span in
                AccessInterval(
                    product: StoreProduct(catalogProduct: newest.value.product),
                    since: span.since,
                    until: span.until,
                    ground: .grant,
                    evidence: newest.source
                )
            }
        evaluation.add(
            PurchaseAccess(intervals: intervals),
            to: owner(named: [.customer(newest.value.customer)])
        )
    }

    /// A free subscription bought in the App Store: for ever, but for the times for which the app
    /// reported it as removed.
    func freeIntervals(of record: PeriodRecord, until end: Instant?) -> [AccessInterval] {
        spans(of: freeSubscription ?? [], since: record.period.start).map { span in
            AccessInterval(
                product: StoreProduct(.appStore, record.period.product),
                since: span.since,
                until: earlier(span.until, end),
                ground: record.period.isFamilyShared ? .family : .payment,
                evidence: record.period.transactionID
            )
        }
    }

    /// The spans in which it was on, of which the first begins at `start`.
    private func spans(
        of reports: [Newest<FreeSubscription>],
        since start: Instant
    ) -> [(since: Instant, until: Instant?)] {
        var spans: [(since: Instant, until: Instant?)] = []
        var since: Instant? = start
        for report in reports where report.stated.instant >= start {
            switch (since, report.value.isOn) {
            case (nil, true): since = report.stated.instant
            case (let began?, false):
                if began < report.stated.instant { spans.append((began, report.stated.instant)) }
                since = nil
            default: break
            }
        }
        if let since { spans.append((since, nil)) }
        return spans
    }
}
