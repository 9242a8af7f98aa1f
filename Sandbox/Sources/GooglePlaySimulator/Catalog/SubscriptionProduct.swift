/// A subscription of the app, with its base plans.
struct SubscriptionProduct: Hashable, Sendable, Codable {
    var productID: String
    var title: String?
    var basePlans: [BasePlan]

    func plan(_ id: String?) throws(Refusal) -> BasePlan {
        guard let id else {
            guard let first = basePlans.first else { throw .notFound("base plan of \(productID)") }
            return first
        }
        guard let plan = basePlans.first(where: { $0.basePlanID == id }) else {
            throw .notFound("base plan \(id) of \(productID)")
        }
        return plan
    }
}

/// A base plan: how a subscription is billed, and for how much.
struct BasePlan: Hashable, Sendable, Codable {
    enum Kind: String, Hashable, Sendable, Codable {
        case autoRenewing = "auto_renewing"
        case prepaid
        case installments
    }

    var basePlanID: String
    /// `nil`: auto-renewing.
    var kind: Kind?
    var period: BillingPeriod
    var priceMicros: Int64
    /// `nil`: USD.
    var currency: String?
    /// The prices in other regions.
    var regions: [String: RegionalPrice]?
    /// `P0D` ends it; Play's own length if left out.
    var gracePeriod: BillingPeriod?
    /// 60 days less the grace period if left out.
    var accountHold: BillingPeriod?
    var offers: [SubscriptionOffer]?
    var offerTags: [String]?
    /// Payments that an installment plan commits to.
    var committedPayments: Int?
    /// An installment plan that commits again once it is paid.
    var renewsWithCommitment: Bool?

    var isPrepaid: Bool { kind == .prepaid }

    func price(in region: String) -> Money {
        if let price = regions?[region] {
            return Money(currency: price.currency, micros: price.priceMicros)
        }
        return Money(currency: currency ?? "USD", micros: priceMicros)
    }

    /// A week for monthly and longer plans, three days for weekly ones.
    ///
    /// https://support.google.com/googleplay/android-developer/answer/12154973
    var grace: BillingPeriod {
        gracePeriod ?? (period.length < 28 * Timestamp.day ? .init(3, .day) : .init(7, .day))
    }

    var hold: BillingPeriod {
        accountHold ?? .init(max(0, 60 - Int(grace.length / Timestamp.day)), .day)
    }

    func offer(_ id: String?) throws(Refusal) -> SubscriptionOffer? {
        guard let id else { return nil }
        guard let offer = offers?.first(where: { $0.offerID == id }) else {
            throw .notFound("offer \(id) of \(basePlanID)")
        }
        return offer
    }
}

struct RegionalPrice: Hashable, Sendable, Codable {
    var priceMicros: Int64
    var currency: String
}

/// An offer of a base plan: its cheaper periods come first.
struct SubscriptionOffer: Hashable, Sendable, Codable {
    var offerID: String
    var phases: [OfferPhase]
    var tags: [String]?

    /// Free or cheaper periods, one after another.
    func periods(currency: String) -> [PricedPeriod] {
        phases.flatMap { phase in
            let price = Money(currency: currency, micros: phase.priceMicros ?? 0)
            let period = PricedPeriod(
                kind: price.isNothing ? .freeTrial : .introductory,
                length: phase.duration,
                price: price
            )
            return Array(repeating: period, count: max(1, phase.count ?? 1))
        }
    }
}

struct OfferPhase: Hashable, Sendable, Codable {
    var duration: BillingPeriod
    var count: Int?
    /// `nil`: free.
    var priceMicros: Int64?
}

/// One period that is paid for, or given.
struct PricedPeriod: Hashable, Sendable, Codable {
    enum Kind: String, Hashable, Sendable, Codable {
        case base = "BASE"
        case introductory = "INTRODUCTORY"
        case freeTrial = "FREE_TRIAL"
        /// Credit of a replaced plan, by which the next billing date moved.
        case proration = "PRORATION"
    }

    var kind: Kind
    var length: BillingPeriod
    var price: Money
}
