public import StrictJSON

extension Stripe {
    /// Where Stripe sends events to.
    ///
    /// https://docs.stripe.com/api/webhook_endpoints/object
    public struct WebhookEndpoint: IdentifiedObject {
        public static let objectName = "webhook_endpoint"

        public let id: String
        public let url: String
        /// `enabled` or `disabled`.
        public let status: String
        /// The types of its events; `*` is all of them.
        public let enabledEvents: [String]
        /// The version of the API in which events are written; `nil`: the account's.
        public let apiVersion: String?
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, of: Self.self)
            id = try fields.string("id")
            url = try fields.string("url")
            status = try fields.string("status")
            apiVersion = try fields.optionalString("api_version")
            var events: [String] = []
            if let list = fields.value("enabled_events") {
                for event in list.elements { if let name = event.string { events.append(name) } }
            }
            enabledEvents = events
            self.json = json
        }
    }
}
