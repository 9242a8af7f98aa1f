public import TollgateCore

/// A purchase, with what it gives one customer at an instant.
public struct HeldPurchase: Sendable {
    public let purchase: Purchase
    public let now: Instant
    /// The current catalog.
    public let catalog: Catalog
    /// The products, in the store's order; `nil` for one that the catalog does not know.
    public let products: [Catalog.Product?]
    /// The access that this purchase alone gives, past and to come.
    public let timeline: Timeline
    /// The entitlements that it gives now.
    public let active: [ActiveEntitlement]
    /// The end of the part that runs now, even if it opens nothing; `nil` if none runs or it never ends.
    public let runsUntil: Instant?

    /// - Parameters:
    ///   - access: the customer's part of it.
    ///   - catalog: today's.
    public init(
        _ purchase: Purchase,
        _ access: PurchaseAccess,
        in catalog: Catalog,
        at now: Instant
    ) {
        (self.purchase, self.catalog, self.now) = (purchase, catalog, now)
        products = purchase.storeProducts.map {
            catalog.product($0, in: purchase.key.application)
        }
        timeline = Timeline([(purchase.key, access)], in: catalog)
        active = timeline.active(at: now)
        runsUntil =
            access.intervals.filter { $0.since <= now }.compactMap(\.until).filter { now < $0 }
            .max()
    }
}

extension HeldPurchase {
    /// `true` if it gives access now.
    public var isActive: Bool { !active.isEmpty }

    /// `true` if the customer's part of it runs now, even if it opens nothing.
    public var runs: Bool { isActive || runsUntil != nil }

    /// When what it opens now ends; `nil`: it opens nothing, or never ends.
    public var until: Instant? { active.first?.until }

    /// The last end of what it opens, past or to come.
    public var lastEnd: Instant? { timeline.entries.compactMap(\.until).max() }

    /// The product, if it is of one alone.
    public var onlyProduct: Catalog.Product? { products.count == 1 ? products[0] : nil }

    /// How it stands by its access alone.
    public func state(renews: Bool = false) -> PurchaseStanding.State {
        guard isActive else {
            return lastEnd.map { $0 <= now ? .ended($0) : .startsLater } ?? .inactive
        }
        guard let until else { return .forever }
        return renews ? .renews(until) : .endsAt(until)
    }
}
