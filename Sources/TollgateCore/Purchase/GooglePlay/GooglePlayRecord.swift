/// Google Play's statements about one purchase token: a subscription, or what was bought once.
///
/// Lists are kept sorted and there are no dictionaries, so equal records have equal bytes.
public struct GooglePlayRecord: Hashable, Codable, Sendable {
    /// The newest read of a subscription.
    public private(set) var subscription: Newest<GooglePlaySubscription>?
    /// The newest read of a one-time purchase.
    public private(set) var purchase: Newest<GooglePlayPurchase>?
    /// Whether two reads of the newest second disagree, so that it has to be read again (RULES §18.1).
    public private(set) var isContested = false
    /// The account id of the newest read that states one.
    public private(set) var account: Newest<String>?
    /// What is stated only until the acknowledgement.
    public private(set) var resubscription: Newest<GooglePlaySubscription.Resubscription>?
    /// What reads said of each order of a subscription, sorted by order and product.
    public private(set) var periods: [GooglePlayPeriod] = []
    /// When a one-time purchase was paid; `nil`: no read shows it paid.
    public private(set) var completed: Instant?
    /// The earliest clock that states a one-time purchase cancelled; `nil`: none does.
    public private(set) var cancelled: Instant?
    /// The newest read of each order, sorted by id.
    public private(set) var orders: [Newest<GooglePlayOrder>] = []
    /// The entries of the list of voided purchases, sorted by order and time.
    public private(set) var voids: [Newest<GooglePlayVoid>] = []
    /// The newest 410; it changes nothing (RULES §18.1).
    public private(set) var unreadable: Newest<GooglePlayUnreadable>?
    /// The purchases that this one replaces or continues, sorted by token; `nil`: none.
    public private(set) var predecessors: [Predecessor]?
    /// The purchases that replace or continue this one, sorted by token; `nil`: none.
    public private(set) var successors: [Successor]?
    /// Orders that a purchase before this one has, too, sorted; `nil`: none.
    ///
    /// Their coins are credited there (RULES §18.5).
    public private(set) var inheritedOrders: [String]?
    /// What figures about the past need of renewals that failed; `nil`: none did.
    public private(set) var failures: BillingFailures?

    /// Takes in one fact about the purchase token `id`.
    mutating func join(_ fact: Fact, of id: String) {
        failures.join(fact)
        switch fact.statement {
        case .googlePlaySubscription(let subscription): join(subscription, fact, of: id)
        case .googlePlayPurchase(let purchase): join(purchase, fact)
        case .googlePlayOrder(let order): orders.join(fact.newest(order)) { $0.id }
        case .googlePlayVoid(let void): voids.join(fact.newest(void)) { $0.place }
        case .googlePlayUnreadable(let answer): unreadable.join(fact.newest(answer))
        case .period, .renewal, .status, .refundReversed, .subscription, .payment, .invoice,
            .refund,
            .dispute, .buyer, .claim, .assignment, .grant, .freeSubscription, .coins:
            break
        }
    }

    private mutating func join(
        _ subscription: GooglePlaySubscription,
        _ fact: Fact,
        of id: String
    ) {
        isContested = Self.join(fact.newest(subscription), into: &self.subscription, isContested)
        if let account = subscription.account { self.account.join(fact.newest(account)) }
        if let again = subscription.resubscription { resubscription.join(fact.newest(again)) }
        for item in subscription.items {
            guard let period = GooglePlayPeriod(item, of: subscription, at: fact.stated.instant)
            else { continue }
            switch periods.position(of: period.place, by: { $0.place }) {
            case .found(let index): periods[index].join(period)
            case .missing(let index): periods.insert(period, at: index)
            }
        }
        // A replacement that is not paid replaces nothing yet.
        guard let start = subscription.start else { return }
        for token in [subscription.linkedToken, subscription.resubscription?.token] {
            guard let token, token != id else { continue }
            predecessors.join(Predecessor(id: token, since: start))
        }
    }

    private mutating func join(_ purchase: GooglePlayPurchase, _ fact: Fact) {
        isContested = Self.join(fact.newest(purchase), into: &self.purchase, isContested)
        if let account = purchase.account { self.account.join(fact.newest(account)) }
        switch purchase.state {
        case GooglePlayPurchase.purchased:
            completed = earlier(completed, purchase.completed ?? fact.stated.instant)
        case GooglePlayPurchase.cancelled:
            completed = earlier(completed, purchase.completed)
            cancelled = earlier(cancelled, fact.stated.instant)
        default: break
        }
    }

