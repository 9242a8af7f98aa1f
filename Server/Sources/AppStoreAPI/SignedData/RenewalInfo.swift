public import Foundation
public import StrictJSON

extension AppStore {
    /// How a subscription will go on: `JWSRenewalInfoDecodedPayload`.
    public struct RenewalInfo: Hashable, Sendable {
        /// The purchase that renews.
        public let originalTransactionID: String?
        /// The plan of the current period.
        public let productID: String?
        /// The plan of the next period; another one is a pending downgrade.
        public let autoRenewProductID: String?
        /// Whether it will renew.
        public let autoRenewStatus: AutoRenewStatus?
        /// Why it expired.
        public let expirationIntent: ExpirationIntent?
        /// Whether the store still tries to charge.
        ///
        /// Decides nothing alone.
        public let isInBillingRetryPeriod: Bool?
        /// Until when access goes on although charging failed.
        public let gracePeriodExpiresDate: Int64?
        /// The answer to a price increase.
        public let priceIncreaseStatus: PriceIncreaseStatus?
        /// The kind of offer of the next period.
        public let offerType: OfferType?
        /// The offer of the next period.
        public let offerIdentifier: String?
        /// How that offer is paid.
        public let offerDiscountType: OfferDiscountType?
        /// The length of that offer (ISO 8601).
        public let offerPeriod: String?
        /// When it renews or would have renewed.
        public let renewalDate: Int64?
        /// The price of the next period, in milliunits.
        public let renewalPrice: Int64?
        /// ISO 4217.
        public let currency: String?
        /// When the chain of periods began, gaps of up to 60 days ignored.
        public let recentSubscriptionStartDate: Int64?
        /// Win-back offers that the customer may take, best first.
        public let eligibleWinBackOfferIDs: [String]?
        /// The account of the upcoming renewal.
        public let appAccountToken: UUID?
        /// The customer and app.
        public let appTransactionID: String?
        /// Where it was bought.
        public let environment: Environment?
        /// When this was signed.
        public let signedDate: Int64?
        /// Advanced Commerce data, as it came.
        public let advancedCommerceInfo: JSON?
        /// How the next commitment is billed.
        public let renewalBillingPlanType: BillingPlanType?
        /// What comes after the commitment.
        public let commitmentInfo: CommitmentInfo?
        /// Seats from the next period on (documentation only).
        public let renewalQuantity: Int?
        /// The payload as it was signed, with fields that are newer than this code.
        public let json: JSON

        /// What comes after the commitment of a monthly plan.
        public struct CommitmentInfo: Hashable, Sendable {
            /// The plan after the commitment.
            public let autoRenewProductID: String?
            /// Whether it renews after the commitment.
            public let autoRenewStatus: AutoRenewStatus?
            /// How the next commitment is billed.
            public let renewalBillingPlanType: BillingPlanType?
            /// When the next commitment begins.
            public let renewalDate: Int64?
            /// The price of the next commitment, in milliunits.
            public let renewalPrice: Int64?

            init(_ fields: Fields) throws(VerificationError) {
                autoRenewProductID = try fields.string("commitmentAutoRenewProductId")
                autoRenewStatus = try fields.value("commitmentAutoRenewStatus")
                renewalBillingPlanType = try fields.value("commitmentRenewalBillingPlanType")
                renewalDate = try fields.date("commitmentRenewalDate")
                renewalPrice = try fields.int64("commitmentRenewalPrice")
            }
        }

        /// Decodes a payload without any verification: only for what a signature covers.
        package init(json: JSON) throws(VerificationError) {
            let fields = try Fields(json, "renewalInfo")
            self.json = json
            originalTransactionID = try fields.string("originalTransactionId")
            productID = try fields.string("productId")
            autoRenewProductID = try fields.string("autoRenewProductId")
            autoRenewStatus = try fields.value("autoRenewStatus")
            expirationIntent = try fields.value("expirationIntent")
            isInBillingRetryPeriod = try fields.bool("isInBillingRetryPeriod")
            gracePeriodExpiresDate = try fields.date("gracePeriodExpiresDate")
            priceIncreaseStatus = try fields.value("priceIncreaseStatus")
            offerType = try fields.value("offerType")
            offerIdentifier = try fields.string("offerIdentifier")
            offerDiscountType = try fields.value("offerDiscountType")
            offerPeriod = try fields.string("offerPeriod")
            renewalDate = try fields.date("renewalDate")
            renewalPrice = try fields.int64("renewalPrice")
            currency = try fields.string("currency")
            recentSubscriptionStartDate = try fields.date("recentSubscriptionStartDate")
            eligibleWinBackOfferIDs = try fields.strings("eligibleWinBackOfferIds")
            appAccountToken = try fields.uuid("appAccountToken")
            appTransactionID = try fields.string("appTransactionId")
            environment = try fields.value("environment")
            signedDate = try fields.date("signedDate")
            advancedCommerceInfo = fields.field("advancedCommerceInfo")
            renewalBillingPlanType = try fields.value("renewalBillingPlanType")
            commitmentInfo = try fields.object("commitmentInfo").map(CommitmentInfo.init)
            renewalQuantity = try fields.int("renewalQuantity")
        }
    }
}
