public import StrictJSON

extension Stripe {
    /// One feature that a customer may use.
    public struct ActiveEntitlement: IdentifiedObject {
        public static let objectName = "entitlements.active_entitlement"

        public let id: String
        public let lookupKey: String
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, of: Self.self)
            id = try fields.string("id")
            lookupKey = try fields.string("lookup_key")
            self.json = json
        }
    }
}
