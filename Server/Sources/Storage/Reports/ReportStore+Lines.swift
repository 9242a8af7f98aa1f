/// A line of a store's report and the report that it is of.
public struct StoredReportLine: Sendable {
    /// What the report covers: `DAILY 2026-06-01`.
    public var period: String
    /// Its number in the file.
    public var line: Int64
    /// As its kind encodes it.
    public var body: [UInt8]
}

extension ReportStore {
    /// The lines of all reports of a kind that are about days from `first` to `last`, both
    /// included, each with the period of its report, in the order of days.
    public func lines(
        _ kind: String,
        from first: String,
        to last: String
    ) async throws -> [StoredReportLine] {
        let rows = try await driver.readNow(
            """
            SELECT report.period, report_row.line, report_row.body FROM report_row
            JOIN report ON report.key = report_row.report
            WHERE report_row.kind = $1 AND report_row.day >= $2 AND report_row.day <= $3
            ORDER BY report_row.day, report_row.report, report_row.line
            """,
            [.text(kind), .text(first), .text(last)]
        )
        return try rows.map {
            StoredReportLine(period: try $0.text(0), line: try $0.int64(1), body: try $0.bytes(2))
        }
    }
}
