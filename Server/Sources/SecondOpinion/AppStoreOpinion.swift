internal import TollgateCore

/// What Apple's documentation says of a purchase at one instant.
///
/// - A signed transaction is proof of a purchase. `revocationDate` ends it, `isUpgraded` says that
///   another plan took its place, and when a refund is reversed these fields go away
///   (JWSTransactionDecodedPayload; Apple's answer in developer.apple.com/forums/thread/757986).
/// - A subscription is entitled while its status is 1 or 4, in grace until `gracePeriodExpiresDate`.
/// - Of two statements the one with the later `signedDate` holds; arrival says nothing.
/// - A non-renewing subscription has no end in Apple's data: the catalog's duration counts.
/// - Seats that are added make a second transaction of the period, which replaces nothing
///   (additionalTransactionReason).
struct AppStoreOpinion {
    let evidence: AppStoreEvidence
    let question: Question
    /// Who holds what was bought at an instant for a token or none, which came up at another.
    let owners: (_ token: String?, _ bought: Instant, _ epoch: Instant) -> Owners

    private var at: Instant { question.at }
    private typealias Period = AppStorePeriod

    func opinions() -> [Opinion] {
        let periods = evidence.periods.values.sorted {
            ($0.current.purchased, $0.current.period) < ($1.current.purchased, $1.current.period)
        }
        guard let first = periods.first, let last = periods.last else { return [] }
        // Apple's word for what it is; receipts have none.
        let kind: Catalog.Product.Kind? =
            switch last.current.type {
            case "Auto-Renewable Subscription"?: .autoRenewable
            case "Non-Consumable"?: .nonConsumable
            case "Non-Renewing Subscription"?: .nonRenewing
            case .some: nil
            case nil: sold(last)?.kind
            }
        switch kind {
        case .autoRenewable?: return subscription(periods)
        case .nonConsumable?, .freeSubscription?: return [finish(forEver(periods), last, periods)]
        case .nonRenewing?: return pass(first, periods).map { [finish($0, last, periods)] } ?? []
        case .consumable?, nil: return []
        }
    }

    private func sold(_ period: Period) -> Catalog.Product? {
        let name = StoreProduct(.appStore, period.current.product)
        return question.history.product(name, at: period.current.purchased)
    }

    // MARK: - Bought once

    /// Several ids under one original: it was restored, or bought anew after a refund.
    private func forEver(_ periods: [Period]) -> Opinion {
        let rows = periods.flatMap(\.rows)
        let revoked = periods.filter { $0.isRevoked(at: at) }.compactMap(\.revoked).max()
        let standing = periods.filter { !$0.isRevoked(at: at) }
        let since = standing.map(\.current.purchased).max() ?? .distantPast
        guard let revoked, since <= revoked else {
            return Opinion(.yes, since: since, Reason("it is paid for, for ever"), rows)
        }
        let newest = periods.max { $0.stated < $1.stated }
        let isOpen = newest.map { !$0.isRevoked(at: at) || $0.isContested } ?? false
        return Opinion(
            isOpen ? .open : .no,
            since: revoked,
            Reason("it was refunded or revoked at", revoked),
            rows
        )
    }

    private func pass(_ first: Period, _ periods: [Period]) -> Opinion? {
        guard let product = sold(first), let duration = product.duration,
            let newest = periods.max(by: { $0.stated < $1.stated })
        else { return nil }
        let paid = first.current.purchased
        var pass = Pass(product: product.id, paid: paid...paid, duration: duration)
        pass.cut = newest.revoked
        var opinion = pass.opinion(at: at, newest.rows)
        if newest.isContested { opinion.verdict = .open }
        return opinion
    }

    // MARK: - Subscriptions

    private func subscription(_ periods: [Period]) -> [Opinion] {
        var opinions: [Opinion] = []
        for (index, period) in periods.enumerated()
        where period.current.purchased <= at && at < end(period) {
            let opinion = within(period, periods[(index + 1)...])
            opinions.append(finish(opinion, period, periods))
        }
        let paid = periods.indices.filter { index in
            let period = periods[index]
            return period.current.purchased <= at && !period.isRevoked(at: at)
                && !period.isUpgraded
                && successor(of: period, in: periods[(index + 1)...]) == nil
        }
        if let last = paid.map({ periods[$0] }).max(by: { end($0) < end($1) }), end(last) <= at {
            opinions.append(finish(after(last), last, periods))
        }
        if opinions.isEmpty, let last = periods.last {
            let begun = last.current.purchased
            let reason =
                begun > at
                ? Reason("it begins at", begun)
                : Reason("it was refunded, revoked or over by", last.revoked ?? end(last))
            opinions.append(finish(Opinion(.no, since: begun, reason, last.rows), last, periods))
        }
        return opinions
    }

    private func end(_ period: Period) -> Instant {
        if let expires = period.current.expires { return expires }
        // Receipts of iOS 6 have no expiry.
        let start = period.current.purchased
        let end = sold(period)?.duration?.adding(to: start.milliseconds)
        return period.current.isLegacy ? end.map { Instant(milliseconds: $0) } ?? start : start
    }

