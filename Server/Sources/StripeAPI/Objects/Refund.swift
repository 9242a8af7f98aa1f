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
        /// ISO 4217 in lower case.
        public let currency: String
        public let charge: IDOrObject<Charge>?
        public let paymentIntent: IDOrObject<PaymentIntent>?
        public let reason: String?
        public let failureReason: String?
        public let metadata: [String: String]
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, of: Self.self)
            id = try fields.string("id")
            created = try fields.integer("created")
            status = try fields.optionalWord("status")
            amount = try fields.integer("amount")
            currency = try fields.string("currency")
            charge = try fields.optionalReference("charge")
            paymentIntent = try fields.optionalReference("payment_intent")
            reason = try fields.optionalString("reason")
            failureReason = try fields.optionalString("failure_reason")
            metadata = try fields.metadata()
            self.json = json
        }

        /// How far it went.
        public struct Status: OpenEnum {
            public let rawValue: String
            public init(rawValue: String) { self.rawValue = rawValue }

            public static let pending = Self(rawValue: "pending")
            public static let requiresAction = Self(rawValue: "requires_action")
            public static let succeeded = Self(rawValue: "succeeded")
            public static let failed = Self(rawValue: "failed")
            public static let canceled = Self(rawValue: "canceled")
        }
    }
}
