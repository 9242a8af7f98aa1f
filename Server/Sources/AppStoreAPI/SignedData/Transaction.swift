public import Foundation
public import StrictJSON

extension AppStore {
    /// One transaction: `JWSTransactionDecodedPayload`.
    public struct Transaction: Hashable, Sendable {
        /// A new one for each purchase, renewal and restore.
        public let transactionID: String?
        /// The first transaction of the purchase that this one belongs to.
        public let originalTransactionID: String?
        /// One per period of a subscription, the same on all devices.
        public let webOrderLineItemID: String?
        /// The app.
        public let bundleID: String?
        /// The product, as App Store Connect names it.
        public let productID: String?
        /// The group of an auto-renewable subscription.
        public let subscriptionGroupIdentifier: String?
        /// When it was charged or restored.
        public let purchaseDate: Int64?
        /// When the original transaction was charged.
        public let originalPurchaseDate: Int64?
        /// When the period ends.
        ///
        /// Fixed per transaction: a renewal is a new one.
        public let expiresDate: Int64?
        /// How many were bought.
        public let quantity: Int?
        /// The kind of product.
        public let type: ProductType?
        /// The account that the app named at the purchase.
        public let appAccountToken: UUID?
        /// Whether it was bought or is shared by the family.
        public let inAppOwnershipType: InAppOwnershipType?
        /// When this was signed.
        ///
        /// The clock of everything said here.
        public let signedDate: Int64?
        /// When it was refunded or revoked; gone after a reversal.
        public let revocationDate: Int64?
        /// Why it was refunded.
        public let revocationReason: RevocationReason?
        /// How much was taken back.
        public let revocationType: RevocationType?
        /// The share that was taken back; 100000 is all.
        public let revocationPercentage: Int64?
        /// True if another plan took its place; otherwise absent.
        public let isUpgraded: Bool?
        /// The kind of offer.
        public let offerType: OfferType?
        /// The offer; absent for an introductory one.
        public let offerIdentifier: String?
        /// How the offer is paid.
        public let offerDiscountType: OfferDiscountType?
        /// The length of the offer (ISO 8601).
        public let offerPeriod: String?
        /// Where it was bought.
        public let environment: Environment?
        /// The country of the store (ISO 3166-1 alpha-3).
        public let storefront: String?
        /// The number of the store.
        public let storefrontID: String?
        /// Whether the customer acted or the store renewed.
        public let transactionReason: TransactionReason?
        /// What was charged, in milliunits, after offers, for the whole quantity; the average per
        /// seat where `multiSeatInfo` is there.
        ///
        /// Not for accounting.
        public let price: Int64?
        /// ISO 4217.
        public let currency: String?
        /// The customer and app, stable even without purchases.
        public let appTransactionID: String?
        /// Advanced Commerce data, as it came.
        public let advancedCommerceInfo: JSON?
        /// How a commitment is billed.
        public let billingPlanType: BillingPlanType?
        /// The commitment of a monthly plan.
        public let commitmentInfo: CommitmentInfo?
        /// The purchase that this one continues, after a migration or a switch between a plan and
        /// a bundle (documentation only).
        public let previousOriginalTransactionID: String?
        /// The bundle that the transaction is for.
        ///
        /// This and the three that follow have the names of StoreKit's `bundleProductID` and its
        /// neighbours, as JWS fields are spelled (inferred: the server documentation lists none, so what
        /// is of another type counts as absent).
        public let bundleProductID: String?
        /// The group of the bundle.
        public let bundleSubscriptionGroupIdentifier: String?
        /// The bundle's transaction.
        public let bundleTransactionID: String?
        /// The bundle's purchase.
        public let bundleOriginalTransactionID: String?
        /// The seats of a multiseat purchase (documentation only).
        public let multiSeatInfo: MultiSeatInfo?
        /// Why more than one transaction represents the period: `SEAT_ADDITION` (documentation
        /// only).
        public let additionalTransactionReason: String?
        /// Who invites to seats, here or in `multiSeatInfo`: `APPLE` or `DEVELOPER`.
        public let invitationManagement: String?
        /// How many seats were refunded, here or in `multiSeatInfo`.
        public let revokedSeatQuantity: Int?
        /// The payload as it was signed, with fields that are newer than this code.
        public let json: JSON

