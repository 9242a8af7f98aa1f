extension Finance {
    /// An exact amount of one currency.
    ///
    /// Sums that no account holds (nine trillion and more) stay at the limit instead of trapping.
    public struct Money: Hashable, Sendable, CustomStringConvertible {
        /// Millionths of the currency's main unit: 6.99 is 6990000.
        public var millionths: Int64
        /// ISO 4217 in capitals.
        public var currency: String

        /// - Parameters:
        ///   - millionths: of the main unit.
        ///   - currency: ISO 4217, in capitals or not.
        public init(millionths: Int64, currency: String) {
            self.millionths = millionths
            self.currency = currency.uppercased()
        }

        /// An amount as the App Store signs it: thousandths of the main unit.
        public init(milliunits: Int64, currency: String) {
            self.init(millionths: Self.product(milliunits, 1000), currency: currency)
        }

        /// An amount as Stripe writes it: cents of a dollar, but whole yen.
        public init(minorUnits: Int64, currency: String) {
            var factor: Int64 = 1_000_000
            for _ in 0..<Reports.Currency.decimals(of: currency.uppercased()) { factor /= 10 }
            self.init(millionths: Self.product(minorUnits, factor), currency: currency)
        }

        /// Nothing of a currency.
        public static func zero(_ currency: String) -> Money {
            Money(millionths: 0, currency: currency)
        }

        /// The smallest amount of this currency that is paid out, in millionths.
        public var smallestUnit: Int64 {
            Money(minorUnits: 1, currency: currency).millionths
        }

        public var isZero: Bool { millionths == 0 }

        /// The amount without its currency, exactly: `9.99`, `1200`, `6.993`.
        public var decimal: String {
            let digits = Reports.Currency.decimals(of: currency)
            let whole = millionths.magnitude / 1_000_000
            var fraction = String(millionths.magnitude % 1_000_000 + 1_000_000).dropFirst()
            while fraction.count > digits, fraction.last == "0" { fraction.removeLast() }
            let sign = millionths < 0 ? "-" : ""
            return fraction.isEmpty ? "\(sign)\(whole)" : "\(sign)\(whole).\(fraction)"
        }

        public var description: String { "\(decimal) \(currency)" }

        /// The sum of two amounts of one currency.
        public static func + (left: Money, right: Money) -> Money {
            precondition(left.currency == right.currency, "amounts of two currencies")
            let (sum, overflow) = left.millionths.addingReportingOverflow(right.millionths)
            return Money(
                millionths: overflow ? (right.millionths < 0 ? .min : .max) : sum,
                currency: left.currency
            )
        }

        /// The difference of two amounts of one currency.
        public static func - (left: Money, right: Money) -> Money { left + -right }

        /// The amount taken the other way.
        public static prefix func - (money: Money) -> Money {
            Money(
                millionths: money.millionths == .min ? .max : -money.millionths,
                currency: money.currency
            )
        }

        /// The amount of `count` of these.
        public func times(_ count: Int64) -> Money {
            Money(millionths: Self.product(millionths, count), currency: currency)
        }

        /// The amount times a ratio, exactly, rounded to the nearest millionth.
        public func scaled(by ratio: Ratio) -> Money {
            Money(
                millionths: Self.scale(millionths, by: ratio.numerator, over: ratio.denominator),
                currency: currency
            )
        }

        /// Whether two amounts differ by no more than rounding does.
        package func isAbout(_ other: Money) -> Bool {
            guard currency == other.currency else { return false }
            return (self - other).millionths.magnitude <= UInt64(max(0, smallestUnit))
        }

        /// The amount rounded to what can be paid out, halves away from zero.
        public var rounded: Money {
            let unit = smallestUnit
            return Money(
                millionths: Self.product(Self.scale(millionths, by: 1, over: unit), unit),
                currency: currency
            )
        }

        private static func product(_ left: Int64, _ right: Int64) -> Int64 {
            let (product, overflow) = left.multipliedReportingOverflow(by: right)
            return overflow ? ((left < 0) == (right < 0) ? .max : .min) : product
        }

        /// `value × numerator / denominator`, halves away from zero; the denominator is positive.
        private static func scale(
            _ value: Int64,
            by numerator: Int64,
            over denominator: Int64
        ) -> Int64 {
            let isNegative = (value < 0) != (numerator < 0)
            let (high, low) = value.magnitude.multipliedFullWidth(by: numerator.magnitude)
            let divisor = denominator.magnitude
            guard high < divisor else { return isNegative ? .min : .max }
            var (quotient, rest) = divisor.dividingFullWidth((high, low))
            if rest >= divisor - rest { quotient &+= 1 }
            guard quotient <= UInt64(Int64.max) else { return isNegative ? .min : .max }
            return isNegative ? -Int64(quotient) : Int64(quotient)
        }
    }

    /// An exact fraction: a rate of tax or commission, or of exchange.
    public struct Ratio: Hashable, Codable, Sendable, CustomStringConvertible {
        public let numerator: Int64
        /// Positive.
        public let denominator: Int64

        /// - Parameter denominator: positive; anything else is taken for 1.
        public init(_ numerator: Int64, over denominator: Int64) {
            self.numerator = numerator
            self.denominator = max(1, denominator)
        }

        /// Hundredths of a percent: 1500 is 15 %.
        public init(basisPoints: Int64) {
            self.init(basisPoints, over: 10_000)
        }

        /// Reads `1.0832` or `6.1e-05`, as Stripe writes rates of exchange: JSON's numbers that are
        /// not negative; nil for anything else.
        ///
        /// What is beyond eighteen digits behind the point is cut off.
        public init?(decimal text: some StringProtocol) {
            let halves = text.split(omittingEmptySubsequences: false) { $0 == "e" || $0 == "E" }
            let parts = (halves.first ?? "").split(separator: ".", omittingEmptySubsequences: false)
            guard (1...2).contains(halves.count), (1...2).contains(parts.count),
                parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (48...57).contains($0) } })
            else { return nil }
            var exponent = 0
            if halves.count == 2 {
                guard let stated = Int(halves[1]), (-40...40).contains(stated) else { return nil }
                exponent = stated
            }
            let fraction = parts.count == 2 ? parts[1] : ""
            var digits = (String(parts[0]) + String(fraction)).drop { $0 == "0" }
            var places = fraction.utf8.count - exponent
            digits.removeLast(min(digits.count, max(0, places - 18)))
            places = min(places, 18)
            digits += String(repeating: "0", count: max(0, -places))
            guard let numerator = Int64(digits.isEmpty ? "0" : digits) else { return nil }
            var denominator: Int64 = 1
            for _ in 0..<max(0, places) { denominator *= 10 }
            self.init(numerator, over: denominator)
        }

        /// To four decimals, of small ones to four digits; rounded down, for people.
        public var description: String {
            var decimals = 4
            while decimals < 18, numerator != 0, let few = scaled(to: decimals), few < 1000 {
                decimals += 1
            }
            guard let scaled = scaled(to: decimals) else { return "\(numerator)/\(denominator)" }
            let digits = String(scaled)
            let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
            return "\(numerator < 0 ? "-" : "")\(padded.dropLast(decimals))"
                + ".\(padded.suffix(decimals))"
        }

        /// So many decimals of it as a whole number, rounded down; nil where that is too large.
        private func scaled(to decimals: Int) -> UInt64? {
            let power = (0..<decimals).reduce(UInt64(1)) { power, _ in power * 10 }
            let scaled = numerator.magnitude.multipliedFullWidth(by: power)
            guard scaled.high < denominator.magnitude else { return nil }
            return denominator.magnitude.dividingFullWidth(scaled).quotient
        }
    }
}

