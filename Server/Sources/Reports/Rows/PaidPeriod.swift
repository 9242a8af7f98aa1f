public import TollgateCore

extension Reports {
    /// One period of a subscription.
    public struct PaidPeriod: Codable, Hashable, Sendable {
        public var store: Store
        public var environment: StoreEnvironment
        /// The subscription.
        public var purchase: Purchase.Key
        /// The `webOrderLineItemId`, or the line of a Stripe invoice.
        public var id: String
        public var transaction: String
        /// The catalog's id of the product; the store's own where the catalog knows none.
        public var product: String
        public var storeProduct: String
        /// Two letters; empty where the store does not say.
        public var country: String
        /// Three capitals; empty where the store states no price.
        public var currency: String
        /// Milliunits; its price after discounts, however it was paid.
        public var amount: Int64
        public var offer: Offer
        public var isFamilyShared: Bool
        public var start: Instant
        /// As it was sold.
        public var end: Instant
        /// `end`, cut by a refund, an upgrade or the next period.
        public var paidUntil: Instant
        /// `paidUntil`, extended by grace: the effective end.
        public var effectiveEnd: Instant
        /// When it was given back in whole.
        public var refunded: Instant?
        /// Until when it was in grace because its payment was late; `nil`: it was paid in time.
        public var awaitedUntil: Instant?
        /// Since when its renewal is tried again without access, of the newest period.
        public var retriedSince: Instant?
        /// The product's duration in the catalog (ISO 8601).
        public var duration: String?
        /// Whether it is only what was left of one when its plan was changed; `nil`: no.
        public var isProration: Bool?
        /// Whether it adds seats to a period that another transaction represents; `nil`: no.
        public var isAddition: Bool?
        /// Whether the store does not say what it cost, as in a legacy receipt; `nil`: it does.
        public var isUnpriced: Bool?
        /// The key of the row of whoever bought it.
        public var customer: String
        /// The app that sold it, as of a sale.
        public var app: String?

        /// Whether it belongs to the base set P: paid for, of some length, not shared by the family
        /// and not granted.
        public var isPaid: Bool {
            offer != .trial && !isGranted && !isFamilyShared && start < effectiveEnd
        }

        /// Given for nothing by an offer that is no trial; a price that is not stated is not zero.
        public var isGranted: Bool {
            offer != .none && offer != .trial && amount == 0 && isUnpriced != true
        }

        /// Whether it was sold at the standard price.
        public var isStandard: Bool { offer == .none }

        /// When it was active by grace alone: until it was paid, and after it ended.
        package var graces: [Range<Instant>] {
            guard isPaid else { return [] }
            return [
                start..<max(start, awaitedUntil ?? start),
                paidUntil..<max(paidUntil, effectiveEnd),
            ]
        }

        /// Milliunits a month: exact where real days do not decide, else to the nearest 12,000th of
        /// one, so that sums of many have one denominator.
        public var monthlyValue: Fraction {
            let isWhole = offer != .introductory && isProration != true
            let duration = isWhole ? duration : nil
            let factor = MonthlyValue.factor(
                of: duration.flatMap { CalendarDuration(iso8601: $0) },
                from: start,
                to: end
            )
            let value = Fraction(amount) * factor
            return 12 % value.denominator == 0 ? value : value.rounded(to: 12_000)
        }
    }
}

extension Reports.PaidPeriod {
    /// The period that a charge paid for.
    package init(
        _ sale: Reports.Sale,
        id: String,
        end: Instant,
        paidUntil: Instant,
        effectiveEnd: Instant,
        refunded: Instant?,
        retriedSince: Instant?,
        duration: String?
    ) {
        self.init(
            store: sale.store,
            environment: sale.environment,
            purchase: sale.purchase,
            id: id,
            transaction: sale.transaction,
            product: sale.product,
            storeProduct: sale.storeProduct,
            country: sale.country,
            currency: sale.currency,
            amount: sale.amount,
            offer: sale.offer,
            isFamilyShared: sale.isFamilyShared,
            start: sale.purchased,
            end: end,
            paidUntil: paidUntil,
            effectiveEnd: effectiveEnd,
            refunded: refunded,
            retriedSince: retriedSince,
            duration: duration,
            customer: sale.customer,
            app: sale.app
        )
    }
}
