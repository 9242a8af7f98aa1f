public import StrictJSON

extension Stripe {
    /// One attempt to be paid, over all its retries.
    public struct PaymentIntent: IdentifiedObject {
        public static let objectName = "payment_intent"

        public let id: String
        /// When Stripe made it.
        public let created: Int64
        public let status: Status
        /// What is to be paid.
        public let amount: Int64
        /// What was.
        public let amountReceived: Int64?
        /// ISO 4217 in lower case.
        public let currency: String
        public let customer: IDOrObject<Customer>?
        public let latestCharge: IDOrObject<Charge>?
        /// `manual` where the money is held first, and taken by a capture.
        public let captureMethod: String?
        /// Whether real money is behind it.
        public let livemode: Bool
        public let metadata: [String: String]
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, of: Self.self)
            id = try fields.string("id")
            created = try fields.integer("created")
            status = try fields.word("status")
            amount = try fields.integer("amount")
            amountReceived = try fields.optionalInteger("amount_received")
            currency = try fields.string("currency")
            customer = try fields.optionalReference("customer")
            latestCharge = try fields.optionalReference("latest_charge")
            captureMethod = try fields.optionalString("capture_method")
            livemode = try fields.bool("livemode")
            metadata = try fields.metadata()
            self.json = json
        }

        /// How far it went.
        public struct Status: OpenEnum {
            public let rawValue: String
            public init(rawValue: String) { self.rawValue = rawValue }

            public static let succeeded = Self(rawValue: "succeeded")
        }
    }
}
