/// `JWSTransactionDecodedPayload`: what a signed transaction says.
struct TransactionPayload: Encodable, Sendable {
    var transactionId: String
    var originalTransactionId: String
    var webOrderLineItemId: String?
    var bundleId: String
    var productId: String
    var subscriptionGroupIdentifier: String?
    var purchaseDate: Int64
    var originalPurchaseDate: Int64
    var expiresDate: Int64?
    var quantity: Int
    var type: String
    var appAccountToken: String?
    var inAppOwnershipType: String
    var signedDate: Int64
    var revocationDate: Int64?
    var revocationReason: Int?
    var revocationType: String?
    var revocationPercentage: Int?
    var isUpgraded: Bool?
    var offerType: Int?
    var offerIdentifier: String?
    var offerDiscountType: String?
    var offerPeriod: String?
    var environment: String
    var storefront: String
    var storefrontId: String
    var transactionReason: String
    var price: Int64?
    var currency: String?
    var appTransactionId: String
    var billingPlanType: String?
    var commitmentInfo: CommitmentInfo?
    var previousOriginalTransactionId: String?
    var bundleProductId: String?
    var bundleSubscriptionGroupIdentifier: String?
    var bundleTransactionId: String?
    var bundleOriginalTransactionId: String?
    var additionalTransactionReason: String?
    var multiSeatInfo: MultiSeatInfo?

    /// The seats of a multiseat purchase.
    struct MultiSeatInfo: Encodable, Sendable {
        struct PriceTier: Encodable, Sendable {
            var price: Int64
            var quantity: Int
        }

        var invitationManagement: String
        var priceTiers: [PriceTier]
        var revokedSeatQuantity: Int?
    }

    /// Where in the commitment of a monthly plan the period lies.
    struct CommitmentInfo: Encodable, Sendable {
        var billingPeriodNumber: Int
        var commitmentExpiresDate: Int64
        var commitmentPrice: Int64
        var totalBillingPeriods: Int
    }

    init(
        _ transaction: SimulatedAppStore.Transaction,
        customer: SimulatedAppStore.Customer,
        in world: SimulatedAppStore.World,
        signedDate: Int64
    ) {
        transactionId = transaction.id
        originalTransactionId = transaction.originalID
        webOrderLineItemId = transaction.webOrderLineItemID
        bundleId = world.bundleID
        productId = transaction.productID
        subscriptionGroupIdentifier = transaction.subscriptionGroup
        purchaseDate = transaction.purchaseDate
        originalPurchaseDate = transaction.originalPurchaseDate
        expiresDate = transaction.expiresDate
        quantity = transaction.quantity
        type = transaction.kind.rawValue
        appAccountToken = transaction.appAccountToken
        inAppOwnershipType = transaction.ownership.rawValue
        self.signedDate = signedDate
        revocationDate = transaction.revocation?.date
        revocationReason = transaction.revocation?.reason
        revocationType = transaction.revocation?.type
        revocationPercentage = transaction.revocation?.percentage
        isUpgraded = transaction.isUpgraded ? true : nil  // Apple states it only when true.
        offerType = transaction.offer?.kind.rawValue
        offerIdentifier = transaction.offer?.id
        offerDiscountType = transaction.offer?.discount.rawValue
        offerPeriod = transaction.offer?.period.description
        environment = world.environment.rawValue
        storefront = customer.storefront
        storefrontId = customer.storefrontID
        transactionReason = transaction.reason.rawValue
        price = transaction.price
        currency = transaction.currency
        appTransactionId = customer.appTransactionID
        previousOriginalTransactionId = transaction.previousOriginalID
        bundleProductId = transaction.bundle?.productID
        bundleSubscriptionGroupIdentifier = transaction.bundle?.group
        bundleTransactionId = transaction.bundle?.transactionID
        bundleOriginalTransactionId = transaction.bundle?.originalTransactionID
        additionalTransactionReason = transaction.additionalReason
        if let revoked = transaction.revokedSeats {
            // The average per seat, in payloads of those who pay.
            let average = (transaction.price ?? 0) / Int64(max(1, transaction.quantity))
            if transaction.price != nil { price = average }
            multiSeatInfo = MultiSeatInfo(
                invitationManagement: (world.products[transaction.productID]?.invitations ?? .apple)
                    .rawValue,
                priceTiers: [.init(price: average, quantity: transaction.quantity)],
                revokedSeatQuantity: revoked > 0 && transaction.ownership == .purchased
                    ? revoked : nil
            )
        }
        if let commitment = transaction.commitment {
            billingPlanType = SimulatedAppStore.Commitment.plan
            commitmentInfo = CommitmentInfo(
                billingPeriodNumber: commitment.number,
                commitmentExpiresDate: commitment.expires,
                commitmentPrice: commitment.price,
                totalBillingPeriods: commitment.total
            )
        }
    }
}
