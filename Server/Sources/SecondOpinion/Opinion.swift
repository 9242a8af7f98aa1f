internal import TollgateCore

/// What is asked of the evidence: an instant, and what was sold by then.
struct Question: Sendable {
    var at: Instant
    var history: CatalogHistory

    var catalog: Catalog { history.current }

    /// Up to when what was said counts: clocks differ, so a little beyond the instant.
    var said: Instant { at.advanced(by: 300_000) }
}

/// Whether somebody must be able to use something, as far as the stores' documents say so; `open`
/// where the documents or the evidence leave either answer right.
enum Verdict: Sendable { case no, open, yes }

/// What one purchase gives to whoever holds it, at the instant that is looked at.
struct Opinion: Sendable {
    var verdict: Verdict
    /// Since when the verdict holds, as far as the evidence tells.
    var since: Instant
    var reason: String
    /// Rows of the journal that it rests on.
    var evidence: [Int64]
    /// Something that lasts for the catalog's duration, and is looked at with others of its kind.
    var pass: Pass?
    var lookupKeys: [String] = []
    var owners = Owners()

    init(_ verdict: Verdict, since: Instant, _ reason: String, _ evidence: [Int64]) {
        (self.verdict, self.since, self.reason, self.evidence) = (verdict, since, reason, evidence)
    }

    /// The same, about what `owners` have of these lookup keys.
    func about(_ lookupKeys: [String], _ owners: Owners) -> Opinion {
        var opinion = self
        (opinion.lookupKeys, opinion.owners) = (lookupKeys, owners)
        return opinion
    }
}

/// A pass of the catalog's duration, paid for within `paid`: not before, and not after.
struct Pass: Hashable, Sendable {
    var product: String
    var paid: ClosedRange<Instant>
    var duration: CalendarDuration
    /// When all of it was paid back.
    var cut: Instant?

    func end(after start: Instant) -> Instant {
        duration.adding(to: start.milliseconds).map { Instant(milliseconds: $0) } ?? start
    }

    /// What it gives by itself, were there no other before it.
    func opinion(at: Instant, _ evidence: [Int64]) -> Opinion {
        let end = end(after: paid.lowerBound)
        let isOver = self.end(after: paid.upperBound) <= at
        var opinion: Opinion =
            if let cut, cut <= at {
                Opinion(.no, since: cut, "the pass was paid back at \(cut)", evidence)
            } else if at < paid.upperBound {
                Opinion(.open, since: at, "the pass begins by \(paid.upperBound)", evidence)
            } else if at < end {
                Opinion(.yes, since: paid.upperBound, "the pass runs until \(end)", evidence)
            } else {
                Opinion(isOver ? .no : .open, since: end, "the pass ended at \(end)", evidence)
            }
        opinion.pass = self
        return opinion
    }
}

extension Instant {
    static let distantPast = Instant(milliseconds: .min)
    static let distantFuture = Instant(milliseconds: .max)
}
