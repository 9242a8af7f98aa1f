public import AppStoreAPI
public import Reports
public import Storage
public import Stores
public import TollgateCore

/// The reports of App Store Connect, compared with our sales.
public struct AppStoreBooks: StoreBooks {
    public let store = Store.appStore
    private let records: RecordStore
    private let lines: AppStoreLines
    private let connect: AppStore.ConnectClient?
    private let terms: AppStoreTerms

    /// - Parameter connect: fetches reports; `nil`: only imported ones are compared.
    public init(
        _ records: RecordStore,
        connect: AppStore.ConnectClient? = nil,
        terms: AppStoreTerms = AppStoreTerms()
    ) {
        self.records = records
        lines = AppStoreLines(records)
        self.connect = connect
        self.terms = terms
    }

    public var fee: Finance.Terms.StoreFee { terms.fee }
    public var canFetch: Bool { connect != nil }
    public var layouts: [StoreLayout] { AppleFiles.layouts }

    public func fetch(
        today: Instant,
        prolong: @Sendable () async throws -> Void
    ) async throws -> Int {
        guard let connect else { return 0 }
        return try await ConnectReports(records).fetch(with: connect, today: today, days: 90).count
    }

    public func compare(
        _ movements: [Finance.Movement],
        over span: BookSpan
    ) async throws -> ComparedBooks {
        func match(
            _ movements: [Finance.Movement],
            _ told: (lines: [Finance.AppStoreLine], covered: Set<Finance.Day>),
            _ source: String
        ) -> Finance.AppStoreMatching.Result {
            Finance.AppStoreMatching.match(
                movements,
                with: told.lines,
                source: source,
                covering: told.covered,
                in: span.environment,
                terms: terms
            )
        }
        let nothing: (lines: [Finance.AppStoreLine], covered: Set<Finance.Day>) = ([], [])
        let told =
            span.isReported ? try await lines.sales(from: span.early, to: span.late) : nothing
        let sales = match(movements, told, AppStoreLines.sales)
        let paid =
            span.isReported ? try await lines.financial(from: span.early, to: span.late) : nothing
        let financial = match(paid.covered.isEmpty ? [] : movements, paid, AppStoreLines.financial)
        var settlements: [Finance.Movement: Finance.Settlement] = [:]
        // The most binding last: what Apple pays is what its finance report says.
        for pair in sales.pairs + financial.pairs where pair.isSamePrice {
            settlements[pair.movement] = terms.settlement(of: pair.movement, reportedBy: pair.line)
        }
        return ComparedBooks(
            settlements: settlements,
            differences: Self.differences(sales, financial),
            coverage: [
                .init(
                    store: store,
                    source: AppStoreLines.sales,
                    covered: told.covered,
                    matched: sales.pairs.count { span.contains($0.movement) },
                    pending: sales.pending.count { span.contains($0) }
                ),
                .init(
                    store: store,
                    source: AppStoreLines.financial,
                    covered: paid.covered,
                    matched: financial.pairs.count { span.contains($0.movement) },
                    pending: paid.covered.isEmpty
                        ? movements.count {
                            span.contains($0) && $0.environment == span.environment
                        } : financial.pending.count { span.contains($0) }
                ),
            ]
        )
    }

    private static func differences(
        _ sales: Finance.AppStoreMatching.Result,
        _ financial: Finance.AppStoreMatching.Result
    ) -> [Finance.Difference] {
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
        return sales.differences + paid
    }

    public func usual(_ movement: Finance.Movement) -> Finance.Settlement? {
        terms.settlement(of: movement, reportedBy: nil)
    }

    /// By fiscal months: as the finance report says, else as far as sales and usual shares let one
    /// tell.
    public func payouts(
        of span: BookSpan,
        sold: (_ first: Finance.Day, _ last: Finance.Day) async throws -> [Finance.Payment]
    ) async throws -> [Finance.Payout] {
        var months: [Finance.FiscalMonth] = []
        var month = Finance.FiscalMonth(containing: span.first)
        while let next = month, next.first <= span.last {
            months.append(next)
            month = next.next
        }
        guard let first = months.first?.first, let last = months.last?.last else { return [] }
        let reported = span.isReported ? try await lines.financial(from: first, to: last).lines : []
        let payments = try await sold(first, last)
        return months.flatMap { month -> [Finance.Payout] in
            let lines = reported.filter { month.first <= $0.first && $0.last <= month.last }
            var sums: [String: Finance.Money] = [:]
            for line in lines {
                let amount = line.proceeds.times(line.isRefund ? -line.units : line.units)
                sums[amount.currency] = sums[amount.currency].map { $0 + amount } ?? amount
            }
            if lines.isEmpty {
                for payment in payments
                where (month.first...month.last).contains(Finance.Day(pacific: payment.at))
                    && !payment.net.isZero
                {
                    let amount = payment.net
                    sums[amount.currency] = sums[amount.currency].map { $0 + amount } ?? amount
                }
            }
            return sums.sorted { $0.key < $1.key }.map { _, amount in
                Finance.Payout(
                    store: store,
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

    public func reissues() async throws -> [Finance.Reissue] { try await lines.reissues() }

    public func reportedSales(
        from first: Reports.Day,
        to last: Reports.Day
    ) async throws -> [Reports.ReportedSale] {
        try await lines.salesRows(from: first, to: last).rows.compactMap {
            sale,
            _ in
            guard let day = Reports.Day(sale.beginDate.description) else { return nil }
            return Reports.ReportedSale(
                day: day,
                productType: sale.productType,
                country: sale.country,
                units: sale.units,
                proceeds: Reports.Fraction(
                    Int128(sale.developerProceeds.millionths) * Int128(sale.units),
                    1000
                ),
                currency: sale.proceedsCurrency ?? ""
            )
        }
    }
}
