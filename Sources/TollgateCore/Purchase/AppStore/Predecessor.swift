/// A purchase that another one continues: `previousOriginalTransactionId`, of a migration or of a
/// switch between a plan and a bundle (RULES §8).
public struct Predecessor: Hashable, Codable, Sendable {
    /// Its original transaction id.
    public let id: String
    /// The start of the first period that names it.
    public private(set) var since: Instant
    /// The token that held there then; `nil`: none, or not known yet.
    public internal(set) var token: String?

    init(id: String, since: Instant) {
        self.id = id
        self.since = since
    }

    mutating func join(_ other: Predecessor) {
        since = min(since, other.since)
        token = token ?? other.token
    }
}

/// A purchase that continues this one, and so took its place (RULES §8).
public struct Successor: Hashable, Codable, Sendable {
    /// Its original transaction id.
    public let id: String
    /// The start of its first period that says so.
    public private(set) var since: Instant

    public init(id: String, since: Instant) {
        self.id = id
        self.since = since
    }

    mutating func join(_ other: Successor) {
        since = min(since, other.since)
    }
}
