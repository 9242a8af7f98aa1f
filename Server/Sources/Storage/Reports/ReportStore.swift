internal import Crypto
public import TollgateCore

/// A store's report with its lines.
public struct StoredReport: Sendable {
    /// One line.
    public struct Row: Sendable {
        /// Its number in the file.
        public var line: Int64
        /// `YYYY-MM-DD`, as the store counts days.
        public var day: String
        /// As its kind encodes it.
        public var body: [UInt8]

        public init(line: Int64, day: String, body: [UInt8]) {
            self.line = line
            self.day = day
            self.body = body
        }
    }

    /// Which report it is: `SALES`, `FINANCIAL`.
    public var kind: String
    /// What it covers: `DAILY 2026-06-01`.
    public var period: String
    public var fetched: Instant
    /// The file as it came.
    public var body: [UInt8]
    public var rows: [Row]

    public init(kind: String, period: String, fetched: Instant, body: [UInt8], rows: [Row]) {
        self.kind = kind
        self.period = period
        self.fetched = fetched
        self.body = body
        self.rows = rows
    }
}

/// Stores' reports, their lines and earlier editions.
public struct ReportStore: Sendable {
    let driver: any StorageDriver

    /// Keeps a report; a newer one of the same period takes the place of the older.
    ///
    /// - Parameter isReissued: whether a report that differs from the one that is kept is another
    ///   edition of it, so that the older one is laid aside, and not the same one gone on.
    /// - Returns: whether it is new or differs from what was kept.
    public func keep(_ report: StoredReport, isReissued: Bool = false) async throws -> Bool {
        let key = RowKey("report", report.kind, report.period)
        let digest = Array(SHA256.hash(data: report.body))
        return try await driver.write { connection in
            let known = try connection.query(
                "SELECT digest FROM report WHERE key = $1",
                [key.value]
            )
            if let row = known.first, try row.bytes(0) == digest { return false }
            // The same lines, packed otherwise or in another order, say nothing new.
            let isOther = try known.isEmpty || !Self.hasLines(of: report, key, connection)
            if isReissued, isOther, !known.isEmpty {
                try Self.keepEdition(of: key, replaced: report.fetched, connection)
            }
            try connection.execute("DELETE FROM report_row WHERE report = $1", [key.value])
            try connection.execute(
                """
                INSERT INTO report (key, kind, period, fetched, digest, body)
                VALUES ($1, $2, $3, $4, $5, $6)
                ON CONFLICT (key) DO UPDATE SET fetched = $4, digest = $5, body = $6
                """,
                [
                    key.value, .text(report.kind), .text(report.period),
                    .integer(report.fetched.milliseconds), .blob(digest), .blob(report.body),
                ]
            )
            try connection.executeMany(
                "INSERT INTO report_row (report, line, kind, day, body) VALUES ($1, $2, $3, $4, $5)",
                report.rows.map {
                    [
                        key.value, .integer($0.line), .text(report.kind), .text($0.day),
                        .blob($0.body),
                    ]
                }
            )
            return isOther || !isReissued
        }
    }

    /// Whether what is kept under a key has the lines of a report, in whatever order.
    private static func hasLines(
        of report: StoredReport,
        _ key: RowKey,
        _ connection: any StorageConnection
    ) throws -> Bool {
        let rows = try connection.query(
            "SELECT day, body FROM report_row WHERE report = $1",
            [key.value]
        )
        guard rows.count == report.rows.count else { return false }
        var counts: [Row: Int] = [:]
        for row in rows { counts[row, default: 0] += 1 }
        for line in report.rows {
            let row = Row([.text(line.day), .blob(line.body)])
            guard let count = counts[row], count > 0 else { return false }
            counts[row] = count - 1
        }
        return true
    }

    /// A mark of all reports that are kept, which is another one after each that comes or takes the
    /// place of an older one; `nil`: none has come.
    ///
    /// When the newest came would not do: all that are fetched in one round have the same time.
    public func mark() async throws -> RowKey? {
        let rows = try await driver.read { connection in
            try connection.query("SELECT digest FROM report ORDER BY key")
        }
        guard !rows.isEmpty else { return nil }
        var hash = SHA256()
        for row in rows { hash.update(data: try row.bytes(0)) }
        return RowKey(digest: hash.finalize())
    }

    /// The periods of which a report of this kind is kept.
    public func periods(_ kind: String) async throws -> Set<String> {
        let rows = try await driver.readNow(
            "SELECT period FROM report WHERE kind = $1",
            [.text(kind)]
        )
        return Set(try rows.map { try $0.text(0) })
    }
}
