extension API {
    /// The body of `POST /v1/google_play/purchases`: a purchase that Google Play told the app.
    public struct GooglePlayPurchaseRequest: Hashable, Codable, Sendable {
        /// `Purchase.getPurchaseToken()`.
        public var purchaseToken: String
        public var kind: Kind
        /// The product that the app bought; compared with Google's answer.
        public var productID: String?
        /// The app, where there are several; the first if left out.
        public var packageName: String?
        public var mode: SubmissionMode
        /// The purchase as Google signed it for the app; checked where the app's licence key is configured.
        public var signed: Signed?

        /// The kinds of products, which Google reads by different methods.
        public enum Kind: String, Hashable, Codable, Sendable, CaseIterable {
            case subscription
            case oneTime = "one_time"
        }

        /// `Purchase.getOriginalJson()` and `Purchase.getSignature()`.
        public struct Signed: Hashable, Codable, Sendable {
            public var originalJSON: String
            public var signature: String

            public init(originalJSON: String, signature: String) {
                (self.originalJSON, self.signature) = (originalJSON, signature)
            }

            private enum CodingKeys: String, CodingKey {
                case signature
                case originalJSON = "original_json"
            }
        }

        public init(
            purchaseToken: String,
            kind: Kind,
            productID: String? = nil,
            packageName: String? = nil,
            mode: SubmissionMode,
            signed: Signed? = nil
        ) {
            (self.purchaseToken, self.kind, self.mode) = (purchaseToken, kind, mode)
            (self.productID, self.packageName, self.signed) = (productID, packageName, signed)
        }

        private enum CodingKeys: String, CodingKey {
            case kind, mode, signed
            case purchaseToken = "purchase_token"
            case productID = "product_id"
            case packageName = "package_name"
        }
    }

    /// The answer once the purchase is on disk; the server acknowledges it with Google.
    public struct GooglePlayPurchaseReply: Hashable, Codable, Sendable {
        public var environment: Environment
        /// The key of the purchase.
        public var purchase: String
        /// The session's customer, who holds it; `nil` without a session.
        public var customer: String?
        /// `true` where this said anything new.
        public var new: Bool

        public init(environment: Environment, purchase: String, customer: String?, new: Bool) {
            (self.environment, self.purchase) = (environment, purchase)
            (self.customer, self.new) = (customer, new)
        }

        private enum CodingKeys: String, CodingKey { case environment, purchase, customer, new }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(environment, forKey: .environment)
            try container.encode(purchase, forKey: .purchase)
            try container.encode(customer, forKey: .customer)
            try container.encode(new, forKey: .new)
        }
    }
}
