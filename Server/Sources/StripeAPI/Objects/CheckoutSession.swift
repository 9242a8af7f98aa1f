public import StrictJSON

extension Stripe {
    /// One visit to the Checkout page.
    public struct CheckoutSession: IdentifiedObject {
        public static let objectName = "checkout.session"

        public let id: String
        /// When Stripe made it.
        public let created: Int64
        public let mode: Mode
        /// Nil only for sessions of very old versions.
        public let status: Status?
        /// Whether to fulfil: anything but `unpaid`.
        public let paymentStatus: PaymentStatus
        /// Nil for a guest, and before a customer was made.
        public let customer: IDOrObject<Customer>?
        /// What the one who made the session or the link put there.
        public let clientReferenceID: String?
        /// ISO 4217 in lower case.
        public let currency: String?
        /// What is paid.
        public let amountTotal: Int64?
        /// Nil while open, for free orders and for subscriptions.
        public let paymentIntent: IDOrObject<PaymentIntent>?
        /// Nil until complete.
        public let subscription: IDOrObject<Subscription>?
        /// Nil until complete.
        public let invoice: IDOrObject<Invoice>?
        /// There only if expanded, and then at most the first page.
        public let lineItems: List<LineItem>?
        /// Where the page is; nil once the session is no longer open.
        public let url: String?
        /// When an open session ends.
        public let expiresAt: Int64?
        /// Whether real money is behind it.
        public let livemode: Bool
        public let metadata: [String: String]
        /// The country of the address that was typed into the page (ISO 3166-1 alpha-2).
        public let customerCountry: String?
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, of: Self.self)
            id = try fields.string("id")
            created = try fields.integer("created")
            mode = try fields.word("mode")
            status = try fields.optionalWord("status")
            paymentStatus = try fields.word("payment_status")
            customer = try fields.optionalReference("customer")
            clientReferenceID = try fields.optionalString("client_reference_id")
            currency = try fields.optionalString("currency")
            amountTotal = try fields.optionalInteger("amount_total")
            paymentIntent = try fields.optionalReference("payment_intent")
            subscription = try fields.optionalReference("subscription")
            invoice = try fields.optionalReference("invoice")
            lineItems = try fields.optionalList("line_items")
            url = try fields.optionalString("url")
            expiresAt = try fields.optionalInteger("expires_at")
            livemode = try fields.bool("livemode")
            metadata = try fields.metadata()
            let details = try fields.optionalFields("customer_details")
            let address = try details?.optionalFields("address")
            customerCountry = try address?.optionalString("country")
            self.json = json
        }

        /// What the session is for.
        public struct Mode: OpenEnum {
            public let rawValue: String
            public init(rawValue: String) { self.rawValue = rawValue }

            public static let payment = Self(rawValue: "payment")
            public static let subscription = Self(rawValue: "subscription")
        }

        /// How far it went.
        public struct Status: OpenEnum {
            public let rawValue: String
            public init(rawValue: String) { self.rawValue = rawValue }

            public static let complete = Self(rawValue: "complete")
            public static let expired = Self(rawValue: "expired")
        }

        /// Whether the money is there.
        public struct PaymentStatus: OpenEnum {
            public let rawValue: String
            public init(rawValue: String) { self.rawValue = rawValue }

            public static let paid = Self(rawValue: "paid")
            public static let unpaid = Self(rawValue: "unpaid")
        }
    }

    /// One line of a Checkout session.
    public struct LineItem: IdentifiedObject {
        public static let objectName = "item"

        public let id: String
        public let price: Price?
        public let quantity: Int64?
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, of: Self.self)
            id = try fields.string("id")
            price = try fields.optionalObject("price")
            quantity = try fields.optionalInteger("quantity")
            self.json = json
        }
    }
}
