extension StripeRecord {
    func evaluate(
        _ ownership: Ownership,
        in history: CatalogHistory,
        _ evaluation: inout Evaluation
    ) {
        if let subscription { evaluate(subscription.value, ownership, in: history, &evaluation) }
        if isSubscriptionContested {
            evaluation.wanted.append(Wanted(kind: .subscription, object: ownership.key.id))
        }
        if let payment { evaluate(payment, ownership, in: history, &evaluation) }
        // A refund names the payment alone; only Stripe knows that it paid an invoice of a plan.
        let isUnlinked =
            refunds.contains { $0.value.invoice == nil }
            || disputes.contains { $0.value.invoice == nil }
        if isUnlinked, payment == nil || contested != nil {
            evaluation.wanted.append(Wanted(kind: .payment, object: ownership.key.id))
        }
    }

    /// Access is per subscription item; the period rolls before it is paid (RULES §5).
    private func evaluate(
        _ subscription: StripeSubscription,
        _ ownership: Ownership,
        in history: CatalogHistory,
        _ evaluation: inout Evaluation
    ) {
        var names: HolderNames = [.name(ofStripeCustomer: subscription.customer)]
        if let buyer { names += Holder.names(ofReference: buyer.value.reference) }
        let owner = ownership.owner(named: names)
        let lines = paidLines
        // An invoice that is sent is owed while the subscription is active, too (RULES §5.1).
        let settled = subscription.daysUntilDue == nil ? lines : lines + forgivenLines
        var access = PurchaseAccess()
        for item in subscription.items {
            let product = StoreProduct(.stripe, item.price)
            if history.product(product, at: item.start) == nil {
                evaluation.unknownProducts.append(product)
            }
            var end = item.end
            if history.refundedPlan(at: item.start) == .end,
                let cut = refundOfPeriod(item)
            {
                end = max(item.start, min(end, cut))
            }
            access.intervals += intervals(
                of: item,
                until: end,
                product,
                subscription,
                coveredTo: coverage(of: item, by: settled)
            )
        }
        for line in lines { addOnce(line, to: &access, in: history, &evaluation) }
        access.intervals.removeAll(where: \.isVoid)
        evaluation.add(access, to: owner)
        credit(lines, to: owner, in: history, &evaluation)
    }

    private func intervals(
        of item: StripeSubscription.Item,
        until end: Instant,
        _ product: StoreProduct,
        _ subscription: StripeSubscription,
        coveredTo covered: Instant?
    ) -> [AccessInterval] {
        func interval(
            _ since: Instant,
            _ until: Instant,
            _ ground: Ground,
            stop: Instant? = nil,
            isUndecided: Bool = false
        ) -> AccessInterval {
            AccessInterval(
                product: product,
                since: since,
                until: until,
                ground: ground,
                evidence: item.id,
                stop: stop,
                offer: subscription.offerKind,
                lacksRenewalTerms: isUndecided
            )
        }
        let isCut = end < item.end
        let stop = subscription.stop
        switch subscription.status {
        case "active", "trialing":
            let end = min(end, stop ?? end)
            let paid = interval(item.start, end, .payment)
            let renews = !isCut && stop.map { item.end < $0 } ?? true
            return renews ? [paid, interval(end, end, .renewal, stop: stop)] : [paid]
        case "past_due":
            guard !isCut else { return [interval(item.start, end, .payment)] }
            let unpaid = unpaid(item, of: subscription, coveredTo: covered)
            if let stop, stop <= unpaid { return [interval(item.start, stop, .payment)] }
            let due = unpaid.advanced(by: (subscription.daysUntilDue ?? 0).days)
            return [
                interval(item.start, unpaid, .payment, isUndecided: true),
                interval(unpaid, due, .grace, stop: stop),
            ]
        case "canceled":
            guard let ended = subscription.endedAt else { return [] }
            return [interval(item.start, min(end, ended), .payment)]
        default:
            return []
        }
    }

    /// Since when an item of a subscription in `past_due` is not paid (RULES §5.1).
    ///
    /// - Parameter covered: to where settled invoices cover it, as far as is known.
    private func unpaid(
        _ item: StripeSubscription.Item,
        of subscription: StripeSubscription,
        coveredTo covered: Instant?
    ) -> Instant {
        let active = lastActive?.value.items.first { $0.id == item.id }
        // A first period is charged or never begins, but an invoice may be sent and never paid; and
        // a subscription is active while it is not yet due, though the next period has begun.
        if subscription.daysUntilDue != nil, let created = item.created {
            return max(covered ?? created, created)
        }
        if let covered { return max(covered, active?.start ?? covered) }
        guard let active else { return item.start }
        guard subscription.daysUntilDue == nil else { return active.start }
        return max(active.start, min(item.start, active.end))
    }

