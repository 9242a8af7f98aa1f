// SPDX-License-Identifier: Apache-2.0
internal import Storage
internal import Stores
internal import TollgateCore

extension Letter {
    /// The time between the reminder of a trial's end and that end, in milliseconds.
    static let notice: Int64 = 3 * 86_400_000

    /// Returns the letters that a customer's purchases call for, whatever was sent before.
    ///
    /// - Parameters:
    ///   - purchases: all of the customer's, each with the customer's part of it.
    ///   - billing: of the stores whose plans are changed on our pages; the others send their own mail.
    static func all(
        about purchases: [(record: TollgateCore.Purchase, access: PurchaseAccess)],
        billing: [any StoreBilling],
        in catalog: Catalog,
        at now: Instant
    ) -> [Letter] {
        purchases.flatMap { record, access -> [Letter] in
            let shown = record.portalPurchase(access, in: catalog, at: now)
            let seller = billing.first { $0.store == record.key.store }
            var letters = seller.map { billed(record, shown, by: $0) } ?? []
            if let reminder = trialEnds(record, shown, at: now) { letters.append(reminder) }
            let others = purchases.filter { $0.record.key != record.key }
                .map { ($0.record.key, $0.access) }
            let kept = Set(Timeline(others, in: catalog).active(at: now).map(\.lookupKey))
            let own = Timeline([(record.key, access)], in: catalog)
            if let lapsed = lapsed(record, shown, own, kept, in: catalog) { letters.append(lapsed) }
            return letters
        }
    }

    /// What the room that took the money calls for: receipts for payments, and for each period whose
    /// renewal failed one notice.
    ///
    /// For a purchase that staff have assigned, somebody else may pay.
    private static func billed(
        _ record: TollgateCore.Purchase,
        _ shown: PortalView.Purchase,
        by billing: any StoreBilling
    ) -> [Letter] {
        guard record.assignment == nil else { return [] }
        var letters = billing.payments(of: record).map { payment in
            Letter(
                .receipt,
                about: record.key,
                reference: payment.id,
                caused: payment.at,
                product: shown.name,
                amount: payment.amount,
                date: payment.at
            )
        }
        if case .paymentFailed(let until) = shown.state,
            let start = billing.unpaidPeriod(of: record)
        {
            letters.append(
                Letter(
                    .paymentFailed,
                    about: record.key,
                    reference: "\(start.milliseconds)",
                    caused: start,
                    product: shown.name,
                    date: until
                )
            )
        }
        return letters
    }

    /// The reminder of a trial that is paid for from its end on.
    private static func trialEnds(
        _ record: TollgateCore.Purchase,
        _ shown: PortalView.Purchase,
        at now: Instant
    ) -> Letter? {
        guard shown.renews, record.presentOffer(at: now) == .trial else { return nil }
        let end: Instant
        switch shown.state {
        case .trial(let instant), .renews(let instant): end = instant
        default: return nil
        }
        guard now < end else { return nil }
        return Letter(
            .trialEnds,
            about: record.key,
            reference: "\(end.milliseconds)",
            caused: end.advanced(by: -notice),
            product: shown.name,
            amount: shown.nextCharge?.price,
            // What the catalog says is about the present product, the amount about the next one.
            interval: record.isFollowedByAnotherProduct ? nil : shown.interval,
            date: end
        )
    }

    /// The notice that a plan has ended, unless another purchase opens all that it opened.
    private static func lapsed(
        _ record: TollgateCore.Purchase,
        _ shown: PortalView.Purchase,
        _ own: Timeline,
        _ kept: Set<String>,
        in catalog: Catalog
    ) -> Letter? {
        guard shown.kind == .plan, case .ended(let end) = shown.state,
            // A card that is still tried may be charged.
            !record.isRetriedByAppStore(own)
        else { return nil }
        let last = record.lastPaid(before: end)
        guard !record.isContinued(after: last) else { return nil }
        let opened = record.storeProducts
            .compactMap { catalog.product($0, in: record.key.application) }.flatMap(\.entitlements)
        guard opened.isEmpty || !kept.isSuperset(of: opened) else { return nil }
        return Letter(
            .lapsed,
            about: record.key,
            reference: last.id,
            caused: end,
            product: shown.name,
            date: last.end
        )
    }
}

/// The last period of a plan that was paid for, or tried out.
private struct LastPeriod {
    /// The store's id of it, which stays while its end may move: by leeway, grace, or a newer word.
    var id: String
    /// `nil` where the store states none.
    var start: Instant?
    var end: Instant
}

extension TollgateCore.Purchase {
    /// Whether the next payment is for another product than the present one.
    fileprivate var isFollowedByAnotherProduct: Bool {
        if let play = googlePlay?.subscription?.value {
            return play.items.contains { $0.replacement != nil }
        }
        guard let next = renewal?.value.nextProduct, let last = effectivePeriods.last else {
            return false
        }
        return next != last.period.product
    }

    /// - Parameter end: the end of access, also of leeway and grace.
    fileprivate func lastPaid(before end: Instant) -> LastPeriod {
        if let play = googlePlay {
            let stop = play.subscription?.value.items.compactMap(\.expiry).max() ?? end
            let last = play.periods
                .compactMap { period in period.paidUntil.map { (period.order, min($0, stop)) } }
                .max { ($0.1, $0.0) < ($1.1, $1.0) }
            let (id, paid) = last ?? ("\(stop.milliseconds)", stop)
            return LastPeriod(id: id, end: paid)
        }
        let last = effectivePeriods.last {
            $0.period.kind == .autoRenewable && $0.period.start < end
        }
        guard let last else { return LastPeriod(id: "\(end.milliseconds)", end: end) }
        return LastPeriod(
            id: last.period.id,
            start: last.period.start,
            end: last.end ?? last.period.end ?? end
        )
    }

    /// Whether another purchase took this one's place, as after a change of plan.
    ///
    /// In the App Store a plan may come back, and be replaced before the period that it then begins.
    fileprivate func isContinued(after last: LastPeriod) -> Bool {
        if let play = googlePlay { return play.replaced != nil }
        let starts = (successors ?? []).flatMap(\.starts)
        return starts.contains { start in last.start.map { $0 < start } ?? true }
    }
}
