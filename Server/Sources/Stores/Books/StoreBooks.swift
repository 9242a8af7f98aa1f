public import Reports
public import TollgateCore

/// One store's own sales reports, compared with our sales.
public protocol StoreBooks: Sendable {
    var store: Store { get }
    /// The store's expected fee on charges.
    var fee: Finance.Terms.StoreFee { get }
    /// Whether reports can be fetched: a key is configured.
    var canFetch: Bool { get }
    /// The store's reports in whose columns our figures are written too.
    var layouts: [StoreLayout] { get }

    /// Fetches the reports that are not here yet.
    ///
    /// - Parameters:
    ///   - today: the stores' present.
    ///   - prolong: called now and then; what it throws ends the fetch, and what was fetched by then
    ///     is kept.
    /// - Returns: how many were new.
    func fetch(today: Instant, prolong: @Sendable () async throws -> Void) async throws -> Int

    /// Compares sales with the reports that are here.
    ///
    /// - Parameter movements: those of this store, some weeks more than `span` on both sides.
    func compare(_ movements: [Finance.Movement], over span: BookSpan) async throws
        -> ComparedBooks

    /// The usual fee and proceeds of a sale or refund; `nil`: unknown.
    func usual(_ movement: Finance.Movement) -> Finance.Settlement?

    /// The store's payouts for the days of `span`, sent or expected.
    ///
    /// - Parameter sold: returns the store's payments of some days, for estimates where there is no
    ///   report yet.
    func payouts(
        of span: BookSpan,
        sold: (_ first: Finance.Day, _ last: Finance.Day) async throws -> [Finance.Payment]
    ) async throws -> [Finance.Payout]

    /// The movements of the store's balance in the calendar month `span`; `nil` for a store that keeps
    /// no balance.
    func balances(of span: BookSpan) async throws -> [Finance.Statement.Balance]?

    /// Every report that was issued again.
    func reissues() async throws -> [Finance.Reissue]

    /// The lines of reports that count units sold, for figures beside ours.
    func reportedSales(from first: Reports.Day, to last: Reports.Day) async throws
        -> [Reports.ReportedSale]
}

extension StoreBooks {
    /// The name under which the last round of fetching is kept.
    public var roundName: String { "reports/\(store.rawValue)" }

    public var layouts: [StoreLayout] { [] }

    public func balances(of span: BookSpan) async throws -> [Finance.Statement.Balance]? { nil }

    public func reissues() async throws -> [Finance.Reissue] { [] }

    public func reportedSales(from first: Reports.Day, to last: Reports.Day) async throws
        -> [Reports.ReportedSale]
    { [] }
}

/// The days and the environment of which books are asked.
public struct BookSpan: Sendable {
    public var first: Finance.Day
    public var last: Finance.Day
    public var environment: StoreEnvironment
    /// Whether the reports that are here tell of this environment; else they are not looked at.
    public var isReported: Bool

    public init(
        from first: Finance.Day,
        to last: Finance.Day,
        in environment: StoreEnvironment,
        isReported: Bool
    ) {
        self.first = first
        self.last = last
        self.environment = environment
        self.isReported = isReported
    }

    /// The days before and after `span` that are compared too: a sale may be booked some days after it
    /// was made.
    public static let margin: Int64 = 45
    public var early: Finance.Day { first.advanced(by: -Self.margin) }
    public var late: Finance.Day { last.advanced(by: Self.margin) }

    public func contains(_ movement: Finance.Movement) -> Bool {
        (first...last).contains(Finance.Day(utc: movement.at))
    }
}

/// The result of comparing our sales with one store's reports.
public struct ComparedBooks: Sendable {
    /// Fee and proceeds of the sales that are in reports.
    public var settlements: [Finance.Movement: Finance.Settlement]
    public var differences: [Finance.Difference]
    public var coverage: [Finance.Reconciliation.Coverage]

    public init(
        settlements: [Finance.Movement: Finance.Settlement],
        differences: [Finance.Difference],
        coverage: [Finance.Reconciliation.Coverage]
    ) {
        self.settlements = settlements
        self.differences = differences
        self.coverage = coverage
    }
}
