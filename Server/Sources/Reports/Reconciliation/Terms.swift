public import TollgateCore

extension Finance {
    /// The stores' expected fees, with which the fees that they charged are compared.
    public struct Terms: Hashable, Sendable {
        /// The fee of each store; a store without one is expected to charge nothing.
        public var fees: [Store: StoreFee]

        public init(fees: [Store: StoreFee] = [:]) {
            self.fees = fees
        }

        /// One store's fee on charges in all currencies.
        public struct StoreFee: Hashable, Sendable {
            /// The share of the amount that is paid out, in hundredths of a percent.
            public var left: Int64
            /// The same once a year of paid service is behind the subscription.
            public var leftAfterOneYear: Int64
            /// The fixed part of the fee on each charge, in millionths of the currency's main unit.
            ///
            /// A missing currency: its fee is unknown; `nil`: there is no fixed part.
            public var fixed: [String: Int64]?
            /// Whether the fee of a charge is returned with its refund.
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
            /// `nil`: unknown.
            var fixed: Int64?
            /// Whether the fee of a charge is returned with its refund.
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
