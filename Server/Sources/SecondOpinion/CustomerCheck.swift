internal import Storage
internal import TollgateCore

/// One customer, looked at with all that they hold, on one snapshot.
struct CustomerCheck {
    private let question: Question
    private let customer: Customer.ID
    private let answer: GivenAnswer
    private let active: [GivenAnswer.Access]
    private let evidence: [RowKey: PurchaseEvidence]
    private let assigned: Set<RowKey>
    private var judged: [Judged]
    private var person: EvidencePerson { answer.person }
    private static let another = "it is somebody else's"
    typealias Judged = (subject: RowKey, opinion: Opinion)

    /// With these purchases beside those kept as theirs; `nil` for who is not known, or was erased.
    init?(
        _ person: EvidencePerson,
        _ question: Question,
        _ reader: EvidenceReader,
        _ subjects: Set<RowKey>,
        _ misfiled: [RowKey: [Int64]]
    ) throws {
        guard let answer = try reader.answers(of: [person]).first, !answer.isErased,
            let customer = try reader.customerID(person.customer)
        else { return nil }
        (self.question, self.customer, self.answer) = (question, customer, answer)
        active = answer.active(at: question.at)
        // Somebody with more is judged by these.
        let held = try reader.holdings(of: person, limit: 500)
        let all = try subjects.union(held).union(active.map(\.subject)).sorted().map {
            try PurchaseEvidence($0, and: misfiled[$0] ?? [], reader)
        }.filter { $0.environment ?? person.environment == person.environment }
        // Staff's word on a purchase counts for the one that continues it.
        assigned = try Set(all.flatMap(\.replaced).map(\.subject)).filter {
            try PurchaseEvidence($0, and: [], reader).ownership.assignment != nil
        }
        let customers = try reader.customers(knownAs: all.flatMap(\.names))
        evidence = Dictionary(all.map { ($0.subject, $0) }) { $1 }
        judged = all.flatMap { one in
            one.opinions(question, customers: customers).map { (one.subject, $0) }
        }
        Opinion.stack(&judged, of: person.customer, at: question.at)
    }

    private func isTheirs(_ entry: Judged) -> Bool {
        entry.opinion.owners.possible.contains(person.customer)
    }

    /// What was replaced may be over, though nobody heard of it; what began later is not.
    private func isDue(_ entry: Judged) -> Bool {
        entry.opinion.isDue(to: person.customer)
            && assigned.isDisjoint(with: (evidence[entry.subject]?.replaced ?? []).map(\.subject))
            && !evidence.values.lazy.flatMap(\.replaced).contains {
                $0.subject == entry.subject && entry.opinion.since < $0.since
            }
    }

    private func about(_ lookupKey: String) -> [Judged] {
        judged.filter { $0.opinion.lookupKeys.contains(lookupKey) }
    }

    /// The verdict on each entitlement that something is about.
    var verdicts: [String: Verdict] {
        let all = judged.flatMap { entry in
            let isNo = entry.opinion.verdict == .no || !isTheirs(entry)
            let verdict: Verdict = isDue(entry) ? .yes : isNo ? .no : .open
            return entry.opinion.lookupKeys.map { ($0, verdict) }
        }
        let unjudged = active.filter { evidence[$0.subject]?.isUnjudged ?? true }
        let open = unjudged.map { ($0.lookupKey, Verdict.open) }
        return Dictionary(all + open) { $0.rawValue > $1.rawValue ? $0 : $1 }
    }

    func findings() -> [AccessFinding] {
        var told = Set(active.map(\.lookupKey))
        return active.compactMap(letIn)
            + judged.filter(isDue).flatMap { entry in
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
            let last = theirs.max { $0.opinion.since < $1.opinion.since } ?? about.last
            var cause = last ?? (person.customer, none)
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
        var reason = about.isEmpty ? "nothing that was said gives it" : Self.another
        if ground.isEmpty { reason = "nothing in the journal is about this purchase" }
        let last = ground.isEmpty ? nil : theirs.max { $0.since < $1.since }
        let opinion = last ?? Opinion(.no, since: access.since, reason, [])
        return finding(.letIn, access.lookupKey, (access.subject, opinion), access)
    }

    private func finding(
        _ kind: AccessFinding.Kind,
        _ lookupKey: String,
        _ entry: Judged,
        _ given: GivenAnswer.Access? = nil
    ) -> AccessFinding {
        let (ground, opinion) = (evidence[entry.subject], entry.opinion)
        let reason = answer.reason(for: lookupKey, given, at: question.at)
        return AccessFinding(
            kind,
            lookupKey,
            of: customer,
            in: person.environment,
            purchase: given?.purchase ?? ground?.name,
            since: max(opinion.since, reason.since ?? opinion.since),
            opinion: opinion.reason,
            answer: reason.text,
            evidence: Set(opinion.evidence).sorted().map { row in
                let message = ground?.messages[row] ?? ""
                return .init(journal: row, message: message.isEmpty ? nil : message)
            }
        )
    }
}
