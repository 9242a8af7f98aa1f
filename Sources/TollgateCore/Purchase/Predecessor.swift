/// A purchase that another one continues: `previousOriginalTransactionId` of a migration or of a
/// switch between a plan and a bundle (RULES §8), `linkedPurchaseToken` of Google Play (§18.3).
public struct Predecessor: Hashable, Codable, Sendable {
    /// Its original transaction id or purchase token.
    public let id: String
    /// The start of the first period that names it.
    public private(set) var since: Instant
    /// The starts of the other periods that name it, sorted; `nil`: none.
    ///
    /// Renewals may name it, too.
    public private(set) var later: [Instant]?
    /// The token or account id that held there at the first start; `nil`: none, or not known yet.
    public internal(set) var token: String?
    /// Since when restores there are about who bought, as far as another buyer came before; `nil` in
    /// the App Store.
    public internal(set) var buyerSince: Instant?
    /// The paid end of the period that ran there at the first start; `nil`: none, or not known yet.
    public internal(set) var paidUntil: Instant?

    init(id: String, since: Instant) {
        self.id = id
        self.since = since
    }

    /// The starts of all periods that name it, sorted.
    public var starts: [Instant] { [since] + (later ?? []) }

    /// The same, where what continues it begins but once.
    func beginning(at instant: Instant) -> Self {
        var changed = self
        (changed.since, changed.later) = (instant, nil)
        return changed
    }

    mutating func join(_ other: Predecessor) {
        (since, later) = Instant.joined(starts, other.starts)
        token = token ?? other.token
        paidUntil = paidUntil ?? other.paidUntil
    }
}

/// A purchase that continues this one, and so took its place (RULES §8).
public struct Successor: Hashable, Codable, Sendable {
    /// Its original transaction id or purchase token.
    public let id: String
    /// The start of its first period that says so.
    public private(set) var since: Instant
    /// The starts of its other periods that say so, sorted; `nil`: none.
    public private(set) var later: [Instant]?
    /// The periods of this purchase that go on there; `nil`: none, as always in the App Store.
    public internal(set) var kept: [GooglePlayKeptPeriod]?

    public init(id: String, since: Instant) {
        self.id = id
        self.since = since
    }

    /// The successor that `predecessor` makes of the purchase `id`.
    public init(id: String, continuing predecessor: Predecessor) {
        self.id = id
        since = predecessor.since
        later = predecessor.later
    }

    /// The starts of all its periods that say so, sorted.
    public var starts: [Instant] { [since] + (later ?? []) }

    mutating func join(_ other: Successor) {
        (since, later) = Instant.joined(starts, other.starts)
    }
}

extension [Predecessor]? {
    mutating func join(_ predecessor: Predecessor) {
        var known = self ?? []
        switch known.position(of: predecessor.id, by: { $0.id }) {
        case .found(let index): known[index].join(predecessor)
        case .missing(let index): known.insert(predecessor, at: index)
        }
        self = known
    }
}

extension [Successor]? {
    mutating func join(_ successor: Successor) {
        var known = self ?? []
        switch known.position(of: successor.id, by: { $0.id }) {
        case .found(let index): known[index].join(successor)
        case .missing(let index): known.insert(successor, at: index)
        }
        self = known
    }
}

extension Instant {
    /// The first of all instants in two lists, and the others, sorted; `nil`: no others.
    ///
    /// - Parameter one: at least one.
    fileprivate static func joined(_ one: [Instant], _ other: [Instant]) -> (Instant, [Instant]?) {
        let all = Set(one + other).sorted()
        return (all[0], all.count > 1 ? Array(all.dropFirst()) : nil)
    }
}
