public import Reports
internal import Storage
internal import Stores
public import TollgateCore

/// What one customer has paid, and pays.
public struct CustomerMoney: Sendable {
    /// Of one currency, in milliunits.
    public struct Sum: Hashable, Sendable {
        public var currency: String
        public var charged: Int64 = 0
        public var returned: Int64 = 0
        /// What is paid a month by the plans that run now, exact.
        public var monthly: Reports.Fraction = .zero

        /// What was charged without what went back: the lifetime value until now.
        public var kept: Int64 { charged - returned }
    }

    /// By currency.
    public var sums: [Sum] = []
    /// How many charges there were, of whatever amount above zero.
    public var charges = 0
    public var first: Instant?
    public var last: Instant?
}

extension Reporting {
    /// What a customer has paid until now, by the rows that all figures are made of.
    public func money(
        of customer: Customer.ID,
        in environment: StoreEnvironment
    ) async throws -> CustomerMoney {
        let row = RecordStore.subject(of: customer).inEnvironment(environment)
        let now = await clocks.now()
        var money = CustomerMoney()
        var sums: [String: CustomerMoney.Sum] = [:]
        let sales = try await records.figures.rows(
            aboutEach: [row],
            kind: FigureKind.sale.rawValue
        )
        for figure in sales.flatMap(\.self) {
            let sale = try figure.sale()
            guard sale.amount > 0, !sale.isFamilyShared, sale.at <= now else { continue }
            var sum = sums[sale.currency] ?? CustomerMoney.Sum(currency: sale.currency)
            switch sale.kind {
            case .charge:
                sum.charged += sale.amount
                money.charges += 1
                money.first = min(money.first ?? sale.at, sale.at)
                money.last = max(money.last ?? sale.at, sale.at)
            case .refund, .chargeback: sum.returned += sale.amount
            }
            sums[sale.currency] = sum
        }
        let periods = try await records.figures.rows(
            aboutEach: [row],
            kind: FigureKind.period.rawValue
        )
        for figure in periods.flatMap(\.self) {
            let period = try figure.period()
            guard period.isPaid, period.start <= now, now < period.effectiveEnd else { continue }
            sums[period.currency, default: CustomerMoney.Sum(currency: period.currency)].monthly +=
                period.monthlyValue
        }
        money.sums = sums.values.sorted { $0.currency < $1.currency }
        return money
    }
}
