/// Earnings: what Google pays, each charge with its fee.
enum EarningsReport {
    static let columns = [
        "Description", "Transaction Date", "Transaction Time", "Tax Type", "Transaction Type",
        "Refund Type", "Product Title", "Product id", "Product Type", "Sku Id", "Hardware",
        "Buyer Country", "Buyer State", "Buyer Postal Code", "Buyer Currency",
        "Amount (Buyer Currency)", "Currency Conversion Rate", "Merchant Currency",
        "Amount (Merchant Currency)", "Base Plan ID", "Offer ID",
    ]

    static let merchantCurrency = "USD"

    /// The value of one unit of a currency in US dollars.
    private static let rates = [
        "USD": 1.0, "EUR": 1.1, "GBP": 1.25, "JPY": 0.0067, "BRL": 0.18, "KRW": 0.00072,
        "INR": 0.012,
    ]

    /// A part of what one charge or refund brings.
    struct Line: Hashable, Sendable {
        var entry: ReportEntry
        /// `Charge`, `Google fee refund`, ….
        var type: String
        var buyer: Money
        var merchant: Money
        var rate: Double
    }

    /// Charge and fee of each movement; the tax on a sale is Google's to pay, and in no line.
    static func lines(_ entries: [ReportEntry], feePerMille: Int64) -> [Line] {
        entries.filter { !$0.isFree }.flatMap { entry in
            let region = entry.order.region
            let net = Tax.charged(entry.amount, in: region) - Tax.on(entry.amount, in: region)
            let fee = net.times(feePerMille, over: 1000)
            let isCharge = entry.kind == .charge
            let sign: Int64 = isCharge ? 1 : -1
            return [
                line(entry, isCharge ? "Charge" : "Charge refund", sign * net.micros),
                line(entry, isCharge ? "Google fee" : "Google fee refund", -sign * fee.micros),
            ]
        }
    }

    private static func line(_ entry: ReportEntry, _ type: String, _ micros: Int64) -> Line {
        let buyer = Money(currency: entry.amount.currency, micros: micros)
        let rate = rates[buyer.currency] ?? 1
        // Google pays whole cents.
        let cents = (Double(micros) * rate / 10_000).rounded()
        return Line(
            entry: entry,
            type: type,
            buyer: buyer,
            merchant: Money(currency: merchantCurrency, micros: Int64(cents) * 10_000),
            rate: rate
        )
    }

    static func table(
        _ entries: [ReportEntry],
        _ store: PlayStore,
        feePerMille: Int64
    ) -> CSVTable {
        var table = CSVTable(columns: columns)
        for line in lines(entries, feePerMille: feePerMille) {
            table.rows.append(row(line, store))
        }
        return table
    }

    private static func row(_ line: Line, _ store: PlayStore) -> [String] {
        let entry = line.entry
        let time = PacificTime(entry.at)
        let refund =
            switch entry.kind {
            case .charge: ""
            case .refund: "Full"
            case .partialRefund: "Partial"
            }
        return [
            entry.order.id, time.words, time.clockWords, "", line.type, refund,
            store.catalog.title(of: entry.line.productID), store.packageName, entry.productType,
            entry.line.productID, "sandbox", entry.order.region, "", "", line.buyer.currency,
            line.buyer.decimal, "\(line.rate)", line.merchant.currency, line.merchant.decimal,
            entry.planID, entry.offerID,
        ]
    }
}
