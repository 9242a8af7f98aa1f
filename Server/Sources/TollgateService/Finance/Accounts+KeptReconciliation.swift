internal import Foundation
public import Reports
package import Storage
internal import Stores
internal import TollgateAPI
public import TollgateCore

// Comparing the sales of many customers takes a while and much memory. So it is done when reports
// have come, or when somebody asks for it, and what was found is kept for whoever looks.
extension Accounts {
    /// A comparison with the stores' reports that was made earlier.
    public struct KeptReconciliation: Sendable {
        /// At most the first thousand differences; their sums are of all.
        public var reconciliation: Finance.Reconciliation
        /// By the wall clock.
        public var made: Instant
        /// The mark of the reports that were there then.
        var reports: RowKey?
    }

    /// The form in which it is kept.
    private struct Kept: Codable {
        var reconciliation: Finance.Reconciliation
        var reports: RowKey?
    }

    /// How many sales and refunds, about, have to be looked at for a comparison of some days.
    ///
    /// They are counted by months, which costs next to nothing; those that cost nothing too, since
    /// they are looked at as well.
    public func salesToCompare(from first: Finance.Day, to last: Finance.Day) async throws -> Int64
    {
        let begin = first.advanced(by: -2 * BookSpan.margin)
        let early = begin.advanced(by: 1 - begin.civil.day)
        let late = last.advanced(by: BookSpan.margin + 1)
        var count: Int64 = 0
        for environment in StoreEnvironment.allCases {
            let found = try await records.figures.rollups(
                [Reports.Measure.charge, .refund].map {
                    RollupSelection(
                        $0.rawValue,
                        .monthTotal,
                        days: early.number...max(early, late).number,
                        step: .whole
                    )
                },
                in: environment
            ).joined().map { max($0.items, $0.units) }
            for number in found {
                let sum = count.addingReportingOverflow(number)
                count = sum.overflow ? .max : sum.partialValue
            }
        }
        return count
    }

    /// Compares as `reconciliation` does, and keeps what was found in place of what was kept before.
    ///
    /// One at a time, since it reads all sales of the days.
    ///
    /// - Returns: what was found; `nil`, and what was kept stays, where somebody else is comparing,
    ///   or where the figures are far behind the journal: sales that are not among them yet would be
    ///   told as differences.
    /// - Throws: as `reconciliation`.
    public func reconcileAndKeep(
        from first: Finance.Day,
        to last: Finance.Day,
        in environment: StoreEnvironment
    ) async throws -> KeptReconciliation? {
        try await leases.holding(Self.keptName(environment), seconds: 600) { prolong in
            try await reconcileAndKeepAlone(from: first, to: last, in: environment, prolong)
        } ?? nil
    }

    private func reconcileAndKeepAlone(
        from first: Finance.Day,
        to last: Finance.Day,
        in environment: StoreEnvironment,
        _ prolong: @Sendable () async throws -> Void
    ) async throws -> KeptReconciliation? {
        guard try await FigureDerivation.lag(of: records) < Self.muchBehind else { return nil }
        // What comes from here on is not compared.
        let made = clocks.wall()
        let reports = try await records.reports.mark()
        var found = try await reconciliation(from: first, to: last, in: environment)
        found.differences = Array(found.differences.prefix(1_000))
        // Nothing is kept over what somebody has found who took over from us.
        try await prolong()
        try await records.cursors.keep(
            Self.keptName(environment),
            value: Kept(reconciliation: found, reports: reports),
            now: made
        )
        return KeptReconciliation(reconciliation: found, made: made, reports: reports)
    }

    /// How many differences of the comparison that was kept last nobody can explain.
    ///
    /// - Returns: `nil` where nothing was compared yet.
    package static func unexplained(
        in environment: StoreEnvironment,
        of records: RecordStore
    ) async throws -> Int? {
        try await kept(in: environment, of: records)?.reconciliation.differences
            .count { !$0.reason.isExplained }
    }

    /// What was kept last, if anything.
    public func keptReconciliation(
        in environment: StoreEnvironment
    ) async throws -> KeptReconciliation? {
        try await Self.kept(in: environment, of: records)
    }

    private static func kept(
        in environment: StoreEnvironment,
        of records: RecordStore
    ) async throws -> KeptReconciliation? {
        guard let kept = try await records.cursors.read(keptName(environment)),
            // What an earlier version kept in another form is found again soon.
            let found = try? APIJSON.decode(Kept.self, from: Data(kept.body))
        else { return nil }
        return KeptReconciliation(
            reconciliation: found.reconciliation,
            made: kept.updated,
            reports: found.reports
        )
    }

    /// Rows of the journal: a second's worth of a busy server.
    private static let muchBehind: Int64 = 1_000

    private static func keptName(_ environment: StoreEnvironment) -> String {
        "reconciliation/\(environment.rawValue)"
    }

    /// The newest payments, refunds and disputes of some days as the record has them, with what is
    /// usually left of each: no report is looked at, so it takes as long however many there are.
    public func newestPayments(
        _ count: Int64,
        from first: Finance.Day,
        to last: Finance.Day,
        of app: String? = nil,
        in environment: StoreEnvironment
    ) async throws -> [Finance.Payment] {
        try records.history.current.requireSeveralApps(with: app)
        // Rows are found by their days. Within one they lie in no order of time, so more of them
        // are looked at, up to as many as cost next to nothing.
        let sales = try await records.figures.newest(
            kind: FigureKind.sale.rawValue,
            in: environment,
            days: first.number...max(first, last).number,
            limit: max(count, 500)
        ).reversed().map { try $0.sale() }.filter { app == nil || $0.app == app }
            .sorted { $0.at < $1.at }.suffix(Int(clamping: count))
        return try await named(
            Finance.payments(Finance.movements(of: Array(sales)), settled: usual),
            in: environment
        )
    }
}
