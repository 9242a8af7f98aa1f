internal import AppStoreConnector
internal import Reports
internal import Storage
internal import StripeConnector
internal import TollgateCore

/// What our record and the stores' reports say of some days, matched.
struct Books: Sendable {
    var movements: [Finance.Movement]
    var sales: Finance.AppStoreMatching.Result
    var financial: Finance.AppStoreMatching.Result
    var stripe: Finance.StripeMatching.Result
    var coverage: [Finance.Reconciliation.Coverage]

    /// How many days around those that are asked for are looked at too: what was sold before them
    /// may be booked on them, and the other way round.
    static let margin: Int64 = 45

    /// The reports that were matched, the most binding last: what Apple pays is what its finance
    /// report says.
    var appStorePairs: [Finance.AppStoreMatching.Pair] { sales.pairs + financial.pairs }

    var differences: [Finance.Difference] {
        let atZero = Set(
            sales.differences.filter { $0.reason == .freeOffer }.compactMap(\.movement)
        )
        // What was booked at zero is in no finance report.
        let paid = financial.differences.map { difference in
            var difference = difference
            if difference.reason == .missingThere, let id = difference.movement,
                atZero.contains(id)
            {
                difference.reason = .freeOffer
                difference.detail = "booked at zero, so that nothing is paid out"
            }
            return difference
        }
        return sales.differences + paid + stripe.differences
    }
}

extension Tollgate {
    /// Opens the books of the days from `first` to `last`.
    func books(
        from first: Finance.Day,
        to last: Finance.Day,
        in environment: StoreEnvironment
    ) async throws -> Books {
        let early = first.advanced(by: -Books.margin)
        let late = last.advanced(by: Books.margin)
        let terms = configuration.financeTerms
        let isReported = isReported(environment)
        // What was bought in the other environment is a difference only where there are reports.
        let movements = try await movements(
            from: early.advanced(by: -Books.margin),
            to: late.advanced(by: 1)
        ).filter { isReported || $0.environment == environment }
        let ofAppStore = movements.filter { $0.store == .appStore }
        let ofStripe = movements.filter { $0.store == .stripe }
        let appStore = AppStoreLines(store)
        let told =
            isReported
            ? try await appStore.sales(from: early, to: late) : (lines: [], covered: [])
        let sales = Finance.AppStoreMatching.match(
            ofAppStore,
            with: told.lines,
            source: AppStoreLines.sales,
            covering: told.covered,
            in: environment,
            terms: terms
        )
        let paid =
            isReported
            ? try await appStore.financial(from: early, to: late) : (lines: [], covered: [])
        let financial = Finance.AppStoreMatching.match(
            paid.covered.isEmpty ? [] : ofAppStore,
            with: paid.lines,
            source: AppStoreLines.financial,
            covering: paid.covered,
            in: environment,
            terms: terms
        )
        let balance = StripeReports(store)
        let covered = isReported ? try await balance.coveredDays() : []
        let kept = isReported ? try await balance.keptPayouts() : []
        let lines = isReported ? try await balance.lines(from: early, to: late) : []
        let undone = try await undone(lines, ofStripe, in: environment)
        let span = undone.map(\.days).reduce(early...late) { span, days in
            min(span.lowerBound, days.lowerBound)...max(span.upperBound, days.upperBound)
        }
        let stripe = Finance.StripeMatching.match(
            ofStripe,
            with: lines,
            payouts: kept.map(\.payout),
            of: Dictionary(
                kept.compactMap { payout in
                    payout.transactions.map { (payout.payout.id, $0) }
                },
                uniquingKeysWith: { first, _ in first }
            ),
            undone: undone,
            beside: undone.isEmpty
                ? [] : try await balance.lines(from: span.lowerBound, to: span.upperBound),
            covering: covered,
            in: environment,
            terms: terms
        )
        func isAsked(_ movement: Finance.Movement) -> Bool {
            (first...last).contains(Finance.Day(utc: movement.at))
        }
        return Books(
            movements: movements,
            sales: sales,
            financial: financial,
            stripe: stripe,
            coverage: [
                .init(
                    store: .appStore,
                    source: AppStoreLines.sales,
                    covered: told.covered,
                    matched: sales.pairs.count { isAsked($0.movement) },
                    pending: sales.pending.count { isAsked($0) }
                ),
                .init(
                    store: .appStore,
                    source: AppStoreLines.financial,
                    covered: paid.covered,
                    matched: financial.pairs.count { isAsked($0.movement) },
                    pending: paid.covered.isEmpty
                        ? ofAppStore.count { isAsked($0) && $0.environment == environment }
                        : financial.pending.count { isAsked($0) }
                ),
                .init(
                    store: .stripe,
                    source: Finance.StripeMatching.source,
                    covered: covered,
                    matched: stripe.pairs.count { isAsked($0.movement) },
                    pending: stripe.pending.count { isAsked($0) }
                ),
            ]
        )
    }

