public import TollgateCore

extension Reports {
    /// Money that moved: a charge, or some of it going back.
    ///
    /// Each charge is one row, each refund or dispute of it another.
    public struct Sale: Codable, Hashable, Sendable {
        public enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
            case charge, refund
            /// A dispute that is open or lost.
            case chargeback
        }

        public var kind: Kind
        public var store: Store
        public var environment: StoreEnvironment
        public var purchase: Purchase.Key
        /// The App Store's transaction id, the line of a Stripe invoice, or the price of a line of
        /// a one-time payment; that of the charge, for refunds too.
        public var transaction: String
        /// What keeps it apart from others of its purchase whatever its transaction ids: the
        /// period's id in the App Store.
        ///
        /// Coins are credited under it.
        public var lot: String
        /// The Stripe invoice or payment intent that was paid; `nil` in the App Store.
        public var payment: String?
        /// The refund's or dispute's own id in Stripe; `nil` for charges.
        public var refund: String?
        /// The catalog's id of the product; the store's own where the catalog knows none.
        public var product: String
        /// The App Store product id or Stripe price id.
        public var storeProduct: String
        /// `nil` where the catalog knows no such product.
        public var productKind: Catalog.Product.Kind?
        /// Two letters; empty where the store does not say.
        public var country: String
        /// Three capitals; empty where the store states no price.
        public var currency: String
        /// Milliunits of `currency` for the whole quantity, tax included; never negative, also of a
        /// refund.
        public var amount: Int64
        public var quantity: Int64
        public var offer: Offer
        /// When it was charged; of a refund, when what it takes back was.
        public var purchased: Instant
        /// When this happened: equal to `purchased` for a charge.
        public var at: Instant
        /// Whether a plan renewed by itself.
        public var isRenewal: Bool
        /// Whether the subscription had a year of paid service behind it, for which the App Store
        /// takes less.
        public var isAfterOneYear: Bool
        /// Shared by the family: nothing was paid here.
        public var isFamilyShared: Bool
        /// Whether it is the first that takes anything of its charge back; each transaction counts
        /// once among the refunded.
        public var isFirstRefund: Bool
        /// The key of the row of whoever bought it, 32 hexadecimal digits; no personal data.
        public var customer: String
        /// The app that sold it, by its id in the catalog; `nil` where the catalog lists no apps, and
        /// at Stripe, whose sales are of no app.
        public var app: String?
        /// The tax in `amount`, in milliunits, and what the store says it will pay of it; `nil` where the
        /// store does not say.
        public var tax: Int64?
        public var proceeds: Int64?

        public init(
            kind: Kind,
            store: Store,
            environment: StoreEnvironment,
            purchase: Purchase.Key,
            transaction: String,
            lot: String,
            payment: String? = nil,
            product: String,
            storeProduct: String,
            productKind: Catalog.Product.Kind?,
            country: String,
            currency: String,
            amount: Int64,
            quantity: Int64,
            offer: Offer,
            purchased: Instant,
            at: Instant,
            isRenewal: Bool,
            isAfterOneYear: Bool,
            isFamilyShared: Bool,
            customer: String,
            app: String? = nil
        ) {
            self.kind = kind
            self.store = store
            self.environment = environment
            self.purchase = purchase
            self.transaction = transaction
            self.lot = lot
            self.payment = payment
            refund = nil
            self.product = product
            self.storeProduct = storeProduct
            self.productKind = productKind
            self.country = country
            self.currency = currency
            self.amount = amount
            self.quantity = quantity
            self.offer = offer
            self.purchased = purchased
            self.at = at
            self.isRenewal = isRenewal
            self.isAfterOneYear = isAfterOneYear
            self.isFamilyShared = isFamilyShared
            isFirstRefund = false
            self.customer = customer
            self.app = app
        }

        /// The day on which it happened.
        public var day: Day { Day(at) }
    }
}

extension Reports.Sale {
    /// What of this charge went back.
    package func takenBack(
        _ kind: Kind,
        _ amount: Int64,
        at instant: Instant,
        refund: String? = nil,
        isFirst: Bool = true
    ) -> Reports.Sale {
        var back = self
        back.kind = kind
        back.amount = amount
        back.tax = tax.map { Reports.share($0, amount, of: self.amount) }
        back.proceeds = proceeds.map { Reports.share($0, amount, of: self.amount) }
        back.at = instant
        back.refund = refund
        back.isFirstRefund = isFirst
        return back
    }
}
