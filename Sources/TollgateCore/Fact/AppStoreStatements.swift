/// What one signed transaction of the App Store says: a paid period, or a one-time purchase.
public struct Period: Hashable, Codable, Sendable {
    /// Apple's product types.
    public enum Kind: String, Codable, Hashable, Sendable {
        case autoRenewable, nonRenewing, nonConsumable, consumable
        /// A legacy receipt does not say; the catalog's kind of the product decides.
        case unstated
    }

    /// What keeps the period apart from others of its purchase: the `webOrderLineItemId` of an
    /// auto-renewable, with the purchase date where it was bought by the seat; of everything else
    /// the original transaction id (RULES §1).
    ///
    /// A restore's new transaction id is an alias.
    public var id: String
    public var transactionID: String
    /// The App Store product id.
    public var product: String
    public var kind: Kind
    /// `purchaseDate`.
    public var start: Instant
    /// `expiresDate`; `nil` for everything that is no auto-renewable.
    ///
    /// Where an auto-renewable of a legacy receipt carries none, the catalog's duration counts from
    /// `start`, and a free subscription never expires.
    public var end: Instant?
    /// `revocationDate`.
    public var revoked: Instant?
    /// `revocationPercentage` in thousandths of a percent (100 000 is all of it); `nil`: all of it.
    public var revokedShare: Int64?
    /// Superseded by another plan of its group.
    ///
    /// Once stated, it stays.
    public var isUpgraded: Bool
    /// How many were bought; the seats of a multiseat purchase.
    public var quantity: Int64
    /// The `appAccountToken`, lowercase.
    public var token: String?
    /// Whether it reached this customer by Family Sharing or as an assigned seat; its price then
    /// counts elsewhere.
    public var isFamilyShared: Bool
    /// What was charged in all, in milliunits of `currency`.
    public var price: Int64?
    public var currency: String?
    /// `offerType`: 1 introductory, 2 promotional, 3 offer code, 4 win-back.
    public var offerType: Int64?
    /// `offerDiscountType`: `FREE_TRIAL`, `PAY_UP_FRONT`, `PAY_AS_YOU_GO`, `ONE_TIME`.
    public var discount: String?
    /// `offerIdentifier`; none of an introductory offer.
    public var offer: String?
    /// `storefront`: the country of the store (ISO 3166-1 alpha-3).
    public var storefront: String?
    /// `previousOriginalTransactionId`: the purchase that this one continues (RULES §8).
    public var previous: String?
    /// `additionalTransactionReason`, `SEAT_ADDITION` for example: more than one transaction
    /// represents the period (RULES §2.11).
    public var additionalReason: String?
    /// `revokedSeatQuantity`: seats of `quantity` that were refunded.
    public var revokedSeats: Int64?
    /// Whether it was revoked because the customer switched to a bundle, without a refund (RULES
    /// §2.12); `nil`, not `false`.
    public var isSwitched: Bool?
    /// Which part it is of a commitment that is billed in parts, such as a year billed monthly; `nil`:
    /// it was billed at once.
    public var installment: Installment?

    public init(
        id: String,
        transactionID: String,
        product: String,
        kind: Kind,
        start: Instant,
        end: Instant? = nil,
        revoked: Instant? = nil,
        revokedShare: Int64? = nil,
        isUpgraded: Bool = false,
        quantity: Int64 = 1,
        token: String? = nil,
        isFamilyShared: Bool = false,
        price: Int64? = nil,
        currency: String? = nil,
        offerType: Int64? = nil,
        discount: String? = nil,
        offer: String? = nil,
        storefront: String? = nil,
        previous: String? = nil,
        additionalReason: String? = nil,
        revokedSeats: Int64? = nil,
        isSwitched: Bool = false,
        installment: Installment? = nil
    ) {
        self.id = id
        self.transactionID = transactionID
        self.product = product
        self.kind = kind
        self.start = start
        self.end = end
        self.revoked = revoked
        self.revokedShare = revokedShare
        self.isUpgraded = isUpgraded
        self.quantity = quantity
        self.token = token
        self.isFamilyShared = isFamilyShared
        self.price = price
        self.currency = currency
        self.offerType = offerType
        self.discount = discount
        self.offer = offer
        self.storefront = storefront
        self.previous = previous
        self.additionalReason = additionalReason
        self.revokedSeats = revokedSeats
        self.isSwitched = isSwitched ? true : nil
        self.installment = installment
    }
}

