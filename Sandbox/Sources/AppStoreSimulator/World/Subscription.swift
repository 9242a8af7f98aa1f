extension SimulatedAppStore {
    /// What the store knows of one auto-renewable subscription beside its transactions.
    public struct Subscription: Codable, Hashable, Sendable {
        /// The numbers are those of the App Store Server API's `status`.
        public enum State: Int, Codable, Sendable {
            case active = 1
            case expired = 2
            case billingRetry = 3
            case billingGrace = 4
            case revoked = 5
        }

        /// A higher price to come, and what the customer said to it.
        public struct PriceIncrease: Codable, Hashable, Sendable {
            public var price: Int64
            public var isAccepted: Bool
        }

        public let originalTransactionID: String
        public let customer: String
        public let group: String
        public var productID: String
        /// What the next period will be; differs from `productID` after a downgrade.
        public var autoRenewProductID: String
        public var autoRenews = true
        public var state = State.active
        public var latestTransactionID: String
        /// End of the current period, and so the date of the next charge.
        public var renewalDate: Int64
        public var gracePeriodExpiresDate: Int64?
        public var billingRetryEnds: Int64?
        /// The renewal that failed last, also after the subscription expired.
        public var failedRenewal: Int64?
        /// 1 cancelled, 2 billing, 3 price increase refused, 4 product gone, 5 other.
        public var expirationIntent: Int?
        /// What the next period costs, in milliunits.
        public var renewalPrice: Int64
        public var priceIncrease: PriceIncrease?
        /// What the customer of a monthly plan with a commitment is bound to.
        public var commitment: Commitment?
        public var appAccountToken: String?
        /// When the present run of periods began.
        public var recentStart: Int64
        /// The buyer's subscription that this one, a family member's or a seat's, follows.
        public var sharedFrom: String?
        /// Subscriptions of those to whom seats of this one are assigned.
        public var seatHolders: [String]?
        /// Seats that the app's server has claimed, where the app hosts the invitations.
        var seatClaims: [Seats.Claim]?
        /// The subscription that this one continues.
        public var previousOriginalID: String?
        /// Whether it is a part of a bundle; `nil`: it stands alone.
        public var isBundle: Bool?

        /// Calendar months are counted from here, so that the 31st comes back after a February.
        var anchor: Int64
        var periodsSinceAnchor = 1
        var renewals = 0
        var extensions: [Int64] = []
        /// The offer in force, and how many more periods it covers.
        var offer: Offer?
        var offerPeriodsLeft = 0
        /// An offer redeemed for the next period.
        var pendingOffer: Offer?

        /// When something happens to it by itself, given how early renewals are charged.
        func nextDue(lead: Int64) -> Int64? {
            guard sharedFrom == nil else { return nil }
            switch state {
            case .active: return autoRenews ? renewalDate - lead : renewalDate
            case .billingGrace: return gracePeriodExpiresDate
            case .billingRetry: return billingRetryEnds
            case .expired, .revoked: return nil
            }
        }

        /// Sets the counters for a period that just began as the first of its kind.
        mutating func begins(
            _ product: Product,
            offer: Offer?,
            from start: Int64,
            to end: Int64,
            lasting renewals: Renewals
        ) {
            renewalDate = end
            self.offer = offer
            offerPeriodsLeft = 0
            pendingOffer = nil
            renewalPrice = product.price
            commitment = renewals.commitment(of: product, offer: offer, from: start)
            if let offer, offer.discount == .payAsYouGo {
                offerPeriodsLeft = offer.count - 1
                if offer.count > 1 { renewalPrice = offer.price }
            }
            let isFullPeriod = offer == nil || offer?.discount == .payAsYouGo
            anchor = isFullPeriod ? start : end
            periodsSinceAnchor = isFullPeriod ? 1 : 0
        }
    }
}

extension SimulatedAppStore.Subscription {
    /// A subscription that begins with a purchase.
    init(
        _ product: Product,
        group: String,
        _ transaction: Transaction,
        until end: Int64,
        at now: Int64
    ) {
        self.init(
            originalTransactionID: transaction.originalID,
            customer: transaction.customer,
            group: group,
            productID: product.id,
            autoRenewProductID: product.id,
            latestTransactionID: transaction.id,
            renewalDate: end,
            renewalPrice: product.price,
            appAccountToken: transaction.appAccountToken,
            recentStart: now,
            anchor: now
        )
    }
}
