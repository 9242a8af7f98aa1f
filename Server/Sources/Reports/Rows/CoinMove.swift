public import TollgateCore

extension Reports {
    /// Coins that came, went back or were spent.
    public struct CoinMove: Codable, Hashable, Sendable {
        public enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
            case sold, refunded, spent
        }

        public var kind: Kind
        /// `nil` for a spend: which lot it draws from is only a view.
        public var store: Store?
        public var environment: StoreEnvironment
        /// `nil` for a spend.
        public var purchase: Purchase.Key?
        /// The lot's id within its purchase; empty for a spend.
        public var lot: String
        /// The catalog's id of the pack or plan; empty for a spend.
        public var product: String
        public var country: String
        /// Above zero.
        public var coins: Int64
        public var at: Instant
        /// The key of the row of whoever has them.
        public var customer: String
        /// The app that sold it, as of a sale.
        public var app: String?

        public init(
            kind: Kind,
            store: Store?,
            environment: StoreEnvironment,
            purchase: Purchase.Key?,
            lot: String,
            product: String,
            country: String,
            coins: Int64,
            at: Instant,
            customer: String,
            app: String? = nil
        ) {
            self.kind = kind
            self.store = store
            self.environment = environment
            self.purchase = purchase
            self.lot = lot
            self.product = product
            self.country = country
            self.coins = coins
            self.at = at
            self.customer = customer
            self.app = app
        }
    }
}
