extension SimulatedAppStore {
    /// One charge (or one free or shared period), as the store's books hold it.
    public struct Transaction: Codable, Hashable, Sendable {
        public enum Ownership: String, Codable, Sendable {
            case purchased = "PURCHASED"
            case familyShared = "FAMILY_SHARED"
        }

        public enum Reason: String, Codable, Sendable {
            case purchase = "PURCHASE"
            case renewal = "RENEWAL"
        }

        /// Why a transaction stopped counting.
        public struct Revocation: Codable, Hashable, Sendable {
            public var date: Int64
            /// 1 for an issue in the app, 0 for any other reason.
            public var reason: Int
            /// `REFUND_FULL`, `REFUND_PRORATED` or `FAMILY_REVOKE`.
            public var type: String
            /// In thousandths of a percent, for a prorated refund.
            public var percentage: Int?
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
        public let quantity: Int
        public var appAccountToken: String?
        public let ownership: Ownership
        public let reason: Reason
        public var revocation: Revocation?
        public var isUpgraded = false
        public var offer: Offer?
        /// Of a monthly plan with a commitment: where in it this period lies.
        public var commitment: Commitment?
        public var price: Int64?
        public var currency: String?
        public var isFinished = false
        /// Counts every change in the whole store; the history endpoint pages by it.
        var modification = 0
        var modified: Int64 = 0

        /// Whether both are ids of one charge: restoring may make more ids of it.
        package func isSameSale(as other: Transaction) -> Bool {
            originalID == other.originalID && webOrderLineItemID == other.webOrderLineItemID
        }
    }
}
