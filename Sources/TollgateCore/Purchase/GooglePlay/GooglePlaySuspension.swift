/// An account hold or a pause: a time without access, until the subscription is paid again.
///
/// The newest read forgets it, and answers about the past must not.
public struct GooglePlaySuspension: Hashable, Codable, Sendable {
    /// The beginning: the latest `expiryTime` of an item, or the read's clock if that is earlier.
    public let since: Instant
    /// The earliest clock that states it.
    public fileprivate(set) var stated: Instant

    /// - Returns: `nil` where the read states neither ON_HOLD nor PAUSED.
    init?(_ read: GooglePlaySubscription, at clock: Instant) {
        guard read.isSuspended else { return nil }
        since = min(clock, read.items.compactMap(\.expiry).max() ?? clock)
        stated = clock
    }
}

extension [GooglePlaySuspension]? {
    /// Takes in a read's statement; the list is sorted by beginning.
    mutating func join(_ suspension: GooglePlaySuspension?) {
        guard let suspension else { return }
        var known = self ?? []
        switch known.position(of: suspension.since, by: { $0.since }) {
        case .found(let index):
            known[index].stated = min(known[index].stated, suspension.stated)
        case .missing(let index): known.insert(suspension, at: index)
        }
        self = known
    }
}
