internal import Storage
internal import TollgateCore

/// One customer, looked at with all that they hold, on one snapshot.
struct CustomerCheck {
    private let person: Person
    private let question: Question
    private let customer: Customer.ID
    private let answer: GivenAnswer
    private let active: [GivenAnswer.Access]
    private let evidence: [RowKey: PurchaseEvidence]
    private var judged: [Judged]
    private typealias Judged = (subject: RowKey, opinion: Opinion)

    /// `nil` for somebody who is not known, or was erased.
    ///
    /// - Parameters:
    ///   - subjects: purchases beside those that are kept as the customer's.
    ///   - misfiled: rows about purchases that are filed elsewhere.
    init?(
        _ person: Person,
        _ question: Question,
        _ reader: EvidenceReader,
        _ subjects: Set<RowKey>,
        _ misfiled: [RowKey: [Int64]]
    ) throws {
        guard let answer = try reader.answers(of: [(person.customer, person.environment)]).first,
            !answer.isErased,
            let customer = try reader.customerID(person.customer)
        else { return nil }
        (self.person, self.question) = (person, question)
        (self.customer, self.answer) = (customer, answer)
        active = answer.active(at: question.at)
        let held = try reader.holdings(
            of: person.customer,
            in: person.environment,
            limit: 500  // Somebody with more is judged by these.
        )
        let all = try subjects.union(held).union(active.map(\.subject)).sorted().map {
            try PurchaseEvidence(gathering: $0, and: misfiled[$0] ?? [], reader)
        }.filter { $0.environment ?? person.environment == person.environment }
        let customers = try reader.customers(knownAs: all.flatMap(\.names))
        evidence = Dictionary(all.map { ($0.subject, $0) }) { $1 }
        judged = all.flatMap { one in
            one.opinions(question, customers: customers).map { (one.subject, $0) }
        }
        stack()
    }

    /// Passes of one product last one after the other.
    private mutating func stack() {
        let theirs = judged.enumerated().compactMap { index, entry in
            isTheirs(entry) ? entry.opinion.pass.map { (index: index, pass: $0) } : nil
        }
        for passes in Dictionary(grouping: theirs, by: \.pass.product).values
        where passes.count > 1 {
            // Where it is not known whose one is, or to the second when it begins and ends, the
            // others' ends are not either.
            let isSure = passes.allSatisfy { index, pass in
                !pass.isContested && pass.paid.lowerBound == pass.paid.upperBound
                    && judged[index].opinion.owners.certain.contains(person.customer)
            }
            var end = Instant.distantPast
            for (index, pass) in passes.sorted(by: {
                $0.pass.paid.lowerBound < $1.pass.paid.lowerBound
            }) {
                let start = max(end, pass.paid.upperBound)
                let over = min(pass.end(after: start), pass.cut ?? .distantFuture)
                end = max(start, over)
                guard start <= question.at, question.at < over,
                    judged[index].opinion.verdict != .yes
                else { continue }
                judged[index].opinion.verdict = isSure ? .yes : .open
                judged[index].opinion.since = start
                judged[index].opinion.reason =
                    "the pass, begun after what was there, runs until \(over)"
            }
        }
    }

    private func isTheirs(_ entry: Judged) -> Bool {
        entry.opinion.owners.mayInclude(person.customer)
    }

    /// The purchases and grants that give somebody a lookup key.
    private func about(_ lookupKey: String) -> [Judged] {
        judged.filter { $0.opinion.lookupKeys.contains(lookupKey) }
    }

    /// Where the server answers otherwise.
    func findings() -> [AccessFinding] {
        var told = Set(active.map(\.lookupKey))
        // What was replaced may be over, though nobody heard of it; what began later is not.
        let replaced = evidence.values.flatMap(\.replaced)
        let due = judged.filter { subject, opinion in
            opinion.verdict == .yes && opinion.owners.certain.contains(person.customer)
                && !replaced.contains { $0.subject == subject && opinion.since < $0.since }
        }
        return active.compactMap(letIn)
            + due.flatMap { entry in
                entry.opinion.lookupKeys.filter { told.insert($0).inserted }
                    .map { finding(.lockedOut, $0, entry) }
            }
    }

    /// Why these are answered with no, where the evidence says no as well.
    func causes(of denied: [String]) -> [AccessFinding] {
        let locked = findings().filter { $0.kind == .lockedOut }.map(\.lookupKey)
        return denied.filter { !locked.contains($0) }.map { lookupKey in
            let about = about(lookupKey)
            let theirs = about.filter(isTheirs)
            let none = Opinion(.no, since: question.at, "no product that was shown opens it", [])
            var cause =
                theirs.max { $0.opinion.since < $1.opinion.since } ?? about.last
                ?? (person.customer, none)
            if theirs.isEmpty, !about.isEmpty { cause.opinion.reason = Self.another }
            return finding(.device, lookupKey, cause)
        }
    }

    /// `nil` if something covers it, or may, or if what covered it was erased.
    private func letIn(_ access: GivenAnswer.Access) -> AccessFinding? {
        let about = about(access.lookupKey)
        let theirs = about.filter(isTheirs).map(\.opinion)
        guard let ground = evidence[access.subject], !ground.isUnjudged,
            theirs.allSatisfy({ $0.verdict == .no })
        else { return nil }
        var opinion = Opinion(.no, since: access.since, Self.another, [])
        if ground.isEmpty {
            opinion.reason = "nothing in the journal is about this purchase"
        } else if let last = theirs.max(by: { $0.since < $1.since }) {
            opinion = last
        } else if about.isEmpty {
            opinion.reason = "nothing that was said gives it"
        }
        return finding(.letIn, access.lookupKey, (access.subject, opinion), access)
    }

    private static let another = "it is somebody else's"

    private func finding(
        _ kind: AccessFinding.Kind,
        _ lookupKey: String,
        _ entry: Judged,
        _ given: GivenAnswer.Access? = nil
    ) -> AccessFinding {
        let (ground, opinion) = (evidence[entry.subject], entry.opinion)
        let last = answer.last(lookupKey, before: question.at)
        let since = given?.since ?? last?.until ?? opinion.since
        let until = given?.until.map { "until \($0)" } ?? "for ever"
        return AccessFinding(
            kind,
            lookupKey,
            of: customer,
            in: person.environment,
            purchase: given?.purchase ?? ground?.name,
            since: max(opinion.since, since),
            opinion: opinion.reason,
            answer: given.map { "\($0.ground), by \($0.purchase) \(until)" }
                ?? last.map { "\($0.purchase) gave it until \($0.until)" }
                ?? "nothing that this customer holds gives it",
            evidence: Set(opinion.evidence).sorted().map { row in
                let message = ground?.messages[row] ?? ""
                return .init(journal: row, message: message.isEmpty ? nil : message)
            }
        )
    }
}
