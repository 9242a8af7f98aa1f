internal import TollgateCore

/// What Apple's documentation says of a purchase at one instant.
///
/// - A signed transaction is proof of a purchase. `revocationDate` ends it, `isUpgraded` says that
///   another plan took its place; a reversal takes both away (developer.apple.com/forums/thread/757986).
/// - A subscription is entitled while its status is 1 or 4, in grace until `gracePeriodExpiresDate`.
/// - Of two statements the one with the later `signedDate` holds; arrival says nothing.
/// - A non-renewing subscription has no end in Apple's data: the catalog's duration counts.
/// - Seats that are added (`additionalTransactionReason`) make a second transaction of the period.
struct AppStoreOpinion {
    let evidence: AppStoreEvidence
    let question: Question
    let app: String?
    /// The holder of purchases that bear one token, or none, since an instant.
    let owners: (_ token: String?, _ epoch: Instant) -> Owners

    private var at: Instant { question.at }
    private typealias Period = AppStorePeriod

    func opinions() -> [Opinion] {
        let periods = evidence.periods.values.filter { $0.start <= at }.sorted {
            ($0.start, $0.current.period) < ($1.start, $1.current.period)
        }
        guard let last = periods.last, let product = sold(last) else { return [] }
        switch product.kind {
        case .autoRenewable: return subscription(periods)
        case .nonConsumable, .freeSubscription: return [finish(forEver(periods), last, periods)]
        case .nonRenewing:
            let newest = self.newest(of: periods)
            var pass = Pass(product, paid: periods[0].start...periods[0].start)
            pass?.cut = newest.revoked
            let opinion = pass?.opinion(at: at, [newest.current.row])
            return opinion.map { [finish($0, last, periods)] } ?? []
        case .consumable: return []
        }
    }

    private func sold(_ period: Period) -> Catalog.Product? {
        let name = StoreProduct(.appStore, period.current.product)
        return question.history.product(name, in: app, at: period.start)
    }

    /// Several ids under one original: it was restored, or bought anew after a refund.
    private func forEver(_ periods: [Period]) -> Opinion {
        let rows = periods.map(\.current.row)
        let since = periods.filter { !$0.isRevoked(at: at) }.map(\.start).max() ?? .distantPast
        let revoked = periods.filter { $0.isRevoked(at: at) }.compactMap(\.revoked).max()
        guard let revoked, since <= revoked else {
            return Opinion(.yes, since: since, "it is paid for, for ever", rows)
        }
        // Another id of it, signed later, may say that the refund was reversed.
        let isNo = newest(of: periods).isRevoked(at: at)
        return Opinion(isNo ? .no : .open, since: revoked, "it was revoked at \(revoked)", rows)
    }

    private func newest(of periods: [Period]) -> Period {
        periods.max { $0.current.signed < $1.current.signed } ?? periods[0]
    }

    private func subscription(_ periods: [Period]) -> [Opinion] {
        var (opinions, paid): ([Opinion], [Period]) = ([], [])
        for (index, period) in periods.enumerated() {
            let later = periods[(index + 1)...]
            if at < end(period) { opinions.append(finish(within(period, later), period, periods)) }
            let isLasting = !period.isRevoked(at: at) && !period.isUpgraded
            if isLasting, successor(of: period, in: later) == nil { paid.append(period) }
        }
        if let last = paid.max(by: { end($0) < end($1) }), end(last) <= at {
            opinions.append(finish(after(last), last, periods))
        }
        // While the App Store says active, what took the newest plan's place may open anything.
        let isActive = [1, 4].contains(said.last { $0.status != nil }?.status)
        if let last = periods.last, last.isUpgraded, isActive {
            let one = finish(within(last, []), last, periods)
            opinions.append(one.about(question.catalog.entitlements.map(\.lookupKey), one.owners))
        }
        return opinions
    }

    private func end(_ period: Period) -> Instant {
        // Receipts of iOS 6 have no expiry.
        period.current.expires ?? sold(period)?.duration?.end(after: period.start) ?? period.start
    }

