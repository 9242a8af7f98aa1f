/// How far back a store is asked for what was missed.
public enum ReconciliationReach: Hashable, Codable, Sendable {
    /// Since the last pass; the first time as far as the store remembers.
    case news
    /// As far as the store remembers.
    case everything
    /// Since this instant at least, in UNIX milliseconds of the stores' time; the first time, not
    /// before it.
    case since(Int64)
}
