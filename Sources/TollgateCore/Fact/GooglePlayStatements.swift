/// A read of a subscription in Google Play: `SubscriptionPurchaseV2`.
///
/// Its clock is the second before the read was sent, by HTTP `Date` (RULES §18.1).
public struct GooglePlaySubscription: Hashable, Codable, Sendable {
    /// A line item: one product of the subscription.
    public struct Item: Hashable, Codable, Sendable {
        public var product: String
        public var basePlan: String?
        public var offer: String?
        /// `expiryTime`; `nil` until it begins, as in a replacement that waits for the renewal.
        public var expiry: Instant?
        /// `latestSuccessfulOrderId`.
        public var order: String?
        /// `autoRenewEnabled`; `false` for prepaid plans.
        public var renews: Bool
        public var isPrepaid: Bool?
        /// `offerPhase`: `freeTrial`, `introductoryPrice`, `basePrice`, `prorationPeriod`.
        public var phase: String?
        /// The price of the next renewal without discount and tax: `recurringPrice`, or `newPrice` of a
        /// change that takes effect then.
        public var price: GooglePlayMoney?
        /// `deferredItemReplacement`: the product that takes its place at the renewal.
        public var replacement: String?
        /// `deferredItemRemoval`: it runs out.
        public var isRemoved: Bool?
        /// `true` if the next renewal needs a consent that was not given yet.
        public var awaitsConsent: Bool?
        /// `remainingCommittedPaymentsCount` of an installment plan.
        public var committedPayments: Int64?

        public init(
            product: String,
            basePlan: String? = nil,
            offer: String? = nil,
            expiry: Instant? = nil,
            order: String? = nil,
            renews: Bool,
            isPrepaid: Bool = false,
            phase: String? = nil,
            price: GooglePlayMoney? = nil,
            replacement: String? = nil,
            isRemoved: Bool = false,
            awaitsConsent: Bool = false,
            committedPayments: Int64? = nil
        ) {
            self.product = product
            self.basePlan = basePlan
            self.offer = offer
            self.expiry = expiry
            self.order = order
            self.renews = renews
            self.isPrepaid = isPrepaid ? true : nil
            self.phase = phase
            self.price = price
            self.replacement = replacement
            self.isRemoved = isRemoved ? true : nil
            self.awaitsConsent = awaitsConsent ? true : nil
            self.committedPayments = committedPayments
        }

        /// The product and plan under which the catalog knows it.
        public var sold: StoreProduct { StoreProduct(googlePlay: product, plan: basePlan) }
    }

    /// `outOfAppPurchaseContext`: who subscribed again in Google Play itself.
    ///
    /// It is stated only until the purchase is acknowledged.
    public struct Resubscription: Hashable, Codable, Sendable {
        /// `expiredPurchaseToken`.
        public var token: String?
        /// The account id of the expired purchase.
        public var account: String?

        public init(token: String?, account: String?) {
            self.token = token
            self.account = account
        }
    }

    /// `subscriptionState` without its prefix: `ACTIVE`, `ON_HOLD`, …; unknown words grant nothing.
    public var state: String
    /// `startTime`; `nil` while the payment is pending.
    public var start: Instant?
    /// Sorted by product.
    public var items: [Item]
    /// `linkedPurchaseToken`: the purchase that this one replaces.
    public var linkedToken: String?
    /// `obfuscatedExternalAccountId`; a UUID in lowercase.
    public var account: String?
    public var resubscription: Resubscription?
    public var isAcknowledged: Bool
    /// The party that ended it: `user`, `system`, `developer`, `replacement`.
    public var canceledBy: String?
    public var canceledAt: Instant?
    /// `autoResumeTime` of a pause.
    public var resumes: Instant?
    /// `regionCode`: the country (ISO 3166-1 alpha-2).
    public var region: String?

    public init(
        state: String,
        start: Instant?,
        items: [Item],
        linkedToken: String? = nil,
        account: String? = nil,
        resubscription: Resubscription? = nil,
        isAcknowledged: Bool = true,
        canceledBy: String? = nil,
        canceledAt: Instant? = nil,
        resumes: Instant? = nil,
        region: String? = nil
    ) {
        self.state = state
        self.start = start
        self.items = items.sorted {
            ($0.product, $0.basePlan ?? "", $0.order ?? "")
                < ($1.product, $1.basePlan ?? "", $1.order ?? "")
        }
        self.linkedToken = linkedToken
        self.account = account
        self.resubscription = resubscription
        self.isAcknowledged = isAcknowledged
        self.canceledBy = canceledBy
        self.canceledAt = canceledAt
        self.resumes = resumes
        self.region = region
    }
}

