import Foundation

extension API {
    /// The answer of `GET /v1/customers/{id}/explain`: yes or no, and because of what.
    public struct Explanation: Hashable, Codable, Sendable {
        public var customer: String
        public var environment: Environment
        public var lookupKey: String
        public var at: Milliseconds
        public var entitled: Bool
        /// Why it is active; nil if it is not.
        public var ground: Ground?
        /// Every fact about purchases that could give this entitlement, in order of `stated`.
        public var facts: [Fact]
        /// What would have to happen for the answer to be the other one.
        public var wouldChange: [Change]

        public init(
            customer: String,
            environment: Environment,
            lookupKey: String,
            at: Milliseconds,
            entitled: Bool,
            ground: Ground?,
            facts: [Fact],
            wouldChange: [Change]
        ) {
            self.customer = customer
            self.environment = environment
            self.lookupKey = lookupKey
            self.at = at
            self.entitled = entitled
            self.ground = ground
            self.facts = facts
            self.wouldChange = wouldChange
        }

        private enum CodingKeys: String, CodingKey {
            case customer, environment, at, entitled, ground, facts
            case lookupKey = "lookup_key"
            case wouldChange = "would_change"
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(customer, forKey: .customer)
            try container.encode(environment, forKey: .environment)
            try container.encode(lookupKey, forKey: .lookupKey)
            try container.encode(at, forKey: .at)
            try container.encode(entitled, forKey: .entitled)
            try container.encode(ground, forKey: .ground)
            try container.encode(facts, forKey: .facts)
            try container.encode(wouldChange, forKey: .wouldChange)
        }
    }
}

extension API.Explanation {
    /// One statement of a store, as support reads it.
    public struct Fact: Hashable, Codable, Sendable, Identifiable {
        /// The store's own id of the statement.
        public var id: String
        public var store: API.Store
        /// The statement's kind: period, renewal, status, revocation, owner.
        public var kind: String
        /// The store's own clock on it.
        public var stated: API.Milliseconds
        /// One sentence, in the same words everywhere.
        public var summary: String
        /// Whether the answer follows from this fact.
        public var decides: Bool

        public init(
            id: String,
            store: API.Store,
            kind: String,
            stated: API.Milliseconds,
            summary: String,
            decides: Bool
        ) {
            self.id = id
            self.store = store
            self.kind = kind
            self.stated = stated
            self.summary = summary
            self.decides = decides
        }
    }

    /// One thing that would turn the answer round.
    public struct Change: Hashable, Codable, Sendable {
        public var summary: String
        /// When it happens by itself; nil if something has to happen first.
        public var at: API.Milliseconds?

        public init(summary: String, at: API.Milliseconds? = nil) {
            self.summary = summary
            self.at = at
        }

        private enum CodingKeys: String, CodingKey { case summary, at }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(summary, forKey: .summary)
            try container.encode(at, forKey: .at)
        }
    }
}
