public import TollgateCore

extension Finance {
    /// What the stores are expected to keep, so that what they did keep can be explained.
    public struct Terms: Hashable, Sendable {
        /// Of a store that is missing, nothing is expected to be kept.
        public var fees: [Store: StoreFee]

        public init(fees: [Store: StoreFee] = [:]) {
            self.fees = fees
        }

        /// What one store keeps of charges in all currencies.
        public struct StoreFee: Hashable, Sendable {
            /// The share of the amount that is paid out, in hundredths of a percent.
            public var left: Int64
            /// The same once a year of paid service is behind the subscription.
            public var leftAfterOneYear: Int64
            /// What is kept of each charge beside the share, in millionths of the currency's main
            /// unit, by currency.
            ///
            /// Where a currency is missing, nobody said; `nil`: nothing is kept.
            public var fixed: [String: Int64]?
            /// Whether a refund brings back what was kept of the charge.
            public var isReturned: Bool

            public init(
                left: Int64,
                leftAfterOneYear: Int64? = nil,
                fixed: [String: Int64]? = nil,
                isReturned: Bool
            ) {
                self.left = left
                self.leftAfterOneYear = leftAfterOneYear ?? left
                self.fixed = fixed
                self.isReturned = isReturned
            }
        }

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
        func fee(of store: Store, isAfterOneYear: Bool, in currency: String) -> Fee {
            guard let fee = fees[store] else {
                return Fee(left: 10_000, fixed: 0, isReturned: true)
            }
            return Fee(
                left: isAfterOneYear ? fee.leftAfterOneYear : fee.left,
                fixed: fee.fixed.map { $0[currency] } ?? 0,
                isReturned: fee.isReturned
            )
        }
    }
}