        /// The commitment of a monthly plan with twelve months.
        public struct CommitmentInfo: Hashable, Sendable {
            /// Which of the billing periods this is, from 1.
            public let billingPeriodNumber: Int?
            /// When the commitment ends.
            public let commitmentExpiresDate: Int64?
            /// The price of the whole commitment, in milliunits.
            public let commitmentPrice: Int64?
            /// How many billing periods the commitment has.
            public let totalBillingPeriods: Int?

            init(_ fields: Fields) throws(VerificationError) {
                billingPeriodNumber = try fields.int("billingPeriodNumber")
                commitmentExpiresDate = try fields.date("commitmentExpiresDate")
                commitmentPrice = try fields.int64("commitmentPrice")
                totalBillingPeriods = try fields.int("totalBillingPeriods")
            }
        }

        /// Decodes a payload without any verification: only for what a signature covers.
        package init(json: JSON) throws(VerificationError) {
            let fields = try Fields(json, "transaction")
            self.json = json
            transactionID = try fields.string("transactionId")
            originalTransactionID = try fields.string("originalTransactionId")
            webOrderLineItemID = try fields.string("webOrderLineItemId")
            bundleID = try fields.string("bundleId")
            productID = try fields.string("productId")
            subscriptionGroupIdentifier = try fields.string("subscriptionGroupIdentifier")
            purchaseDate = try fields.date("purchaseDate")
            originalPurchaseDate = try fields.date("originalPurchaseDate")
            expiresDate = try fields.date("expiresDate")
            quantity = try fields.int("quantity")
            type = try fields.value("type")
            appAccountToken = try fields.uuid("appAccountToken")
            inAppOwnershipType = try fields.value("inAppOwnershipType")
            signedDate = try fields.date("signedDate")
            revocationDate = try fields.date("revocationDate")
            revocationReason = try fields.value("revocationReason")
            revocationType = try fields.value("revocationType")
            revocationPercentage = try fields.int64("revocationPercentage")
            isUpgraded = try fields.bool("isUpgraded")
            offerType = try fields.value("offerType")
            offerIdentifier = try fields.string("offerIdentifier")
            offerDiscountType = try fields.value("offerDiscountType")
            offerPeriod = try fields.string("offerPeriod")
            environment = try fields.value("environment")
            storefront = try fields.string("storefront")
            storefrontID = try fields.string("storefrontId")
            transactionReason = try fields.value("transactionReason")
            price = try fields.int64("price")
            currency = try fields.string("currency")
            appTransactionID = try fields.string("appTransactionId")
            advancedCommerceInfo = fields.field("advancedCommerceInfo")
            billingPlanType = try fields.value("billingPlanType")
            commitmentInfo = try fields.object("commitmentInfo").map(CommitmentInfo.init)
            previousOriginalTransactionID = try fields.string("previousOriginalTransactionId")
            bundleProductID = fields.field("bundleProductId")?.string
            bundleSubscriptionGroupIdentifier =
                fields.field("bundleSubscriptionGroupIdentifier")?.string
            bundleTransactionID = fields.field("bundleTransactionId")?.string
            bundleOriginalTransactionID = fields.field("bundleOriginalTransactionId")?.string
            let seats = MultiSeatInfo(fields.field("multiSeatInfo"))
            multiSeatInfo = seats
            additionalTransactionReason = try fields.string("additionalTransactionReason")
            invitationManagement =
                try fields.string("invitationManagement") ?? seats?.invitationManagement
            revokedSeatQuantity =
                try fields.int("revokedSeatQuantity") ?? seats?.revokedSeatQuantity
        }
    }
}
