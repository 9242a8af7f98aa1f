/// What the facts say about one line of buying: an original transaction, a Stripe subscription, a
/// one-time payment, a grant.
///
/// A join: order and repetition of facts do not matter (RULES §1–§8).
///
/// Lists are kept sorted and there are no dictionaries, so equal records have equal bytes.
public struct Purchase: Hashable, Sendable {
    public let key: Key
    /// Sorted by customer.
    public private(set) var claims: [ClaimRecord] = []
    public private(set) var assignment: Newest<Assignment>?
    public private(set) var record: Record

    /// A record of which nothing is known yet.
    public init(key: Key) {
        self.key = key
        record = Record(of: key.store)
    }

    /// The record of `key` that all of `facts` make, in whatever order they are given.
    public init(key: Key, joining facts: some Sequence<Fact>) {
        self.init(key: key)
        for fact in facts where fact.purchase == key { join(fact) }
    }

    var ownership: Ownership { Ownership(key: key, claims: claims, assignment: assignment) }

    /// Takes in one fact: each object keeps its newest statement, what absorbs stays absorbed.
    public mutating func join(_ fact: Fact) {
        switch fact.statement {
        case .claim(let claim): join(ClaimRecord(claim, at: fact.stated.instant))
        case .assignment(let assignment): self.assignment.join(fact.newest(assignment))
        case .period, .renewal, .status, .refundReversed, .subscription, .payment, .invoice,
            .refund, .dispute, .buyer, .grant, .freeSubscription, .coins, .googlePlaySubscription,
            .googlePlayPurchase, .googlePlayOrder, .googlePlayVoid, .googlePlayUnreadable:
            record.join(fact, of: key.id)
        }
    }

    private mutating func join(_ record: ClaimRecord) {
        switch claims.position(of: record.customer, by: { $0.customer }) {
        case .found(let index): claims[index].join(record)
        case .missing(let index): claims.insert(record, at: index)
        }
    }

    // MARK: - Purchases that continue one another (RULES §8)

    /// Notes that a purchase of the same app and environment continues this one.
    public mutating func isContinued(by successor: Successor) {
        record.isContinued(by: successor)
    }

    /// Takes over whose `predecessor` is: its claims, what staff decided, and the token or account
    /// that held when this purchase began to continue it.
    public mutating func follow(_ predecessor: Purchase) {
        guard record.follow(predecessor.record, id: predecessor.key.id) else { return }
        for claim in predecessor.claims { join(claim) }
        if let assignment = predecessor.assignment { self.assignment.join(assignment) }
    }

    /// Puts hashes in the place of names that must go.
    public mutating func rename(_ renaming: Renaming) throws { try record.rename(renaming) }
}

extension Purchase: Codable {
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        key = try fields.decode(Key.self, forKey: .key)
        claims = try fields.decode([ClaimRecord].self, forKey: .claims)
        assignment = try fields.decodeIfPresent(Newest<Assignment>.self, forKey: .assignment)
        record = try Record(of: key.store, from: fields)
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(key, forKey: .key)
        try fields.encode(claims, forKey: .claims)
        try fields.encodeIfPresent(assignment, forKey: .assignment)
        try record.encode(to: &fields)
    }
}
