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
    ///   - standings: of every room.
    ///   - billing: of the stores whose plans are changed on our pages; the others send their own mail.
    static func all(
        about purchases: [(record: TollgateCore.Purchase, access: PurchaseAccess)],
        standings: Standings,
        billing: [any StoreBilling],
        in catalog: Catalog,
        at now: Instant
    ) -> [Letter] {
        purchases.flatMap { record, access -> [Letter] in
            let held = HeldPurchase(record, access, in: catalog, at: now)
            let shown = standings.shown(held)
            let seller = billing.first { $0.store == record.key.store }
            var letters = seller.map { billed(record, shown, by: $0) } ?? []
            if let reminder = trialEnds(held, shown) { letters.append(reminder) }
            let others = purchases.filter { $0.record.key != record.key }
                .map { ($0.record.key, $0.access) }
            let kept = Set(Timeline(others, in: catalog).active(at: now).map(\.lookupKey))
            if let lapsed = lapsed(held, shown, kept) { letters.append(lapsed) }
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
        if case .paymentFailed(let until) = shown.standing.state,
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
        _ held: HeldPurchase,
        _ shown: PortalView.Purchase
    ) -> Letter? {
        let standing = shown.standing
        guard standing.renews, standing.offer == .trial else { return nil }
        let end: Instant
        switch standing.state {
        case .trial(let instant), .renews(let instant): end = instant
        default: return nil
        }
        guard held.now < end else { return nil }
        return Letter(
            .trialEnds,
            about: held.purchase.key,
            reference: "\(end.milliseconds)",
            caused: end.advanced(by: -notice),
            product: shown.name,
            amount: standing.nextCharge?.price,
            // What the catalog says is about the present product, the amount about the next one.
            interval: standing.changesProduct ? nil : shown.interval,
            date: end
        )
    }

    /// The notice that a plan has ended, unless another purchase opens all that it opened.
    private static func lapsed(
        _ held: HeldPurchase,
        _ shown: PortalView.Purchase,
        _ kept: Set<String>
    ) -> Letter? {
        let standing = shown.standing
        guard shown.kind == .plan, case .ended(let end) = standing.state,
            // A card that is still tried may be charged.
            !standing.isRetried, !standing.isContinued
        else { return nil }
        let opened = held.products.compactMap(\.self).flatMap(\.entitlements)
        guard opened.isEmpty || !kept.isSuperset(of: opened) else { return nil }
        return Letter(
            .lapsed,
            about: held.purchase.key,
            reference: standing.lastPeriod?.id ?? "\(end.milliseconds)",
            caused: end,
            product: shown.name,
            date: standing.lastPeriod?.end ?? end
        )
    }
}
