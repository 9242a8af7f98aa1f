extension Purchase {
    /// Access is per subscription item; the period rolls before it is paid (RULES §5).
    func evaluate(
        _ subscription: StripeSubscription,
        in history: CatalogHistory,
        _ evaluation: inout Evaluation
    ) {
        var names: HolderNames = [.stripeCustomer(subscription.customer)]
        if let buyer { names.append(.reference(buyer.value.reference)) }
        let owner = owner(named: names)
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
            access.intervals += intervals(of: item, until: end, product, subscription)
        }
        access.intervals.removeAll(where: \.isVoid)
        evaluation.add(access, to: owner)
        for invoice in invoices where invoice.value.isPaid {
            credit(invoice.value, to: owner, in: history, &evaluation)
        }
    }

    private func intervals(
        of item: StripeSubscription.Item,
        until end: Instant,
        _ product: StoreProduct,
        _ subscription: StripeSubscription
    ) -> [AccessInterval] {
        func interval(_ since: Instant, _ until: Instant, _ ground: Ground) -> AccessInterval {
            AccessInterval(
                product: product,
                since: since,
                until: until,
                ground: ground,
                evidence: item.id
            )
        }
        switch subscription.status {
        case "active", "trialing":
            let isCut = end < item.end
            let end = min(end, subscription.cancelAt ?? end)
            let paid = interval(item.start, end, .payment)
            let stops = subscription.cancelAt != nil || subscription.cancelsAtPeriodEnd || isCut
            return stops ? [paid] : [paid, interval(end, end, .renewal)]
        case "past_due":
            let unpaid = min(item.start, paidThrough(item) ?? item.start)
            return [interval(unpaid, unpaid, .grace)]
        case "canceled":
            guard let ended = subscription.endedAt else { return [] }
            return [interval(item.start, min(end, ended), .payment)]
        default:
            return []
        }
    }

    /// When the payment of an item's present period was taken back in whole.
    private func refundOfPeriod(_ item: StripeSubscription.Item) -> Instant? {
        for invoice in invoices.map(\.value) where invoice.isPaid && invoice.amount > 0 {
            let paysForIt = invoice.lines.contains {
                $0.price == item.price && $0.start == item.start && !$0.isProration
            }
            if paysForIt, let cut = takenBack(of: invoice.amount, paying: invoice.id).cut {
                return cut
            }
        }
        return nil
    }

    /// Until when paid invoices cover an item.
    ///
    /// Periods go on rolling while none of them is paid, and each would bring a grace of its own.
    private func paidThrough(_ item: StripeSubscription.Item) -> Instant? {
        let paid = invoices.filter(\.value.isPaid).flatMap(\.value.lines)
            .filter { $0.price == item.price && !$0.isProration }
            .map(\.end).max()
        guard let paid, item.isBilledInArrears == true else { return paid }
        // Usage is billed when its period is over. So who has paid up to the beginning of a period
        // owes nothing until its end, and what is unpaid begins one period later than it seems.
        // Months differ in length: half a period's tolerance finds the boundary itself.
        let length = item.end.milliseconds - item.start.milliseconds
        let behind = item.start.milliseconds - paid.milliseconds
        return behind <= length + length / 2 ? item.start : paid.advanced(by: length)
    }

    /// A one-time purchase: for ever, for a while, or coins.
    func evaluate(
        _ record: PaymentRecord,
        in history: CatalogHistory,
        _ evaluation: inout Evaluation
    ) {
        var names: HolderNames = []
        if let customer = record.customer { names.append(.stripeCustomer(customer)) }
        if let reference = record.reference { names.append(.reference(reference)) }
        let owner = owner(named: names)
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
            if known.kind == .nonRenewing {
                access.passes += (0..<max(0, min(line.quantity, 100))).map { _ in
                    Pass(
                        product: product,
                        purchased: record.payment.created,
                        duration: known.duration,
                        cut: taken.cut,
                        evidence: key.id
                    )
                }
            } else if known.kind != .consumable || !known.entitlements.isEmpty {
                access.intervals.append(
                    AccessInterval(
                        product: product,
                        since: record.payment.created,
                        until: taken.cut,
                        ground: .payment,
                        evidence: key.id
                    )
                )
            }
            credit(line, of: record, known, to: owner, taken, &evaluation)
        }
        evaluation.add(access, to: owner)
    }

    /// How much of a payment its refunds and disputes have taken back (RULES §5).
    public struct TakenBack: Hashable, Sendable {
        /// Minor units, at most the amount.
        public var amount: Int64
        public var of: Int64
        /// When all of it was gone.
        public var cut: Instant?
    }

    /// - Parameter invoice: which invoice's payment; `nil` for a one-time payment.
    public func takenBack(of amount: Int64, paying invoice: String?) -> TakenBack {
        var sum: Int64 = 0
        var cut: Instant?
        let movements =
            refunds.filter { $0.value.takesBack && $0.value.invoice == invoice }
            .map { ($0.stated.instant, $0.value.amount) }
            + disputes.filter { $0.value.takesBack && $0.value.invoice == invoice }
            .map { ($0.stated.instant, $0.value.amount) }
        for (instant, part) in movements.sorted(by: { $0 < $1 }) where sum < amount {
            sum += max(0, min(part, amount - sum))
            // Stripe counts whole seconds; what is finer only orders reads.
            if sum >= amount { cut = Instant(seconds: instant.milliseconds / 1000) }
        }
        return TakenBack(amount: sum, of: amount, cut: cut)
    }
}
