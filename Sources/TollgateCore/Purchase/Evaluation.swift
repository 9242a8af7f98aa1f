/// What a purchase gives to whom, read off its record.
///
/// Holds no clock: the intervals say when.
public struct Evaluation: Hashable, Sendable {
    /// One owner's part.
    public struct Share: Hashable, Sendable {
        public var owner: HolderNames
        public var access: PurchaseAccess
    }

    public var shares: [Share] = []
    public var lots: [CoinLot] = []
    /// Sold by the store but in no catalog so far: the purchase waits for one that knows them.
    public var unknownProducts: [StoreProduct] = []
    /// What the record lacks and only the store can tell.
    public var wanted: [Wanted] = []

    mutating func add(_ access: PurchaseAccess, to owner: HolderNames) {
        if let index = shares.firstIndex(where: { $0.owner == owner }) {
            shares[index].access.merge(access)
        } else {
            shares.append(Share(owner: owner, access: access))
        }
    }
}

/// The access that one purchase gives to one holder.
public struct PurchaseAccess: Hashable, Codable, Sendable {
    public var intervals: [AccessInterval]
    public var passes: [Pass]

    public init(intervals: [AccessInterval] = [], passes: [Pass] = []) {
        self.intervals = intervals
        self.passes = passes
    }

    /// Takes in another part of the same purchase.
    ///
    /// Two names of one customer bring the same part twice, and a pass that is counted twice would
    /// last twice as long.
    public mutating func merge(_ other: PurchaseAccess) {
        let known = Set(passes.map(\.evidence))
        for interval in other.intervals where !intervals.contains(interval) {
            intervals.append(interval)
        }
        passes += other.passes.filter { !known.contains($0.evidence) }
    }
}

/// Something the store has to be asked, because no message carries it.
public struct Wanted: Hashable, Codable, Sendable {
    public enum Kind: String, Codable, Hashable, Sendable {
        /// The line items of a Checkout Session.
        case checkoutLines = "checkout_lines"
        /// A Stripe subscription of which two events within one second disagree.
        case subscription
        /// A subscription that is active beyond every period we know.
        case subscriptionStatus = "subscription_status"
        /// All that an App Store customer bought, by any of their transactions: somebody who is not
        /// to be believed says that there is news.
        case transactionHistory = "transaction_history"
        /// A paid Stripe invoice of which a message showed only a part.
        case invoice
        /// The refunds and disputes of a Stripe payment intent, and what it paid for.
        case payment
        /// What Stripe thinks a customer of its own may use.
        case entitlements
        /// A subscription of Google Play, by its purchase token.
        case googlePlaySubscription = "google_play_subscription"
        /// What was bought once in Google Play, by its purchase token.
        case googlePlayPurchase = "google_play_purchase"
        /// An order of Google Play.
        case googlePlayOrder = "google_play_order"
        /// A CONSUMPTION_REQUEST to be answered: not what we lack but what the store does.
        case consumption
        /// The token of the customer who restored a purchase is to be set with the App Store: the
        /// object is the original transaction's id and a hash of the token, apart by a space (RULES §8).
        case appAccountToken = "app_account_token"
    }

    public var kind: Kind
    /// The store's id of the object to read.
    public var object: String

    public init(kind: Kind, object: String) {
        self.kind = kind
        self.object = object
    }
}

extension Purchase {
    /// What this purchase gives to whom, by the catalog's versions.
    public func evaluate(in history: CatalogHistory) -> Evaluation {
        var evaluation = Evaluation()
        record.evaluate(ownership, in: history, &evaluation)
        if evaluation.shares.isEmpty {
            evaluation.add(PurchaseAccess(), to: ownership.owner(named: []))
        }
        return evaluation
    }
}
