extension GooglePlay {
    /// A line of an estimated sales report: one charge, or what went back of it.
    ///
    /// Neither the buyer's city nor postal code is read.
    public struct SalesRow: Hashable, Sendable {
        public enum Status: Hashable, Sendable {
            case charged
            case refund
            case partialRefund
            /// Any other word of Google's.
            case other(String)
        }

        public let file: String
        public let line: Int
        /// `GPA.…`; renewals end in `..0`, `..1`, ….
        public let order: String
        public let date: ReportDate
        /// UNIX milliseconds; `nil` where the report has the day alone.
        public let instant: Int64?
        public let status: Status
        public let package: String
        /// The in-app product; empty for a paid app.
        public let product: String
        public let currency: String
        /// Millionths of the buyer's currency, whichever sign the report gives to what went back: the
        /// price without tax, the tax, and their sum.
        public let price: Int64
        public let tax: Int64
        public let charged: Int64
        /// ISO 3166-1 alpha-2; empty where the report does not say.
        public let country: String
    }
}

extension GooglePlay.SalesRow: ReportRow {
    private typealias Column = GooglePlay.ReportTable.Column

    private static let order = Column("Order Number")
    private static let date = Column("Order Charged Date")
    private static let timestamp = Column("Order Charged Timestamp")
    private static let status = Column("Financial Status")
    private static let package = Column("Package ID", "Product ID")
    private static let product = Column("SKU ID")
    private static let currency = Column("Currency of Sale")
    private static let price = Column("Item Price")
    private static let tax = Column("Taxes Collected")
    private static let charged = Column("Charged Amount")
    private static let country = Column("Country of Buyer")

    static var needed: [GooglePlay.ReportTable.Column] {
        [order, date, status, package, product, currency, price, tax, charged]
    }
    static var optional: [GooglePlay.ReportTable.Column] { [timestamp, country] }

    init(
        _ row: GooglePlay.ReportTable.Row,
        of table: GooglePlay.ReportTable
    ) throws(GooglePlay.ReportProblem) {
        file = table.file
        line = row.line
        order = try table.required(row, Self.order)
        date = try table.date(row, Self.date)
        // Seconds; a number that would be a time in the far future is one of milliseconds.
        instant = table.text(row, Self.timestamp).digits.map {
            $0 < 100_000_000_000 ? $0 * 1000 : $0
        }
        status = Status(try table.required(row, Self.status))
        package = try table.required(row, Self.package)
        product = table.text(row, Self.product)
        currency = try table.currency(row, Self.currency)
        price = abs(try table.amount(row, Self.price))
        tax = abs(try table.amount(row, Self.tax))
        charged = abs(try table.amount(row, Self.charged))
        country = table.text(row, Self.country)
    }
}

extension GooglePlay.SalesRow.Status {
    /// Reads Google's word, whose spelling has changed over the years.
    init(_ word: String) {
        let plain = word.lowercased()
        if plain.contains("partial") {
            self = .partialRefund
        } else if plain.contains("refund") {
            self = .refund
        } else if plain == "charged" || plain == "charge" {
            self = .charged
        } else {
            self = .other(word)
        }
    }
}
