/// One purchase token of a subscription: a state machine that is told the time.
///
/// Whatever changes it answers with what follows: charges, notifications, voided orders.
///
/// https://developer.android.com/google/play/billing/lifecycle/subscriptions
struct Subscription: Hashable, Sendable, Codable {
    enum Phase: Hashable, Sendable, Codable {
        /// Waits for a payment.
        case pending
        case active
        /// A renewal was declined; benefits go on and nothing is said, until then.
        case retrying(until: Int64)
        case grace(until: Int64)
        case hold(until: Int64)
        case paused(until: Int64)
        case canceled
        case expired
        /// The payment never came.
        case pendingCanceled
    }

    enum Cancellation: Hashable, Sendable, Codable {
        case user(at: Int64, reason: String?, words: String?)
        case system
        case developer
        case replacement
    }

    /// `outOfAppPurchaseContext` of a resubscription in Play; cleared by the acknowledgement.
    struct OutOfApp: Hashable, Sendable, Codable {
        var expiredToken: String
        var identifiers: Identifiers
    }

    let token: String
    let account: String
    let region: String
    let isTest: Bool
    let boughtAt: Int64
    /// The first order; renewals append `..0`, `..1`, ….
    let orderID: String
    var identifiers: Identifiers
    var phase = Phase.active
    var items: [SubscriptionItem]
    var startTime: Int64?
    /// Refunded then, unless acknowledged; `nil`: it is.
    var acknowledgeBy: Int64?
    var linkedToken: String?
    var cancellation: Cancellation?
    /// A pause that begins with the period's end.
    var pause: BillingPeriod?
    var outOfApp: OutOfApp?
    /// `true` for a resubscription in Play, also after its acknowledgement.
    var isResubscription: Bool?
    var renewals = 0
    /// Renewals of a trial or at an introductory price, which a licence tester's limit leaves out.
    var introductoryRenewals: Int?
    /// Products whose renewal was declined, since when, and the order that waits.
    var declined: Declined?
    /// The outcome of the pending payment and its time.
    var decision: Decision?
    /// The replacement that a pending purchase carries out once it is paid.
    var pendingMode: ReplacementMode?
    /// Counts changes: the etag.
    var revision = 0
    var endedAt: Int64?

    struct Declined: Hashable, Sendable, Codable {
        var products: [String]
        var since: Int64
        var orderID: String
    }

    struct Decision: Hashable, Sendable, Codable {
        var at: Int64
        var isPaid: Bool
    }

    init(
        token: String,
        orderID: String,
        buyer: Account,
        identifiers: Identifiers,
        items: [SubscriptionItem],
        at now: Int64
    ) {
        self.token = token
        self.orderID = orderID
        account = buyer.id
        region = buyer.region
        isTest = buyer.isTester
        boughtAt = now
        self.identifiers = identifiers
        self.items = items
    }

    var etag: String { "\"\(token.prefix(6))-\(revision)\"" }
    var isPrepaid: Bool { items.first?.plan.isPrepaid ?? false }
    var isAcknowledged: Bool { acknowledgeBy == nil }
    /// The latest instant to which anything of it runs.
    var expiry: Int64? { items.compactMap(\.expiry).max() }

    /// Returns `true` from the first payment to the end.
    var isLive: Bool {
        switch phase {
        case .active, .retrying, .grace, .hold, .paused, .canceled: true
        case .pending, .expired, .pendingCanceled: false
        }
    }

    /// Returns `true` where it renews by itself.
    var isRenewing: Bool { isLive && phase != .canceled && !isPrepaid }

    /// Returns `true` while a renewal waits for its payment.
    var isInDecline: Bool {
        switch phase {
        case .retrying, .grace, .hold: true
        default: false
        }
    }

    /// The order of the next renewal.
    var nextOrderID: String { "\(orderID)..\(renewals)" }

    /// The order that was charged last.
    var latestOrderID: String { renewals == 0 ? orderID : "\(orderID)..\(renewals - 1)" }

    mutating func touch() {
        revision += 1
    }

    mutating func acknowledge() {
        guard acknowledgeBy != nil else { return }
        acknowledgeBy = nil
        outOfApp = nil
        touch()
    }

    // MARK: - Time

    /// The time of the next event that happens to it by itself.
    var nextDue: Int64? {
        let own: Int64? =
            switch phase {
            case .pending: decision?.at
            case .active: items.filter(\.isOwned).compactMap(\.expiry).min()
            case .retrying(let until), .hold(let until), .paused(let until): until
            case .grace(let until):
                min(until, items.filter(\.goesOnInGrace).compactMap(\.expiry).min() ?? until)
            case .canceled: expiry
            case .expired, .pendingCanceled: nil
            }
        guard isLive, let acknowledgeBy else { return own }
        return min(own ?? acknowledgeBy, acknowledgeBy)
    }

    /// Does what is due at `now`.
    mutating func happen(_ circumstances: Circumstances) -> [SubscriptionEffect] {
        let now = circumstances.now
        if isLive, let acknowledgeBy, acknowledgeBy <= now { return lapse(at: now) }
        touch()
        switch phase {
        case .pending:
            guard let decision, decision.at <= now else { return [] }
            return decision.isPaid ? pay(circumstances) : endPending(at: now)
        case .active: return renewDue(circumstances)
        case .grace(let until) where until > now: return extendGrace(circumstances)
        case .retrying, .grace: return leaveGrace(circumstances)
        case .hold: return leaveHold(circumstances)
        case .paused: return resume(circumstances)
        case .canceled: return expire(at: now)
        case .expired, .pendingCanceled: return []
        }
    }

    func isDeclined(_ item: SubscriptionItem) -> Bool {
        declined?.products.contains(item.productID) ?? false
    }

    /// Nobody acknowledged it: Google refunds and revokes.
    private mutating func lapse(at now: Int64) -> [SubscriptionEffect] {
        end(at: now)
        return [
            .void(.init(orderID: latestOrderID, source: .google, reason: .unacknowledged)),
            .hint(.revoked),
        ]
    }

    /// Everything of it ends now.
    mutating func end(at now: Int64) {
        for index in items.indices where !items[index].isEnded { items[index].end(at: now) }
        phase = .expired
        acknowledgeBy = nil
        declined = nil
        pause = nil
        endedAt = now
        touch()
    }

    mutating func expire(at now: Int64) -> [SubscriptionEffect] {
        end(at: now)
        return [.hint(.expired)]
    }
}
