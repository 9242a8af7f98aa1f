public import StrictJSON

extension GooglePlay {
    /// `ProductPurchaseV2`: the present state of one purchase token of one-time products.
    public struct ProductPurchase: Hashable, Sendable {
        public let state: State
        /// One for each product: several where a bundle was bought.
        public let lineItems: [LineItem]
        /// Absent for promo codes: the token is the key of a purchase, never the order.
        public let orderID: String?
        /// The time of the payment; absent while it is pending.
        public let completionTime: Int64?
        public let acknowledgementState: AcknowledgementState?
        public let obfuscatedAccountID: String?
        public let obfuscatedProfileID: String?
        /// The payer's country, ISO 3166-1 alpha-2.
        public let regionCode: String?
        /// `true` for a purchase by a licence tester: no money is behind it.
        public let isTest: Bool
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, "ProductPurchaseV2")
            let state = try fields.optional("purchaseStateContext") {
                context throws(DecodingError) -> State? in try context.word("purchaseState")
            }
            guard let state = state ?? nil else {
                throw fields.error("purchaseStateContext", "a state")
            }
            self.state = state
            lineItems = try fields.list("productLineItem") { item throws(DecodingError) in
                try LineItem(item)
            }
            orderID = try fields.optionalString("orderId")
            completionTime = try fields.optionalTime("purchaseCompletionTime")
            acknowledgementState = try fields.word("acknowledgementState")
            obfuscatedAccountID = try fields.optionalString("obfuscatedExternalAccountId")
            obfuscatedProfileID = try fields.optionalString("obfuscatedExternalProfileId")
            regionCode = try fields.optionalString("regionCode")
            isTest = fields.has("testPurchaseContext")
            self.json = json
        }

        /// `purchaseState`.
        public struct State: OpenEnum {
            public let rawValue: String
            public init(rawValue: String) { self.rawValue = rawValue }

            public static let purchased = Self(rawValue: "PURCHASED")
            /// Voided: refunded, revoked, or never paid.
            public static let cancelled = Self(rawValue: "CANCELLED")
            public static let pending = Self(rawValue: "PENDING")
        }

        /// `ProductLineItem`.
        public struct LineItem: Hashable, Sendable {
            public let productID: String
            public let purchaseOptionID: String?
            public let offerID: String?
            /// The number that was bought; at least 1.
            public let quantity: Int64
            /// The number that is not refunded; `nil` where Google does not tell.
            public let refundableQuantity: Int64?
            public let isConsumed: Bool
            /// The release of a pre-order.
            public let preorderReleaseTime: Int64?
            /// `true` for a rental; its length stands in the catalog only.
            public let isRented: Bool

            init(_ fields: Fields) throws(DecodingError) {
                productID = try fields.string("productId")
                let offer = try fields.optional("productOfferDetails") {
                    offer throws(DecodingError) in try Offer(offer)
                }
                purchaseOptionID = offer?.purchaseOptionID
                offerID = offer?.offerID
                quantity = max(1, offer?.quantity ?? 1)
                refundableQuantity = offer?.refundableQuantity
                isConsumed = offer?.consumption == "CONSUMPTION_STATE_CONSUMED"
                preorderReleaseTime = offer?.preorderReleaseTime
                isRented = offer?.isRented ?? false
            }
        }

        private struct Offer {
            let purchaseOptionID: String?
            let offerID: String?
            let quantity: Int64?
            let refundableQuantity: Int64?
            let consumption: String?
            let preorderReleaseTime: Int64?
            let isRented: Bool

            init(_ fields: Fields) throws(DecodingError) {
                purchaseOptionID = try fields.optionalString("purchaseOptionId")
                offerID = try fields.optionalString("offerId")
                quantity = try fields.optionalInteger("quantity")
                refundableQuantity = try fields.optionalInteger("refundableQuantity")
                consumption = try fields.optionalString("consumptionState")
                preorderReleaseTime =
                    try fields.optional("preorderOfferDetails") {
                        details throws(DecodingError) in
                        try details.optionalTime("preorderReleaseTime")
                    } ?? nil
                isRented = fields.has("rentOfferDetails")
            }
        }
    }
}
