extension GooglePlay {
    /// A line of a payout report: money sent to the developer's bank.
    ///
    /// [unconfirmed]: that there are such reports under `payouts/` is known, their columns are not; these
    /// names are those of the sandbox.
    public struct PayoutRow: Hashable, Sendable {
        public let file: String
        public let line: Int
        /// Google's number of the payout; empty where the report has none.
        public let id: String
        public let date: ReportDate
        /// `2026-05`, the month whose earnings are paid; empty where the report does not say.
        public let month: String
        public let currency: String
        /// Millionths of the currency.
        public let amount: Int64
    }
}

extension GooglePlay.PayoutRow: ReportRow {
    private typealias Column = GooglePlay.ReportTable.Column

    private static let id = Column("Payout ID", "Payment ID")
    private static let date = Column("Payout Date", "Payment Date")
    private static let month = Column("Earnings Month")
    private static let currency = Column("Payout Currency", "Merchant Currency", "Currency")
    private static let amount = Column("Payout Amount", "Amount (Merchant Currency)", "Amount")

    static var needed: [GooglePlay.ReportTable.Column] { [date, currency, amount] }
    static var optional: [GooglePlay.ReportTable.Column] { [id, month] }

    init(
        _ row: GooglePlay.ReportTable.Row,
        of table: GooglePlay.ReportTable
    ) throws(GooglePlay.ReportProblem) {
        file = table.file
        line = row.line
        id = table.text(row, Self.id)
        date = try table.date(row, Self.date)
        currency = try table.currency(row, Self.currency)
        amount = try table.amount(row, Self.amount)
        let month = table.text(row, Self.month)
        guard month.isEmpty || GooglePlay.ReportDate("\(month)-01") != nil else {
            throw table.problem(row, Self.month, "is no month like 2026-05: ‘\(month)’.")
        }
        self.month = month
    }
}
