public import StrictJSON

extension GooglePlay {
    /// `DeveloperNotification`: a hint that something of an app changed.
    ///
    /// It states no truth: the purchase has to be read.
    public struct DeveloperNotification: Hashable, Sendable {
        public let packageName: String
        /// The time of the event by Google's clock; not a version of the purchase.
        public let eventTime: Int64
        public let content: Content
        public let json: JSON

        /// Reads a notification.
        ///
        /// - Throws: `DecodingError` for a form that is not Google's, also where it says nothing or
        ///   two things at once.
        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, "DeveloperNotification")
            packageName = try fields.string("packageName")
            guard let eventTime = try fields.optionalInteger("eventTimeMillis") else {
                throw fields.error("eventTimeMillis", "a time")
            }
            self.eventTime = eventTime
            var contents: [Content] = []
            try Self.add(fields, "subscriptionNotification", to: &contents) {
                hint throws(DecodingError) in .subscription(try Purchase(hint))
            }
            try Self.add(fields, "oneTimeProductNotification", to: &contents) {
                hint throws(DecodingError) in .oneTimeProduct(try Purchase(hint))
            }
            try Self.add(fields, "voidedPurchaseNotification", to: &contents) {
                hint throws(DecodingError) in .voidedPurchase(try Voided(hint))
            }
            try Self.add(fields, "pendingRefundReviewNotification", to: &contents) {
                hint throws(DecodingError) in .pendingRefundReview(try RefundReview(hint))
            }
            try Self.add(fields, "testNotification", to: &contents) {
                _ throws(DecodingError) in .test
            }
            guard contents.count == 1 else {
                throw DecodingError(
                    object: "DeveloperNotification",
                    field: "",
                    expected: "a notification of one known kind"
                )
            }
            content = contents[0]
            self.json = json
        }

        private static func add(
            _ fields: Fields,
            _ field: StaticString,
            to contents: inout [Content],
            _ read: (Fields) throws(DecodingError) -> Content
        ) throws(DecodingError) {
            if let content = try fields.optional(field, read) { contents.append(content) }
        }

        /// The kinds of notifications.
        public enum Content: Hashable, Sendable {
            case subscription(Purchase)
            case oneTimeProduct(Purchase)
            case voidedPurchase(Voided)
            case pendingRefundReview(RefundReview)
            /// Sent by the Play Console's button.
            case test
        }

        /// A purchase that changed.
        ///
        /// Its type is for logs only: what is true now says the read.
        public struct Purchase: Hashable, Sendable {
            /// `notificationType`, also one that Google added later.
            public let type: Int64
            public let purchaseToken: String
            /// `sku` of a one-time product, `subscriptionId` of a subscription where it is still sent.
            public let productID: String?

            init(_ fields: Fields) throws(DecodingError) {
                guard let type = try fields.optionalInteger("notificationType") else {
                    throw fields.error("notificationType", "a whole number")
                }
                self.type = type
                purchaseToken = try fields.string("purchaseToken")
                let sku = try fields.optionalString("sku")
                let subscription = try fields.optionalString("subscriptionId")
                productID = sku ?? subscription
            }
        }

        /// `VoidedPurchaseNotification`: it names one order, maybe of an earlier period.
        public struct Voided: Hashable, Sendable {
            public let purchaseToken: String
            /// `nil` for a purchase by a promo code.
            public let orderID: String?
            public let isSubscription: Bool
            /// `true` for a refund of a part of the quantity; the last part comes as a full refund.
            public let isPartial: Bool

            init(_ fields: Fields) throws(DecodingError) {
                purchaseToken = try fields.string("purchaseToken")
                orderID = try fields.optionalString("orderId")
                isSubscription = try fields.optionalInteger("productType") == 1
                isPartial = try fields.optionalInteger("refundType") == 2
            }
        }

        /// `PendingRefundReviewNotification`: to be answered within 24 hours, or not at all.
        public struct RefundReview: Hashable, Sendable {
            public let pendingRefundToken: String
            public let orderID: String
            /// 7 is a chargeback.
            public let reason: Int64?
            public let obfuscatedAccountID: String?

            init(_ fields: Fields) throws(DecodingError) {
                pendingRefundToken = try fields.string("pendingRefundToken")
                orderID = try fields.string("orderId")
                reason = try fields.optionalInteger("refundReason")
                obfuscatedAccountID = try fields.optionalString("obfuscatedAccountId")
            }
        }
    }
}