    /// Keeps the newer of two reads; within one second the one that says that it is over.
    ///
    /// - Returns: whether reads of the newest second disagree.
    private static func join<Read: GooglePlayRead>(
        _ stated: Newest<Read>,
        into known: inout Newest<Read>?,
        _ isContested: Bool
    ) -> Bool {
        guard let before = known, before.stated >= stated.stated else {
            known = stated
            return false
        }
        guard before.stated == stated.stated else { return isContested }
        if before.value.isOver == stated.value.isOver {
            known.join(stated)
        } else if stated.value.isOver {
            known = stated
        }
        return isContested || before.value != stated.value
    }

    // MARK: - Purchases that continue one another (RULES §18.3)

    /// Notes that another token replaces or continues this one.
    mutating func join(_ successor: Successor) { successors.join(successor) }

    /// Takes over what the purchase `id` knows: whose it is, and the orders that both have.
    ///
    /// - Returns: whether this one continues that.
    mutating func follow(_ predecessor: GooglePlayRecord, id: String) -> Bool {
        guard var known = predecessors,
            case .found(let index) = known.position(of: id, by: { $0.id })
        else { return false }
        known[index].token = predecessor.buyer
        predecessors = known
        let shared = Set(orderIDs).intersection(predecessor.orderIDs)
            .union(inheritedOrders ?? [])
        inheritedOrders = shared.isEmpty ? nil : shared.sorted()
        return true
    }

    private var orderIDs: [String] { periods.map(\.order) + orders.map(\.value.id) }

    /// The account id of who bought: this purchase's, else the one that it continues.
    var buyer: String? { ownAccount ?? inheritedAccount }

    var ownAccount: String? { account?.value ?? resubscription?.value.account }

    var inheritedAccount: String? { (predecessors ?? []).compactMap(\.token).first }

    mutating func rename(_ renaming: Renaming) throws {
        try subscription?.amend { try $0.rename(renaming) }
        try purchase?.amend { try $0.rename(renaming) }
        try account?.amend { $0 = try renaming.token($0) ?? $0 }
        try resubscription?.amend { try $0.rename(renaming) }
        predecessors = try predecessors?.map { predecessor in
            var renamed = predecessor
            renamed.token = try renaming.token(predecessor.token)
            return renamed
        }
    }

    /// Everybody whom this record may make a holder.
    var names: [Holder] {
        let accounts =
            [account?.value, resubscription?.value.account] + (predecessors ?? []).map(\.token)
        return accounts.compactMap { account in account.map { .name(ofToken: $0) } }
    }
}

/// A read that the next one replaces.
private protocol GooglePlayRead: Hashable, Codable, Sendable {
    /// Whether it says that nothing more comes of the purchase.
    var isOver: Bool { get }
}

extension GooglePlaySubscription: GooglePlayRead {
    fileprivate var isOver: Bool { state == Self.expired }

    static let pending = "PENDING"
    static let active = "ACTIVE"
    static let inGracePeriod = "IN_GRACE_PERIOD"
    static let canceled = "CANCELED"
    static let onHold = "ON_HOLD"
    static let paused = "PAUSED"
    static let expired = "EXPIRED"

    /// The phase of what is left of a period in which the plan was changed.
    static let proration = "prorationPeriod"

    /// Whether its items may be used while their time runs.
    var isEntitling: Bool { isPaid || state == Self.inGracePeriod }

    /// Whether its items may not be used until it is paid or resumed.
    var isSuspended: Bool { state == Self.onHold || state == Self.paused }

    /// Whether its items may be used and no payment has failed.
    var isPaid: Bool { state == Self.active || state == Self.canceled }
}

extension GooglePlayPurchase: GooglePlayRead {
    fileprivate var isOver: Bool { state == Self.cancelled }

    static let purchased = "PURCHASED"
    static let cancelled = "CANCELLED"
}

extension GooglePlayVoid {
    /// Sorts entries, and tells one from another.
    fileprivate var place: String { "\(order) \(at.milliseconds)" }
}

extension Array {
    /// Joins into the statement about the same thing; the list is sorted by `key`.
    fileprivate mutating func join<Value>(
        _ stated: Newest<Value>,
        by key: (Value) -> String
    ) where Element == Newest<Value> {
        switch position(of: key(stated.value), by: { key($0.value) }) {
        case .found(let index): self[index].join(stated)
        case .missing(let index): insert(stated, at: index)
        }
    }
}
