extension Reports {
    /// What is known of currencies, by their ISO 4217 codes in capitals.
    public enum Currency {
        private static let withoutDecimals: Set<String> = [
            "BIF", "CLP", "DJF", "GNF", "JPY", "KMF", "KRW", "MGA", "PYG", "RWF", "VND", "VUV",
            "XAF", "XOF", "XPF",
        ]
        private static let withThreeDecimals: Set<String> = ["BHD", "JOD", "KWD", "OMR", "TND"]

        /// How many decimals people write: 2 for USD, none for JPY.
        public static func decimals(of currency: String) -> Int {
            if withoutDecimals.contains(currency) { return 0 }
            return withThreeDecimals.contains(currency) ? 3 : 2
        }

        /// Stripe's minor units as milliunits: 999 of USD are 9990, 999 of JPY are 999000.
        ///
        /// See https://docs.stripe.com/currencies#zero-decimal.
        public static func milliunits(minor amount: Int64, currency: String) -> Int64 {
            var scale: Int64 = 1
            for _ in 0..<(3 - decimals(of: currency)) { scale *= 10 }
            let (value, overflow) = amount.multipliedReportingOverflow(by: scale)
            return overflow ? 0 : value
        }

        /// An amount of milliunits as people write it, rounded to the currency's decimals.
        public static func text(milliunits: Fraction, currency: String) -> String {
            (milliunits * Fraction(1, 1000)).text(decimals: decimals(of: currency))
        }
    }
}
