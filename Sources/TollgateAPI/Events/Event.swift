import Foundation

extension API {
    /// One entry of the pull feed `GET /v1/events`, and the body of a webhook that we send.
    public struct Event: Hashable, Codable, Sendable, Identifiable {
        /// Hashes its cause, so that a repetition has the same id.
        public var id: String
        /// What happened: `entitlements.changed`, `coins.changed`, `customer.erased`.
        public var type: String
        public var created: Milliseconds
        public var customer: String
        public var environment: Environment
        /// Grows by one with every change of this customer's answer: the highest one wins.
        public var sequence: Int64
        /// The whole answer as it then was.
        public var entitlements: [Entitlement]
        public var coins: CoinBalance?

        public init(
            id: String,
            type: String,
            created: Milliseconds,
            customer: String,
            environment: Environment,
            sequence: Int64,
            entitlements: [Entitlement],
            coins: CoinBalance? = nil
        ) {
            self.id = id
            self.type = type
            self.created = created
            self.customer = customer
            self.environment = environment
            self.sequence = sequence
            self.entitlements = entitlements
            self.coins = coins
        }
    }
}
