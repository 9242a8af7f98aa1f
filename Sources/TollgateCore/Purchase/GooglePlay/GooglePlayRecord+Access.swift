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

    /// The instant at which another token took this one's place (RULES §18.3).
    public var replaced: Instant? { (successors ?? []).map(\.since).min() }

    // MARK: - Subscriptions (RULES §18.2)

    private func evaluate(
        _ read: Newest<GooglePlaySubscription>,
        _ ownership: Ownership,
        in history: CatalogHistory,
        _ evaluation: inout Evaluation
    ) {
        let start = began ?? read.stated.instant
        var access = PurchaseAccess()
        for item in read.value.items {
            if history.product(item.sold, in: ownership.key.application, at: start) == nil {
                evaluation.unknownProducts.append(item.sold)
            }
            access.intervals += intervals(of: item, read)
        }
        if let replaced {
            for index in access.intervals.indices { access.intervals[index].end(by: replaced) }
        }
        access.intervals.removeAll(where: \.isVoid)
        let policy = history.ownership(at: start)
        for owner in ownership.owners(token: buyer, since: buyerSince, policy: policy) {
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
        guard let expiry = item.expiry, let began,
            subscription.isEntitling || subscription.isSuspended || subscription.isOver
        else { return [] }
        func interval(_ since: Instant, _ until: Instant, _ ground: Ground) -> AccessInterval {
            AccessInterval(
                product: item.sold,
                since: since,
                until: until,
                ground: ground,
                evidence: item.order ?? item.product,
                offer: item.offerKind
            )
        }
        let end = subscription.isEntitling ? expiry : min(expiry, read.stated.instant)
        var spans = spans(from: begin(of: item, began), to: end, read)
        let last = spans.popLast()
        var intervals = spans.map { interval($0.since, $0.until, .payment) }
        if let last {
            // A hold may have ended it before the end that is stated now.
            let until = last.until
            let paid = subscription.isPaid ? until : paidEnd(of: item, last.since) ?? until
            let failed = max(last.since, min(until, paid))
            intervals += [interval(last.since, failed, .payment), interval(failed, until, .grace)]
        }
        guard renews(item, subscription), began <= end else { return intervals }
        let tried = min(read.stated.instant, end.advanced(by: Self.longestTry))
        return intervals + [interval(end, max(end, tried, unasked(since: end, read)), .renewal)]
    }

    /// The instant up to which an outage hides whether a period that ended was renewed.
    private func unasked(
        since end: Instant,
        _ read: Newest<GooglePlaySubscription>
    ) -> Instant {
        guard let outage, outage.stated > read.stated, isPaidAndReadable(read) else { return end }
        return min(outage.stated.instant, end.advanced(by: Self.longestOutage))
    }

    /// Returns `true` if nothing has failed as far as this read says, and no 410 came after it.
    ///
    /// A 410 is final: that of the read's second came after it.
    private func isPaidAndReadable(_ read: Newest<GooglePlaySubscription>) -> Bool {
        let isGone = unreadable.map { $0.stated >= read.stated } ?? false
        return !isGone && read.value.state != GooglePlaySubscription.inGracePeriod
    }

    /// The ends of the items that may have been renewed, as far as Google still answers.
    public var renewableEnds: [Instant] {
        guard let subscription, replaced == nil, isPaidAndReadable(subscription) else { return [] }
        return subscription.value.items.filter { renews($0, subscription.value) }
            .compactMap(\.expiry)
    }

    /// The ends that a renewal may still follow, as the newest read says; in grace, too.
    ///
    /// Google retries for at most two days, so an end that a read still states later than that is final.
    public var openEnds: [Instant] {
        guard let subscription, replaced == nil else { return [] }
        return subscription.value.items.filter { renews($0, subscription.value) }
            .compactMap(\.expiry)
            .filter { subscription.stated.instant <= $0.advanced(by: Self.longestTry) }
    }

    /// The latest end that the newest read states; `nil`: none.
    public var latestEnd: Instant? { subscription?.value.items.compactMap(\.expiry).max() }

    /// The end after which Google Play should have said something; `nil`: no item has one.
    ///
    /// The earliest of several items' ends. In grace Google extends `expiryTime` without a notification.
    public var awaitedEnd: Instant? {
        guard let subscription, let latestEnd else { return nil }
        // A hold suspends all items.
        guard subscription.value.state != GooglePlaySubscription.onHold else {
            return min(latestEnd, subscription.stated.instant)
        }
        return openEnds.min() ?? latestEnd
    }

    private static let day: Int64 = 86_400_000
    /// The time for which Google tries a renewal before account hold and says ACTIVE, in milliseconds.
    private static let longestTry = 2 * day
    /// The longest grace period that a base plan may have, in milliseconds.
    ///
    /// https://developer.android.com/google/play/billing/lifecycle/subscriptions#grace
    private static let longestGrace = 30 * day
    /// The time after a period's end within which an outage counts, in milliseconds.
    public static let longestOutage = 7 * day

    /// Returns `true` unless something says that no renewal follows (RULES §3).
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

    /// The start of an item: the purchase's, unless a read showed the purchase before the item.
    private func begin(of item: GooglePlaySubscription.Item, _ began: Instant) -> Instant {
        let own = periods.filter { $0.sold == item.sold }.min { $0.first < $1.first }
        guard let own, periods.contains(where: { $0.first < own.first }) else { return began }
        return max(began, begin(of: own))
    }

    /// The start of a period: a read that names its order may come later.
    private func begin(of period: GooglePlayPeriod) -> Instant {
        min(line(period.order, period.product)?.start ?? period.first, period.first)
    }

    /// The parts of a time that are not account holds or pauses.
    private func spans(
        from start: Instant,
        to end: Instant,
        _ read: Newest<GooglePlaySubscription>
    ) -> [(since: Instant, until: Instant)] {
        var spans: [(since: Instant, until: Instant)] = []
        var since = start
        for suspension in suspensions ?? []
        where since <= suspension.since && suspension.since < end {
            spans.append((since, suspension.since))
            since = resumed(after: suspension, read) ?? end
        }
        spans.append((since, end))
        return spans.filter { $0.since < $0.until }
    }

    /// The first time that was paid for after an account hold or a pause: with a new order, or, of an
    /// item that the hold only interrupted, with a later end.
    private func resumed(
        after suspension: GooglePlaySuspension,
        _ read: Newest<GooglePlaySubscription>
    ) -> Instant? {
        let stated = suspension.stated
        let starts = periods.compactMap { period in
            period.first > stated
                ? max(suspension.since, begin(of: period))
                : period.paidSince.flatMap { $0 > stated ? $0 : nil }
        }
        if let first = starts.min() { return first }
        // A read may name no order, as after a promotion code.
        return read.value.isEntitling && read.stated.instant > stated ? read.stated.instant : nil
    }

    /// The end of the paid time of an item whose renewal failed.
    private func paidEnd(of item: GooglePlaySubscription.Item, _ since: Instant) -> Instant? {
        guard let order = item.order else { return since }
        return period(order, item.product)?.paidUntil ?? line(order, item.product)?.end
            ?? (subscription?.value.state == GooglePlaySubscription.inGracePeriod ? since : nil)
    }

    /// The end of what an order paid for: as it was sold, or later where reads say so, since a charge was
    /// deferred.
    ///
    /// https://developer.android.com/google/play/billing/subscriptions#defer
    ///
    /// - Parameters:
    ///   - start: the beginning of the order's period.
    ///   - sold: the end that the order states.
    public func paidUntil(
        _ order: String,
        _ product: String,
        from start: Instant,
        sold: Instant
    ) -> Instant {
        guard let stated = period(order, product)?.paidUntil,
            // Canceled at the end of a hold, it may state that end.
            !(suspensions ?? []).contains(where: { start <= $0.since && $0.since < stated })
        else { return sold }
        return max(sold, stated)
    }

    /// The beginning of the account hold or pause that followed a period, whose grace it ended; `nil`:
    /// none followed.
    ///
    /// - Parameter end: the end of the period, without grace.
    public func hold(after end: Instant) -> Instant? {
        suspensions?.map(\.since).first {
            end <= $0 && $0 <= end.advanced(by: Self.longestGrace)
        }
    }

    func period(_ order: String, _ product: String) -> GooglePlayPeriod? {
        periods.first { $0.order == order && $0.product == product }
    }

    func readOfOrder(_ id: String) -> Newest<GooglePlayOrder>? {
        guard case .found(let index) = orders.position(of: id, by: { $0.value.id }) else {
            return nil
        }
        return orders[index]
    }

    func line(_ order: String, _ product: String) -> GooglePlayOrder.Line? {
        readOfOrder(order)?.value.lines.first { $0.product == product }
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
            let (taken, end) = taken(of: line)
            // Without a length in the catalog a rental would never end.
            if line.isRental == nil || known.kind == .nonRenewing {
                access.add(
                    known,
                    sold: line.sold,
                    quantity: end == nil ? line.quantity - taken : line.quantity,
                    since: start,
                    until: end,
                    evidence: line.product
                )
            }
            credit(line, taken, known, since: start, to: ownership.buyer(token: buyer), &evaluation)
        }
        access.intervals.removeAll(where: \.isVoid)
        let policy = history.ownership(at: start)
        for owner in ownership.owners(token: buyer, since: nil, policy: policy) {
            evaluation.add(access, to: owner)
        }
    }
}

extension AccessInterval {
    /// Ends it where another purchase takes its place.
    fileprivate mutating func end(by replaced: Instant) {
        if ground == .renewal { stop = replaced } else { until = earlier(until, replaced) }
    }
}

extension Wanted.Kind {
    /// A subscription of Google Play, by its purchase token.
    public static let googlePlaySubscription = Self(rawValue: "google_play_subscription")
    /// What was bought once in Google Play, by its purchase token.
    public static let googlePlayPurchase = Self(rawValue: "google_play_purchase")
}
