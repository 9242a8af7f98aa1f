/// Why a customer may, or may not, use something at an instant: the facts in order, the one that
/// decides, and what would have to change.
///
/// In the same words wherever it is shown.
public struct Explanation: Hashable, Sendable {
    /// One thing we were told.
    public struct Line: Hashable, Sendable {
        public var purchase: Purchase.Key
        /// The message that said so.
        public var source: String
        public var stated: Instant
        /// The case of the statement: `period`, `renewal`, `status` and so on.
        public var kind: String
        /// A sentence for people.
        public var summary: String
        /// Whether the answer rests on it.
        public var decides: Bool
    }

    public var lookupKey: String
    public var at: Instant
    public var answer: ActiveEntitlement?
    public var facts: [Line]
    public var wouldChange: [String]

    public var isEntitled: Bool { answer != nil }
}

extension Explanation {
    /// - Parameters:
    ///   - lookupKey: the entitlement asked about.
    ///   - instant: when.
    ///   - purchases: every purchase that the customer holds a share of, with that share.
    ///   - history: the catalog over time.
    public init(
        of lookupKey: String,
        at instant: Instant,
        purchases: [(record: Purchase, access: PurchaseAccess)],
        in history: CatalogHistory
    ) {
        let catalog = history.current
        let timeline = Timeline(purchases.map { ($0.record.key, $0.access) }, in: catalog)
        let answer = timeline.active(at: instant).first { $0.lookupKey == lookupKey }
        self.lookupKey = lookupKey
        self.at = instant
        self.answer = answer
        facts =
            purchases
            .filter { $0.record.concerns(lookupKey, in: catalog) }
            .flatMap { $0.record.lines(answer, at: instant) }
            .sorted {
                ($0.stated, $0.purchase, $0.source, $0.kind, $0.summary)
                    < ($1.stated, $1.purchase, $1.source, $1.kind, $1.summary)
            }
        wouldChange = Self.changes(to: answer, lookupKey, at: instant, timeline, purchases, catalog)
    }

    private static func changes(
        to answer: ActiveEntitlement?,
        _ lookupKey: String,
        at instant: Instant,
        _ timeline: Timeline,
        _ purchases: [(record: Purchase, access: PurchaseAccess)],
        _ catalog: Catalog
    ) -> [String] {
        var changes: [String] = []
        let own = timeline.entries.filter { $0.lookupKey == lookupKey }
        if let answer {
            switch answer.until {
            case nil:
                changes.append("A refund or revocation of \(answer.purchase.id) would end it.")
            case let until?:
                let later = own.contains {
                    $0.since <= until && $0.until.map { $0 > until } ?? true
                }
                changes.append(
                    later
                        ? "At \(until) its ground changes; access goes on."
                        : "At \(until) it ends, unless a renewal or another purchase is stated by then."
                )
                changes.append(
                    "A refund or revocation of what \(answer.evidence) paid for would end it earlier."
                )
            }
        } else {
            if let next = own.filter({ $0.since > instant }).min(by: { $0.since < $1.since }) {
                changes.append("At \(next.since) access begins (\(next.ground.rawValue)).")
            }
            if let last = own.compactMap(\.until).filter({ $0 <= instant }).max() {
                changes.append(
                    "It ended at \(last); a renewal or recovery of that purchase would restore it."
                )
            }
            let selling = catalog.products.filter {
                $0.entitlements.contains(lookupKey) && !$0.isRetired
            }
            if !selling.isEmpty {
                changes.append(
                    "A purchase of \(selling.map(\.id).joined(separator: ", ")) would grant it."
                )
            }
            if catalog.entitlement(lookupKey: lookupKey) == nil {
                changes.append("The catalog has no entitlement “\(lookupKey)”.")
            }
        }
        for (record, _) in purchases {
            for product in record.storeProducts where product.store != .tollgate {
                if catalog.product(product) == nil {
                    changes.append(
                        "\(product.id) was bought but is in no catalog; adding it would grant what it stands for."
                    )
                }
            }
        }
        return changes
    }
}

extension Purchase {
    /// Everything the store sold in this purchase.
    public var storeProducts: [StoreProduct] {
        var products = Set(periods.map { StoreProduct(.appStore, $0.period.product) })
        products.formUnion(subscription?.value.items.map { StoreProduct(.stripe, $0.price) } ?? [])
        products.formUnion(payment?.lines?.map { StoreProduct(.stripe, $0.price) } ?? [])
        if let grant { products.insert(StoreProduct(.tollgate, grant.value.lookupKey)) }
        if key.store == .tollgate, let report = freeSubscription?.last {
            products.insert(StoreProduct(catalogProduct: report.value.product))
        }
        return products.sorted()
    }

