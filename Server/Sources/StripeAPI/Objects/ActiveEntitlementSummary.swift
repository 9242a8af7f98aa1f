public import StrictJSON

extension Stripe {
    /// What Stripe thinks a customer may use.
    ///
    /// Comes in events only, and has no id.
    public struct ActiveEntitlementSummary: Object {
        public static let objectName = "entitlements.active_entitlement_summary"

        public let customer: String
        /// At most ten; list them to have all.
        public let entitlements: List<ActiveEntitlement>
        /// Whether real money is behind it.
        public let livemode: Bool
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, of: Self.self)
            customer = try fields.string("customer")
            entitlements = try fields.list("entitlements")
            livemode = try fields.bool("livemode")
            self.json = json
        }
    }

    /// One feature that a customer may use.
    public struct ActiveEntitlement: IdentifiedObject {
        public static let objectName = "entitlements.active_entitlement"

        public let id: String
        public let lookupKey: String
        public let feature: IDOrObject<Feature>
        /// Whether real money is behind it.
        public let livemode: Bool
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, of: Self.self)
            id = try fields.string("id")
            lookupKey = try fields.string("lookup_key")
            feature = try fields.reference("feature")
            livemode = try fields.bool("livemode")
            self.json = json
        }
    }

    /// Something products can grant.
    public struct Feature: IdentifiedObject {
        public static let objectName = "entitlements.feature"

        public let id: String
        public let lookupKey: String
        public let name: String
        public let active: Bool?
        /// Whether real money is behind it.
        public let livemode: Bool
        public let metadata: [String: String]
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, of: Self.self)
            id = try fields.string("id")
            lookupKey = try fields.string("lookup_key")
            name = try fields.string("name")
            active = try fields.optionalBool("active")
            livemode = try fields.bool("livemode")
            metadata = try fields.metadata()
            self.json = json
        }
    }
}
