/// Google Play's statements about one purchase token: a subscription, or what was bought once.
///
/// Lists are kept sorted and there are no dictionaries, so equal records have equal bytes.
public struct GooglePlayRecord: Hashable, Codable, Sendable {
    /// The newest read of a subscription; once one says EXPIRED, the newest of those.
    public private(set) var subscription: Newest<GooglePlaySubscription>?
    /// The start: the earliest that reads state; `nil`: its payment is pending.
    public private(set) var began: Instant?
    /// The newest read of a one-time purchase; once one says CANCELLED, the newest of those.
    public private(set) var purchase: Newest<GooglePlayPurchase>?
    /// `true` if two reads of the newest second disagree, so that it has to be read again (RULES §18.1).
    public private(set) var isContested = false
    /// The account id of the newest read that states one.
    public private(set) var account: Newest<String>?
    /// The context of a resubscription, which reads state only until the acknowledgement.
    public private(set) var resubscription: Newest<GooglePlaySubscription.Resubscription>?
    /// The statements of reads about each order of a subscription, sorted by order and product.
    public private(set) var periods: [GooglePlayPeriod] = []
    /// The time at which a one-time purchase was paid; `nil`: no read shows it paid.
    public private(set) var completed: Instant?
    /// The earliest clock that states a one-time purchase cancelled; `nil`: none does.
    public private(set) var cancelled: Instant?
    /// The newest read of each order, sorted by id.
    public private(set) var orders: [Newest<GooglePlayOrder>] = []
    /// The entries of the list of voided purchases, sorted by order and time.
    public private(set) var voids: [Newest<GooglePlayVoid>] = []
    /// The newest 410; it changes nothing (RULES §18.1).
    public private(set) var unreadable: Newest<GooglePlayUnreadable>?
    /// The newest read that an outage kept from an answer (RULES §18.2).
    public private(set) var outage: Newest<GooglePlayUnreadable>?
    /// The purchases that this one replaces or continues, sorted by token; `nil`: none.
    public private(set) var predecessors: [Predecessor]?
    /// The purchases that replace or continue this one, sorted by token; `nil`: none.
    public private(set) var successors: [Successor]?
    /// Orders that a purchase before this one has, too, sorted; `nil`: none.
    ///
    /// Their coins are credited there (RULES §18.5), and they are sales of there.
    public private(set) var inheritedOrders: [String]?
    /// Failed renewals, for figures about the past; `nil`: none failed.
    public private(set) var failures: BillingFailures?
    /// Account holds and pauses, sorted by their beginning; `nil`: none.
    public private(set) var suspensions: [GooglePlaySuspension]?