    /// What a line of a plan's invoice gives that was bought once (RULES §5.2).
    private func addOnce(
        _ paid: PaidLine,
        to access: inout PurchaseAccess,
        in history: CatalogHistory,
        _ evaluation: inout Evaluation
    ) {
        let (line, invoice) = (paid.line, paid.invoice)
        guard line.item == nil, !line.isProration else { return }
        let product = StoreProduct(.stripe, line.price)
        guard let known = history.product(product, at: line.start) else {
            return evaluation.unknownProducts.append(product)
        }
        // Older facts name no item for any line.
        guard known.kind != .autoRenewable else { return }
        access.add(
            known,
            sold: product,
            quantity: line.quantity,
            since: paid.begins,
            until: takenBack(of: invoice.amount, paying: invoice.id).cut,
            evidence: line.id
        )
    }

    /// When the payment of an item's present period was taken back in whole.
    private func refundOfPeriod(_ item: StripeSubscription.Item) -> Instant? {
        invoices.map(\.value).paying(for: item)
            .compactMap { takenBack(of: $0.amount, paying: $0.id).cut }.first
    }

    /// A one-time purchase: for ever, for a while, or coins.
    private func evaluate(
        _ record: PaymentRecord,
        _ ownership: Ownership,
        in history: CatalogHistory,
        _ evaluation: inout Evaluation
    ) {
        var names: HolderNames = []
        if let customer = record.customer { names.append(.name(ofStripeCustomer: customer)) }
        if let reference = record.reference { names += Holder.names(ofReference: reference) }
        let owner = ownership.owner(named: names)
        guard record.isComplete, record.isPaid else {
            return evaluation.add(PurchaseAccess(), to: owner)
        }
        guard let lines = record.lines else {
            evaluation.wanted.append(
                Wanted(kind: .checkoutLines, object: record.newest.value.session)
            )
            return evaluation.add(PurchaseAccess(), to: owner)
        }
        var access = PurchaseAccess()
        let taken = takenBack(of: record.payment.amount, paying: nil)
        for line in lines {
            let product = StoreProduct(.stripe, line.price)
            guard let known = history.product(product, at: record.payment.created) else {
                evaluation.unknownProducts.append(product)
                continue
            }
            access.add(
                known,
                sold: product,
                quantity: line.quantity,
                since: record.begins,
                until: taken.cut,
                evidence: ownership.key.id
            )
            credit(line, of: record, known, to: owner, taken, &evaluation)
        }
        evaluation.add(access, to: owner)
    }

    /// - Parameter invoice: which invoice's payment; `nil` for a one-time payment.
    func takenBack(of amount: Int64, paying invoice: String?) -> TakenBack {
        TakenBack(of: amount, paying: invoice, by: refunds, disputes)
    }
}

extension [StripeInvoice] {
    /// Those that charge for the present period of an item.
    ///
    /// Only a proration pays for a period that a change of interval begins under flexible billing, and
    /// for the first one of an item that is added. A `cancel_at` may end it earlier than the line says.
    public func paying(for item: StripeSubscription.Item) -> Self {
        func charge(_ isPeriod: (StripeInvoice.Line) -> Bool) -> Self {
            filter {
                $0.lines.contains { $0.isFor(item) && $0.start == item.start && isPeriod($0) }
            }
        }
        let whole = charge { !$0.isProration }
        return whole.isEmpty ? charge { $0.amount > 0 && $0.end >= item.end } : whole
    }
}

extension PurchaseAccess {
    /// Adds what a product that was bought once gives: a pass for each unit, or access for ever.
    ///
    /// - Parameters:
    ///   - sold: under what the store sold it.
    ///   - start: when it was paid.
    ///   - end: when the payment was taken back; `nil`: it was not.
    mutating func add(
        _ product: Catalog.Product,
        sold: StoreProduct,
        quantity: Int64,
        since start: Instant,
        until end: Instant?,
        evidence: String
    ) {
        if product.kind == .nonRenewing {
            let pass = Pass(
                product: sold,
                purchased: start,
                duration: product.duration,
                cut: end,
                evidence: evidence
            )
            passes += Array(repeating: pass, count: Int(max(0, min(quantity, 100))))
        } else if product.kind != .consumable || !product.entitlements.isEmpty {
            intervals.append(
                AccessInterval(
                    product: sold,
                    since: start,
                    until: end,
                    ground: .payment,
                    evidence: evidence
                )
            )
        }
    }
}

extension Int64 {
    /// So many days in milliseconds; Stripe allows a few thousand.
    fileprivate var days: Int64 { Swift.max(0, Swift.min(self, 36_500)) * 86_400_000 }
}

extension Wanted.Kind {
    /// The line items of a Checkout Session.
    public static let checkoutLines = Self(rawValue: "checkout_lines")
    /// A Stripe subscription of which two events within one second disagree.
    public static let subscription = Self(rawValue: "subscription")
    /// The refunds and disputes of a Stripe payment intent, and what it paid for.
    public static let payment = Self(rawValue: "payment")
}
