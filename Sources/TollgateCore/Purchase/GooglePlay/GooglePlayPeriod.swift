/// The statements of reads about one product of a subscription under one order.
///
/// A read names only the latest order of each product, and for a renewal there is a new one.
public struct GooglePlayPeriod: Hashable, Codable, Sendable {
    public let order: String
    public let product: String
    /// The base plan.
    public private(set) var plan: String?
    /// The earliest clock that names the order.
    public private(set) var first: Instant
    /// The latest end that was stated while nothing had failed; `nil`: none.
    ///
    /// Time after it was grace.
    public private(set) var paidUntil: Instant?
    /// The earliest clock that states `paidUntil`; `nil` without one.
    public private(set) var paidSince: Instant?
    /// `true`: the rest of a period in which the plan was changed; `nil`, not `false`.
    public private(set) var isProration: Bool?

    /// - Returns: `nil` where the item is not paid yet.
    init?(_ item: GooglePlaySubscription.Item, of read: GooglePlaySubscription, at clock: Instant) {
        guard let order = item.order else { return nil }
        self.order = order
        product = item.product
        plan = item.basePlan
        first = clock
        isProration = item.phase == GooglePlaySubscription.proration ? true : nil
        guard let expiry = item.expiry else { return }
        if read.isPaid { (paidUntil, paidSince) = (expiry, clock) }
    }

    mutating func join(_ other: Self) {
        plan = max(plan ?? "", other.plan ?? "").nonEmpty
        first = min(first, other.first)
        if paidUntil == other.paidUntil {
            paidSince = earlier(paidSince, other.paidSince)
        } else if later(paidUntil, other.paidUntil) == other.paidUntil {
            (paidUntil, paidSince) = (other.paidUntil, other.paidSince)
        }
        isProration = isProration ?? other.isProration
    }
}

extension GooglePlayPeriod {
    /// Sorts periods, and tells one from another.
    var place: String { "\(order) \(product)" }

    var sold: StoreProduct { StoreProduct(googlePlay: product, plan: plan) }
}
