internal import Storage
internal import TollgateCore

/// What is asked of the evidence: an instant, and what was sold by then.
struct Question: Sendable {
    let at: Instant
    let history: CatalogHistory

    var catalog: Catalog { history.current }
    /// Up to when what was said counts: clocks differ, so a little beyond the instant.
    var said: Instant { at.advanced(by: 300_000) }
}

/// Whether somebody must be able to use something; `open`: documents or evidence allow either.
package enum Verdict: Int, Sendable { case no, open, yes }

/// What one purchase gives to whoever holds it, at the instant that is looked at.
struct Opinion: Sendable {
    var verdict: Verdict
    /// Since when the verdict holds, as far as the evidence tells.
    var since: Instant
    var reason: String
    /// Rows of the journal that it rests on.
    var evidence: [Int64]
    /// Something bought once, which is looked at with others of its kind.
    var pass: Pass?
    private(set) var lookupKeys: [String] = []
    private(set) var owners = Owners()

    init(_ verdict: Verdict, since: Instant, _ reason: String, _ evidence: [Int64]) {
        (self.verdict, self.since, self.reason, self.evidence) = (verdict, since, reason, evidence)
    }

    func isDue(to customer: RowKey) -> Bool { verdict == .yes && owners.certain.contains(customer) }

    /// The same, about what `owners` have of these lookup keys.
    func about(_ lookupKeys: [String], _ owners: Owners) -> Opinion {
        var opinion = self
        (opinion.lookupKeys, opinion.owners) = (lookupKeys, owners)
        return opinion
    }

    /// Passes of one product last one after the other.
    static func stack(_ judged: inout [CustomerCheck.Judged], of customer: RowKey, at: Instant) {
        let theirs = judged.enumerated().compactMap { index, entry in
            entry.opinion.owners.possible.contains(customer)
                ? entry.opinion.pass.map { (index: index, pass: $0) } : nil
        }
        let groups = Dictionary(grouping: theirs, by: \.pass.product).values
        for passes in groups where passes.count > 1 {
            // Where one's owner, begin or end is not sure, the others' ends are not either.
            let isSure = passes.allSatisfy { index, pass in
                !pass.isContested && pass.paid.lowerBound == pass.paid.upperBound
                    && judged[index].opinion.owners.certain.contains(customer)
            }
            var end = Instant.distantPast
            let inOrder = passes.sorted { $0.pass.paid.lowerBound < $1.pass.paid.lowerBound }
            for (index, pass) in inOrder {
                let start = max(end, pass.paid.upperBound)
                let over = min(pass.end(after: start), pass.cut ?? .distantFuture)
                end = max(start, over)
                if at < start || over <= at || judged[index].opinion.verdict == .yes { continue }
                judged[index].opinion.verdict = isSure ? .yes : .open
                judged[index].opinion.since = start
                judged[index].opinion.reason = "begun after another pass, it runs until \(over)"
            }
        }
    }
}

/// A one-time purchase, which lasts for the catalog's duration, or for ever.
struct Pass: Hashable, Sendable {
    let product: String
    let duration: CalendarDuration?
    /// When it was paid for: not before, and not after.
    let paid: ClosedRange<Instant>
    var quantity: Int64 = 1
    /// When all of it was paid back.
    var cut: Instant?
    /// Whether a part of it was paid back, or all of it may be.
    var isContested = false

    /// `nil` for what opens nothing by having been bought once.
    init?(_ product: Catalog.Product?, paid: ClosedRange<Instant>) {
        guard let product, product.kind == .nonRenewing || product.kind == .nonConsumable else {
            return nil
        }
        (self.product, duration, self.paid) = (product.id, product.duration, paid)
    }

    func end(after start: Instant) -> Instant {
        guard let duration else { return .distantFuture }
        return (0..<max(0, min(quantity, 100))).reduce(start) { end, _ in duration.end(after: end) }
    }

    /// What it gives by itself, were there no other before it.
    func opinion(at: Instant, _ evidence: [Int64]) -> Opinion {
        let (start, end) = (paid.upperBound, end(after: paid.lowerBound))
        var opinion = Opinion(.open, since: start, "it is paid for", evidence)
        if let cut, cut <= at {
            opinion = Opinion(.no, since: cut, "all of it was paid back at \(cut)", evidence)
        } else if end <= at {
            let isOver = self.end(after: start) <= at
            opinion = Opinion(isOver ? .no : .open, since: end, "it ended", evidence)
        } else if start <= at, !isContested {
            opinion.verdict = .yes
        }
        opinion.pass = self
        return opinion
    }
}

extension CalendarDuration {
    func end(after start: Instant) -> Instant {
        adding(to: start.milliseconds).map { Instant(milliseconds: $0) } ?? start
    }
}

extension Instant {
    static let distantPast = Instant(milliseconds: .min)
    static let distantFuture = Instant(milliseconds: .max)
}
