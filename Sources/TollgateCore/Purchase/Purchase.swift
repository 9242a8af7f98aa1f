/// What the facts say about one line of buying: an original transaction, a Stripe subscription, a
/// one-time payment, a grant.
///
/// A join: order and repetition of facts do not matter (RULES §1–§8).
///
/// Lists are kept sorted and there are no dictionaries, so equal records have equal bytes.
public struct Purchase: Hashable, Codable, Sendable {
    public let key: Key
    /// The App Store's paid periods, sorted by id.
    public private(set) var periods: [PeriodRecord] = []
    /// The newest signed terms; `renewal` is what holds.
    public private(set) var signedRenewal: Newest<RenewalTerms>?
    /// The newest signed status; `status` is what holds.
    public private(set) var signedStatus: Newest<SubscriptionStatus>?
    /// The newest terms and status of legacy receipts; `nil`: none.
    public private(set) var receiptRenewal: Newest<RenewalTerms>?
    public private(set) var receiptStatus: Newest<SubscriptionStatus>?
    /// The latest REFUND_REVERSED of each period, by its id, sorted; of a period that is not named,
    /// under the empty id; `nil`: none.
    public private(set) var reversals: [Newest<String>]?
    /// The purchases that this one continues, sorted by id; `nil`: none.
    public private(set) var predecessors: [Predecessor]?
    /// The original transaction ids of the purchases that continue this one, sorted; `nil`: none.
    public private(set) var successors: [String]?
    public private(set) var subscription: Newest<StripeSubscription>?
    /// Whether two events of the newest second disagree about the subscription: Stripe's `created`
    /// is no order within a second, so it has to be read (RULES §4.3).
    public private(set) var isSubscriptionContested = false
    /// The newest statement that called the subscription active or trialing.
    ///
    /// `nil` while `subscription` is that statement, and for a subscription that is over.
    public private(set) var lastActive: Newest<StripeSubscription>?
    public private(set) var payment: PaymentRecord?
    public private(set) var buyer: Newest<StripeBuyer>?
    /// Sorted by id, like the two lists below.
    public private(set) var invoices: [Newest<StripeInvoice>] = []
    public private(set) var refunds: [Newest<StripeRefund>] = []
    public private(set) var disputes: [Newest<StripeDispute>] = []
    /// Ids of the refunds and disputes about which two events of their newest second disagree, sorted;
    /// `nil`: none.
    ///
    /// They have to be read (RULES §4.3).
    public private(set) var contested: [String]?
    /// Sorted by customer.
    public private(set) var claims: [ClaimRecord] = []
    public private(set) var assignment: Newest<Assignment>?
    public private(set) var grant: Newest<StaffGrant>?
    /// A correction of coins by staff; `nil`: it is none.
    public private(set) var coins: Newest<StaffCoins>?
    /// Every report about a free subscription, the oldest first; `nil`: it is none.
    public private(set) var freeSubscription: [Newest<FreeSubscription>]?
    /// What figures about the past need of renewals that failed; `nil`: none did.
    public private(set) var failures: BillingFailures?

    /// A record of which nothing is known yet.
    public init(key: Key) {
        self.key = key
    }

    /// The record of `key` that all of `facts` make, in whatever order they are given.
    public init(key: Key, joining facts: some Sequence<Fact>) {
        self.init(key: key)
        for fact in facts where fact.purchase == key { join(fact) }
    }

    /// Takes in one fact: each object keeps its newest statement, what absorbs stays absorbed.
    public mutating func join(_ fact: Fact) {
        failures.join(fact)
        switch fact.statement {
        case .period(let period): join(period, fact)
        case .renewal(let terms): join(terms, fact)
        case .status(let status): join(status, fact)
        case .refundReversed(let period): joinReversal(of: period ?? "", fact)
        case .subscription(let subscription): join(subscription, fact)
        case .payment(let payment): join(payment, fact)
        case .invoice(let invoice): join(invoice, fact)
        case .refund(let refund): join(refund, fact)
        case .dispute(let dispute): join(dispute, fact)
        case .buyer(let buyer): self.buyer.join(newest(buyer, fact))
        case .claim(let claim): join(claim, fact)
        case .assignment(let assignment): self.assignment.join(newest(assignment, fact))
        case .grant(let grant): self.grant.join(newest(grant, fact))
        case .freeSubscription(let subscription): join(subscription, fact)
        case .coins(let coins): self.coins.join(newest(coins, fact))
        }
    }

