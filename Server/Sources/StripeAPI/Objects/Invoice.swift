public import StrictJSON

extension Stripe {
    /// A demand for money.
    ///
    /// Previews without an id are not read.
    public struct Invoice: IdentifiedObject {
        public static let objectName = "invoice"

        public let id: String
        /// When Stripe made it.
        public let created: Int64
        public let status: Status?
        public let customer: IDOrObject<Customer>?
        /// ISO 4217 in lower case.
        public let currency: String
        public let amountPaid: Int64
        public let total: Int64
        /// At most the first page.
        ///
        /// What was bought is in their periods, not in the invoice's.
        public let lines: List<InvoiceLine>
        /// Whether real money is behind it.
        public let livemode: Bool
        /// The subscription that it is for; nil for others.
        public let subscription: IDOrObject<Subscription>?
        /// What people call it: `ABCD-0001`.
        public let number: String?
        /// Where it can be seen, and paid if it is open.
        public let hostedInvoiceURL: String?
        /// When it was paid.
        public let paidAt: Int64?
        /// When it was voided.
        public let voidedAt: Int64?
        /// When it was written off; it may be paid later.
        public let markedUncollectibleAt: Int64?
        /// The country of the payer's address (ISO 3166-1 alpha-2).
        public let customerCountry: String?
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, of: Self.self)
            id = try fields.string("id")
            created = try fields.integer("created")
            status = try fields.optionalWord("status")
            customer = try fields.optionalReference("customer")
            currency = try fields.string("currency")
            amountPaid = try fields.integer("amount_paid")
            total = try fields.integer("total")
            lines = try fields.list("lines")
            livemode = try fields.bool("livemode")
            let parent = try fields.optionalFields("parent")
            let details = try parent?.optionalFields("subscription_details")
            let ours: IDOrObject<Subscription>? = try details?.optionalReference("subscription")
            let old: IDOrObject<Subscription>? = try fields.optionalReference("subscription")
            subscription = ours ?? old
            number = try fields.optionalString("number")
            hostedInvoiceURL = try fields.optionalString("hosted_invoice_url")
            let transitions = try fields.optionalFields("status_transitions")
            paidAt = try transitions?.optionalInteger("paid_at")
            voidedAt = try transitions?.optionalInteger("voided_at")
            markedUncollectibleAt = try transitions?.optionalInteger("marked_uncollectible_at")
            let address = try fields.optionalFields("customer_address")
            customerCountry = try address?.optionalString("country")
            self.json = json
        }

        /// How far it went.
        public struct Status: OpenEnum {
            public let rawValue: String
            public init(rawValue: String) { self.rawValue = rawValue }

            public static let draft = Self(rawValue: "draft")
            public static let paid = Self(rawValue: "paid")
            public static let uncollectible = Self(rawValue: "uncollectible")
            public static let void = Self(rawValue: "void")
        }
    }
}
