public import TollgateCore

/// What is told of a customer's answer: the whole of it, so that who missed one misses nothing.
public struct FeedMessage: Sendable {
    /// What happened.
    public enum Kind: String, Sendable {
        case entitlementsChanged = "entitlements.changed"
        case coinsChanged = "coins.changed"
        /// More is known of a purchase of theirs; what they may use is as it was.
        case purchaseChanged = "purchase.changed"
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

    /// A purchase about which something was stated.
    public struct PurchaseNews: Codable, Hashable, Sendable {
        public var purchase: Purchase.Key
        /// What was stated, in the words of `explain`: `period`, `renewal`, `refund` and so on.
        public var facts: [String]
    }

    /// What is different from the customer's message before.
    public enum Change: Hashable, Sendable {
        case granted(Entitlement)
        /// The same entitlement, with another end, ground or purchase.
        case changed(Entitlement)
        /// As it was until then.
        case revoked(Entitlement)
        case coinsCredited(Int64)
        case coinsDebited(Int64)
    }

    /// As it is kept.
    struct Body: Codable {
        var entitlements: [Entitlement]
        var balance: Int64
        /// Missing where nothing was stated: access ended by time alone, say.
        var purchases: [PurchaseNews]?

        /// By lookup key, entitlements first.
        func changes(since previous: Body?) -> [Change] {
            let before = Dictionary(
                (previous?.entitlements ?? []).map { ($0.lookupKey, $0) },
                uniquingKeysWith: { first, _ in first }
            )
            let after = Set(entitlements.map(\.lookupKey))
            var changes: [Change] = entitlements.compactMap { entitlement in
                switch before[entitlement.lookupKey] {
                case nil: .granted(entitlement)
                case entitlement?: nil
                case _?: .changed(entitlement)
                }
            }
            changes += (previous?.entitlements ?? []).filter { !after.contains($0.lookupKey) }
                .map { .revoked($0) }
            let coins = balance.subtractingReportingOverflow(previous?.balance ?? 0).partialValue
            if coins > 0 { changes.append(.coinsCredited(coins)) }
            if coins < 0 { changes.append(.coinsDebited(-coins)) }
            return changes
        }
    }

    /// Its place in the feed.
    public var number: Int64
    /// Hashes its cause.
    public var cause: RowKey
    public var customer: Customer.ID
    /// The customer's row in this environment: what is delivered in order is what has the same.
    public var row: RowKey
    public var environment: StoreEnvironment
    /// That of the customer's answer: of two messages the higher one is the newer, and of two with
    /// the same the one with the higher number.
    public var sequence: Int64
    public var kind: Kind
    /// As of when, by the stores' clock; for what came late, as of when it was told.
    public var created: Instant
    public var entitlements: [Entitlement]
    public var balance: Int64
    /// What is different from the message before, so that all of them together are the answer.
    public var changes: [Change]
    public var purchases: [PurchaseNews]
}
