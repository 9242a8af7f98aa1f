internal import GooglePlayAPI
internal import Reports
internal import TollgateCore

/// A line of an estimated sales report as it is kept: what accounts need, and nothing of the buyer but
/// the country.
struct GooglePlaySale: Hashable, Codable, Sendable {
    var order: String
    var day: Finance.Day
    var at: Instant?
    /// `charged`, `refund`, or Google's word for anything else.
    var status: String
    var package: String
    var product: String
    /// The tax within `charged`, and what the buyer paid or got back; never negative.
    var tax: Finance.Money
    var charged: Finance.Money
    var country: String?

    static let (charge, refund) = ("charged", "refund")
}

/// A line of an earnings report as it is kept.
struct GooglePlayEarning: Hashable, Codable, Sendable {
    /// Empty for what belongs to no order.
    var order: String
    var day: Finance.Day
    var at: Instant?
    /// `charge`, `fee`, `tax`, `other`.
    var kind: String
    var isRefund: Bool
    /// Google's word: `Google fee`.
    var type: String
    var package: String
    var product: String
    var country: String?
    /// Signed from our side, in the buyer's currency and in ours.
    var paid: Finance.Money
    var earned: Finance.Money
    /// The factor by which `paid` was multiplied, as it is written.
    var rate: String?
}

/// A line of a payout report as it is kept.
struct GooglePlayPaidOut: Hashable, Codable, Sendable {
    var id: String
    var day: Finance.Day
    /// `2026-05`, the month whose earnings it pays.
    var month: String?
    var amount: Finance.Money
}

extension GooglePlaySale {
    init(_ row: GooglePlay.SalesRow) throws(GooglePlay.ReportProblem) {
        order = row.order
        day = try row.date.checked(in: row.file, row.line)
        at = row.instant.map(Instant.init(milliseconds:))
        switch row.status {
        case .charged: status = Self.charge
        case .refund, .partialRefund: status = Self.refund
        case .other(let word): status = word
        }
        package = row.package
        product = row.product
        tax = Finance.Money(millionths: row.tax, currency: row.currency)
        charged = Finance.Money(millionths: row.charged, currency: row.currency)
        country = row.country.isEmpty ? nil : row.country
    }
}

extension GooglePlayEarning {
    init(_ row: GooglePlay.EarningsRow) throws(GooglePlay.ReportProblem) {
        order = row.order
        day = try row.date.checked(in: row.file, row.line)
        at = row.instant.map(Instant.init(milliseconds:))
        kind = row.kind.rawValue
        isRefund = row.isRefund
        type = row.type
        package = row.package
        product = row.product
        country = row.country.isEmpty ? nil : row.country
        paid = Finance.Money(millionths: row.buyerAmount, currency: row.buyerCurrency)
        earned = Finance.Money(millionths: row.merchantAmount, currency: row.merchantCurrency)
        rate = row.rate
    }
}

extension GooglePlayPaidOut {
    init(_ row: GooglePlay.PayoutRow) throws(GooglePlay.ReportProblem) {
        day = try row.date.checked(in: row.file, row.line)
        id = row.id.isEmpty ? "payout \(row.date) \(row.currency)" : row.id
        month = row.month.isEmpty ? nil : row.month
        amount = Finance.Money(millionths: row.amount, currency: row.currency)
    }
}

extension GooglePlay.ReportDate {
    fileprivate func checked(
        in file: String,
        _ line: Int
    ) throws(GooglePlay.ReportProblem) -> Finance.Day {
        guard let day = Finance.Day(description) else {
            throw GooglePlay.ReportProblem(file: file, line: line, "there is no day \(self).")
        }
        return day
    }
}
