public import StrictJSON

extension GooglePlay {
    /// `Order`: one payment, with its dates and money.
    ///
    /// The only place where Google states past periods.
    public struct Order: Hashable, Sendable {
        /// `GPA.1234-5678-9012-34567`; renewals end in `..0`, `..1`, ….
        public let id: String
        public let purchaseToken: String?
        public let state: State?
        public let createTime: Int64?
        /// The time of the last change.
        public let lastEventTime: Int64?
        /// The sum that the buyer paid, with tax.
        public let total: Money?
        public let tax: Money?
        /// The developer's share, in the buyer's currency; `nil` where Google does not tell.
        public let developerRevenue: Money?
        public let isTaxInclusive: Bool
        /// The buyer's country, ISO 3166-1 alpha-2.
        public let buyerCountry: String?
        public let lineItems: [LineItem]
        /// The time of the payment.
        public let processedTime: Int64?
        public let cancelledTime: Int64?
        /// The refund of the whole order.
        public let refund: Refund?
        /// Refunds of parts, also those by amount that no notification tells.
        public let partialRefunds: [PartialRefund]
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, "Order")
            id = try fields.string("orderId")
            purchaseToken = try fields.optionalString("purchaseToken")
            state = try fields.word("state")
            createTime = try fields.optionalTime("createTime")
            lastEventTime = try fields.optionalTime("lastEventTime")
            total = try fields.money("total")
            tax = try fields.money("tax")
            developerRevenue = try fields.money("developerRevenueInBuyerCurrency")
            isTaxInclusive =
                try fields.optional("orderDetails") { details throws(DecodingError) in
                    try details.bool("taxInclusive")
                } ?? false
            buyerCountry =
                try fields.optional("buyerAddress") { address throws(DecodingError) in
                    try address.optionalString("buyerCountry")
                } ?? nil
            lineItems = try fields.list("lineItems") { item throws(DecodingError) in
                try LineItem(item)
            }
            let history = try fields.optional("orderHistory") { history throws(DecodingError) in
                try History(history)
            }
            processedTime = history?.processed
            cancelledTime = history?.cancelled
            refund = history?.refund
            partialRefunds = history?.partialRefunds ?? []
            self.json = json
        }

        /// `state`.
        public struct State: OpenEnum {
            public let rawValue: String
            public init(rawValue: String) { self.rawValue = rawValue }

            public static let pending = Self(rawValue: "PENDING")
            public static let processed = Self(rawValue: "PROCESSED")
            public static let canceled = Self(rawValue: "CANCELED")
            public static let pendingRefund = Self(rawValue: "PENDING_REFUND")
            public static let partiallyRefunded = Self(rawValue: "PARTIALLY_REFUNDED")
            public static let refunded = Self(rawValue: "REFUNDED")
        }

        /// `LineItem`.
        public struct LineItem: Hashable, Sendable {
            public let productID: String
            /// The price before discounts, without tax.
            public let listingPrice: Money?
            public let total: Money?
            public let tax: Money?
            /// `nil` for a one-time product.
            public let subscription: Period?
            /// The number that was bought; `nil` for a subscription.
            public let quantity: Int64?
            /// Of a one-time product.
            public let purchaseOptionID: String?
            public let offerID: String?

            init(_ fields: Fields) throws(DecodingError) {
                productID = try fields.string("productId")
                listingPrice = try fields.money("listingPrice")
                total = try fields.money("total")
                tax = try fields.money("tax")
                subscription = try fields.optional("subscriptionDetails") {
                    details throws(DecodingError) in try Period(details)
                }
                let once = try fields.optional("oneTimePurchaseDetails") {
                    details throws(DecodingError) in
                    (
                        try details.optionalInteger("quantity") ?? 1,
                        try details.optionalString("purchaseOptionId"),
                        try details.optionalString("offerId")
                    )
                }
                (quantity, purchaseOptionID, offerID) = (once?.0, once?.1, once?.2)
            }
        }

        /// `SubscriptionDetails`: the period that an order pays.
        public struct Period: Hashable, Sendable {
            public let basePlanID: String?
            public let offerID: String?
            /// An accounting snapshot; access follows the purchase's `expiryTime`.
            public let start: Int64?
            public let end: Int64?
            public let phase: SubscriptionLineItem.Phase?

            init(_ fields: Fields) throws(DecodingError) {
                basePlanID = try fields.optionalString("basePlanId")
                offerID = try fields.optionalString("offerId")
                start = try fields.optionalTime("servicePeriodStartTime")
                end = try fields.optionalTime("servicePeriodEndTime")
                phase =
                    try fields.optional("offerPhaseDetails") { phase throws(DecodingError) in
                        SubscriptionLineItem.Phase(phase)
                    } ?? nil
            }
        }

        /// `RefundEvent`.
        public struct Refund: Hashable, Sendable {
            public let time: Int64?
            public let total: Money?
            public let tax: Money?
            public let isChargeback: Bool

            init(_ fields: Fields) throws(DecodingError) {
                time = try fields.optionalTime("eventTime")
                let details = try fields.optional("refundDetails") {
                    details throws(DecodingError) in
                    (try details.money("total"), try details.money("tax"))
                }
                total = details?.0
                tax = details?.1
                isChargeback = try fields.optionalString("refundReason") == "CHARGEBACK"
            }
        }

        /// `PartialRefundEvent`.
        public struct PartialRefund: Hashable, Sendable {
            public let createTime: Int64?
            public let processTime: Int64?
            public let isProcessed: Bool
            public let total: Money?
            public let tax: Money?

            init(_ fields: Fields) throws(DecodingError) {
                createTime = try fields.optionalTime("createTime")
                processTime = try fields.optionalTime("processTime")
                isProcessed = try fields.optionalString("state") == "PROCESSED_SUCCESSFULLY"
                let details = try fields.optional("refundDetails") {
                    details throws(DecodingError) in
                    (try details.money("total"), try details.money("tax"))
                }
                total = details?.0
                tax = details?.1
            }
        }

        private struct History {
            let processed: Int64?
            let cancelled: Int64?
            let refund: Refund?
            let partialRefunds: [PartialRefund]

            init(_ fields: Fields) throws(DecodingError) {
                processed =
                    try fields.optional("processedEvent") { event throws(DecodingError) in
                        try event.optionalTime("eventTime")
                    } ?? nil
                cancelled =
                    try fields.optional("cancellationEvent") {
                        event throws(DecodingError) in try event.optionalTime("eventTime")
                    } ?? nil
                refund = try fields.optional("refundEvent") { event throws(DecodingError) in
                    try Refund(event)
                }
                partialRefunds = try fields.list("partialRefundEvents") {
                    event throws(DecodingError) in try PartialRefund(event)
                }
            }
        }
    }
}