    /// The refunds and disputes in `lines` that came to nothing.
    ///
    /// The record has them, and not among its movements. A dispute may be won months after it was
    /// opened.
    private func undone(
        _ lines: [Finance.BalanceLine],
        _ movements: [Finance.Movement],
        in environment: StoreEnvironment
    ) async throws -> [Finance.StripeMatching.Undone] {
        let counted = Set(movements.map(\.id))
        var payments: [String: Set<String>] = [:]
        for line in lines where line.kind == .refund || line.kind == .dispute {
            guard let source = line.source, !counted.contains(source), let payment = line.payment
            else { continue }
            payments[payment, default: []].insert(source)
        }
        var undone: [Finance.StripeMatching.Undone] = []
        for (payment, sources) in payments.sorted(by: { $0.key < $1.key }) {
            let key = Purchase.Key(
                store: .stripe,
                environment: environment,
                application: "-",
                id: payment
            )
            guard let record = try await store.record(of: key) else { continue }
            undone += record.takenBackInVain.filter { sources.contains($0.id) }
        }
        return undone
    }

    /// Whether the stores' reports tell of this environment.
    func isReported(_ environment: StoreEnvironment) -> Bool {
        configuration.reportedEnvironment.map { $0 == environment } ?? true
    }

    /// The record's movements of money on the days from `first` to `last`, in both environments.
    private func movements(
        from first: Finance.Day,
        to last: Finance.Day
    ) async throws -> [Finance.Movement] {
        // Accounts should not miss what came a moment ago. Where another server is at it, or a
        // command cannot write beside a server, what it has made of the journal by now is read.
        for _ in 0..<100 {
            guard let isDone = try? await figures.followOnce(limit: 1000), !isDone else { break }
        }
        // Page by page, since there may be very many.
        var list = Finance.MovementList()
        for environment in StoreEnvironment.allCases {
            var place: (day: Int64, place: Figure.Place)?
            while true {
                let page = try await store.figures.rows(
                    kind: FigureKind.sale.rawValue,
                    in: environment,
                    days: first.number...last.number,
                    after: place,
                    limit: 5000
                )
                for figure in page { list.add(try figure.sale()) }
                guard let figure = page.last, page.count == 5000 else { break }
                place = (figure.day, figure.place)
            }
        }
        return list.movements
    }
}

extension Purchase {
    /// Refunds that failed and disputes that took nothing.
    fileprivate var takenBackInVain: [Finance.StripeMatching.Undone] {
        let refunds = refunds.filter { !$0.value.takesBack }.map { refund in
            Finance.StripeMatching.Undone(
                id: refund.value.id,
                created: refund.value.created ?? refund.stated.instant,
                ended: refund.stated.instant
            )
        }
        let disputes = disputes.filter { !$0.value.takesBack }.map { dispute in
            Finance.StripeMatching.Undone(
                id: dispute.value.id,
                created: dispute.value.created ?? dispute.stated.instant,
                ended: dispute.stated.instant
            )
        }
        return refunds + disputes
    }
}
