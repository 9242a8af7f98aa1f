public import AppStoreAPI
internal import Foundation
internal import Reports
public import Storage
public import Stores
internal import TollgateAPI
public import TollgateCore

/// Takes the reports of App Store Connect into the database, for the reports to come.
///
/// They, and not the prices in signed transactions, are what accounts rest on.
public struct ConnectReports: Sendable {
    let store: RecordStore

    public init(_ store: RecordStore) {
        self.store = store
    }

    /// Takes in a file of App Store Connect, packed or not.
    ///
    /// - Parameters:
    ///   - name: the file's name, which says of some reports what day they are of.
    ///   - now: the wall clock.
    /// - Throws: `AppStore.ConnectReportError`, `ConnectReports.Failure`, `StorageError`.
    public func take(
        _ bytes: [UInt8],
        named name: String,
        at now: Instant
    ) async throws -> TakenReport {
        let report = try AppStore.ConnectReport(bytes)
        guard let period = Self.period(of: report, named: name) else {
            throw Failure.noPeriod(report.kind.rawValue)
        }
        return try await keep(report, bytes, period: period, at: now)
    }

    /// Why a file is not taken.
    public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// Neither its rows nor its name say when it was.
        case noPeriod(String)

        public var description: String {
            switch self {
            case .noPeriod(let kind):
                "a report \(kind) has no dates of its own; keep the name that App Store Connect gave the file, which ends with its date"
            }
        }
    }

    /// Fetches the daily reports of the days before `today` that are not kept yet, and the finance
    /// reports.
    ///
    /// - Parameters:
    ///   - days: how far back.
    ///   - told: called after each report.
    /// - Returns: what was new.
    public func fetch(
        with client: AppStore.ConnectClient,
        today: Instant,
        days: Int = 30,
        told: @Sendable (TakenReport) -> Void = { _ in }
    ) async throws -> [TakenReport] {
        var outcomes: [TakenReport] = []
        for kind in [
            AppStore.ConnectReport.Kind.sales, .subscription, .subscriptionEvent, .subscriber,
        ] {
            let kept = try await store.reports.periods(kind.rawValue)
            for back in stride(from: max(1, days), through: 1, by: -1) {
                let day = Self.day(today.advanced(by: -Int64(back) * 86_400_000))
                guard !kept.contains("DAILY \(day)") else { continue }
                guard let bytes = try await client.salesReport(.init(kind, date: day)) else {
                    // What is not there after some days never comes: nothing was sold.
                    if back > 3 { try await keepNothing(kind, period: "DAILY \(day)", at: today) }
                    continue
                }
                let report = try AppStore.ConnectReport(bytes)
                let outcome = try await keep(report, bytes, period: "DAILY \(day)", at: today)
                told(outcome)
                outcomes.append(outcome)
            }
        }
        for month in Self.fiscalMonths(before: today, count: 3) {
            guard let bytes = try await client.financeReport(month: month) else { continue }
            let report = try AppStore.ConnectReport(bytes)
            let outcome = try await keep(report, bytes, period: "FISCAL \(month) ZZ", at: today)
            guard outcome.isNew else { continue }
            told(outcome)
            outcomes.append(outcome)
        }
        return outcomes
    }

    private func keep(
        _ report: AppStore.ConnectReport,
        _ bytes: [UInt8],
        period: String,
        at now: Instant
    ) async throws -> TakenReport {
        let rows = try report.rows.enumerated().map { index, row in
            StoredReport.Row(
                line: Int64(index + 2),
                day: row.day ?? String(period.drop { $0 != " " }.dropFirst().prefix(10)),
                body: try row.encoded()
            )
        }
        let isNew = try await store.reports.keep(
            StoredReport(
                kind: report.kind.rawValue,
                period: period,
                fetched: now,
                body: bytes,
                rows: rows
            ),
            isReissued: true
        )
        return TakenReport(
            kind: report.kind.rawValue,
            period: period,
            rows: rows.count,
            isNew: isNew
        )
    }

    /// Notes that there is no report, so that it is not asked for again.
    private func keepNothing(
        _ kind: AppStore.ConnectReport.Kind,
        period: String,
        at now: Instant
    ) async throws {
        _ = try await store.reports.keep(
            StoredReport(kind: kind.rawValue, period: period, fetched: now, body: [], rows: [])
        )
    }

    // MARK: - Of what time a report is

    /// `DAILY 2026-06-01`, `WEEKLY …`, `MONTHLY 2026-06`, `YEARLY 2026`, `FISCAL 2026-05 ZZ`.
    private static func period(of report: AppStore.ConnectReport, named name: String) -> String? {
        switch report.rows.first {
        case .sales(let row)?:
            return period(from: row.beginDate.description, to: row.endDate.description)
        case .financial(let row)?:
            // The name ends with the fiscal month and the region: 87654321_0626_ZZ.txt.
            let parts = name.split { "_.".contains($0) }.map(String.init)
            if parts.count >= 3, parts[1].count == 4, let number = Int(parts[1]) {
                let month = "20\(parts[1].suffix(2))-\(parts[1].prefix(2))"
                return number > 0 ? "FISCAL \(month) \(parts[2])" : nil
            }
            return "FISCAL \(row.endDate.description.prefix(7)) ZZ"
        case .subscription?, nil:
            if let day = report.rows.first?.day { return "DAILY \(day)" }
            // These say it in their name only: Subscription_87654321_20260601.txt.gz.
            let digits = name.split { !$0.isNumber }.map(String.init).last { $0.count == 8 }
            return digits.flatMap { AppStore.ReportDay($0) }.map { "DAILY \($0)" }
        }
    }

    private static func period(from first: String, to last: String) -> String {
        if first == last { return "DAILY \(last)" }
        if first.prefix(4) == last.prefix(4), first.hasSuffix("-01-01"), last.hasSuffix("-12-31") {
            return "YEARLY \(last.prefix(4))"
        }
        // A week may begin with a month.
        if first.prefix(7) == last.prefix(7), first.hasSuffix("-01"),
            Reports.Day(last)?.advanced(by: 1).description.hasSuffix("-01") == true
        {
            return "MONTHLY \(last.prefix(7))"
        }
        return "WEEKLY \(last)"
    }

    private static func day(_ instant: Instant) -> String {
        String("\(instant)".prefix(10))
    }

    /// Apple's fiscal months that have ended, the oldest first.
    private static func fiscalMonths(before today: Instant, count: Int) -> [String] {
        var month = Finance.FiscalMonth(containing: Finance.Day(pacific: today))?.previous
        var months: [String] = []
        while let ended = month, months.count < count {
            months.insert("\(ended)", at: 0)
            month = ended.previous
        }
        return months
    }
}

extension AppStore.ConnectReport.Row {
    /// The day that a line is about; nil for those of a report that is about one day as a whole.
    fileprivate var day: String? {
        switch self {
        case .sales(let row): row.endDate.description
        case .subscription(let row): row.eventDate?.description
        case .financial(let row): row.endDate.description
        }
    }

    fileprivate func encoded() throws -> [UInt8] {
        switch self {
        case .sales(let row): Array(try APIJSON.encode(row))
        case .subscription(let row): Array(try APIJSON.encode(row))
        case .financial(let row): Array(try APIJSON.encode(row))
        }
    }
}
