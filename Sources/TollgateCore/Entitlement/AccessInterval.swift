/// A span in which one purchase gives access to one thing a store sells, and on what ground.
///
/// It names the store's product, not the entitlement: what a product grants is the catalog's of
/// the day of the question (RULES §7), so a change of the catalog rewrites no record.
public struct AccessInterval: Hashable, Codable, Sendable {
    public var product: StoreProduct
    public var since: Instant
    /// Half-open: access ends at this instant.
    ///
    /// `nil`: never. For `renewal`, and for `grace` that the catalog grants, this is where the paid time ended;
    /// the catalog's leeway is added when the question is asked.
    public var until: Instant?
    public var ground: Ground
    /// The period or object it rests on, by the store's id.
    public var evidence: String
    /// When the store ends it, which the catalog's grace or leeway does not pass.
    ///
    /// `nil`, not a date, where none is stated within them: older records keep their bytes.
    public var stop: Instant?
    /// The offer by which it was bought.
    ///
    /// `nil` at the full price, and where none is known.
    public var offer: OfferKind?
    /// Whether it is a plan's of which is not known whether it renews: the store has not said so since it
    /// began, or a failed payment decides.
    public var lacksRenewalTerms: Bool

    public init(
        product: StoreProduct,
        since: Instant,
        until: Instant?,
        ground: Ground,
        evidence: String,
        stop: Instant? = nil,
        offer: OfferKind? = nil,
        lacksRenewalTerms: Bool = false
    ) {
        self.product = product
        self.since = since
        self.until = until
        self.ground = ground
        self.evidence = evidence
        self.stop = stop
        self.offer = offer
        self.lacksRenewalTerms = lacksRenewalTerms
    }

    /// Whether a renewal follows before the plan stops.
    var isRenewal: Bool {
        guard ground == .renewal, let until, let stop else { return ground == .renewal }
        return until < stop
    }

    /// Whether its end is still to be moved by the catalog of the day.
    public var isExtendedByCatalog: Bool {
        ground == .renewal || (ground == .grace && product.store.hasGraceOfCatalog)
    }

    /// Whether it gives access at no instant, by whatever catalog.
    var isVoid: Bool {
        guard let until, !isExtendedByCatalog else { return false }
        return until <= since
    }
}

/// Why access is given.
public enum Ground: String, Codable, Hashable, Sendable {
    /// A period that was paid.
    case payment
    /// The renewal is due and nothing says that it fails (RULES §3).
    case renewal
    /// The store says that the subscription is active beyond every period we know (RULES §2.4).
    case status
    /// Billing failed and the store or the catalog grants time to mend it.
    case grace
    /// Family Sharing.
    case family
    /// Granted without a purchase.
    case grant
}

/// One non-renewing purchase: how long it lasts is known, when it starts depends on the others.
public struct Pass: Hashable, Codable, Sendable {
    public var product: StoreProduct
    public var purchased: Instant
    /// The catalog's duration at the time of purchase; `nil` until the catalog knows it.
    public var duration: CalendarDuration?
    /// A refund's instant.
    public var cut: Instant?
    public var evidence: String

    public init(
        product: StoreProduct,
        purchased: Instant,
        duration: CalendarDuration?,
        cut: Instant?,
        evidence: String
    ) {
        self.product = product
        self.purchased = purchased
        self.duration = duration
        self.cut = cut
        self.evidence = evidence
    }
}
