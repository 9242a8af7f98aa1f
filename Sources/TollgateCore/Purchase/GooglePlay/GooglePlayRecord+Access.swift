extension GooglePlayRecord {
    func evaluate(
        _ ownership: Ownership,
        in history: CatalogHistory,
        _ evaluation: inout Evaluation
    ) {
        if let subscription {
            evaluate(subscription, ownership, in: history, &evaluation)
        }
        if let purchase { evaluate(purchase.value, ownership, in: history, &evaluation) }
        guard isContested else { return }
        let kind: Wanted.Kind =
            subscription == nil ? .googlePlayPurchase : .googlePlaySubscription
        evaluation.wanted.append(Wanted(kind: kind, object: ownership.key.id))
    }

    /// When another token took this one's place (RULES §18.3).
    public var replaced: Instant? { (successors ?? []).flatMap(\.starts).min() }

    /// Whose it is, under the policy of the day on which it was bought.
    private func owners(
        _ ownership: Ownership,
        since start: Instant,
        in history: CatalogHistory
    ) -> [HolderNames] {
        let isNewBuyer = ownAccount != nil && inheritedAccount.map { $0 != ownAccount } ?? false
        return ownership.owners(
            token: buyer,
            since: isNewBuyer ? start : nil,
            policy: history.ownership(at: start)
        )
    }

    // MARK: - Subscriptions (RULES §18.2)

    private func evaluate(
        _ read: Newest<GooglePlaySubscription>,
        _ ownership: Ownership,
        in history: CatalogHistory,
        _ evaluation: inout Evaluation
    ) {
        let subscription = read.value
        let start = subscription.start ?? read.stated.instant
        var access = PurchaseAccess()
        for item in subscription.items {
            if history.product(item.sold, in: ownership.key.application, at: start) == nil {
                evaluation.unknownProducts.append(item.sold)
            }
            access.intervals += intervals(of: item, read)
        }
        access.intervals.removeAll(where: \.isVoid)
        for owner in owners(ownership, since: start, in: history) {
            evaluation.add(access, to: owner)
        }
        creditPeriods(
            to: ownership.buyer(token: buyer),
            of: ownership.key.application,
            in: history,
            &evaluation
        )
    }

    /// Each item by itself: its time, what of it was grace, and the window in which it may renew.
    private func intervals(
        of item: GooglePlaySubscription.Item,
        _ read: Newest<GooglePlaySubscription>
    ) -> [AccessInterval] {
        let subscription = read.value
        // What waits for the renewal has no end yet.
        guard let expiry = item.expiry, let start = subscription.start else { return [] }
        func interval(_ since: Instant, _ until: Instant, _ ground: Ground) -> AccessInterval {
            AccessInterval(
                product: item.sold,
                since: since,
                until: ground == .renewal ? until : earlier(until, replaced),
                ground: ground,
                evidence: item.order ?? item.product,
                stop: ground == .renewal ? replaced : nil
            )
        }
        let isOver =
            subscription.isSuspended || subscription.state == GooglePlaySubscription.expired
        guard subscription.isEntitling || isOver else { return [] }
        let end = isOver ? min(expiry, read.stated.instant) : expiry
        let since = min(begin(of: item, start), end)
        let paid = subscription.isPaid ? end : max(since, min(end, paidEnd(of: item, since) ?? end))
        let spans = [interval(since, paid, .payment), interval(paid, end, .grace)]
        return renews(item, subscription) ? spans + [interval(end, end, .renewal)] : spans
    }

    /// Whether nothing says that no renewal follows (RULES §3).
    private func renews(
        _ item: GooglePlaySubscription.Item,
        _ subscription: GooglePlaySubscription
    ) -> Bool {
        guard subscription.isEntitling, subscription.state != GooglePlaySubscription.canceled,
            item.isRemoved == nil, item.awaitsConsent == nil
        else { return false }
        // The subscription goes on with another product.
        return item.renews || item.replacement != nil
    }

    /// Since when an item may be used without a gap: since the start, or since it was paid again.
    private func begin(of item: GooglePlaySubscription.Item, _ start: Instant) -> Instant {
        guard failures != nil, let order = item.order else { return start }
        let paid = period(order, item.product)?.first
        return max(start, line(order, item.product)?.start ?? paid ?? start)
    }

    /// Where the paid time of an item ended whose renewal failed.
    private func paidEnd(of item: GooglePlaySubscription.Item, _ since: Instant) -> Instant? {
        guard let order = item.order else { return since }
        return period(order, item.product)?.paidUntil ?? line(order, item.product)?.end
            ?? (subscription?.value.state == GooglePlaySubscription.inGracePeriod ? since : nil)
    }

    func period(_ order: String, _ product: String) -> GooglePlayPeriod? {
        periods.first { $0.order == order && $0.product == product }
    }

    func order(_ id: String) -> GooglePlayOrder? {
        guard case .found(let index) = orders.position(of: id, by: { $0.value.id }) else {
            return nil
        }
        return orders[index].value
    }

    func line(_ order: String, _ product: String) -> GooglePlayOrder.Line? {
        self.order(order)?.lines.first { $0.product == product }
    }

    // MARK: - What is bought once (RULES §18.4)

    private func evaluate(
        _ purchase: GooglePlayPurchase,
        _ ownership: Ownership,
        in history: CatalogHistory,
        _ evaluation: inout Evaluation
    ) {
        var access = PurchaseAccess()
        let start = completed ?? Instant(milliseconds: 0)
        // While the payment is pending nobody has bought anything.
        for line in completed == nil ? [] : purchase.lines {
            guard
                let known = history.product(
                    line.sold,
                    in: ownership.key.application,
                    at: start
                )
            else {
                evaluation.unknownProducts.append(line.sold)
                continue
            }
            let taken = taken(of: line)
            // Without a length in the catalog a rental would never end.
            if line.isRental == nil || known.kind == .nonRenewing {
                access.add(
                    known,
                    sold: line.sold,
                    quantity: taken == line.quantity ? line.quantity : line.quantity - taken,
                    since: start,
                    until: taken == line.quantity ? end(of: line) : nil,
                    evidence: line.product
                )
            }
            credit(line, taken, known, since: start, to: ownership.buyer(token: buyer), &evaluation)
        }
        access.intervals.removeAll(where: \.isVoid)
        for owner in owners(ownership, since: start, in: history) {
            evaluation.add(access, to: owner)
        }
    }

    /// When all of a line was gone.
    private func end(of line: GooglePlayPurchase.Line) -> Instant? {
        let rest = voids.filter { $0.value.quantity == nil }.map(\.value.at).min()
        let last = voids.map(\.value.at).max()
        return rest ?? cancelled ?? last ?? purchase?.stated.instant
    }
}
