public import StrictJSON

extension Stripe {
    /// What is sold.
    public struct Product: IdentifiedObject {
        public static let objectName = "product"

        public let id: String
        public let name: String
        /// Whether it is sold now.
        public let active: Bool
        /// Whether real money is behind it.
        public let livemode: Bool
        public let metadata: [String: String]
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, of: Self.self)
            id = try fields.string("id")
            name = try fields.string("name")
            active = try fields.bool("active")
            livemode = try fields.bool("livemode")
            metadata = try fields.metadata()
            self.json = json
        }
    }

    /// What a product costs, once or per interval.
    ///
    /// Never changes; it is replaced.
    public struct Price: IdentifiedObject {
        public static let objectName = "price"

        public let id: String
        /// Whether it is sold now.
        public let active: Bool
        /// ISO 4217 in lower case.
        public let currency: String
        public let product: IDOrObject<Product>
        /// Once or recurring.
        public let type: Kind
        /// In minor units; nil for tiers and fractions.
        public let unitAmount: Int64?
        /// In minor units with up to twelve decimals.
        public let unitAmountDecimal: String?
        public let lookupKey: String?
        /// How often, for recurring prices.
        public let recurring: Recurring?
        /// Whether real money is behind it.
        public let livemode: Bool
        public let metadata: [String: String]
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, of: Self.self)
            id = try fields.string("id")
            active = try fields.bool("active")
            currency = try fields.string("currency")
            product = try fields.reference("product")
            type = try fields.word("type")
            unitAmount = try fields.optionalInteger("unit_amount")
            unitAmountDecimal = try fields.optionalString("unit_amount_decimal")
            lookupKey = try fields.optionalString("lookup_key")
            recurring = try fields.optionalObject("recurring")
            livemode = try fields.bool("livemode")
            metadata = try fields.metadata()
            self.json = json
        }

        /// Once or recurring.
        public struct Kind: OpenEnum {
            public let rawValue: String
            public init(rawValue: String) { self.rawValue = rawValue }

            public static let oneTime = Self(rawValue: "one_time")
            public static let recurring = Self(rawValue: "recurring")
        }

        /// How often a recurring price is paid.
        public struct Recurring: Object {
            public static let objectName = "price.recurring"

            /// `day`, `week`, `month` or `year`.
            public let interval: String
            /// How many of them make a period.
            public let intervalCount: Int64
            /// `licensed` or `metered`.
            public let usageType: String?
            public let json: JSON

            public init(_ json: JSON) throws(DecodingError) {
                let fields = try Fields(json, of: Self.objectName)
                interval = try fields.string("interval")
                intervalCount = try fields.optionalInteger("interval_count") ?? 1
                usageType = try fields.optionalString("usage_type")
                self.json = json
            }
        }
    }
}
