public import StrictJSON

extension Stripe {
    /// A payer who asks their bank for the money back.
    public struct Dispute: IdentifiedObject {
        public static let objectName = "dispute"

        public let id: String
        /// When Stripe made it.
        public let created: Int64
        public let status: Status
        public let amount: Int64
        public let paymentIntent: IDOrObject<PaymentIntent>?
        /// When the money was withdrawn; `nil` for an inquiry, and until it was.
        public let withdrawnAt: Int64?
        /// Whether real money is behind it.
        public let livemode: Bool
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, of: Self.self)
            id = try fields.string("id")
            created = try fields.integer("created")
            status = try fields.word("status")
            amount = try fields.integer("amount")
            paymentIntent = try fields.optionalReference("payment_intent")
            // The second one, if any, gives it back.
            withdrawnAt = json["balance_transactions"]?.elements.compactMap {
                $0["created"]?.int64
            }.min()
            livemode = try fields.bool("livemode")
            self.json = json
        }

        /// How far it went; those that begin with `warning` are inquiries, without money moved.
        public struct Status: OpenEnum {
            public let rawValue: String
            public init(rawValue: String) { self.rawValue = rawValue }

            public static let needsResponse = Self(rawValue: "needs_response")
        }
    }
}
