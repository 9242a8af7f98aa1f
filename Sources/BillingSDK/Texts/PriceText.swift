import Foundation

/// How prices are written.
enum PriceText {
    /// An amount in a currency's minor unit for reading, such as `¥1,500`.
    static func price(minor: Decimal, currency: String, locale: Locale) -> String? {
        let formatter = NumberFormatter()
        formatter.locale = locale
        formatter.numberStyle = .currency
        formatter.currencyCode = currency.uppercased()
        let major = minor / pow(Decimal(10), minorDigits(of: currency))
        return formatter.string(from: NSDecimalNumber(decimal: major))
    }

    /// A price with the time that it is for, such as `¥1,500 a month`; the price alone where `interval` is
    /// nil or unknown.
    static func price(_ price: String, each interval: String?, count: Int?, _ texts: Texts)
        -> String
    {
        let count = count ?? 1
        guard let interval,
            let key = Texts.Key(rawValue: "price.\(interval)" + (count == 1 ? "" : "s"))
        else { return price }
        return texts(key, price, String(count))
    }

    /// A length of time, such as `3 months`.
    static func duration(_ count: Int, _ unit: String, _ texts: Texts) -> String {
        guard let key = Texts.Key(rawValue: "duration.\(unit)" + (count == 1 ? "" : "s")) else {
            return "\(count) \(unit)"
        }
        return texts(key, String(count))
    }

    /// How many digits Stripe's minor unit has; not always the formatter's idea of the currency.
    ///
    /// <https://docs.stripe.com/currencies#zero-decimal>
    private static func minorDigits(of currency: String) -> Int {
        switch currency.lowercased() {
        case "bif", "clp", "djf", "gnf", "jpy", "kmf", "krw", "mga", "pyg", "rwf", "vnd", "vuv",
            "xaf", "xof", "xpf":
            0
        case "bhd", "jod", "kwd", "omr", "tnd": 3
        default: 2
        }
    }
}
