public import StrictJSON

extension Stripe {
    /// What connects an invoice with the payment that settled it.
    public struct InvoicePayment: IdentifiedObject {
        public static let objectName = "invoice_payment"

        public let id: String
        public let invoice: IDOrObject<Invoice>
        public let status: Status
        /// Nil until it is paid.
        public let amountPaid: Int64?
        public let amountRequested: Int64?
        public let isDefault: Bool?
        /// When Stripe made it.
        public let created: Int64?
        /// `payment_intent`, `charge`, ….
        public let paymentType: String?
        public let paymentIntent: IDOrObject<PaymentIntent>?
        public let charge: IDOrObject<Charge>?
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, of: Self.self)
            id = try fields.string("id")
            invoice = try fields.reference("invoice")
            status = try fields.word("status")
            amountPaid = try fields.optionalInteger("amount_paid")
            amountRequested = try fields.optionalInteger("amount_requested")
            isDefault = try fields.optionalBool("is_default")
            created = try fields.optionalInteger("created")
            let payment = try fields.optionalFields("payment")
            paymentType = try payment?.optionalString("type")
            paymentIntent = try payment?.optionalReference("payment_intent")
            charge = try payment?.optionalReference("charge")
            self.json = json
        }

        /// Whether it was paid.
        public struct Status: OpenEnum {
            public let rawValue: String
            public init(rawValue: String) { self.rawValue = rawValue }

            public static let open = Self(rawValue: "open")
            public static let paid = Self(rawValue: "paid")
            public static let canceled = Self(rawValue: "canceled")
        }
    }
}
