import Foundation

/// One answer of the server about one customer.
struct EntitlementSnapshot: Sendable {
    struct Entry: Sendable {
        var entitlement: Entitlement
        /// The server's clock, UNIX milliseconds; nil for ever.
        var until: Int64?
    }

    let customer: String
    let entries: [Entry]
    /// The instant for which the server answered, by its clock.
    let at: Int64
    /// The device's clock just before asking, so that an answer is never younger than it is.
    let takenAt: Date
    /// The number of the request that brought it.
    let flight: Int

    /// Whether something was bought since: it is asked for anew, and stands in only during an outage.
    private var isOutdated = false

    private let untilByKey: [String: Int64?]
    private let firstEnd: Int64?

    init(customer: String, entries: [Entry], at: Int64, takenAt: Date, flight: Int) {
        self.customer = customer
        self.entries = entries
        self.at = at
        self.takenAt = takenAt
        self.flight = flight
        untilByKey = Dictionary(
            entries.map { ($0.entitlement.lookupKey, $0.until) },
            uniquingKeysWith: Self.later
        )
        firstEnd = entries.compactMap(\.until).min()
    }

    private static func later(_ one: Int64?, _ other: Int64?) -> Int64? {
        guard let one, let other else { return nil }
        return max(one, other)
    }

    /// The same, too old to be given without asking.
    func outdated() -> EntitlementSnapshot {
        var outdated = self
        outdated.isOutdated = true
        return outdated
    }

    /// Whether this may be given at `now` without asking: young enough, and nothing in it has ended.
    ///
    /// A clock that was set back makes the age negative: then nothing is known about it.
    func isFresh(at now: Date, maximumAge: TimeInterval) -> Bool {
        let age = now.timeIntervalSince(takenAt)
        guard !isOutdated, maximumAge > 0, age >= 0, age <= maximumAge else { return false }
        guard let firstEnd else { return true }
        return serverInstant(at: now) < firstEnd
    }

    /// Whether the key is in this answer; only for a fresh one.
    func contains(_ lookupKey: String) -> Bool { untilByKey[lookupKey] != nil }

    /// What of this answer still holds at `now`.
    func active(at now: Date) -> [Entitlement] {
        let instant = serverInstant(at: now)
        return entries.filter { entry in entry.until.map { instant < $0 } ?? true }
            .map(\.entitlement)
    }

    /// When the first of these that still holds ends, by the device's clock.
    func nextEnd(after now: Date) -> Date? {
        let instant = serverInstant(at: now)
        guard let end = entries.compactMap(\.until).filter({ $0 > instant }).min() else {
            return nil
        }
        return takenAt.addingTimeInterval(TimeInterval(end - at) / 1000)
    }

    private func serverInstant(at now: Date) -> Int64 {
        at.advanced(byWholeMilliseconds: now.timeIntervalSince(takenAt))
    }
}

extension Date {
    init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: TimeInterval(milliseconds) / 1000)
    }
}

extension Int64 {
    /// This instant, later by `seconds`; never earlier, never a trap.
    func advanced(byWholeMilliseconds seconds: TimeInterval) -> Int64 {
        guard seconds > 0 else { return self }
        let milliseconds = Int64(exactly: (seconds * 1000).rounded(.down)) ?? .max
        let (sum, overflow) = addingReportingOverflow(milliseconds)
        return overflow ? .max : sum
    }
}
