/// One product within a subscription.
struct SubscriptionItem: Hashable, Sendable, Codable {
    var productID: String
    /// The base plan as it was when it was bought.
    var plan: BasePlan
    var offerID: String?
    var offerTags: [String] = []
    /// The buyer's price for a period of the base plan.
    var price: Money
    /// The running period; `nil` while it is not owned yet.
    var period: PricedPeriod?
    /// Periods of the offer that are still to come.
    var upcoming: [PricedPeriod] = []
    var start: Int64?
    var expiry: Int64?
    var latestOrder: String?
    /// Nothing more comes of it: it was removed, replaced or taken back.
    var isEnded = false
    var autoRenews = true
    /// The product that takes its place when it ends.
    var deferredReplacement: String?
    var isBeingRemoved = false
    var replacement: ItemReplacement?
    var promotion: Promotion?
    var priceChange: PriceChange?
    var stepUp: StepUp?
    var installments: Installments?
    /// The instant from which a prepaid plan can be topped up again.
    var extendAfter: Int64?
    /// Time that account hold took away, to be given back.
    var suspended: Int64?

    enum Promotion: Hashable, Sendable, Codable {
        case oneTimeCode
        case vanityCode(String)
    }

    /// The item that this one replaced; shown for 60 days.
    struct ItemReplacement: Hashable, Sendable, Codable {
        var productID: String
        var planID: String
        var offerID: String?
        var mode: ReplacementMode
        var at: Int64
    }

    /// Payments that an installment plan still commits to.
    struct Installments: Hashable, Sendable, Codable {
        var initial: Int
        var subsequent: Int
        var remaining: Int
        var isCancellationPending = false
    }

    init(
        _ product: SubscriptionProduct,
        plan: BasePlan,
        offer: SubscriptionOffer?,
        region: String
    ) {
        productID = product.productID
        self.plan = plan
        offerID = offer?.offerID
        offerTags = (plan.offerTags ?? []) + (offer?.tags ?? [])
        price = plan.price(in: region)
        upcoming = offer?.periods(currency: price.currency) ?? []
        autoRenews = !plan.isPrepaid
        if plan.kind == .installments {
            let count = plan.committedPayments ?? 12
            installments = Installments(
                initial: count,
                subsequent: plan.renewsWithCommitment == true ? count : 0,
                remaining: count
            )
        }
    }

    /// The period that comes next.
    var next: PricedPeriod {
        upcoming.first ?? PricedPeriod(kind: .base, length: plan.period, price: price)
    }

    var isOwned: Bool { expiry != nil && !isEnded }

    /// `true` where a grace period keeps access: declined or not, unless it was removed.
    ///
    /// https://developer.android.com/google/play/billing/subscription-with-addons#grace-period
    var goesOnInGrace: Bool { isOwned && !isBeingRemoved }

    /// Begins the next period at `start`, paid with `order`.
    /// - Returns: the order's line.
    mutating func begin(at start: Int64, order: String, durations: Durations) -> Order.Line {
        let period = next
        if !upcoming.isEmpty { upcoming.removeFirst() }
        self.period = period
        self.start = start
        expiry = durations.end(
            of: period.length,
            isTrial: period.kind == .freeTrial,
            from: start
        )
        latestOrder = order
        suspended = nil
        if var committed = installments {
            if committed.remaining == 0, committed.subsequent > 0 {
                committed.remaining = committed.subsequent
            }
            committed.remaining = max(0, committed.remaining - 1)
            installments = committed
        }
        return line(paying: period.price)
    }

    /// The order's line for the running period.
    func line(paying total: Money) -> Order.Line {
        Order.Line(
            productID: productID,
            listing: price,
            total: total,
            kind: .subscription(
                .init(
                    planID: plan.basePlanID,
                    offerID: offerID,
                    phase: period?.kind ?? .base,
                    start: start,
                    end: expiry
                )
            )
        )
    }

    /// The item ends now, and nothing comes after it.
    mutating func end(at now: Int64) {
        // An item that was never owned has no expiry.
        expiry = expiry.map { min($0, now) }
        autoRenews = false
        isEnded = true
        suspended = nil
    }
}
