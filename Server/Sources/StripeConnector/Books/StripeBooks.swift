public import Reports
public import Storage
public import Stores
public import StripeAPI
public import TollgateCore

/// The transactions of Stripe's balance, compared with our payments.
public struct StripeBooks: StoreBooks {
    public let store = Store.stripe
    private let records: RecordStore
    private let reports: StripeReports
    private let client: Stripe.Client?
    private let terms: StripeTerms

    /// - Parameter client: fetches transactions; `nil`: only imported ones are compared.
    public init(
        _ records: RecordStore,
        client: Stripe.Client? = nil,
        terms: StripeTerms = StripeTerms()
    ) {
        self.records = records
        reports = StripeReports(records)
        self.client = client
        self.terms = terms
    }

    public var fee: Finance.Terms.StoreFee { terms.fee }
    public var canFetch: Bool { client != nil }

    public func fetch(
        today: Instant,
        prolong: @Sendable () async throws -> Void
    ) async throws -> Int {
        guard let client else { return 0 }
        return try await reports.fetch(with: client, today: today, days: 90, prolong: prolong).count
    }

    public func compare(
        _ movements: [Finance.Movement],
        over span: BookSpan
    ) async throws -> ComparedBooks {
        let covered = span.isReported ? try await reports.coveredDays() : []
        let kept = span.isReported ? try await reports.keptPayouts() : []
        let lines = span.isReported ? try await reports.lines(from: span.early, to: span.late) : []
        let undone = try await undone(lines, movements, in: span.environment)
        let days = undone.map(\.days).reduce(span.early...span.late) { all, days in
            min(all.lowerBound, days.lowerBound)...max(all.upperBound, days.upperBound)
        }
        let found = Finance.StripeMatching.match(
            movements,
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
                ? [] : try await reports.lines(from: days.lowerBound, to: days.upperBound),
            covering: covered,
            in: span.environment,
            terms: terms
        )
        var settlements: [Finance.Movement: Finance.Settlement] = [:]
        for pair in found.pairs {
            settlements[pair.movement] = terms.settlement(of: pair.movement, bookedBy: pair.lines)
        }
        return ComparedBooks(
            settlements: settlements,
            differences: found.differences,
            coverage: [
                .init(
                    store: store,
                    source: Finance.StripeMatching.source,
                    covered: covered,
                    matched: found.pairs.count { span.contains($0.movement) },
                    pending: found.pending.count { span.contains($0) }
                )
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
                store: store,
                environment: environment,
                application: "-",
                id: payment
            )
            guard let record = try await records.record(of: key) else { continue }
            undone += record.takenBackInVain.filter { sources.contains($0.id) }
        }
        return undone
    }

    public func usual(_ movement: Finance.Movement) -> Finance.Settlement? {
        terms.settlement(of: movement, bookedBy: [])
    }

    public func payouts(
        of span: BookSpan,
        sold: (_ first: Finance.Day, _ last: Finance.Day) async throws -> [Finance.Payment]
    ) async throws -> [Finance.Payout] {
        guard span.isReported else { return [] }
        return try await reports.keptPayouts().map(\.payout).filter {
            (span.first...span.last).contains($0.arrival)
        }
    }

    public func balances(of span: BookSpan) async throws -> [Finance.Statement.Balance]? {
        guard span.isReported else { return [] }
        let opening = try await reports.opening(of: span.first, in: span.environment)
        let lines = try await reports.lines(
            from: opening == nil ? Finance.Day(number: 0) : span.first,
            to: span.last
        )
        return Finance.Statement.Balance.balances(
            of: span.first.month,
            opening: opening,
            lines: lines.filter { $0.environment == nil || $0.environment == span.environment }
        )
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
