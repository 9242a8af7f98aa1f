/// `JWSRenewalInfoDecodedPayload`: what signed renewal info says.
struct RenewalInfoPayload: Encodable, Sendable {
    var originalTransactionId: String
    var productId: String
    var autoRenewProductId: String
    var autoRenewStatus: Int
    var expirationIntent: Int?
    var isInBillingRetryPeriod: Bool?
    var gracePeriodExpiresDate: Int64?
    var priceIncreaseStatus: Int?
    var offerType: Int?
    var offerIdentifier: String?
    var offerDiscountType: String?
    var offerPeriod: String?
    var renewalDate: Int64
    var renewalPrice: Int64?
    var currency: String?
    var recentSubscriptionStartDate: Int64
    var eligibleWinBackOfferIds: [String]?
    var appAccountToken: String?
    var appTransactionId: String
    var environment: String
    var signedDate: Int64
    var renewalBillingPlanType: String?
    var commitmentInfo: CommitmentInfo?

    /// What comes after the commitment of a monthly plan.
    struct CommitmentInfo: Encodable, Sendable {
        var commitmentAutoRenewProductId: String
        var commitmentAutoRenewStatus: Int
        var commitmentRenewalBillingPlanType: String
        var commitmentRenewalDate: Int64
        var commitmentRenewalPrice: Int64?
    }

    init(
        _ subscription: SimulatedAppStore.Subscription,
        customer: SimulatedAppStore.Customer,
        in world: SimulatedAppStore.World,
        signedDate: Int64
    ) {
        let product = world.products[subscription.nextProductID]
        let isShared = subscription.sharedFrom != nil
        originalTransactionId = subscription.originalTransactionID
        productId = subscription.productID
        autoRenewProductId = subscription.nextProductID
        autoRenewStatus = subscription.autoRenews ? 1 : 0
        switch subscription.state {
        case .billingGrace, .billingRetry: isInBillingRetryPeriod = true
        case .expired: isInBillingRetryPeriod = false
        case .active, .revoked: isInBillingRetryPeriod = nil
        }
        expirationIntent =
            subscription.state == .active || subscription.state == .revoked
            ? nil : subscription.expirationIntent
        gracePeriodExpiresDate = subscription.gracePeriodExpiresDate
        priceIncreaseStatus = subscription.priceIncrease.map { $0.isAccepted ? 1 : 0 }
        let next =
            subscription.pendingOffer
            ?? (subscription.offerPeriodsLeft > 0 ? subscription.offer : nil)
        offerType = next?.kind.rawValue
        offerIdentifier = next?.id
        offerDiscountType = next?.discount.rawValue
        offerPeriod = next?.period.description
        renewalDate = subscription.renewalDate
        renewalPrice =
            isShared ? nil : subscription.priceIncrease?.price ?? subscription.renewalPrice
        currency = isShared ? nil : product?.currency
        recentSubscriptionStartDate = subscription.recentStart
        if subscription.state == .expired, !isShared {
            let offers = product?.offers.filter { $0.kind == .winBack }.compactMap(\.id) ?? []
            eligibleWinBackOfferIds = offers.isEmpty ? nil : offers
        }
        appAccountToken = subscription.appAccountToken
        appTransactionId = customer.appTransactionID
        environment = world.environment.rawValue
        self.signedDate = signedDate
        if product?.commitmentPeriods != nil, !isShared {
            renewalBillingPlanType = SimulatedAppStore.Commitment.plan
        }
        if let commitment = subscription.commitment {
            let next = world.products[subscription.autoRenewProductID]
            commitmentInfo = CommitmentInfo(
                commitmentAutoRenewProductId: subscription.autoRenewProductID,
                commitmentAutoRenewStatus: commitment.renews && subscription.autoRenews ? 1 : 0,
                commitmentRenewalBillingPlanType: next?.commitmentPeriods == nil
                    ? "BILLED_UPFRONT" : SimulatedAppStore.Commitment.plan,
                commitmentRenewalDate: commitment.expires,
                commitmentRenewalPrice: next?.commitmentPrice
            )
        }
    }
}
