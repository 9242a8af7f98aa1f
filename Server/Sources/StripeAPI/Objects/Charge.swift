public import StrictJSON

extension Stripe {
    /// Money taken from a card, or tried.
    public struct Charge: IdentifiedObject {
        public static let objectName = "charge"

        public let id: String
        /// When Stripe made it.
        public let created: Int64
        /// What paid: `card`, `sepa_debit`, ….
        public let paymentMethodType: String?
        /// The country of the payer's billing address (ISO 3166-1 alpha-2).
        public let billingCountry: String?
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, of: Self.self)
            id = try fields.string("id")
            created = try fields.integer("created")
            paymentMethodType = try fields.optionalFields("payment_method_details")?
                .optionalString("type")
            let address = try fields.optionalFields("billing_details")?.optionalFields("address")
            billingCountry = try address?.optionalString("country")
            self.json = json
        }
    }
}