/// A read of a one-time purchase in Google Play: `ProductPurchaseV2`.
public struct GooglePlayPurchase: Hashable, Codable, Sendable {
    /// One product; a bundle has several.
    public struct Line: Hashable, Codable, Sendable {
        public var product: String
        /// `purchaseOptionId`.
        public var option: String?
        public var offer: String?
        public var quantity: Int64
        /// The part of `quantity` that was not refunded; `nil`: not stated.
        public var refundable: Int64?
        public var isConsumed: Bool
        /// `rentOfferDetails` is there: it was rented, for as long as the catalog says.
        public var isRental: Bool?
        /// `preorderReleaseTime`.
        public var release: Instant?

        public init(
            product: String,
            option: String? = nil,
            offer: String? = nil,
            quantity: Int64 = 1,
            refundable: Int64? = nil,
            isConsumed: Bool = false,
            isRental: Bool = false,
            release: Instant? = nil
        ) {
            self.product = product
            self.option = option
            self.offer = offer
            self.quantity = quantity
            self.refundable = refundable
            self.isConsumed = isConsumed
            self.isRental = isRental ? true : nil
            self.release = release
        }

        /// The product and purchase option under which the catalog knows it.
        public var sold: StoreProduct { StoreProduct(googlePlay: product, plan: option) }
    }

    /// `purchaseState`: `PURCHASED`, `CANCELLED`, `PENDING`.
    public var state: String
    /// `purchaseCompletionTime`: when it was paid.
    public var completed: Instant?
    /// Sorted by product.
    public var lines: [Line]
    /// `orderId`; a promotion code leaves it out.
    public var order: String?
    /// `obfuscatedExternalAccountId`; a UUID in lowercase.
    public var account: String?
    public var isAcknowledged: Bool
    /// `regionCode`: the country (ISO 3166-1 alpha-2).
    public var region: String?

    public init(
        state: String,
        completed: Instant?,
        lines: [Line],
        order: String? = nil,
        account: String? = nil,
        isAcknowledged: Bool = true,
        region: String? = nil
    ) {
        self.state = state
        self.completed = completed
        self.lines = lines.sorted {
            ($0.product, $0.option ?? "") < ($1.product, $1.option ?? "")
        }
        self.order = order
        self.account = account
        self.isAcknowledged = isAcknowledged
        self.region = region
    }
}

/// A read of an order of Google Play: the only statement with the dates and the money of a period.
public struct GooglePlayOrder: Hashable, Codable, Sendable {
    public struct Line: Hashable, Codable, Sendable {
        public var product: String
        /// The base plan of a subscription, the purchase option of anything else.
        public var plan: String?
        public var offer: String?
        /// `offerPhaseDetails`: `freeTrial`, `introductoryPrice`, `basePrice`, `prorationPeriod`.
        public var phase: String?
        public var quantity: Int64
        /// `listingPrice`: what a whole period costs.
        public var listing: GooglePlayMoney?
        public var total: GooglePlayMoney?
        public var tax: GooglePlayMoney?
        /// `servicePeriodStartTime`; `nil` for what is bought once.
        public var start: Instant?
        /// `servicePeriodEndTime`.
        public var end: Instant?

        public init(
            product: String,
            plan: String? = nil,
            offer: String? = nil,
            phase: String? = nil,
            quantity: Int64 = 1,
            listing: GooglePlayMoney? = nil,
            total: GooglePlayMoney? = nil,
            tax: GooglePlayMoney? = nil,
            start: Instant? = nil,
            end: Instant? = nil
        ) {
            self.product = product
            self.plan = plan
            self.offer = offer
            self.phase = phase
            self.quantity = quantity
            self.listing = listing
            self.total = total
            self.tax = tax
            self.start = start
            self.end = end
        }

        /// The product and plan under which the catalog knows it.
        public var sold: StoreProduct { StoreProduct(googlePlay: product, plan: plan) }
    }

    /// Money that went back: the whole order, or a part of it.
    public struct Refund: Hashable, Codable, Sendable {
        public var at: Instant
        public var isPartial: Bool
        /// `refundReason` is `CHARGEBACK`.
        public var isChargeback: Bool
        public var total: GooglePlayMoney?
        public var tax: GooglePlayMoney?

