public import StrictJSON

extension Stripe {
    /// The price of a product, once or per interval.
    ///
    /// Never changes; it is replaced.
    public struct Price: IdentifiedObject {
        public static let objectName = "price"

        public let id: String
        /// `true` if the price can be used for new purchases.
        public let active: Bool
        /// `licensed` or `metered`, of recurring prices.
        public let usageType: String?
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, of: Self.self)
            id = try fields.string("id")
            active = try fields.bool("active")
            usageType = try fields.optionalFields("recurring")?.optionalString("usage_type")
            self.json = json
        }
    }
}
