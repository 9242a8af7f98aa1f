public import StrictJSON

extension Stripe {
    /// Money given back.
    ///
    /// It touches no subscription.
    public struct Refund: IdentifiedObject {
        public static let objectName = "refund"

        public let id: String
        /// When Stripe made it.
        public let created: Int64
        /// Succeeded may still turn into failed.
        public let status: Status?
        public let amount: Int64
        public let paymentIntent: IDOrObject<PaymentIntent>?
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, of: Self.self)
            id = try fields.string("id")
            created = try fields.integer("created")
            status = try fields.optionalWord("status")
            amount = try fields.integer("amount")
            paymentIntent = try fields.optionalReference("payment_intent")
            self.json = json
        }

        /// How far it went.
        public struct Status: OpenEnum {
            public let rawValue: String
            public init(rawValue: String) { self.rawValue = rawValue }
        }
    }
}
