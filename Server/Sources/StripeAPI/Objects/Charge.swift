public import StrictJSON

extension Stripe {
    /// Money taken from a card, or tried.
    public struct Charge: IdentifiedObject {
        public static let objectName = "charge"

        public let id: String
        /// When Stripe made it.
        public let created: Int64
        public let status: Status
        public let amount: Int64
        public let amountCaptured: Int64?
        public let amountRefunded: Int64
        /// ISO 4217 in lower case.
        public let currency: String
        public let customer: IDOrObject<Customer>?
        public let paymentIntent: IDOrObject<PaymentIntent>?
        public let paid: Bool
        /// Whether all of it was refunded.
        public let refunded: Bool
        public let disputed: Bool
        /// What paid: `card`, `sepa_debit`, ….
        public let paymentMethodType: String?
        /// The country of the payer's billing address (ISO 3166-1 alpha-2).
        public let billingCountry: String?
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
            amountCaptured = try fields.optionalInteger("amount_captured")
            amountRefunded = try fields.integer("amount_refunded")
            currency = try fields.string("currency")
            customer = try fields.optionalReference("customer")
            paymentIntent = try fields.optionalReference("payment_intent")
            paid = try fields.bool("paid")
            refunded = try fields.bool("refunded")
            disputed = try fields.bool("disputed")
            paymentMethodType = try fields.optionalFields("payment_method_details")?
                .optionalString("type")
            let address = try fields.optionalFields("billing_details")?.optionalFields("address")
            billingCountry = try address?.optionalString("country")
            livemode = try fields.bool("livemode")
            metadata = try fields.metadata()
            self.json = json
        }

        /// Whether it went through.
        public struct Status: OpenEnum {
            public let rawValue: String
            public init(rawValue: String) { self.rawValue = rawValue }

            public static let succeeded = Self(rawValue: "succeeded")
            public static let pending = Self(rawValue: "pending")
            public static let failed = Self(rawValue: "failed")
        }
    }
}
