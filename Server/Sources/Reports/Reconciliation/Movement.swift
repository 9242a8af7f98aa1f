public import TollgateCore

extension Finance {
    /// Money that moved, as our record has it: a charge, or what was taken back of one.
    public struct Movement: Hashable, Codable, Sendable {
        /// Which way, and why.
        public enum Kind: String, Hashable, Codable, Sendable, CaseIterable {
            case charge, refund, dispute
        }

        public var store: Store
        public var environment: StoreEnvironment
        public var kind: Kind
        /// The store's id of it: a transaction, an invoice, a payment intent, a refund, a dispute.
        public var id: String
        /// The id of the charge; of a charge its own.
        public var payment: String
        /// The store's id of what was bought.
        public var product: String
        public var at: Instant
        public var quantity: Int64
        /// Of all of the quantity, and never negative.
        public var amount: Money
        /// Whether another member of the family has paid.
        public var isFamilyShared: Bool
        /// Whether an offer (introductory, promotional, a code, a win-back) made the price.
        public var isOffer: Bool
        /// Whether a year of paid service was behind it, for which the App Store takes less.
        public var isAfterOneYear: Bool
        /// The customer's id, where it is known.
        public var customer: String?
        /// ISO 3166-1 alpha-2, where it is known.
        public var country: String?
        /// The app that sold it, by its id in the catalog, where that lists apps.
        public var app: String?
        /// The tax in `amount`, and what the store says it will pay of it; `nil` where it does not say.
        public var tax: Money?
        public var proceeds: Money?

        public init(
            store: Store,
            environment: StoreEnvironment,
            kind: Kind,
            id: String,
            payment: String? = nil,
            product: String,
            at: Instant,
            quantity: Int64 = 1,
            amount: Money,
            isFamilyShared: Bool = false,
            isOffer: Bool = false,
            isAfterOneYear: Bool = false,
            customer: String? = nil,
            country: String? = nil,
            app: String? = nil
        ) {
            self.store = store
            self.environment = environment
            self.kind = kind
            self.id = id
            self.payment = payment ?? id
            self.product = product
            self.at = at
            self.quantity = max(1, quantity)
            self.amount = amount
            self.isFamilyShared = isFamilyShared
            self.isOffer = isOffer
            self.isAfterOneYear = isAfterOneYear
            self.customer = customer
            self.country = country
            self.app = app
        }

        /// What one unit cost.
        package var unitPrice: Money { amount.scaled(by: Ratio(1, over: quantity)) }

        /// The day of it as we count days.
        package var day: Day { Day(utc: at) }
    }
}
