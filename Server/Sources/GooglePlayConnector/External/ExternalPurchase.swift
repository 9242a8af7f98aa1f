public import TollgateCore

/// A purchase outside Google Play's billing, to which the app has led, as Google wants it reported.
///
/// https://developer.android.com/google/play/billing/outside-gpb-backend
public struct ExternalPurchase: Hashable, Sendable {
    /// Its payments, the first one first.
    public var payments: [Payment]
    public var isSubscription: Bool
    /// The token of Play Billing, which the first payment is reported with; `nil`: not given.
    public var token: String?
    /// The buyer's country, ISO 3166-1 alpha-2.
    public var region: String
    /// The state or territory, for buyers in India.
    public var administrativeArea: String?

    public init(
        payments: [Payment],
        isSubscription: Bool,
        token: String?,
        region: String,
        administrativeArea: String?
    ) {
        (self.payments, self.isSubscription, self.token) = (payments, isSubscription, token)
        (self.region, self.administrativeArea) = (region, administrativeArea)
    }

    /// A payment, with its refunds.
    public struct Payment: Hashable, Sendable {
        /// Its id at the other store, under which Google has it.
        public var id: String
        /// ISO 4217, upper case.
        public var currency: String
        /// Millionths of the currency, without tax.
        public var preTax: Int64
        /// Millionths of the currency.
        public var tax: Int64
        public var paid: Instant
        public var refunds: [Refund]

        public init(
            id: String,
            currency: String,
            preTax: Int64,
            tax: Int64,
            paid: Instant,
            refunds: [Refund]
        ) {
            (self.id, self.currency, self.preTax, self.tax) = (id, currency, preTax, tax)
            (self.paid, self.refunds) = (paid, refunds)
        }
    }

    /// Money of a payment that went back.
    public struct Refund: Hashable, Sendable {
        public var id: String
        /// Millionths of the currency, without tax.
        public var preTax: Int64
        public var at: Instant

        public init(id: String, preTax: Int64, at: Instant) {
            (self.id, self.preTax, self.at) = (id, preTax, at)
        }
    }

    /// A payment as Google has it.
    public struct Report: Hashable, Sendable {
        public var id: String
        /// `TRANSACTION_REPORTED` or `TRANSACTION_CANCELED`.
        public var state: String
        /// `true` where this report made it known.
        public var isNew: Bool
    }
}
