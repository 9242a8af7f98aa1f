internal import Foundation
public import Reports
public import Storage
public import Stores
public import StripeAPI
internal import TollgateAPI
public import TollgateCore

/// Takes Stripe's balance transactions and payouts into the database, for accounts.
///
/// Kept is what accounts need and nothing of the customer: neither names nor addresses.
public struct StripeReports: Sendable {
    /// Balance transactions.
    static let balance = "STRIPE_BALANCE"
    static let payout = "STRIPE_PAYOUT"
    /// The account's balance at the beginning of a day.
    static let opening = "STRIPE_OPENING"

    /// A payout as it is kept, with what went with it.
    public struct KeptPayout: Codable, Hashable, Sendable {
        public var payout: Finance.Payout
        public var created: Instant
        /// The ids of its balance transactions; nil where Stripe does not say.
        public var transactions: [String]?
    }

    private let store: RecordStore

    public init(_ store: RecordStore) {
        self.store = store
    }

    /// Whether a file is Stripe's, and not App Store Connect's.
    public static func recognizes(_ bytes: [UInt8]) -> Bool { StripeFile.recognizes(bytes) }

    /// Takes in an export of Stripe's or objects of its API, one a line; days that are known already
    /// keep the transactions that the file does not have.
    ///
    /// - Parameter now: the wall clock.
    /// - Throws: an error that says which line cannot be read; `StorageError`.
    public func take(_ bytes: [UInt8], at now: Instant) async throws -> [TakenReport] {
        let file = try StripeFile(bytes)
        var outcomes: [TakenReport] = []
        let days = file.lines.map(\.day)
        if let first = days.min(), let last = days.max() {
            guard last.number - first.number <= 3_700 else {
                throw StripeFile.Failure(message: "the file covers more than ten years")
            }
            outcomes += try await keep(file.lines, from: first, to: last, isWhole: false, at: now)
        }
        outcomes += try await keep(file.payouts, at: now)
        return outcomes
    }

    /// Fetches the balance transactions of the whole days before `today` that are not here yet, the
    /// payouts of these and of the ten days before, and what the balance was when today began.
    ///
    /// - Parameters:
    ///   - today: the stores' present.
    ///   - days: how far back to look at most.
    ///   - told: called after each day that was new.
    ///   - prolong: called after each day and each payout; what it throws ends the fetch, and the
    ///     days that were fetched by then are kept.
    public func fetch(
        with client: Stripe.Client,
        today: Instant,
        days: Int = 35,
        told: @Sendable (TakenReport) -> Void = { _ in },
        prolong: () async throws -> Void = {}
    ) async throws -> [TakenReport] {
        let end = Finance.Day(utc: today)
        let kept = try await coveredDays()
        let wanted = (1...Int64(max(1, min(days, 1000)))).map { end.advanced(by: -$0) }
        var outcomes: [TakenReport] = []
        func note(_ found: [TakenReport]) {
            let new = found.filter { $0.isNew && $0.rows > 0 }
            for outcome in new { told(outcome) }
            outcomes += new
        }
        // Day by day, so that who is interrupted goes on there.
        var environment: StoreEnvironment?
        var day = wanted.filter { !kept.contains($0) }.min() ?? end
        while day < end {
            let lines = try await lines(on: day, with: client, &environment)
            note(try await keep(lines, from: day, to: day, isWhole: true, at: today))
            try await prolong()
            day = day.advanced(by: 1)
        }
        let since = (wanted.min() ?? end).advanced(by: -10)
        note(try await keep(try await payouts(since: since, with: client, prolong), at: today))
        try await keepOpening(of: end, with: client, at: today)
        return outcomes
    }

    // MARK: - What is kept

    /// The days whose transactions are here, also those without any.
    public func coveredDays() async throws -> Set<Finance.Day> {
        Set(
            try await store.reports.periods(Self.balance).compactMap {
                Finance.Day($0.dropFirst("DAILY ".count))
            }
        )
    }

    /// The transactions that were booked from `first` to `last`, each with its payout.
    public func lines(from first: Finance.Day, to last: Finance.Day) async throws -> [Finance
        .BalanceLine]
    {
        var payouts: [String: String] = [:]
        for kept in try await keptPayouts() {
            for id in kept.transactions ?? [] { payouts[id] = kept.payout.id }
        }
        return try await store.reports.lines(Self.balance, from: "\(first)", to: "\(last)").map {
            var line = try APIJSON.decode(Finance.BalanceLine.self, from: Data($0.body))
            line.payout = line.payout ?? payouts[line.id]
            return line
        }
    }

