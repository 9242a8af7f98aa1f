public import TollgateCore

/// What is told of a customer's answer: the whole of it, so that who missed one misses nothing.
public struct FeedMessage: Sendable {
    /// What happened.
    public enum Kind: String, Sendable {
        case entitlementsChanged = "entitlements.changed"
        case coinsChanged = "coins.changed"
        case customerErased = "customer.erased"
    }

    /// One thing the customer may use.
    public struct Entitlement: Codable, Hashable, Sendable {
        public var lookupKey: String
        public var since: Instant
        public var until: Instant?
        public var ground: Ground
        public var purchase: Purchase.Key

        init(_ active: ActiveEntitlement) {
            lookupKey = active.lookupKey
            since = active.since
            until = active.until
            ground = active.ground
            purchase = active.purchase
        }
    }

    /// As it is kept.
    struct Body: Codable {
        var entitlements: [Entitlement]
        var balance: Int64
    }

    /// Its place in the feed.
    public var number: Int64
    /// Hashes its cause.
    public var cause: RowKey
    public var customer: Customer.ID
    public var environment: StoreEnvironment
    /// That of the customer's answer: of two messages the higher one is the newer, and of two with
    /// the same the one with the higher number.
    public var sequence: Int64
    public var kind: Kind
    /// As of when, by the stores' clock.
    public var created: Instant
    public var entitlements: [Entitlement]
    public var balance: Int64
}