    private func newest<Value>(_ value: Value, _ fact: Fact) -> Newest<Value> {
        Newest(value, stated: fact.stated, source: fact.source)
    }

    private mutating func join(_ period: Period, _ fact: Fact) {
        let record = PeriodRecord(newest(period, fact))
        switch periods.position(of: period.id, by: { $0.period.id }) {
        case .found(let index): periods[index].join(record)
        case .missing(let index): periods.insert(record, at: index)
        }
        if let previous = period.previous, previous != key.id {
            join(Predecessor(id: previous, since: period.start))
        }
    }

    private mutating func join(_ terms: RenewalTerms, _ fact: Fact) {
        if fact.isFromReceipt {
            receiptRenewal.join(newest(terms, fact))
        } else {
            signedRenewal.join(newest(terms, fact))
        }
    }

    private mutating func join(_ status: SubscriptionStatus, _ fact: Fact) {
        if fact.isFromReceipt {
            receiptStatus.join(newest(status, fact))
        } else {
            signedStatus.join(newest(status, fact))
        }
    }

    private mutating func joinReversal(of period: String, _ fact: Fact) {
        let stated = newest(period, fact)
        var known = reversals ?? []
        switch known.position(of: period, by: { $0.value }) {
        case .found(let index): known[index].join(stated)
        case .missing(let index): known.insert(stated, at: index)
        }
        reversals = known
    }

    private mutating func join(_ predecessor: Predecessor) {
        var known = predecessors ?? []
        switch known.position(of: predecessor.id, by: { $0.id }) {
        case .found(let index): known[index].join(predecessor)
        case .missing(let index): known.insert(predecessor, at: index)
        }
        predecessors = known
    }

    /// A canceled subscription stays canceled, whatever is stated later, and one that was active is
    /// never again `incomplete` (RULES §4.1).
    private mutating func join(_ subscription: StripeSubscription, _ fact: Fact) {
        let stated = newest(subscription, fact)
        guard let known = self.subscription else { return self.subscription = stated }
        guard known.value.stage == subscription.stage else {
            guard known.value.stage < subscription.stage else { return }
            self.subscription = stated
            isSubscriptionContested = false
            lastActive = nil
            return
        }
        if known.stated < stated.stated {
            isSubscriptionContested = false
        } else if known.stated == stated.stated, known.value != subscription {
            isSubscriptionContested = true
        }
        self.subscription.join(stated)
        if self.subscription?.value.isActive == true {
            lastActive = nil
        } else if known.value.isActive {
            lastActive = known
        } else if subscription.isActive {
            lastActive.join(stated)
        }
    }

    private mutating func join(_ payment: StripePayment, _ fact: Fact) {
        let record = PaymentRecord(newest(payment, fact))
        if self.payment == nil { self.payment = record } else { self.payment?.join(record) }
    }

    private mutating func join(_ invoice: StripeInvoice, _ fact: Fact) {
        let stated = newest(invoice, fact)
        switch invoices.position(of: invoice.id, by: { $0.value.id }) {
        case .missing(let index): invoices.insert(stated, at: index)
        case .found(let index):
            let known = invoices[index]
            guard known.value.isPaid != invoice.isPaid else { return invoices[index].join(stated) }
            if invoice.isPaid { invoices[index] = stated }
        }
    }

    private mutating func join(_ refund: StripeRefund, _ fact: Fact) {
        let stated = newest(refund, fact)
        switch refunds.position(of: refund.id, by: { $0.value.id }) {
        case .missing(let index): refunds.insert(stated, at: index)
        case .found(let index):
            let known = refunds[index].value.rank
            if known < refund.rank {
                refunds[index] = stated
                setContested(refund.id, false)
            } else if known == refund.rank {
                contest(refund.id, refunds[index], stated)
                refunds[index].join(stated)
            }
        }
    }

