internal import Foundation
internal import GooglePlayAPI
internal import Reports
public import Storage
public import Stores
internal import TollgateAPI
public import TollgateCore

/// Takes the Play Console's financial reports into the database, for accounts.
///
/// Kept is what accounts need and nothing of the buyer but the country: not the file itself, which has
/// postal codes.
public struct GooglePlayReports: Sendable {
    static let sales = "GOOGLE_PLAY_SALES"
    static let earnings = "GOOGLE_PLAY_EARNINGS"
    static let payouts = "GOOGLE_PLAY_PAYOUT"

    let store: RecordStore

    public init(_ store: RecordStore) { self.store = store }

    /// Returns `true` if a file is one of these, by its name.
    public static func recognizes(_ name: String) -> Bool {
        GooglePlay.Report.kind(of: name) != nil && GooglePlay.Report.month(of: name) != nil
    }

    /// Takes in a report; one of the same name takes the place of the older.
    ///
    /// - Parameters:
    ///   - path: its name in the bucket or on a disk, which says which report it is, and of which month.
    ///   - now: the wall clock.
    /// - Throws: `GooglePlay.ReportProblem` for what cannot be read; `StorageError`.
    public func take(
        _ bytes: [UInt8],
        named path: String,
        at now: Instant
    ) async throws -> TakenReport {
        let report = try GooglePlay.Report(bytes, named: path)
        let period = "MONTHLY \(report.month) \(report.name)"
        switch report.rows {
        case .sales(let rows):
            let lines = try rows.map {
                (line: try GooglePlaySale($0), number: $0.line, file: $0.file)
            }
            return try await keep(Self.sales, period, lines, now) { $0.day }
        case .earnings(let rows):
            let lines = try rows.map {
                (line: try GooglePlayEarning($0), number: $0.line, file: $0.file)
            }
            return try await keep(Self.earnings, period, lines, now) { $0.day }
        case .payouts(let rows):
            let lines = try rows.map {
                (line: try GooglePlayPaidOut($0), number: $0.line, file: $0.file)
            }
            return try await keep(Self.payouts, period, lines, now) { $0.day }
        }
    }

    private func keep<Line: Encodable>(
        _ kind: String,
        _ period: String,
        _ lines: [(line: Line, number: Int, file: String)],
        _ now: Instant,
        _ day: (Line) -> Finance.Day
    ) async throws -> TakenReport {
        var rows: [StoredReport.Row] = []
        // The lines of a second file in an archive are counted on.
        var (file, before, newest) = (lines.first?.file, 0, 0)
        for line in lines {
            if line.file != file { (file, before) = (line.file, newest) }
            newest = before + line.number
            rows.append(
                StoredReport.Row(
                    line: Int64(newest),
                    day: "\(day(line.line))",
                    body: Array(try APIJSON.encode(line.line))
                )
            )
        }
        let isNew = try await store.reports.keep(
            StoredReport(
                kind: kind,
                period: period,
                fetched: now,
                body: Array(rows.map(\.body).joined(separator: [UInt8(ascii: "\n")])),
                rows: rows
            ),
            isReissued: try await !isGrown(kind, period, rows)
        )
        return TakenReport(kind: kind, period: period, rows: rows.count, isNew: isNew)
    }

    /// Returns `true` if all lines that are kept are there again, so that the report only has new ones: the
    /// current month's grows each day.
    private func isGrown(
        _ kind: String,
        _ period: String,
        _ rows: [StoredReport.Row]
    ) async throws -> Bool {
        guard try await store.reports.periods(kind).contains(period) else { return true }
        var counts: [[UInt8]: Int] = [:]
        for row in rows { counts[row.body, default: 0] += 1 }
        for kept in try await lines(kind, of: period) {
            guard let count = counts[kept.body], count > 0 else { return false }
            counts[kept.body] = count - 1
        }
        return true
    }

    private func lines(_ kind: String, of period: String) async throws -> [StoredReportLine] {
        guard let first = Self.month(of: period) else { return [] }
        // Some lines of a month are of the days around it.
        return try await store.reports.lines(
            kind,
            from: "\(first.advanced(by: -7))",
            to: "\(first.startOfNextMonth.advanced(by: 60))"
        ).filter { $0.period == period }
    }

    /// The first day of the month of `MONTHLY 2026-05 salesreport_202605`.
    static func month(of period: String) -> Finance.Day? {
        period.split(separator: " ").dropFirst().first.flatMap { Finance.Day("\($0)-01") }
    }

    // MARK: - What is kept

    /// A line and where it stands.
    struct Placed<Line: Sendable>: Sendable {
        var line: Line
        /// `salesreport_202605, line 3`.
        var place: String
    }

    /// The lines of estimated sales of some days.
    func sales(
        from first: Finance.Day,
        to last: Finance.Day
    ) async throws -> [Placed<GooglePlaySale>] {
        try await lines(Self.sales, first, last)
    }

    /// The lines of earnings of some days.
    func earnings(
        from first: Finance.Day,
        to last: Finance.Day
    ) async throws -> [Placed<GooglePlayEarning>] {
        try await lines(Self.earnings, first, last)
    }

    /// The payouts of some days.
    func payouts(
        from first: Finance.Day,
        to last: Finance.Day
    ) async throws -> [Placed<GooglePlayPaidOut>] {
        try await lines(Self.payouts, first, last)
    }

    private func lines<Line: Decodable & Sendable>(
        _ kind: String,
        _ first: Finance.Day,
        _ last: Finance.Day
    ) async throws -> [Placed<Line>] {
        try await store.reports.lines(kind, from: "\(first)", to: "\(last)").map { kept in
            let name = kept.period.split(separator: " ").last ?? ""
            return Placed(
                line: try APIJSON.decode(Line.self, from: Data(kept.body)),
                place: "\(name), line \(kept.line)"
            )
        }
    }

    /// The months, by their first days, of which there is a report of a kind.
    func months(_ kind: String) async throws -> Set<Finance.Day> {
        Set(try await store.reports.periods(kind).compactMap(Self.month))
    }

    /// Every report that Google has corrected.
    func reissues() async throws -> [Finance.Reissue] {
        try await store.reports.editions([Self.sales, Self.earnings, Self.payouts]).map {
            Finance.Reissue(
                source: $0.kind,
                period: $0.period,
                fetched: Finance.Day(utc: $0.fetched),
                replaced: Finance.Day(utc: $0.replaced)
            )
        }
    }
}
