extension Purchase {
    /// Everything the store sold in this purchase.
    public var storeProducts: [StoreProduct] {
        Set(record.products).sorted()
    }

    func concerns(_ lookupKey: String, in catalog: Catalog) -> Bool {
        (storeProducts + (stripe?.productsBoughtOnce ?? [])).contains {
            catalog.lookupKeys(of: $0, in: key.application).contains(lookupKey)
                || ($0.store.isSelling && catalog.product($0, in: key.application) == nil)
        }
    }

    /// The record as sentences.
    func lines(_ answer: ActiveEntitlement?, at instant: Instant) -> [Explanation.Line] {
        record.lines(Explanation.Telling(purchase: key, answer: answer, at: instant))
    }
}

extension Explanation {
    /// Of what a record tells, and which answer rests on it.
    struct Telling {
        var purchase: Purchase.Key
        var answer: ActiveEntitlement?
        var at: Instant

        func line<Value>(
            _ stated: Newest<Value>,
            _ kind: String,
            _ sentence: Sentence,
            decides: Bool
        ) -> Line {
            Line(
                purchase: purchase,
                source: stated.source,
                stated: stated.stated.instant,
                kind: kind,
                sentence: sentence,
                decides: answer?.purchase == purchase && decides
            )
        }
    }
}

extension FreeSubscriptionReports {
    func lines(_ telling: Explanation.Telling) -> [Explanation.Line] {
        // What was taken again is there since the last time, not since the first.
        let began = reports.filter { $0.stated.instant <= telling.at }
            .reduce(Newest<FreeSubscription>?.none) { $1.value.isOn ? $0 ?? $1 : nil }
        return reports.map { report in
            telling.line(
                report,
                "free_subscription",
                report.value.isOn
                    ? "the app reported \(report.value.product) as taken"
                    : "the app reported \(report.value.product) as removed",
                decides: report == began
            )
        }
    }
}

extension OwnRecord {
    var products: [StoreProduct] {
        var products: [StoreProduct] = []
        if let grant { products.append(StoreProduct(.tollgate, grant.value.lookupKey)) }
        if let report = freeSubscription?.newest {
            products.append(StoreProduct(catalogProduct: report.value.product))
        }
        return products
    }

    func lines(_ telling: Explanation.Telling) -> [Explanation.Line] {
        var lines: [Explanation.Line] = []
        if let grant {
            let key = grant.value.lookupKey
            let text: Sentence =
                grant.value.until.map { "\(key) granted until \($0)" } ?? "\(key) granted for ever"
            lines.append(telling.line(grant, "grant", text, decides: true))
        }
        if let coins {
            let amount = coins.value.amount
            let text: Sentence =
                amount < 0 ? "staff took \(-amount) coins" : "staff gave \(amount) coins"
            lines.append(telling.line(coins, "coins", text, decides: false))
        }
        return lines + (freeSubscription?.lines(telling) ?? [])
    }
}

extension StripeRecord {
    var products: [StoreProduct] {
        let prices =
            (subscription?.value.items.map(\.price) ?? []) + (payment?.lines?.map(\.price) ?? [])
        return prices.map { StoreProduct(.stripe, $0) }
    }

    /// What lines of invoices sold that belongs to no item.
    fileprivate var productsBoughtOnce: [StoreProduct] {
        invoices.flatMap(\.value.lines).filter { $0.item == nil && !$0.isProration }
            .map { StoreProduct(.stripe, $0.price) }
    }