    private mutating func join(_ dispute: StripeDispute, _ fact: Fact) {
        let stated = newest(dispute, fact)
        switch disputes.position(of: dispute.id, by: { $0.value.id }) {
        case .missing(let index): disputes.insert(stated, at: index)
        case .found(let index):
            let known = disputes[index].value.isClosed
            guard known != dispute.isClosed else {
                contest(dispute.id, disputes[index], stated)
                return disputes[index].join(stated)
            }
            if dispute.isClosed {
                disputes[index] = stated
                setContested(dispute.id, false)
            }
        }
    }

    /// Notes whether the newest second says two things of an object, as for a subscription.
    private mutating func contest<Value>(
        _ id: String,
        _ known: Newest<Value>,
        _ stated: Newest<Value>
    ) {
        if known.stated < stated.stated {
            setContested(id, false)
        } else if known.stated == stated.stated, known.value != stated.value {
            setContested(id, true)
        }
    }

    private mutating func setContested(_ id: String, _ isContested: Bool) {
        var ids = contested ?? []
        switch ids.position(of: id, by: { $0 }) {
        case .found(let index): if !isContested { ids.remove(at: index) }
        case .missing(let index): if isContested { ids.insert(id, at: index) }
        }
        contested = ids.isEmpty ? nil : ids
    }

    /// All reports count, each at its time; of two at one instant the larger bytes stay.
    private mutating func join(_ subscription: FreeSubscription, _ fact: Fact) {
        let stated = newest(subscription, fact)
        var reports = freeSubscription ?? []
        switch reports.position(of: stated.stated, by: { $0.stated }) {
        case .missing(let index): reports.insert(stated, at: index)
        case .found(let index): reports[index].join(stated)
        }
        freeSubscription = reports
    }

    private mutating func join(_ claim: Claim, _ fact: Fact) {
        join(ClaimRecord(claim, at: fact.stated.instant))
    }

    private mutating func join(_ record: ClaimRecord) {
        switch claims.position(of: record.customer, by: { $0.customer }) {
        case .found(let index): claims[index].join(record)
        case .missing(let index): claims.insert(record, at: index)
        }
    }

    // MARK: - Purchases that continue one another (RULES §8)

    /// Notes that a purchase of the same app and environment continues this one.
    public mutating func isContinued(by id: String) {
        var known = successors ?? []
        guard case .missing(let index) = known.position(of: id, by: { $0 }) else { return }
        known.insert(id, at: index)
        successors = known
    }

    /// Takes over whose `predecessor` is: its claims, what staff decided, and the token that held
    /// when this purchase began to continue it.
    public mutating func follow(_ predecessor: Purchase) {
        guard var known = predecessors,
            case .found(let index) = known.position(of: predecessor.key.id, by: { $0.id })
        else { return }
        known[index].token = predecessor.token(at: known[index].since)
        predecessors = known
        for claim in predecessor.claims { join(claim) }
        if let assignment = predecessor.assignment { self.assignment.join(assignment) }
    }
}

extension Purchase {
    /// Puts hashes in the place of names that must go.
    public mutating func rename(_ renaming: Renaming) throws {
        for index in periods.indices { try periods[index].rename(renaming) }
        if var known = predecessors {
            for index in known.indices {
                known[index].token = try renaming.token(known[index].token)
            }
            predecessors = known
        }
        try subscription?.amend { try $0.rename(renaming) }
        try lastActive?.amend { try $0.rename(renaming) }
        try payment?.rename(renaming)
        try buyer?.amend { try $0.rename(renaming) }
    }
}