        public init(
            at: Instant,
            isPartial: Bool,
            isChargeback: Bool = false,
            total: GooglePlayMoney? = nil,
            tax: GooglePlayMoney? = nil
        ) {
            self.at = at
            self.isPartial = isPartial
            self.isChargeback = isChargeback
            self.total = total
            self.tax = tax
        }
    }

    public var id: String
    /// `PENDING`, `PROCESSED`, `CANCELED`, `PENDING_REFUND`, `PARTIALLY_REFUNDED`, `REFUNDED`.
    public var state: String
    public var created: Instant?
    public var processed: Instant?
    public var total: GooglePlayMoney?
    public var tax: GooglePlayMoney?
    /// `developerRevenueInBuyerCurrency`.
    public var revenue: GooglePlayMoney?
    /// `taxInclusive`: `true` if the listed prices include tax, as what was charged always does.
    public var isTaxInclusive: Bool?
    /// Sorted by product.
    public var lines: [Line]
    /// Sorted by time.
    public var refunds: [Refund]
    /// `buyerCountry` (ISO 3166-1 alpha-2).
    public var country: String?

    public init(
        id: String,
        state: String,
        created: Instant? = nil,
        processed: Instant? = nil,
        total: GooglePlayMoney? = nil,
        tax: GooglePlayMoney? = nil,
        revenue: GooglePlayMoney? = nil,
        isTaxInclusive: Bool? = nil,
        lines: [Line],
        refunds: [Refund] = [],
        country: String? = nil
    ) {
        self.id = id
        self.state = state
        self.created = created
        self.processed = processed
        self.total = total
        self.tax = tax
        self.revenue = revenue
        self.isTaxInclusive = isTaxInclusive
        self.lines = lines.sorted { ($0.product, $0.plan ?? "") < ($1.product, $1.plan ?? "") }
        self.refunds = refunds.sorted {
            ($0.at, $0.total?.micros ?? 0) < ($1.at, $1.total?.micros ?? 0)
        }
        self.country = country
    }

    /// The charge for a line, in millionths, that compares with its listed price: without a tax on top.
    ///
    /// https://developers.google.com/android-publisher/api-ref/rest/v3/orders#OrderDetails
    func comparable(_ line: Line) -> Int64? {
        line.total.map { $0.micros - (isTaxInclusive == true ? 0 : line.tax?.micros ?? 0) }
    }

    /// `true` if it was paid, whatever was refunded since.
    public var isPaid: Bool {
        ["PROCESSED", "PENDING_REFUND", "PARTIALLY_REFUNDED", "REFUNDED"].contains(state)
    }
}

/// An entry of Google Play's list of voided purchases.
///
/// A hint of a void names no quantity and no time, so it states nothing: the list is read.
public struct GooglePlayVoid: Hashable, Codable, Sendable {
    /// Empty where there is none, as after a promotion code.
    public var order: String
    /// `voidedTimeMillis`; with the order it tells one entry from another.
    public var at: Instant
    /// `voidedQuantity`; `nil`: the rest.
    public var quantity: Int64?
    /// `voidedSource`: 0 user, 1 developer, 2 Google.
    public var source: Int64?
    /// `voidedReason`: 7 is a chargeback, 8 that nobody acknowledged it.
    public var reason: Int64?

    public init(
        order: String,
        at: Instant,
        quantity: Int64? = nil,
        source: Int64? = nil,
        reason: Int64? = nil
    ) {
        self.order = order
        self.at = at
        self.quantity = quantity
        self.source = source
        self.reason = reason
    }
}

/// A read without a result.
///
/// A 410 says that no read will have one: the purchase is too old, refunded, or its account is deleted.
/// In an outage Google Play refuses or fails, and nobody knows whether the purchase was renewed.
public struct GooglePlayUnreadable: Hashable, Codable, Sendable {
    /// The error's reason, such as `purchaseTokenNoLongerValid`.
    public var reason: String
    /// `true`: an outage; `nil`: a 410.
    public var isOutage: Bool?

    public init(reason: String, isOutage: Bool = false) {
        self.reason = reason
        self.isOutage = isOutage ? true : nil
    }
}

/// An amount of money as Google Play states it.
public struct GooglePlayMoney: Hashable, Codable, Sendable {
    /// Millionths of the currency's unit.
    public var micros: Int64
    /// ISO 4217.
    public var currency: String

    public init(micros: Int64, currency: String) {
        self.micros = micros
        self.currency = currency
    }
}
