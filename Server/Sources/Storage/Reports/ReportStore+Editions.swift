public import TollgateCore

/// An edition of a store's report whose place a newer one has taken.
public struct StoredReportEdition: Hashable, Sendable {
    /// Which report it is: `SALES`, `FINANCIAL`.
    public var kind: String
    /// What it covers: `DAILY 2026-06-01`.
    public var period: String
    /// When it came, by real time.
    public var fetched: Instant
    /// When the newer one came.
    public var replaced: Instant
}

extension ReportStore {
    /// The older editions of all reports of some kinds, in the order in which they were replaced.
    public func editions(_ kinds: [String]) async throws -> [StoredReportEdition] {
        try await driver.read { connection in
            let rows = try connection.queryMany(
                """
                SELECT report.kind, report.period, report_edition.fetched,
                report_edition.replaced
                FROM report_edition JOIN report ON report.key = report_edition.report
                WHERE report.kind = $1
                ORDER BY report_edition.replaced, report.period
                """,
                kinds.map { [.text($0)] }
            )
            return try rows.joined().map {
                StoredReportEdition(
                    kind: try $0.text(0),
                    period: try $0.text(1),
                    fetched: Instant(milliseconds: try $0.int64(2)),
                    replaced: Instant(milliseconds: try $0.int64(3))
                )
            }
        }
    }

    /// Lays the edition that is kept aside, before another takes its place.
    static func keepEdition(
        of report: RowKey,
        replaced: Instant,
        _ connection: any StorageConnection
    ) throws {
        // A note that there was nothing is no edition.
        try connection.execute(
            """
            INSERT INTO report_edition (report, replaced, fetched, digest, body)
            SELECT key, $2, fetched, digest, body FROM report
            WHERE key = $1 AND length(body) > 0
            ON CONFLICT (report, replaced, digest) DO NOTHING
            """,
            [report.value, .integer(replaced.milliseconds)]
        )
    }
}
