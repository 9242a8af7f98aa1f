/// An amount in millionths of a currency's unit.
struct Money: Hashable, Sendable, Codable {
    var currency: String
    var micros: Int64

    static func + (left: Money, right: Money) -> Money {
        Money(currency: left.currency, micros: left.micros + right.micros)
    }

    static func - (left: Money, right: Money) -> Money {
        Money(currency: left.currency, micros: left.micros - right.micros)
    }

    /// A share of it, to the hundredth of the unit.
    func times(_ numerator: Int64, over denominator: Int64) -> Money {
        guard denominator > 0 else { return self }
        let share = Double(micros) * Double(numerator) / Double(denominator)
        // A thousand times the highest price is more than any story needs, and no overflow.
        let highest = Double(Catalog.highestPrice) * 1000
        let bounded = min(highest, max(-highest, share))
        return Money(currency: currency, micros: Int64((bounded / 10_000).rounded()) * 10_000)
    }

    var isNothing: Bool { micros == 0 }

    /// `google.type.Money`: parts that are zero are left out.
    var wire: JSON {
        [
            "currencyCode": .string(currency),
            "units": micros / 1_000_000 == 0 ? nil : .string("\(micros / 1_000_000)"),
            "nanos": micros % 1_000_000 == 0 ? nil : .integer(micros % 1_000_000 * 1000),
        ]
    }

    /// As in reports: `9.99`.
    var decimal: String {
        let cents = Int64((Double(abs(micros)) / 10_000).rounded())
        return "\(micros < 0 ? "-" : "")\(cents / 100).\(Timestamp.padded(cents % 100))"
    }
}
