public import TollgateAPI
public import TollgateCore

/// A purchase outside the billing of the store to which it is reported: the app has led there.
public struct ExternalPurchase: Hashable, Sendable {
    /// Its payments, the first one first.
    public var payments: [Payment]
    public var isSubscription: Bool
    /// The store's token, which the first payment is reported with; `nil`: not given.
    public var token: String?
    /// The buyer's country, ISO 3166-1 alpha-2.
    public var region: String
    /// The state or territory, for buyers in India.
    public var administrativeArea: String?
    /// The link that led there; `nil`: none that the store has to know of.
    public var link: API.ExternalPurchaseLink?

    public init(
        payments: [Payment],
        isSubscription: Bool,
        token: String?,
        region: String,
        administrativeArea: String?,
        link: API.ExternalPurchaseLink? = nil
    ) {
        self.link = link
        (self.payments, self.isSubscription, self.token) = (payments, isSubscription, token)
        (self.region, self.administrativeArea) = (region, administrativeArea)
    }

    /// A payment, with its refunds.
    public struct Payment: Hashable, Sendable {
        /// Its id where it was paid; it is reported under the same.
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

    /// A payment as the store has it to which it was reported.
    public struct Report: Hashable, Sendable {
        public var id: String
        /// `TRANSACTION_REPORTED` or `TRANSACTION_CANCELED`.
        public var state: String
        /// `true` where this report made it known.
        public var isNew: Bool

        public init(id: String, state: String, isNew: Bool) {
            (self.id, self.state, self.isNew) = (id, state, isNew)
        }
    }
}
