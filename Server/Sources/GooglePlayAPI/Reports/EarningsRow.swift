extension GooglePlay {
    /// A line of an earnings report: a part of what one charge or refund brings, signed from the
    /// developer's side.
    ///
    /// Neither the buyer's state nor postal code is read.
    public struct EarningsRow: Hashable, Sendable {
        public enum Kind: String, Hashable, Sendable {
            /// A payment of the buyer, or a refund to them.
            case charge
            /// Google's fee, or its return.
            case fee
            /// Tax that Google paid or withheld.
            case tax
            /// Any other word of Google's.
            case other
        }

        public let file: String
        public let line: Int
        /// `GPA.…`; empty for what belongs to no order.
        public let order: String
        public let date: ReportDate
        /// UNIX milliseconds; `nil` where the report has the day alone.
        public let instant: Int64?
        /// `Transaction Type`: `Charge`, `Google fee`, `Tax refund`, ….
        public let type: String
        public let kind: Kind
        /// `true` for a line of a refund.
        public let isRefund: Bool
        public let package: String
        public let product: String
        public let country: String
        public let buyerCurrency: String
        /// Millionths of the buyer's currency.
        public let buyerAmount: Int64
        /// The exchange rate from the buyer's currency to the merchant's, as it is written; `nil` where the
        /// report states none.
        public let rate: String?
        public let merchantCurrency: String
        /// Millionths of the merchant's currency.
        public let merchantAmount: Int64
    }
}

extension GooglePlay.EarningsRow: ReportRow {
    private typealias Column = GooglePlay.ReportTable.Column

    private static let order = Column("Description")
    private static let date = Column("Transaction Date")
    private static let time = Column("Transaction Time")
    private static let type = Column("Transaction Type")
    private static let package = Column("Package ID", "Product id")
    private static let product = Column("Sku Id")
    private static let country = Column("Buyer Country")
    private static let buyerCurrency = Column("Buyer Currency")
    private static let buyerAmount = Column("Amount (Buyer Currency)")
    private static let rate = Column("Currency Conversion Rate")
    private static let merchantCurrency = Column("Merchant Currency")
    private static let merchantAmount = Column("Amount (Merchant Currency)")

    static var needed: [GooglePlay.ReportTable.Column] {
        [
            order, date, type, package, product, buyerCurrency, buyerAmount, merchantCurrency,
            merchantAmount,
        ]
    }
    static var optional: [GooglePlay.ReportTable.Column] { [time, country, rate] }

    init(
        _ row: GooglePlay.ReportTable.Row,
        of table: GooglePlay.ReportTable
    ) throws(GooglePlay.ReportProblem) {
        file = table.file
        line = row.line
        order = table.text(row, Self.order)
        date = try table.date(row, Self.date)
        instant = GooglePlay.ReportValues.instant(table.text(row, Self.time), on: date)
        type = try table.required(row, Self.type)
        let words = type.lowercased()
        isRefund = words.contains("refund") || words.contains("chargeback")
        kind =
            words.contains("fee")
            ? .fee : words.contains("tax") ? .tax : words.contains("charge") ? .charge : .other
        package = table.text(row, Self.package)
        product = table.text(row, Self.product)
        country = table.text(row, Self.country)
        merchantCurrency = try table.currency(row, Self.merchantCurrency)
        merchantAmount = try table.amount(row, Self.merchantAmount)
        // What belongs to no order has no buyer.
        let isNobodys = order.isEmpty && table.text(row, Self.buyerCurrency).isEmpty
        buyerCurrency = isNobodys ? merchantCurrency : try table.currency(row, Self.buyerCurrency)
        buyerAmount = isNobodys ? merchantAmount : try table.amount(row, Self.buyerAmount)
        let rate = table.text(row, Self.rate)
        self.rate = rate.isEmpty ? nil : rate
    }
}
