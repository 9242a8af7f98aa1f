internal import Logging
public import Reports
internal import Storage
internal import Stores
internal import TollgateAPI
public import TollgateCore

/// The stores' reports beside our record: what was sold, kept and paid out.
public struct Accounts: Sendable {
    let records: RecordStore
    let clocks: Clocks
    let leases: Leases
    let figures: Figures
    /// Of every store.
    let books: [any StoreBooks]
    let defaultEnvironment: StoreEnvironment
    let reportedEnvironment: StoreEnvironment?
    let logger: Logger

    /// Compares our record with what the stores have reported of the days from `first` to `last`.
    ///
    /// - Parameter environment: whose sales; the stores' reports tell of the server's own
    ///   environment, and of the other one nothing is compared.
    /// - Throws: a refusal 400 for days that are the wrong way round, or more than 400.
    public func reconciliation(
        from first: Finance.Day,
        to last: Finance.Day,
        in environment: StoreEnvironment? = nil
    ) async throws -> Finance.Reconciliation {
        try Self.check(first, last)
        let span = span(first, last, environment)
        let opened = try await open(span)
        var reissues: [Finance.Reissue] = []
        for books in books where span.isReported { reissues += try await books.reissues() }
        return Finance.Reconciliation(
            environment: span.environment,
            first: first,
            last: last,
            coverage: opened.compared.flatMap(\.coverage),
            reissues: reissues,
            differences: opened.compared.flatMap(\.differences)
        )
    }

    /// Every payment, refund and dispute from `first` to `last`, with what became of the money.
    ///
    /// - Parameter app: only the payments of this app, by its id in the catalog; `nil`: of all.
    /// - Throws: as `reconciliation`; a refusal 400 for an app that the catalog does not list.
    public func payments(
        from first: Finance.Day,
        to last: Finance.Day,
        of app: String? = nil,
        in environment: StoreEnvironment? = nil
    ) async throws -> [Finance.Payment] {
        try Self.check(first, last)
        try records.history.current.requireSeveralApps(with: app)
        let span = span(first, last, environment)
        let payments = try await open(span).payments.filter {
            (first...last).contains(Finance.Day(utc: $0.at)) && (app == nil || $0.app == app)
        }
        return try await named(payments, in: span.environment)
    }

    /// Payments with the customers' ids in place of the keys of their rows.
    func named(
        _ payments: [Finance.Payment],
        in environment: StoreEnvironment
    ) async throws -> [Finance.Payment] {
        let rows = Set(payments.compactMap { $0.customer.flatMap { RowKey(hex: $0) } })
        let customers = try await records.customers(ofRows: rows.sorted(), in: environment)
        return payments.map { payment in
            var payment = payment
            payment.customer = payment.customer.flatMap { RowKey(hex: $0) }
                .flatMap { customers[$0]?.rawValue }
            return payment
        }
    }

    /// What the stores have sent to the bank, or will, for the days from `first` to `last`: the
    /// App Store by its fiscal months, Stripe by its payouts.
    ///
    /// - Parameter estimates: whether months of which there is no report yet are estimated from
    ///   all of their sales, which takes a while where there are many.
    /// - Throws: as `reconciliation`.
    public func payouts(
        from first: Finance.Day,
        to last: Finance.Day,
        in environment: StoreEnvironment? = nil,
        estimates: Bool = true
    ) async throws -> [Finance.Payout] {
        try Self.check(first, last)
        let span = span(first, last, environment)
        var payouts: [Finance.Payout] = []
        for books in books {
            payouts += try await self.payouts(of: books, span, estimates: estimates)
        }
        return payouts.sorted {
            ($0.arrival, $0.store.rawValue, $0.id) < ($1.arrival, $1.store.rawValue, $1.id)
        }
    }

    /// The statement of a calendar month.
    ///
    /// - Parameter month: any day of it.
    public func statement(
        month: Finance.Day,
        in environment: StoreEnvironment? = nil
    ) async throws -> Finance.Statement {
        let (year, number, day) = month.civil
        let first = month.advanced(by: 1 - day)
        let last =
            (Finance.Day(
                year: number == 12 ? year + 1 : year,
                month: number == 12 ? 1 : number + 1,
                day: 1
            ) ?? first).advanced(by: -1)
        let span = span(first, last, environment)
        // What is paid in the month was earned in the two before.
        var earned = span
        earned.first = first.advanced(by: -70)
        var stores: [Finance.Statement.StoreMonth] = []
        for books in books {
            stores.append(
                Finance.Statement.StoreMonth(
                    store: books.store,
                    payouts: try await payouts(of: books, earned),
                    balances: try await books.balances(of: span)
                )
            )
        }
        return Finance.Statement(
            month: first,
            environment: span.environment,
            payments: try await open(span).payments,
            stores: stores
        )
    }

    private func payouts(
        of books: any StoreBooks,
        _ span: BookSpan,
        estimates: Bool = true
    ) async throws -> [Finance.Payout] {
        try await books.payouts(of: span) { first, last in
            guard estimates else { return [] }
            var sold = span
            (sold.first, sold.last) = (first, last)
            return try await open(sold).payments.filter { $0.store == books.store }
        }
    }

    private static func check(_ first: Finance.Day, _ last: Finance.Day) throws {
        guard first <= last else {
            throw Refusal.invalid("to", "'to' is not before 'from'.")
        }
        guard last.number - first.number <= 400 else {
            throw Refusal.invalid("to", "A request covers at most 400 days.")
        }
    }

    private func span(
        _ first: Finance.Day,
        _ last: Finance.Day,
        _ environment: StoreEnvironment?
    ) -> BookSpan {
        let environment = environment ?? defaultEnvironment
        return BookSpan(
            from: first,
            to: last,
            in: environment,
            isReported: reportedEnvironment.map { $0 == environment } ?? true
        )
    }

    // MARK: - Opening the books

    /// What our record and the stores' reports say of some days, compared.
    private struct Opened {
        var compared: [ComparedBooks] = []
        var payments: [Finance.Payment] = []
    }

    private func open(_ span: BookSpan) async throws -> Opened {
        // What was bought in the other environment is a difference only where there are reports.
        let movements = try await movements(
            from: span.early.advanced(by: -BookSpan.margin),
            to: span.late.advanced(by: 1)
        ).filter { span.isReported || $0.environment == span.environment }
        var opened = Opened()
        var settlements: [Finance.Movement: Finance.Settlement] = [:]
        for books in books {
            let compared = try await books.compare(
                movements.filter { $0.store == books.store },
                over: span
            )
            settlements.merge(compared.settlements) { _, new in new }
            opened.compared.append(compared)
        }
        opened.payments = Finance.payments(
            movements.filter { $0.environment == span.environment }
        ) { settlements[$0] ?? usual($0) }
        return opened
    }

    /// What is usually left of a payment; nil where nobody knows.
    func usual(_ movement: Finance.Movement) -> Finance.Settlement? {
        books.first { $0.store == movement.store }?.usual(movement)
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
                let page = try await records.figures.rows(
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
