internal import AppStoreAPI
internal import AppStoreConnector
internal import Foundation
public import Reports
internal import Storage
internal import Stores
internal import StripeConnector
internal import TollgateAPI
public import TollgateCore

extension Tollgate {
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
        let environment = environment ?? configuration.defaultEnvironment
        let books = try await books(from: first, to: last, in: environment)
        return Finance.Reconciliation(
            environment: environment,
            first: first,
            last: last,
            coverage: books.coverage,
            reissues: isReported(environment) ? try await AppStoreLines(store).reissues() : [],
            differences: books.differences
        )
    }

    /// Every payment, refund and dispute from `first` to `last`, with what became of the money.
    ///
    /// - Throws: as `reconciliation`.
    public func payments(
        from first: Finance.Day,
        to last: Finance.Day,
        in environment: StoreEnvironment? = nil
    ) async throws -> [Finance.Payment] {
        try Self.check(first, last)
        let environment = environment ?? configuration.defaultEnvironment
        let books = try await books(from: first, to: last, in: environment)
        let payments = payments(books, environment).filter {
            (first...last).contains(Finance.Day(utc: $0.at))
        }
        return try await named(payments, in: environment)
    }

    /// Payments with the customers' ids in place of the keys of their rows.
    func named(
        _ payments: [Finance.Payment],
        in environment: StoreEnvironment
    ) async throws -> [Finance.Payment] {
        let rows = Set(payments.compactMap { $0.customer.flatMap { RowKey(hex: $0) } })
        let customers = try await store.customers(ofRows: rows.sorted(), in: environment)
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
        let environment = environment ?? configuration.defaultEnvironment
        var months: [Finance.FiscalMonth] = []
        var month = Finance.FiscalMonth(containing: first)
        while let next = month, next.first <= last {
            months.append(next)
            month = next.next
        }
        let ofAppStore = try await payouts(of: months, environment, estimates: estimates)
        let ofStripe = try await stripePayouts(in: environment).filter {
            (first...last).contains($0.arrival)
        }
        return (ofAppStore + ofStripe).sorted {
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
        let environment = environment ?? configuration.defaultEnvironment
        let (year, number, day) = month.civil
        let first = month.advanced(by: 1 - day)
        let last =
            (Finance.Day(
                year: number == 12 ? year + 1 : year,
                month: number == 12 ? 1 : number + 1,
                day: 1
            ) ?? first).advanced(by: -1)
        let books = try await books(from: first, to: last, in: environment)
        let reports = StripeReports(store)
        let isReported = isReported(environment)
        let opening = isReported ? try await reports.opening(of: first, in: environment) : nil
        let lines =
            isReported
            ? try await reports.lines(
                from: opening == nil ? Finance.Day(number: 0) : first,
                to: last
            ) : []
        // What is paid in the month was earned in the two before.
        let months = [-70, -42, 0, 27].compactMap {
            Finance.FiscalMonth(containing: first.advanced(by: $0))
        }
        let all = Array(Set(months + months.compactMap(\.next))).sorted()
        return Finance.Statement(
            month: first,
            environment: environment,
            payments: payments(books, environment),
            payouts: try await payouts(of: all, environment)
                + stripePayouts(in: environment),
            opening: opening,
            lines: lines.filter { $0.environment == nil || $0.environment == environment }
        )
    }

    private func stripePayouts(
        in environment: StoreEnvironment
    ) async throws -> [Finance.Payout] {
        guard isReported(environment) else { return [] }
        return try await StripeReports(store).keptPayouts().map(\.payout)
    }

    private func payments(
        _ books: Books,
        _ environment: StoreEnvironment
    ) -> [Finance.Payment] {
        Finance.payments(
            books.movements.filter { $0.environment == environment },
            appStore: books.appStorePairs,
            stripe: books.stripe.pairs,
            terms: configuration.financeTerms
        )
    }

    /// What the App Store pays for fiscal months: as the finance report says, else as far as sales
    /// and usual shares let one tell.
    private func payouts(
        of months: [Finance.FiscalMonth],
        _ environment: StoreEnvironment,
        estimates: Bool = true
    ) async throws -> [Finance.Payout] {
        guard let first = months.first?.first, let last = months.last?.last else { return [] }
        let reported =
            isReported(environment)
            ? try await AppStoreLines(store).financial(from: first, to: last).lines : []
        var sold: [Finance.Payment] = []
        if estimates {
            let books = try await books(from: first, to: last, in: environment)
            sold = payments(books, environment).filter { $0.store == .appStore }
        }
        return months.flatMap { month -> [Finance.Payout] in
            let lines = reported.filter { month.first <= $0.first && $0.last <= month.last }
            var sums: [String: Finance.Money] = [:]
            for line in lines {
                let amount = line.proceeds.times(line.isRefund ? -line.units : line.units)
                sums[amount.currency] = sums[amount.currency].map { $0 + amount } ?? amount
            }
            if lines.isEmpty {
                for payment in sold
                where (month.first...month.last).contains(Finance.Day(pacific: payment.at))
                    && !payment.net.isZero
                {
                    let amount = payment.net
                    sums[amount.currency] = sums[amount.currency].map { $0 + amount } ?? amount
                }
            }
            return sums.sorted { $0.key < $1.key }.map { _, amount in
                Finance.Payout(
                    store: .appStore,
                    id: "\(month)",
                    first: month.first,
                    last: month.last,
                    arrival: month.payment,
                    status: lines.isEmpty ? "estimated" : "reported",
                    amount: amount
                )
            }
        }
    }

    private static func check(_ first: Finance.Day, _ last: Finance.Day) throws {
        guard first <= last else {
            throw Refusal.invalid("to", "'to' is not before 'from'.")
        }
        guard last.number - first.number <= 400 else {
            throw Refusal.invalid("to", "Ask for at most 400 days at once.")
        }
    }
}
