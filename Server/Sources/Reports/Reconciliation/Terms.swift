internal import TollgateCore

extension Finance {
    /// What the stores are expected to keep, so that what they did keep can be explained.
    public struct Terms: Hashable, Codable, Sendable {
        /// Whether the App Store Small Business Program holds: 15 % of everything.
        public var isSmallBusiness: Bool
        /// Hundredths of a percent of tax that a price in the App Store contains, by country
        /// (ISO 3166-1 alpha-2); where a country is missing, prices contain none.
        public var taxes: [String: Int64]
        /// Hundredths of a percent that Stripe takes of a charge.
        public var stripeShare: Int64
        /// What Stripe takes of a charge beside it, in millionths of the currency's main unit, by
        /// currency; where a currency is missing, no fee is expected and none is questioned.
        public var stripeFixed: [String: Int64]

        public init(
            isSmallBusiness: Bool = false,
            taxes: [String: Int64] = Terms.usualTaxes,
            stripeShare: Int64 = 290,
            stripeFixed: [String: Int64] = ["USD": 300_000]
        ) {
            self.isSmallBusiness = isSmallBusiness
            self.taxes = taxes
            self.stripeShare = stripeShare
            self.stripeFixed = stripeFixed
        }

        /// Standard rates of value-added and sales taxes that prices contain.
        public static let usualTaxes: [String: Int64] = [
            "AT": 2000, "AU": 1000, "BE": 2100, "BG": 2000, "CH": 810, "CL": 1900, "CY": 1900,
            "CZ": 2100, "DE": 1900, "DK": 2500, "EE": 2400, "ES": 2100, "FI": 2550, "FR": 2000,
            "GB": 2000, "GR": 2400, "HR": 2500, "HU": 2700, "IE": 2300, "IN": 1800, "IS": 2400,
            "IT": 2200, "JP": 1000, "KR": 1000, "LT": 2100, "LU": 1700, "LV": 2100, "MT": 1800,
            "MX": 1600, "NL": 2100, "NO": 2500, "NZ": 1500, "PL": 2300, "PT": 2300, "RO": 2100,
            "SA": 1500, "SE": 2500, "SG": 900, "SI": 2200, "SK": 2300, "TR": 2000, "ZA": 1500,
        ]

        /// What the App Store leaves of a price without tax, in hundredths of a percent.
        static let fullRate: Int64 = 7000
        static let reducedRate: Int64 = 8500

        /// A store's expected fee on charges in one currency.
        struct Fee: Hashable, Sendable {
            /// The share of the amount that is paid out, in hundredths of a percent.
            var left: Int64
            /// The fixed part for each charge, in millionths of the currency's main unit;
            /// nil where nobody said.
            var fixed: Int64?
            /// Whether a refund brings back what was kept of the charge.
            var isReturned: Bool
        }

        /// The expected fee of `store`.
        ///
        /// The App Store leaves 70 %, or 85 % after a year of paid service and in the Small Business
        /// Program (https://developer.apple.com/app-store/small-business-program/), and returns its
        /// commission with a refund. Stripe returns nothing
        /// (https://docs.stripe.com/refunds#refund-processing-fees). Of our own grants nobody keeps
        /// anything.
        func fee(of store: Store, isAfterOneYear: Bool, in currency: String) -> Fee {
            switch store {
            case .appStore:
                let isReduced = isSmallBusiness || isAfterOneYear
                return Fee(
                    left: isReduced ? Self.reducedRate : Self.fullRate,
                    fixed: 0,
                    isReturned: true
                )
            case .stripe:
                return Fee(
                    left: 10_000 - stripeShare,
                    fixed: stripeFixed[currency],
                    isReturned: false
                )
            case .tollgate: return Fee(left: 10_000, fixed: 0, isReturned: true)
            }
        }

        /// The same for the money of one movement.
        func fee(of movement: Movement) -> Fee {
            fee(
                of: movement.store,
                isAfterOneYear: movement.isAfterOneYear,
                in: movement.amount.currency
            )
        }

        /// A price without the tax that it contains.
        func net(_ price: Money, of country: String) -> Money {
            price.scaled(by: Ratio(10_000, over: 10_000 + (taxes[country] ?? 0)))
        }

        /// What Stripe is expected to take of a charge; nil where nobody said.
        func stripeFee(of amount: Money) -> Money? {
            let fee = fee(of: .stripe, isAfterOneYear: false, in: amount.currency)
            guard let fixed = fee.fixed, amount.millionths > 0 else { return nil }
            let share = amount.scaled(by: Ratio(basisPoints: 10_000 - fee.left)).rounded
            return share + Money(millionths: fixed, currency: amount.currency)
        }
    }
}
