public import StrictJSON

extension GooglePlay {
    /// `VoidedPurchase`: an order that was refunded with its access, charged back or cancelled.
    public struct VoidedPurchase: Hashable, Sendable {
        public let purchaseToken: String
        /// `nil` for a purchase by a promo code.
        public let orderID: String?
        public let purchaseTime: Int64?
        public let voidedTime: Int64
        /// 0 user, 1 developer, 2 Google.
        public let source: Int64?
        /// 0 other, 1 remorse, 2 not received, 3 defective, 4 accidental purchase, 5 fraud,
        /// 6 friendly fraud, 7 chargeback, 8 unacknowledged purchase.
        public let reason: Int64?
        /// The number that was refunded; `nil` means the rest of the order.
        public let quantity: Int64?
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, "VoidedPurchase")
            purchaseToken = try fields.string("purchaseToken")
            orderID = try fields.optionalString("orderId")
            purchaseTime = try fields.optionalInteger("purchaseTimeMillis")
            guard let voidedTime = try fields.optionalInteger("voidedTimeMillis") else {
                throw fields.error("voidedTimeMillis", "a time")
            }
            self.voidedTime = voidedTime
            source = try fields.optionalInteger("voidedSource")
            reason = try fields.optionalInteger("voidedReason")
            quantity = try fields.optionalInteger("voidedQuantity")
            self.json = json
        }
    }

    /// One page of `purchases.voidedpurchases.list`, the oldest first.
    public struct VoidedPurchases: Hashable, Sendable {
        public let voidedPurchases: [VoidedPurchase]
        /// Entries in a form that we do not know, which keep no others back.
        public let unreadable: [DecodingError]
        /// The token of the next page; `nil` after the last one.
        public let nextPageToken: String?

        init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, "VoidedPurchasesListResponse")
            let entries = try fields.list("voidedPurchases") { item throws(DecodingError) in
                item.json
            }
            var readable: [VoidedPurchase] = []
            var unreadable: [DecodingError] = []
            for entry in entries {
                do throws(DecodingError) { readable.append(try VoidedPurchase(entry)) } catch {
                    unreadable.append(error)
                }
            }
            (voidedPurchases, self.unreadable) = (readable, unreadable)
            nextPageToken =
                try fields.optional("tokenPagination") { page throws(DecodingError) in
                    try page.optionalString("nextPageToken")
                } ?? nil
        }
    }
}
