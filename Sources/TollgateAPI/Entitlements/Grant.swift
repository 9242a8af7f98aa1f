import Foundation

extension API {
    /// The body of `POST /v1/customers/{id}/grants`.
    public struct GrantRequest: Hashable, Codable, Sendable {
        public var lookupKey: String
        /// Nil: for ever.
        public var until: Milliseconds?

        public init(lookupKey: String, until: Milliseconds? = nil) {
            self.lookupKey = lookupKey
            self.until = until
        }

        private enum CodingKeys: String, CodingKey {
            case until
            case lookupKey = "lookup_key"
        }
    }

    /// Access given by staff.
    public struct Grant: Hashable, Codable, Sendable, Identifiable {
        public var id: String
        public var customer: String
        public var lookupKey: String
        public var since: Milliseconds
        public var until: Milliseconds?

        public init(
            id: String,
            customer: String,
            lookupKey: String,
            since: Milliseconds,
            until: Milliseconds?
        ) {
            self.id = id
            self.customer = customer
            self.lookupKey = lookupKey
            self.since = since
            self.until = until
        }

        private enum CodingKeys: String, CodingKey {
            case id, customer, since, until
            case lookupKey = "lookup_key"
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(id, forKey: .id)
            try container.encode(customer, forKey: .customer)
            try container.encode(lookupKey, forKey: .lookupKey)
            try container.encode(since, forKey: .since)
            try container.encode(until, forKey: .until)
        }
    }
}