    /// What took a period's place before it was over: of a group there is one subscription at a time.
    private func successor(of period: Period, in later: ArraySlice<Period>) -> Period? {
        later.first { other in
            let start = other.current.purchased
            return period.current.purchased < start && start <= at && start < end(period)
                && !(other.current.isAdditional && period.current.isAdditional)
        }
    }

    /// A period whose dates cover the instant.
    private func within(_ period: Period, _ later: ArraySlice<Period>) -> Opinion {
        let start = period.current.purchased
        func make(_ verdict: Verdict, _ since: Instant, _ reason: Reason) -> Opinion {
            Opinion(verdict, since: since, reason, period.rows)
        }
        if period.isContested {
            return make(.open, start, Reason("signed data and a receipt contradict each other"))
        }
        if let revoked = period.revoked, revoked <= at {
            // An active status that was signed later disagrees: after a reversal whose notice was
            // lost, the fields of the revocation may still be there.
            let verdict: Verdict = activeSince > revoked ? .open : .no
            return make(verdict, revoked, Reason("it was refunded or revoked at", revoked))
        }
        if let next = successor(of: period, in: later) {
            // Whether the former plan comes back when its successor is refunded is not said; nor is
            // which one is active, if the App Store says so after the last word about the others.
            let isOpen =
                later.contains { $0.isRevoked(at: at) }
                || next.current.product == period.current.product
                || later.allSatisfy { $0.stated < activeSince }
            let since = next.current.purchased
            let reason = Reason("\(next.current.product) took its place at", since)
            return make(isOpen ? .open : .no, since, reason)
        }
        if period.isUpgraded {
            return make(.open, start, Reason("it was upgraded, to what is not known"))
        }
        if let status, status.stated > period.stated, ![1, 4].contains(status.value) {
            let isSure = status.value == 5 && status.period == period.current.period
            let reason = Reason("the App Store said status \(status.value) at", status.stated)
            return make(isSure ? .no : .open, status.stated, reason)
        }
        return make(.yes, start, Reason("\(period.current.product) is paid until", end(period)))
    }

    /// The last period is over: grace, a renewal that is due, or the end.
    private func after(_ last: Period) -> Opinion {
        let (start, ended) = (last.current.purchased, end(last))
        // What was said before the period began was about others.
        let status = status.flatMap { $0.stated >= start ? $0 : nil }
        let renewals = evidence.renewals.filter {
            $0.signed >= start && $0.signed <= question.said
        }
        let renewal = renewals.max { $0.signed < $1.signed }
        let rows = last.rows + [status?.row, renewal?.row].compactMap { $0 }
        func make(_ verdict: Verdict, until: Instant, _ words: String) -> Opinion {
            guard at < until else {
                // What was said later leaves open what was so at the instant.
                let isOpen = evidence.statuses.contains { $0.stated > question.said }
                let reason = Reason("the paid time ended at", ended)
                return Opinion(isOpen ? .open : .no, since: until, reason, rows)
            }
            return Opinion(verdict, since: ended, Reason(words, until), rows)
        }
        switch status?.value {
        case 4?:
            let grace = renewals.filter { $0.graceEnd != nil }.max { $0.signed < $1.signed }
            if let end = grace?.graceEnd {
                return make(.yes, until: end, "the App Store grants grace until")
            }
            // At most 28 days, says App Store Connect.
            let latest = ended.advanced(by: 28 * 86_400_000)
            return make(.open, until: latest, "the App Store grants grace, at most until")
        case 2?, 3?, 5?: return make(.no, until: ended, "")
        default: break
        }
        // A late notice locks nobody out, promises the catalog; and an active subscription may have
        // been renewed or extended by a notice that was lost.
        let leeway = question.catalog.renewalLeeway.appStore
        var until = renewal?.willRenew ?? true ? ended.advanced(by: leeway) : ended
        if let date = renewal?.renewalDate, date > ended {
            until = max(until, date.advanced(by: leeway))
        }
        if status == nil, let grace = renewal?.graceEnd { until = max(until, grace) }
        return make(.open, until: until, "its renewal is due and may be told late, until")
    }

    /// The clock of the newest status, if it is 1 or 4.
    private var activeSince: Instant {
        status.flatMap { [1, 4].contains($0.value) ? $0.stated : nil } ?? .distantPast
    }

    private var status: AppStoreStatus? {
        evidence.statuses.filter { $0.stated <= question.said }.max { $0.stated < $1.stated }
    }

    // MARK: - Owners

    /// A period without a token is its predecessor's; another token begins something of its own.
    private func finish(_ opinion: Opinion, _ period: Period, _ periods: [Period]) -> Opinion {
        let begun = period.current.purchased
        let before = periods.filter { $0.current.purchased <= begun }
        let token = period.token ?? before.last { $0.token != nil }?.token
        let former = before.last { $0.token != nil && $0.token != token }
        return opinion.about(
            StoreProduct(.appStore, period.current.product),
            question,
            owners(token, begun, former.map(end) ?? .distantPast)
        )
    }
}