/// One billing period of a commitment (`commitmentInfo`).
public struct Installment: Hashable, Codable, Sendable {
    /// `billingPeriodNumber`, from 1.
    public let number: Int64
    /// `totalBillingPeriods`.
    public let total: Int64

    /// - Returns: `nil` where the numbers say nothing.
    public init?(_ number: Int64?, of total: Int64?) {
        guard let number, let total, total > 1, (1...total).contains(number) else { return nil }
        self.number = number
        self.total = total
    }

    /// The part of `amount` that falls on it, so that all parts together are `amount`.
    func part(of amount: Int64) -> Int64 {
        CoinLot.share(amount, number, of: total) - CoinLot.share(amount, number - 1, of: total)
    }
}

/// What signed renewal info says about the upcoming renewal.
public struct RenewalTerms: Hashable, Codable, Sendable {
    /// `autoRenewStatus` is 1.
    public var willRenew: Bool
    /// `autoRenewProductId`: what the next period will be of.
    public var nextProduct: String?
    /// `gracePeriodExpiresDate`.
    public var graceEnd: Instant?
    /// `priceIncreaseStatus` is 0: consent was asked and not yet given.
    public var awaitsConsent: Bool
    /// `isInBillingRetryPeriod`.
    ///
    /// Alone it decides nothing (RULES §2.3).
    public var isInBillingRetry: Bool
    /// `expirationIntent`: 1 cancelled, 2 billing error, 3 no consent, 4 unavailable, 5 other.
    public var expirationIntent: Int64?
    public var renewalDate: Instant?
    /// `renewalPrice`: the price of the next period, in milliunits of `currency`.
    public var price: Int64?
    /// ISO 4217.
    public var currency: String?

    public init(
        willRenew: Bool,
        nextProduct: String? = nil,
        graceEnd: Instant? = nil,
        awaitsConsent: Bool = false,
        isInBillingRetry: Bool = false,
        expirationIntent: Int64? = nil,
        renewalDate: Instant? = nil,
        price: Int64? = nil,
        currency: String? = nil
    ) {
        self.willRenew = willRenew
        self.nextProduct = nextProduct
        self.graceEnd = graceEnd
        self.awaitsConsent = awaitsConsent
        self.isInBillingRetry = isInBillingRetry
        self.expirationIntent = expirationIntent
        self.renewalDate = renewalDate
        self.price = price
        self.currency = currency
    }
}

/// The `status` Apple sends with a subscription: 1 active, 2 expired, 3 billing retry, 4 grace, 5 revoked.
///
/// Its clock is the `signedDate` of the renewal info beside it (RULES §11).
public struct SubscriptionStatus: Hashable, Codable, Sendable {
    public var value: Int64
    /// `renewalDate` of the renewal info beside it: how far the status reaches.
    public var reachesTo: Instant?

    public init(value: Int64, reachesTo: Instant? = nil) {
        self.value = value
        self.reachesTo = reachesTo
    }

    public static let active: Int64 = 1
    public static let expired: Int64 = 2
    public static let billingRetry: Int64 = 3
    public static let billingGrace: Int64 = 4
    public static let revoked: Int64 = 5

    /// Whether it gives access: 1 or 4.
    public var isEntitling: Bool { value == Self.active || value == Self.billingGrace }

    /// Whether billing has ended for now: 2, 3 or 5.
    public var isFailed: Bool {
        value == Self.expired || value == Self.billingRetry || value == Self.revoked
    }
}
