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

extension Purchase {
    /// Whether a claim would change nothing.
    public func knows(_ claim: Claim) -> Bool {
        guard let known = claims.first(where: { $0.customer == claim.customer }) else {
            return false
        }
        switch claim.mode {
        case .purchased: return known.earliest != nil
        case .observed: return known.earliest != nil || known.observed != nil
        case .restored:
            // Restoring again counts where somebody else restored in between, or another buyer came.
            guard let latest = known.latestRestore, record.buyerSince.map({ $0 <= latest }) ?? true
            else { return false }
            return claims.allSatisfy { other in
                other.customer == claim.customer || other.latestRestore.map { $0 < latest } ?? true
            }
        }
    }
}
