import Foundation

extension API {
    /// One entitlement that is active, and why.
    public struct Entitlement: Hashable, Codable, Sendable, Identifiable {
        public var id: String
        /// The word that the app asks with.
        public var lookupKey: String
        /// The feature's id in the catalog.
        public var feature: String
        public var since: Milliseconds
        /// The first instant without access, as far as is known now; nil for ever (`null` on the wire).
        public var until: Milliseconds?
        public var ground: Ground
        /// The key of the purchase behind it; nil for a grant.
        public var purchase: String?
        /// The offer by which the present period was bought: `trial`, `introductory`, `promotional`,
        /// `offer_code`, `win_back`; nil at the full price and in events.
        public var offer: String?
        /// Whether it will be paid again by itself before access ends; nil where nothing ends, for a
        /// grant, while a failed payment decides, and in events.
        public var willRenew: Bool?

        public init(
            id: String,
            lookupKey: String,
            feature: String,
            since: Milliseconds,
            until: Milliseconds?,
            ground: Ground,
            purchase: String?,
            offer: String? = nil,
            willRenew: Bool? = nil
        ) {
            self.id = id
            self.lookupKey = lookupKey
            self.feature = feature
            self.since = since
            self.until = until
            self.ground = ground
            self.purchase = purchase
            self.offer = offer
            self.willRenew = willRenew
        }

        private enum CodingKeys: String, CodingKey {
            case id, feature, since, until, ground, purchase, offer
            case lookupKey = "lookup_key"
            case willRenew = "will_renew"
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(id, forKey: .id)
            try container.encode(lookupKey, forKey: .lookupKey)
            try container.encode(feature, forKey: .feature)
            try container.encode(since, forKey: .since)
            try container.encode(until, forKey: .until)
            try container.encode(ground, forKey: .ground)
            try container.encode(purchase, forKey: .purchase)
            try container.encodeIfPresent(offer, forKey: .offer)
            try container.encodeIfPresent(willRenew, forKey: .willRenew)
        }
    }

    /// The answer of `GET /v1/customers/{id}/entitlements`.
    public struct EntitlementList: Hashable, Codable, Sendable {
        /// Sorted by lookup key; each key once.
        public var data: [Entitlement]
        public var environment: Environment
        /// The instant for which this answer holds.
        public var at: Milliseconds
        /// The same answer as a timeline, signed (`SignedAnswer`); absent where no key is set up.
        public var signedAnswer: String?

        public init(
            data: [Entitlement],
            environment: Environment,
            at: Milliseconds,
            signedAnswer: String? = nil
        ) {
            self.data = data
            self.environment = environment
            self.at = at
            self.signedAnswer = signedAnswer
        }

        private enum CodingKeys: String, CodingKey {
            case data, environment, at
            case signedAnswer = "signed_answer"
        }
    }
}
