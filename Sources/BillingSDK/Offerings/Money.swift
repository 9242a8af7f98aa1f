import Foundation

/// An amount of money.
public struct Money: Hashable, Codable, Sendable {
    /// In the currency's minor unit: 999 is 9.99 in `usd`, and 999 yen in `jpy`.
    public let amount: Int64
    /// ISO 4217, lower case.
    public let currency: String

    /// An amount from its parts, for previews and tests.
    public init(amount: Int64, currency: String) {
        self.amount = amount
        self.currency = currency
    }

    /// For reading, such as `¥1,500`, in `locale`.
    public func formatted(locale: Locale = .current) -> String {
        PriceText.price(minor: Decimal(amount), currency: currency, locale: locale)
            ?? "\(amount) \(currency)"
    }
}