    /// All payouts that are here.
    public func keptPayouts() async throws -> [KeptPayout] {
        try await store.reports.lines(Self.payout, from: "0000-00-00", to: "9999-99-99").map {
            try APIJSON.decode(KeptPayout.self, from: Data($0.body))
        }
    }

    /// What the account's balance was when a day began, in each currency.
    ///
    /// - Returns: nil where nobody has asked Stripe for it on a day from which, or up to which, all
    ///   transactions are here.
    public func opening(
        of day: Finance.Day,
        in environment: StoreEnvironment
    ) async throws -> [Finance.Money]? {
        let known = try await store.reports.lines(
            Self.opening,
            from: "0000-00-00",
            to: "9999-99-99"
        ).map { try APIJSON.decode(KeptOpening.self, from: Data($0.body)) }
        let covered = try await coveredDays()
        let nearest = known.filter { kept in
            let (first, last) = (min(day, kept.day), max(day, kept.day))
            return kept.environment == environment
                && (first.number..<last.number).allSatisfy {
                    covered.contains(Finance.Day(number: $0))
                }
        }.min { abs($0.day.number - day.number) < abs($1.day.number - day.number) }
        guard let nearest else { return nil }
        var sums = Dictionary(uniqueKeysWithValues: nearest.amounts.map { ($0.currency, $0) })
        let (first, last) = (min(day, nearest.day), max(day, nearest.day))
        guard first < last else { return nearest.amounts }
        for line in try await lines(from: first, to: last.advanced(by: -1))
        where line.environment == nil || line.environment == environment {
            let moved = nearest.day < day ? line.net : -line.net
            sums[moved.currency] = (sums[moved.currency] ?? .zero(moved.currency)) + moved
        }
        return sums.values.sorted { $0.currency < $1.currency }
    }

    /// - Parameter isWhole: whether `lines` are all that there are of these days.
    private func keep(
        _ lines: [Finance.BalanceLine],
        from first: Finance.Day,
        to last: Finance.Day,
        isWhole: Bool,
        at now: Instant
    ) async throws -> [TakenReport] {
        var byDay = Dictionary(grouping: lines, by: \.day)
        if !isWhole {
            let known = try await self.lines(from: first, to: last)
            let named = Set(lines.map(\.id))
            for line in known where !named.contains(line.id) {
                byDay[line.day, default: []].append(line)
            }
        }
        var outcomes: [TakenReport] = []
        var day = first
        while day <= last {
            let rows = (byDay[day] ?? []).sorted { ($0.created, $0.id) < ($1.created, $1.id) }
            outcomes.append(
                try await keep(
                    Self.balance,
                    day,
                    try rows.map { Array(try APIJSON.encode($0)) },
                    at: now
                )
            )
            day = day.advanced(by: 1)
        }
        return outcomes
    }

    private func keep(_ payouts: [KeptPayout], at now: Instant) async throws -> [TakenReport] {
        guard !payouts.isEmpty else { return [] }
        var byDay = Dictionary(grouping: payouts) { Finance.Day(utc: $0.created) }
        let named = Set(payouts.map(\.payout.id))
        for kept in try await keptPayouts() where !named.contains(kept.payout.id) {
            let day = Finance.Day(utc: kept.created)
            if byDay[day] != nil { byDay[day]?.append(kept) }
        }
        var outcomes: [TakenReport] = []
        for (day, payouts) in byDay.sorted(by: { $0.key < $1.key }) {
            let rows = payouts.sorted { $0.payout.id < $1.payout.id }
            outcomes.append(
                try await keep(
                    Self.payout,
                    day,
                    try rows.map { Array(try APIJSON.encode($0)) },
                    at: now
                )
            )
        }
        return outcomes
    }

    private func keep(
        _ kind: String,
        _ day: Finance.Day,
        _ rows: [[UInt8]],
        at now: Instant
    ) async throws -> TakenReport {
        let period = "DAILY \(day)"
        let isNew = try await store.reports.keep(
            StoredReport(
                kind: kind,
                period: period,
                fetched: now,
                body: Array(rows.joined(separator: [UInt8(ascii: "\n")])),
                rows: rows.enumerated().map { index, body in
                    StoredReport.Row(line: Int64(index + 1), day: "\(day)", body: body)
                }
            )
        )
        return TakenReport(kind: kind, period: period, rows: rows.count, isNew: isNew)
    }

    // MARK: - Stripe

