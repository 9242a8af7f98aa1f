extension GooglePlay {
    /// An amount of money in Google's form: whole units and billionths.
    public struct Money: Hashable, Sendable {
        /// ISO 4217, upper case.
        public var currencyCode: String
        /// Whole units of the currency.
        public var units: Int64
        /// Billionths of a unit, with the sign of `units`.
        public var nanos: Int64

        init(_ fields: Fields) throws(DecodingError) {
            currencyCode = try fields.string("currencyCode")
            units = try fields.optionalInteger("units") ?? 0
            nanos = try fields.optionalInteger("nanos") ?? 0
            guard (-999_999_999...999_999_999).contains(nanos),
                !(units > 0 && nanos < 0), !(units < 0 && nanos > 0),
                (-9_000_000_000_000...9_000_000_000_000).contains(units)
            else { throw fields.error("units", "an amount of money") }
        }

        /// Millionths of a unit, as Google's prices and reports count; rounded towards zero.
        public var micros: Int64 { units * 1_000_000 + nanos / 1000 }
    }

    /// A price in millionths of a unit.
    public struct Price: Hashable, Sendable {
        /// ISO 4217, upper case.
        public var currency: String
        /// Millionths of a unit.
        public var micros: Int64

        public init(currency: String, micros: Int64) {
            (self.currency, self.micros) = (currency, micros)
        }

        init(_ fields: Fields) throws(DecodingError) {
            currency = try fields.string("currency")
            micros = try fields.optionalInteger("priceMicros") ?? 0
        }
    }
}