    /// What took a period's place before it was over: of a group there is one subscription at a time.
    private func successor(of period: Period, in later: ArraySlice<Period>) -> Period? {
        later.first { other in
            period.start < other.start && other.start <= at && other.start < end(period)
                && !(other.current.isAdditional && period.current.isAdditional)
        }
    }

    private func within(_ period: Period, _ later: ArraySlice<Period>) -> Opinion {
        let (start, rows) = (period.start, [period.current.row])
        let terms = said.last { $0.status != nil }
        let activeSince = terms.flatMap { [1, 4].contains($0.status) ? $0.stated : nil }
        if let revoked = period.revoked, revoked <= at {
            // After a reversal whose notice was lost the fields of the revocation may still be there.
            let isOpen = activeSince ?? .distantPast > revoked
            return Opinion(isOpen ? .open : .no, since: revoked, "revoked at \(revoked)", rows)
        }
        if let next = successor(of: period, in: later) {
            // Not said: does the former plan come back, and which one is a later status 1 about?
            let isOpen =
                later.contains { $0.isRevoked(at: at) }
                || next.current.product == period.current.product
                || later.allSatisfy { $0.current.signed < activeSince ?? .distantPast }
            let reason = "\(next.current.product) took its place at \(next.start)"
            return Opinion(isOpen ? .open : .no, since: next.start, reason, rows)
        }
        if period.isUpgraded { return Opinion(.open, since: start, "upgraded, plan unknown", rows) }
        // Parts of one message do not disagree, in whatever order they were signed.
        let isRevoked = terms.map { $0.status == 5 && rows == [$0.row] } ?? false
        if let terms, isRevoked || (activeSince == nil && terms.stated > period.current.signed) {
            let reason = "the App Store said status \(terms.status ?? 0) at \(terms.stated)"
            return Opinion(isRevoked ? .no : .open, since: terms.stated, reason, rows)
        }
        let reason = "\(period.current.product) is paid until \(end(period))"
        return Opinion(.yes, since: start, reason, rows)
    }

    /// The last period is over: what was said before it began was about others.
    private func after(_ last: Period) -> Opinion {
        let (ended, told) = (end(last), said.filter { $0.stated >= last.start })
        let state = told.last { $0.status != nil }
        let renewal = told.last { $0.willRenew != nil }
        let grace = told.last { $0.graceEnd != nil }?.graceEnd
        let leeway = question.catalog.renewalLeeway.appStore
        var (until, verdict) = (ended, Verdict.open)
        switch state?.status {
        case 4?:
            // Without a date at most 28 days, says App Store Connect.
            until = grace ?? ended.advanced(by: 28 * 86_400_000)
            verdict = grace == nil ? .open : .yes
        case 2?, 3?, 5?: break
        default:
            // A late notice locks nobody out; one that was lost may have renewed or extended it.
            if renewal?.willRenew ?? true { until = ended.advanced(by: leeway) }
            let date = renewal?.renewalDate ?? ended
            if date > ended { until = max(until, date.advanced(by: leeway)) }
            if state == nil { until = max(until, grace ?? until) }
        }
        // What was said later leaves open what was so at the instant.
        let isOpen = evidence.terms.contains { $0.status != nil && $0.stated > question.said }
        let rows = [last.current.row] + [state?.row, renewal?.row].compactMap(\.self)
        if until <= at { verdict = isOpen ? .open : .no }
        let reason = "it ended at \(ended); grace, or a late renewal, lasts until \(until)"
        return Opinion(verdict, since: until <= at ? until : ended, reason, rows)
    }

    private var said: [AppStoreTerms] {
        evidence.terms.filter { $0.stated <= question.said }.sorted { $0.stated < $1.stated }
    }

    /// A period without a token is its predecessor's; another token begins something of its own.
    private func finish(_ opinion: Opinion, _ period: Period, _ periods: [Period]) -> Opinion {
        var (token, epoch): (String?, Instant?)
        for one in periods where one.start <= period.start {
            guard epoch == nil || one.token ?? token != token else { continue }
            (token, epoch) = (one.token, one.start)
        }
        let product = StoreProduct(.appStore, period.current.product)
        let keys = question.catalog.lookupKeys(of: product, in: app)
        return opinion.about(keys, owners(token, epoch ?? period.start))
    }
}
