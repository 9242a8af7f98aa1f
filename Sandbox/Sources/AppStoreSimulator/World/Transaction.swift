extension SimulatedAppStore {
    /// One charge (or one free or shared period), as the store's books hold it.
    public struct Transaction: Codable, Hashable, Sendable {
        public enum Ownership: String, Codable, Sendable {
            case purchased = "PURCHASED"
            case familyShared = "FAMILY_SHARED"
            /// A seat that somebody else pays for.
            case assigned = "ASSIGNED"
        }

        public enum Reason: String, Codable, Sendable {
            case purchase = "PURCHASE"
            case renewal = "RENEWAL"
        }

        /// A purchase of several subscriptions at once, which the app's transaction is a part of.
        public struct Bundle: Codable, Hashable, Sendable {
            public var productID: String
            public var group: String
            public var transactionID: String
            public var originalTransactionID: String

            /// The bundle of a transaction, by ids that belong to it.
            init(of transaction: Transaction) {
                productID = transaction.productID + ".bundle"
                group = (transaction.subscriptionGroup ?? "") + ".bundle"
                transactionID = "8" + transaction.id
                originalTransactionID = "8" + transaction.originalID
            }
        }

        /// Why a transaction stopped counting.
        public struct Revocation: Codable, Hashable, Sendable {
            public var date: Int64
            /// 1 for an issue in the app, 0 for any other reason, 2 for a switch to a bundle (Apple
            /// documents its name, `upgradedToBundle`, and not its number).
            public var reason: Int
            /// `REFUND_FULL`, `REFUND_PRORATED`, `FAMILY_REVOKE` or `ASSIGNMENT_REVOKE`; `nil` for
            /// a switch to a bundle.
            public var type: String?
            /// In thousandths of a percent, for a prorated refund.
            public var percentage: Int?
            /// The refund was reversed, and statements keep its fields all the same.
            var isReversed: Bool?
        }

        public let id: String
        public let originalID: String
        public let customer: String
        public var webOrderLineItemID: String?
        public let orderID: String
        public let productID: String
        public let kind: Product.Kind
        public var subscriptionGroup: String?
        public let purchaseDate: Int64
        public let originalPurchaseDate: Int64
        public var expiresDate: Int64?
        /// The seats of a multiseat purchase.
        public let quantity: Int
        public var appAccountToken: String?
        public let ownership: Ownership
        public let reason: Reason
        public var revocation: Revocation?
        /// `true` unless the customer has it, still or again.
        var isRevoked: Bool { revocation.map { $0.isReversed != true } ?? false }
        public var isUpgraded = false
        public var offer: Offer?
        /// Of a monthly plan with a commitment: where in it this period lies.
        public var commitment: Commitment?
        /// What was charged in all, in milliunits.
        public var price: Int64?
        public var currency: String?
        public var isFinished = false
        /// Of a multiseat purchase: how many of its seats were refunded; `nil`: it is none.
        public var revokedSeats: Int?
        /// Why more than one transaction represents the period.
        public var additionalReason: String?
        /// The original transaction id of the purchase that this one continues.
        public var previousOriginalID: String?
        /// The bundle that it is a part of.
        public var bundle: Bundle?
        /// Counts every change in the whole store; the history endpoint pages by it.
        var modification = 0
        var modified: Int64 = 0

        /// Whether both are ids of one charge: restoring may make more ids of it.
        public func isSameSale(as other: Transaction) -> Bool {
            originalID == other.originalID && webOrderLineItemID == other.webOrderLineItemID
                && purchaseDate == other.purchaseDate
        }
    }
}