    func lines(_ telling: Explanation.Telling) -> [Explanation.Line] {
        var lines: [Explanation.Line] = []
        let answer = telling.answer
        if let subscription {
            let value = subscription.value
            let items = value.items.map { item -> Sentence in
                "\(item.price) from \(item.start) to \(item.end)"
            }
            var text: Sentence = "subscription is \(value.status, of: "stripe_status"): \(items)"
            if let ended = value.endedAt { text += ", ended at \(ended)" }
            if value.cancelsAtPeriodEnd { text += ", cancels at the end of the period" }
            let holds = value.items.contains { $0.id == answer?.evidence }
            lines.append(telling.line(subscription, "subscription", text, decides: holds))
        }
        if let payment {
            let status = payment.isComplete ? "complete" : payment.payment.status
            let text: Sentence =
                payment.isPaid
                ? "checkout \(status, of: "checkout_status"), paid"
                : "checkout \(status, of: "checkout_status"), not paid"
            lines.append(telling.line(payment.newest, "payment", text, decides: true))
        }
        for invoice in invoices {
            guard let once = invoice.value.lines.first(where: { $0.id == answer?.evidence }) else {
                continue
            }
            lines.append(
                telling.line(invoice, "invoice", "\(once.price) was paid for", decides: true)
            )
        }
        for refund in refunds {
            let value = refund.value
            let text: Sentence =
                "refund of \(value.amount) is \(value.status, of: "refund_status")"
            lines.append(telling.line(refund, "refund", text, decides: false))
        }
        for dispute in disputes {
            let value = dispute.value
            let text: Sentence =
                "dispute of \(value.amount) is \(value.status, of: "dispute_status")"
            lines.append(telling.line(dispute, "dispute", text, decides: false))
        }
        return lines
    }
}

extension AppStoreRecord {
    var products: [StoreProduct] {
        periods.map { StoreProduct(.appStore, $0.period.product) }
    }

    func lines(_ telling: Explanation.Telling) -> [Explanation.Line] {
        let answer = telling.answer
        let orderedPeriods = orderedPeriods
        var lines = orderedPeriods.map { record in
            telling.line(
                record.newest,
                "period",
                sentence(of: record),
                decides: answer?.evidence == record.period.transactionID
                    || ([Ground.grace, .renewal, .status].contains(answer?.ground)
                        && record.period.id == orderedPeriods.last?.period.id)
            )
        }
        // Whether grace rests on a date that the renewal info gives, or on a bare status 4.
        let dated: Bool =
            if let renewal, let until = answer?.until, let graceEnd = renewal.value.graceEnd {
                answer?.evidence == renewal.source && until <= graceEnd
            } else { false }
        if let renewal {
            let terms = renewal.value
            var text: Sentence = terms.willRenew ? "will renew" : "will not renew"
            if let next = terms.nextProduct { text += " as \(next)" }
            if let grace = terms.graceEnd { text += ", billing grace until \(grace)" }
            if terms.awaitsConsent { text += ", waits for consent to a price increase" }
            lines.append(
                telling.line(
                    renewal,
                    "renewal",
                    text,
                    decides: answer?.ground == .renewal || (answer?.ground == .grace && dated)
                )
            )
        }
        if let status {
            lines.append(
                telling.line(
                    status,
                    "status",
                    "the App Store says status \(status.value.value)",
                    decides: answer?.ground == .status
                        || (answer?.ground == .grace && !dated
                            && answer?.evidence == status.source)
                )
            )
        }
        for reversal in reversals ?? [] {
            let named = periods.first { $0.period.id == reversal.value }?.period.transactionID
            let text: Sentence =
                named.map { "the refund of \($0) was reversed" } ?? "a refund was reversed"
            lines.append(telling.line(reversal, "refund_reversed", text, decides: false))
        }
        return lines + (freeSubscription?.lines(telling) ?? [])
    }

    private func sentence(of record: PeriodRecord) -> Sentence {
        let period = record.period
        var text: Sentence =
            period.end.map { "\(period.product) paid from \(period.start) to \($0)" }
            ?? "\(period.product) paid from \(period.start)"
        if period.quantity > 1, period.kind == .autoRenewable {
            text += ", \(period.quantity) seats"
        }
        if let seats = period.revokedSeats, seats > 0 { text += ", \(seats) of them refunded" }
        if let previous = period.previous { text += ", continuing \(previous)" }
        if let revoked = period.revoked {
            text +=
                revocation(of: record) == nil
                ? ", revocation of \(revoked) reversed"
                : period.isSwitched == true
                    ? ", switched to a bundle at \(revoked)" : ", revoked at \(revoked)"
        }
        if record.upgradedBy != nil { text += ", superseded by an upgrade" }
        if period.isFamilyShared { text += ", by Family Sharing" }
        return text
    }
}
