public import StrictJSON

extension Stripe {
    /// One visit to the customer portal.
    public struct PortalSession: IdentifiedObject {
        public static let objectName = "billing_portal.session"

        public let id: String
        /// When Stripe made it.
        public let created: Int64
        public let customer: String?
        /// Where the page is.
        ///
        /// Works for minutes only.
        public let url: String
        public let returnURL: String?
        /// Whether real money is behind it.
        public let livemode: Bool
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, of: Self.self)
            id = try fields.string("id")
            created = try fields.integer("created")
            customer = try fields.optionalString("customer")
            url = try fields.string("url")
            returnURL = try fields.optionalString("return_url")
            livemode = try fields.bool("livemode")
            self.json = json
        }
    }
}