    func concerns(_ lookupKey: String, in catalog: Catalog) -> Bool {
        let once = invoices.flatMap(\.value.lines).filter { $0.item == nil && !$0.isProration }
        return (storeProducts + once.map { StoreProduct(.stripe, $0.price) }).contains {
            catalog.lookupKeys(of: $0).contains(lookupKey)
                || ($0.store != .tollgate && catalog.product($0) == nil)
        }
    }

    /// The record as sentences.
    func lines(_ answer: ActiveEntitlement?, at instant: Instant) -> [Explanation.Line] {
        let isAnswer = answer?.purchase == key
        func line<Value>(
            _ stated: Newest<Value>,
            _ kind: String,
            _ summary: String,
            decides: Bool
        ) -> Explanation.Line {
            Explanation.Line(
                purchase: key,
                source: stated.source,
                stated: stated.stated.instant,
                kind: kind,
                summary: summary,
                decides: isAnswer && decides
            )
        }
        var lines = orderedPeriods.map { record in
            line(
                record.newest,
                "period",
                summary(of: record),
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
            var text = terms.willRenew ? "will renew" : "will not renew"
            if let next = terms.nextProduct { text += " as \(next)" }
            if let grace = terms.graceEnd { text += ", billing grace until \(grace)" }
            if terms.awaitsConsent { text += ", waits for consent to a price increase" }
            lines.append(
                line(
                    renewal,
                    "renewal",
                    text,
                    decides: answer?.ground == .renewal || (answer?.ground == .grace && dated)
                )
            )
        }
        if let status {
            lines.append(
                line(
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
            let text = named.map { "the refund of \($0) was reversed" } ?? "a refund was reversed"
            lines.append(line(reversal, "refund_reversed", text, decides: false))
        }
        if let subscription {
            let value = subscription.value
            let items = value.items.map { "\($0.price) from \($0.start) to \($0.end)" }
            var text = "subscription is \(value.status): \(items.joined(separator: "; "))"
            if let ended = value.endedAt { text += ", ended at \(ended)" }
            if value.cancelsAtPeriodEnd { text += ", cancels at the end of the period" }
            let holds = value.items.contains { $0.id == answer?.evidence }
            lines.append(line(subscription, "subscription", text, decides: holds))
        }
        if let payment {
            let text =
                "checkout \(payment.isComplete ? "complete" : payment.payment.status), "
                + (payment.isPaid ? "paid" : "not paid")
            lines.append(line(payment.newest, "payment", text, decides: true))
        }
        for invoice in invoices {
            guard let once = invoice.value.lines.first(where: { $0.id == answer?.evidence }) else {
                continue
            }
            lines.append(line(invoice, "invoice", "\(once.price) was paid for", decides: true))
        }
        for refund in refunds {
            let text = "refund of \(refund.value.amount) is \(refund.value.status)"
            lines.append(line(refund, "refund", text, decides: false))
        }
        for dispute in disputes {
            let text = "dispute of \(dispute.value.amount) is \(dispute.value.status)"
            lines.append(line(dispute, "dispute", text, decides: false))
        }
        if let grant {
            let until = grant.value.until.map { "until \($0)" } ?? "for ever"
            lines.append(
                line(grant, "grant", "\(grant.value.lookupKey) granted \(until)", decides: true)
            )
        }
        if let coins {
            let amount = coins.value.amount
            let text = amount < 0 ? "staff took \(-amount) coins" : "staff gave \(amount) coins"
            lines.append(line(coins, "coins", text, decides: false))
        }
        let reports = freeSubscription ?? []
        // What was taken again is there since the last time, not since the first.
        let began = reports.filter { $0.stated.instant <= instant }
            .reduce(Newest<FreeSubscription>?.none) { $1.value.isOn ? $0 ?? $1 : nil }
        for report in reports {
            lines.append(
                line(
                    report,
                    "free_subscription",
                    "the app reported \(report.value.product) as "
                        + (report.value.isOn ? "taken" : "removed"),
                    decides: report == began
                )
            )
        }
        return lines
    }

    private func summary(of record: PeriodRecord) -> String {
        let period = record.period
        var text = "\(period.product) paid from \(period.start)"
        if let end = period.end { text += " to \(end)" }
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
