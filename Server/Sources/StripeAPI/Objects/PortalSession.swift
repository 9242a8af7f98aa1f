public import StrictJSON

extension Stripe {
    /// One visit to the customer portal.
    public struct PortalSession: IdentifiedObject {
        public static let objectName = "billing_portal.session"

        public let id: String
        /// Where the page is.
        ///
        /// Works for minutes only.
        public let url: String
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, of: Self.self)
            id = try fields.string("id")
            url = try fields.string("url")
            self.json = json
        }
    }
}
