/// The App Store's statements about one original transaction, and the app's reports about it.
///
/// Lists are kept sorted and there are no dictionaries, so equal records have equal bytes.
public struct AppStoreRecord: Hashable, Codable, Sendable {
    /// The paid periods, sorted by id.
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
    /// The purchases that continue this one, sorted by id; `nil`: none.
    public private(set) var successors: [Successor]?
    /// Every report about a free subscription, the oldest first; `nil`: it is none.
    public private(set) var freeSubscription: FreeSubscriptionReports?
    /// What figures about the past need of renewals that failed; `nil`: none did.
    public private(set) var failures: BillingFailures?

    /// Takes in one fact about the original transaction `id`.
    mutating func join(_ fact: Fact, of id: String) {
        failures.join(fact)
        switch fact.statement {
        case .period(let period): join(period, fact, of: id)
        case .renewal(let terms): join(terms, fact)
        case .status(let status): join(status, fact)
        case .refundReversed(let period): joinReversal(of: period ?? "", fact)
        case .freeSubscription(let report): freeSubscription.join(fact.newest(report))
        case .subscription, .payment, .invoice, .refund, .dispute, .buyer, .claim, .assignment,
            .grant, .coins, .googlePlaySubscription, .googlePlayPurchase,
            .googlePlayOrder, .googlePlayVoid, .googlePlayUnreadable:
            break
        }
    }

    private mutating func join(_ period: Period, _ fact: Fact, of id: String) {
        let record = PeriodRecord(fact.newest(period))
        switch periods.position(of: period.id, by: { $0.period.id }) {
        case .found(let index): periods[index].join(record)
        case .missing(let index): periods.insert(record, at: index)
        }
        if let previous = period.previous, previous != id {
            predecessors.join(Predecessor(id: previous, since: period.start))
        }
    }

    private mutating func join(_ terms: RenewalTerms, _ fact: Fact) {
        if fact.isFromReceipt {
            receiptRenewal.join(fact.newest(terms))
        } else {
            signedRenewal.join(fact.newest(terms))
        }
    }

    private mutating func join(_ status: SubscriptionStatus, _ fact: Fact) {
        if fact.isFromReceipt {
            receiptStatus.join(fact.newest(status))
        } else {
            signedStatus.join(fact.newest(status))
        }
    }

    private mutating func joinReversal(of period: String, _ fact: Fact) {
        let stated = fact.newest(period)
        var known = reversals ?? []
        switch known.position(of: period, by: { $0.value }) {
        case .found(let index): known[index].join(stated)
        case .missing(let index): known.insert(stated, at: index)
        }
        reversals = known
    }

    // MARK: - Purchases that continue one another (RULES §8)

    /// Notes that a purchase of the same app and environment continues this one.
    mutating func join(_ successor: Successor) { successors.join(successor) }

    /// Takes over what held in the purchase `id` when this one began to continue it: the token, and
    /// until when it was paid.
    ///
    /// - Returns: whether this one continues that.
    mutating func follow(_ predecessor: AppStoreRecord, id: String) -> Bool {
        guard var known = predecessors,
            case .found(let index) = known.position(of: id, by: { $0.id })
        else { return false }
        known[index].token = predecessor.token(at: known[index].since)
        known[index].paidUntil = predecessor.paidUntil(at: known[index].since)
        predecessors = known
        return true
    }

    mutating func rename(_ renaming: Renaming) throws {
        for index in periods.indices { try periods[index].rename(renaming) }
        guard var known = predecessors else { return }
        for index in known.indices {
            known[index].token = try renaming.token(known[index].token)
        }
        predecessors = known
    }

    /// Everybody whom this record may make a holder.
    var names: [Holder] {
        let tokens =
            periods.compactMap(\.period.token) + (predecessors ?? []).compactMap(\.token)
        return tokens.map { Holder.name(ofToken: $0) } + (freeSubscription?.names ?? [])
    }
}