/// A Checkout payment: each part only ever moves forward (RULES §4.1).
public struct PaymentRecord: Hashable, Codable, Sendable {
    public private(set) var newest: Newest<StripePayment>
    public private(set) var isComplete: Bool
    public private(set) var isPaid: Bool
    public private(set) var lines: [StripePayment.Line]?
    public private(set) var customer: String?
    public private(set) var reference: String?
    /// `true` once a payment was stated as failed; `nil`, not `false`: older records keep their bytes.
    private var failed: Bool?
    /// When it was paid: the earliest that a statement shows (RULES §5.3).
    public private(set) var paid: Instant?
    /// The payer's country, whichever statement knows it.
    public private(set) var country: String?

    init(_ stated: Newest<StripePayment>) {
        newest = stated
        isComplete = stated.value.status == "complete"
        isPaid = stated.value.isPaid
        lines = stated.value.lines
        customer = stated.value.customer
        reference = stated.value.reference
        failed = stated.value.hasFailed
        country = stated.value.country
        guard isPaid else { return }
        let payment = stated.value
        paid = stated.stated.isRead ? payment.paidBy ?? payment.created : stated.stated.instant
    }

    /// `true` if the bank refused the payment and nobody has paid since.
    public var hasFailed: Bool { failed == true && !isPaid }

    /// When what it bought begins.
    public var begins: Instant { paid ?? payment.created }

    public var payment: StripePayment { newest.value }

    mutating func rename(_ renaming: Renaming) throws {
        try newest.amend { try $0.rename(renaming) }
        customer = try customer.map { try renaming.customer($0) }
        reference = try reference.map { try renaming.reference($0) }
    }

    mutating func join(_ other: PaymentRecord) {
        newest.join(other.newest)
        isComplete = isComplete || other.isComplete
        isPaid = isPaid || other.isPaid
        lines = Self.larger(lines, other.lines)
        customer = max(customer ?? "", other.customer ?? "").nonEmpty
        reference = max(reference ?? "", other.reference ?? "").nonEmpty
        failed = failed ?? other.failed
        paid = earlier(paid, other.paid)
        country = max(country ?? "", other.country ?? "").nonEmpty
    }

    private static func larger(
        _ left: [StripePayment.Line]?,
        _ right: [StripePayment.Line]?
    ) -> [StripePayment.Line]? {
        guard let left, let right else { return left ?? right }
        return left == right || Newest.precedes(right, left) ? left : right
    }
}

/// When one customer claimed a purchase: minima and maxima, so that order does not matter.
public struct ClaimRecord: Hashable, Codable, Sendable {
    public let customer: Customer.ID
    /// The earliest `purchased` or `restored` claim.
    public private(set) var earliest: Instant?
    /// The latest `restored` claim.
    public private(set) var latestRestore: Instant?
    /// The earliest time it was merely observed.
    public private(set) var observed: Instant?

    init(_ claim: Claim, at instant: Instant) {
        customer = claim.customer
        switch claim.mode {
        case .purchased: earliest = instant
        case .restored:
            earliest = instant
            latestRestore = instant
        case .observed: observed = instant
        }
    }

    mutating func join(_ other: ClaimRecord) {
        earliest = earlier(earliest, other.earliest)
        latestRestore = later(latestRestore, other.latestRestore)
        observed = earlier(observed, other.observed)
    }
}

func earlier(_ left: Instant?, _ right: Instant?) -> Instant? {
    guard let left, let right else { return left ?? right }
    return min(left, right)
}

func later(_ left: Instant?, _ right: Instant?) -> Instant? {
    guard let left, let right else { return left ?? right }
    return max(left, right)
}

extension String {
    var nonEmpty: String? { isEmpty ? nil : self }
}

/// Where an element is in a sorted list, or where it would go.
enum SortedPosition {
    case found(Int)
    case missing(Int)
}

extension Array {
    /// The place of the element whose `key` equals `wanted`; the list is sorted by `key`.
    func position<Key: Comparable>(
        of wanted: Key,
        by key: (Element) -> Key
    ) -> SortedPosition {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            let found = key(self[middle])
            if found < wanted {
                low = middle + 1
            } else if found == wanted {
                return .found(middle)
            } else {
                high = middle
            }
        }
        return .missing(low)
    }
}