extension Finance.Money: Codable {
    enum CodingKeys: String, CodingKey {
        case amount, currency
    }

    /// Reads `{"amount":"9.99","currency":"USD"}`.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let text = try values.decode(String.self, forKey: .amount)
        let currency = try values.decode(String.self, forKey: .currency)
        guard let money = Self(decimal: text, currency: currency) else {
            throw DecodingError.dataCorruptedError(
                forKey: .amount,
                in: values,
                debugDescription: "no amount: \(text)"
            )
        }
        self = money
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(decimal, forKey: .amount)
        try values.encode(currency, forKey: .currency)
    }

    /// Reads `-1234.5`, with at most six decimals; nil for anything else.
    public init?(decimal text: some StringProtocol, currency: String) {
        let isNegative = text.first == "-"
        let digits = isNegative ? text.dropFirst() : text[...]
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let whole = parts.first, !whole.isEmpty,
            parts.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } }),
            let main = Int64(whole), main < 1_000_000_000_000
        else { return nil }
        let fraction = parts.count == 2 ? String(parts[1]) : ""
        guard parts.count == 1 || !fraction.isEmpty,
            fraction.dropFirst(6).allSatisfy({ $0 == "0" }),
            let part = Int64((fraction + "000000").prefix(6))
        else { return nil }
        let millionths = main * 1_000_000 + part
        self.init(millionths: isNegative ? -millionths : millionths, currency: currency)
    }
}
