extension API {
    /// The body of `POST /v1/google_play/external_transactions`.
    public struct GooglePlayExternalTransactionsRequest: Hashable, Codable, Sendable {
        /// The key of the purchase at Stripe, as entitlements name it.
        public var purchase: String
        /// The token that Play Billing gave the app; needed until the first payment is reported.
        public var externalTransactionToken: String?
        /// The buyer's country, ISO 3166-1 alpha-2; by default the payer's, as Stripe knows it.
        public var regionCode: String?
        /// The state or territory, for buyers in India.
        public var administrativeArea: String?
        /// The tax that prices include, in per cent; 0 by default.
        ///
        /// Tax on top of a price is known from the invoice.
        public var includedTaxPercent: Double?
        /// The app, where there are several; the first if left out.
        public var packageName: String?

        public init(
            purchase: String,
            externalTransactionToken: String? = nil,
            regionCode: String? = nil,
            administrativeArea: String? = nil,
            includedTaxPercent: Double? = nil,
            packageName: String? = nil
        ) {
            self.purchase = purchase
            self.externalTransactionToken = externalTransactionToken
            self.regionCode = regionCode
            self.administrativeArea = administrativeArea
            self.includedTaxPercent = includedTaxPercent
            self.packageName = packageName
        }

        private enum CodingKeys: String, CodingKey {
            case purchase
            case externalTransactionToken = "external_transaction_token"
            case regionCode = "region_code"
            case administrativeArea = "administrative_area"
            case includedTaxPercent = "included_tax_percent"
            case packageName = "package_name"
        }
    }

    /// The answer: the payments of the purchase as Google has them now.
    public struct GooglePlayExternalTransactions: Hashable, Codable, Sendable {
        public var purchase: String
        /// The first payment first.
        public var externalTransactions: [Transaction]

        public init(purchase: String, externalTransactions: [Transaction]) {
            (self.purchase, self.externalTransactions) = (purchase, externalTransactions)
        }

        /// One payment.
        public struct Transaction: Hashable, Codable, Sendable {
            /// The id at Google: that of Stripe's invoice or payment.
            public var id: String
            /// `TRANSACTION_REPORTED`, or `TRANSACTION_CANCELED` once all of it was refunded.
            public var state: String
            /// `true` where this call has reported it.
            public var new: Bool

            public init(id: String, state: String, new: Bool) {
                (self.id, self.state, self.new) = (id, state, new)
            }
        }

        private enum CodingKeys: String, CodingKey {
            case purchase
            case externalTransactions = "external_transactions"
        }
    }
}
