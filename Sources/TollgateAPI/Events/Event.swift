import Foundation

extension API {
    /// One entry of the pull feed `GET /v1/events`, and the body of a webhook that we send.
    public struct Event: Hashable, Codable, Sendable, Identifiable {
        /// Hashes its cause, so that a repetition has the same id.
        public var id: String
        /// What happened: `entitlements.changed`, `coins.changed`, `purchase.changed`,
        /// `customer.erased`.
        public var type: String
        public var created: Milliseconds
        public var customer: String
        public var environment: Environment
        /// Grows by one with every change of this customer's answer: the highest one wins.
        public var sequence: Int64
        /// The whole answer as it then was.
        public var entitlements: [Entitlement]
        public var coins: CoinBalance?
        /// What is different from this customer's event before.
        public var changes: [EventChange]
        /// The purchases about which something was stated, as far as that is why.
        public var purchases: [PurchaseNews]

        public init(
            id: String,
            type: String,
            created: Milliseconds,
            customer: String,
            environment: Environment,
            sequence: Int64,
            entitlements: [Entitlement],
            coins: CoinBalance? = nil,
            changes: [EventChange] = [],
            purchases: [PurchaseNews] = []
        ) {
            self.id = id
            self.type = type
            self.created = created
            self.customer = customer
            self.environment = environment
            self.sequence = sequence
            self.entitlements = entitlements
            self.coins = coins
            self.changes = changes
            self.purchases = purchases
        }
    }

    /// One thing that is different.
    public struct EventChange: Hashable, Codable, Sendable {
        /// `entitlement.granted`, `entitlement.changed`, `entitlement.revoked`, `coins.credited`,
        /// `coins.debited`.
        public var type: String
        /// Of an entitlement.
        public var lookupKey: String?
        /// Of coins; always positive.
        public var amount: Int64?

        public init(type: String, lookupKey: String? = nil, amount: Int64? = nil) {
            self.type = type
            self.lookupKey = lookupKey
            self.amount = amount
        }

        private enum CodingKeys: String, CodingKey {
            case type, amount
            case lookupKey = "lookup_key"
        }
    }

    /// A purchase about which something was stated.
    public struct PurchaseNews: Hashable, Codable, Sendable {
        /// The key of the purchase, as entitlements name it.
        public var purchase: String
        /// What was stated, in the words of `explain`: `period`, `renewal`, `refund` and so on.
        public var facts: [String]

        public init(purchase: String, facts: [String]) {
            self.purchase = purchase
            self.facts = facts
        }
    }
}