    /// Keeps what the balance was when `day`, today, began: what it is, less what moved it since.
    ///
    /// Once a day. Where it moves while we look, we look again; after some tries it is left to the
    /// next round, and so it is where our key may not see the balance.
    private func keepOpening(
        of day: Finance.Day,
        with client: Stripe.Client,
        at now: Instant
    ) async throws {
        guard try await !store.reports.periods(Self.opening).contains("DAILY \(day)") else {
            return
        }
        func moved() async throws -> [String: Finance.Money] {
            var moved: [String: Finance.Money] = [:]
            for try await transaction in client.lists.balanceTransactions(
                since: day.start.milliseconds / 1000
            ) {
                moved[transaction.id] = Finance.Money(
                    minorUnits: transaction.net,
                    currency: transaction.currency
                )
            }
            return moved
        }
        do {
            var before = try await moved()
            for _ in 0..<3 {
                let balance = try await client.balance().value
                let after = try await moved()
                guard after == before else {
                    before = after
                    continue
                }
                let opening = KeptOpening(balance, less: after.values, on: day)
                _ = try await keep(Self.opening, day, [Array(try APIJSON.encode(opening))], at: now)
                return
            }
        } catch Stripe.RequestError.refused(let error) where error.status == 403 {}
    }

    /// - Parameter environment: whose balance it is, as far as a transaction has said.
    private func lines(
        on day: Finance.Day,
        with client: Stripe.Client,
        _ environment: inout StoreEnvironment?
    ) async throws -> [Finance.BalanceLine] {
        var transactions: [Stripe.BalanceTransaction] = []
        for try await transaction in client.lists.balanceTransactions(
            since: day.start.milliseconds / 1000,
            until: day.advanced(by: 1).start.milliseconds / 1000
        ) {
            transactions.append(transaction)
            if let livemode = transaction.source?.livemode {
                environment = livemode ? .production : .sandbox
            }
        }
        var lines: [Finance.BalanceLine] = []
        for transaction in transactions {
            let line = Finance.BalanceLine(transaction, in: environment)
            let isOfPlan = line.kind == .charge
            let invoice =
                isOfPlan ? try await invoice(ofPayment: line.payment, with: client) : nil
            lines.append(Finance.BalanceLine(transaction, paying: invoice, in: environment))
        }
        return lines
    }

    /// The invoice that a payment paid; nil for a payment of its own.
    private func invoice(
        ofPayment id: String?,
        with client: Stripe.Client
    ) async throws -> String? {
        guard let id else { return nil }
        for environment in StoreEnvironment.allCases {
            let key = Purchase.Key(
                store: .stripe,
                environment: environment,
                application: "-",
                id: id
            )
            if try await store.record(of: key)?.payment != nil { return nil }
        }
        for try await payment in client.lists.invoicePayments(byPaymentIntent: id) {
            return payment.invoice.id
        }
        return nil
    }

    private func payouts(
        since first: Finance.Day,
        with client: Stripe.Client,
        _ prolong: () async throws -> Void
    ) async throws -> [KeptPayout] {
        let known = Dictionary(
            try await keptPayouts().map { ($0.payout.id, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        var payouts: [KeptPayout] = []
        for try await payout in client.lists.payouts(since: first.start.milliseconds / 1000) {
            var kept = KeptPayout(payout)
            kept.transactions = known[payout.id]?.transactions
            if payout.automatic, kept.transactions == nil {
                var ids: [String] = []
                for try await transaction in client.lists.balanceTransactions(payout: payout.id)
                where transaction.source?.id != payout.id {
                    ids.append(transaction.id)
                }
                kept.transactions = ids.sorted()
                try await prolong()
            }
            payouts.append(kept)
        }
        return payouts
    }
}

/// What the account's balance was when a day began.
private struct KeptOpening: Codable {
    var day: Finance.Day
    var environment: StoreEnvironment
    var amounts: [Finance.Money]

    init(_ balance: Stripe.Balance, less moved: some Sequence<Finance.Money>, on day: Finance.Day) {
        self.day = day
        environment = balance.livemode ? .production : .sandbox
        var sums: [String: Finance.Money] = [:]
        for (currency, amount) in balance.total {
            let money = Finance.Money(minorUnits: amount, currency: currency)
            sums[money.currency] = money
        }
        for amount in moved {
            sums[amount.currency] = (sums[amount.currency] ?? .zero(amount.currency)) - amount
        }
        amounts = sums.values.sorted { $0.currency < $1.currency }
    }
}

extension StripeReports.KeptPayout {
    init(_ payout: Stripe.Payout) {
        self.init(
            payout: Finance.Payout(
                store: .stripe,
                id: payout.id,
                arrival: Finance.Day(utc: Instant(seconds: payout.arrivalDate)),
                status: payout.status.rawValue,
                amount: Finance.Money(minorUnits: payout.amount, currency: payout.currency)
            ),
            created: Instant(seconds: payout.created)
        )
    }
}