    /// Takes in one fact about the purchase token `id`.
    mutating func join(_ fact: Fact, of id: String) {
        failures.join(fact)
        switch fact.statement {
        case .googlePlaySubscription(let subscription): join(subscription, fact, of: id)
        case .googlePlayPurchase(let purchase): join(purchase, fact)
        case .googlePlayOrder(let order): orders.join(fact.newest(order)) { $0.id }
        case .googlePlayVoid(let void): voids.join(fact.newest(void)) { $0.place }
        case .googlePlayUnreadable(let answer):
            if answer.isOutage == true {
                outage.join(fact.newest(answer))
            } else {
                unreadable.join(fact.newest(answer))
            }
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
        suspensions.join(GooglePlaySuspension(subscription, at: fact.stated.instant))
        // A replacement that is not paid replaces nothing yet.
        guard subscription.hasBegun else { return }
        let start = subscription.start ?? fact.stated.instant
        let began = min(self.began ?? start, start)
        self.began = began
        for token in [subscription.linkedToken, subscription.resubscription?.token] {
            guard let token, token != id else { continue }
            predecessors.join(Predecessor(id: token, since: began))
        }
        predecessors = predecessors?.map { $0.beginning(at: began) }
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

    /// Keeps the newer of two reads.
    ///
    /// A state that is final stays: a read may show an earlier one.
    ///
    /// - Returns: `true` if reads of the newest second disagree.
    private static func join<Read: GooglePlayRead>(
        _ stated: Newest<Read>,
        into known: inout Newest<Read>?,
        _ isContested: Bool
    ) -> Bool {
        guard let before = known, before.value.isOver == stated.value.isOver else {
            guard known == nil || stated.value.isOver else { return isContested }
            known = stated
            return false
        }
        known.join(stated)
        guard before.stated == stated.stated else {
            return isContested && stated.stated < before.stated
        }
        return isContested || before.value != stated.value
    }

    // MARK: - Purchases that continue one another (RULES §18.3)

    /// Notes that another token replaces or continues this one, which of its periods go on there, and
    /// what is said there of its orders.
    mutating func join(_ successor: Successor, from other: GooglePlayRecord?) {
        var known = (successors ?? []).filter { $0.id != successor.id }
        let before = (successors ?? []).first { $0.id == successor.id }
        let since = min(before?.since ?? successor.since, successor.since)
        var joined = Successor(id: successor.id, since: since)
        if let other { joined.kept = kept(by: other) } else { joined.kept = before?.kept }
        known.append(joined)
        successors = known.sorted { $0.id < $1.id }
        guard let other else { return }
        let credited = creditedOrders
        for order in other.orders where credited.contains(order.value.id) {
            orders.join(order) { $0.id }
        }
        for void in other.voids where credited.contains(void.value.order) {
            voids.join(void) { $0.place }
        }
    }

    /// Takes over what the purchase `id` knows: whose it is, and the orders that it credits.
    ///
    /// - Returns: `true` if this one continues that.
    mutating func follow(_ predecessor: GooglePlayRecord, id: String) -> Bool {
        guard var known = predecessors,
            case .found(let index) = known.position(of: id, by: { $0.id })
        else { return false }
        known[index].token = predecessor.buyer
        known[index].buyerSince = predecessor.buyerSince
        predecessors = known
        let shared = creditedOrders.intersection(predecessor.creditedOrders)
            .union(inheritedOrders ?? [])
        inheritedOrders = shared.isEmpty ? nil : shared.sorted()
        return true
    }

    /// The orders whose coins it credits, or the purchase before it.
    var creditedOrders: Set<String> {
        subscription == nil ? [] : Set(charges.map(\.id))
    }

    /// The account id of who bought: this purchase's, else the one that it continues.
    var buyer: String? { ownAccount ?? inheritedAccount }

    /// The instant from which restores are about the buyer; `nil`: nobody else came before.
    var buyerSince: Instant? {
        let isNewBuyer = ownAccount != nil && inheritedAccount.map { $0 != ownAccount } ?? false
        return isNewBuyer ? began : predecessors?.first { $0.token != nil }?.buyerSince
    }

    private var ownAccount: String? { account?.value ?? resubscription?.value.account }

    private var inheritedAccount: String? { (predecessors ?? []).compactMap(\.token).first }

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
    /// `true` if it says that nothing more comes of the purchase.
    var isOver: Bool { get }
}

extension GooglePlaySubscription: GooglePlayRead {
    var isOver: Bool { state == Self.expired }

    static let active = "ACTIVE"
    static let inGracePeriod = "IN_GRACE_PERIOD"
    static let canceled = "CANCELED"
    static let onHold = "ON_HOLD"
    static let paused = "PAUSED"
    static let expired = "EXPIRED"

    /// The phase of what is left of a period in which the plan was changed.
    static let proration = "prorationPeriod"

    /// `true` if it was paid: a DEFERRED replacement may state no start.
    var hasBegun: Bool { start != nil || isEntitling || isSuspended }

    /// `true` if its items may be used while their time runs.
    var isEntitling: Bool { isPaid || state == Self.inGracePeriod }

    /// `true` if its items may not be used until it is paid or resumed.
    var isSuspended: Bool { state == Self.onHold || state == Self.paused }

    /// `true` if its items may be used and no payment has failed.
    var isPaid: Bool { state == Self.active || state == Self.canceled }
}

extension GooglePlayPurchase: GooglePlayRead {
    var isOver: Bool { state == Self.cancelled }

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
