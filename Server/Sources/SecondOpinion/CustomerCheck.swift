internal import Storage
internal import TollgateCore

/// One customer, looked at with all that they hold, on one snapshot.
struct CustomerCheck {
    private let person: Person
    private let question: Question
    private let customer: Customer.ID
    private let answer: GivenAnswer
    private let active: [GivenAnswer.Access]
    private var judged: [(evidence: PurchaseEvidence, opinions: [Opinion])]

    /// Somebody with more purchases than this is judged by these.
    private static let mostHoldings = 500

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
        let given = try reader.answers(of: [(person.customer, person.environment)])
        guard let answer = given.first, !answer.isErased,
            let customer = try reader.customerID(person.customer)
        else { return nil }
        (self.person, self.question) = (person, question)
        (self.customer, self.answer) = (customer, answer)
        active = answer.active(at: question.at)
        let held = try reader.holdings(
            of: person.customer,
            in: person.environment,
            limit: Self.mostHoldings
        )
        let all = try subjects.union(held).union(active.map(\.subject)).sorted().map {
            try PurchaseEvidence(gathering: $0, and: misfiled[$0] ?? [], reader)
        }.filter { $0.environment ?? person.environment == person.environment }
        let customers = try reader.customers(knownAs: all.flatMap(\.names))
        judged = all.map { ($0, $0.opinions(question, customers: customers)) }
        stack()
    }

    /// Passes of one product last one after the other.
    private mutating func stack() {
        var passes: [String: [(index: Int, number: Int, pass: Pass)]] = [:]
        for (index, entry) in judged.enumerated() {
            for (number, opinion) in entry.opinions.enumerated() {
                guard let pass = opinion.pass, opinion.owners.mayInclude(person.customer) else {
                    continue
                }
                passes[pass.product, default: []].append((index, number, pass))
            }
        }
        for passes in passes.values where passes.count > 1 {
            var end = Instant.distantPast
            // Where it is not known to the second when one was paid for, its end is not either.
            let isExact = passes.allSatisfy { $0.pass.paid.lowerBound == $0.pass.paid.upperBound }
            let inOrder = passes.sorted { $0.pass.paid.lowerBound < $1.pass.paid.lowerBound }
            for (index, number, pass) in inOrder {
                let start = max(end, pass.paid.upperBound)
                let over = min(pass.end(after: start), pass.cut ?? .distantFuture)
                guard start < over else { continue }
                end = over
                guard start <= question.at, question.at < over else { continue }
                judged[index].opinions[number].verdict = isExact ? .yes : .open
                judged[index].opinions[number].since = start
                judged[index].opinions[number].reason =
                    "the pass, begun after what was there, runs until \(over)"
            }
        }
    }

    /// Where the server answers otherwise.
    func findings() -> [AccessFinding] {
        var told = Set(active.map(\.lookupKey))
        var findings = active.compactMap(letIn)
        for (evidence, opinions) in judged {
            for opinion in opinions
            where opinion.verdict == .yes && opinion.owners.certain.contains(person.customer) {
                findings += opinion.lookupKeys.filter { told.insert($0).inserted }.map {
                    finding(.lockedOut, $0, opinion, evidence)
                }
            }
        }
        return findings
    }

    /// Why these are answered with no, where the evidence says no as well.
    func causes(of denied: [String]) -> [AccessFinding] {
        let locked = findings().filter { $0.kind == .lockedOut }.map(\.lookupKey)
        return denied.filter { !locked.contains($0) }.map { lookupKey in
            let about = judged.flatMap { entry in entry.opinions.map { (entry.evidence, $0) } }
                .filter { $0.1.lookupKeys.contains(lookupKey) }
            let theirs = about.filter { $0.1.owners.mayInclude(person.customer) }
            let none = Opinion(.no, since: question.at, "no product that was shown opens it", [])
            var (evidence, opinion) =
                theirs.max { $0.1.since < $1.1.since } ?? about.last
                ?? (PurchaseEvidence(person.customer), none)
            if theirs.isEmpty, !about.isEmpty { opinion.reason = "it is somebody else's" }
            return finding(.device, lookupKey, opinion, evidence)
        }
    }

    private func finding(
        _ kind: AccessFinding.Kind,
        _ lookupKey: String,
        _ opinion: Opinion,
        _ evidence: PurchaseEvidence
    ) -> AccessFinding {
        let last = answer.last(lookupKey, before: question.at)
        return AccessFinding(
            kind,
            lookupKey,
            of: customer,
            in: person.environment,
            purchase: evidence.name,
            since: max(opinion.since, last?.until ?? opinion.since),
            opinion: opinion.reason,
            answer: last.map { "\($0.purchase) gave it until \($0.until)" }
                ?? "nothing that this customer holds gives it",
            evidence: evidence.messages(opinion.evidence)
        )
    }

    /// `nil` if something covers it, or may.
    private func letIn(_ access: GivenAnswer.Access) -> AccessFinding? {
        let about = judged.flatMap(\.opinions).filter { $0.lookupKeys.contains(access.lookupKey) }
        let theirs = about.filter { $0.owners.mayInclude(person.customer) }
        guard !theirs.contains(where: { $0.verdict != .no }),
            let ground = judged.first(where: { $0.evidence.subject == access.subject })?.evidence,
            // What was erased is not judged.
            !ground.isUnjudged
        else { return nil }
        let opinion = theirs.max { $0.since < $1.since }
        let other = about.isEmpty ? "nothing that was said gives it" : "it is somebody else's"
        let until = access.until.map { "until \($0)" } ?? "for ever"
        return AccessFinding(
            .letIn,
            access.lookupKey,
            of: customer,
            in: person.environment,
            purchase: access.purchase,
            since: max(opinion?.since ?? access.since, access.since),
            opinion: ground.isEmpty
                ? "nothing in the journal is about this purchase" : opinion?.reason ?? other,
            answer: "\(access.ground), by \(access.purchase) \(until)",
            evidence: ground.messages(opinion?.evidence ?? [])
        )
    }
}

extension PurchaseEvidence {
    fileprivate func messages(_ rows: [Int64]) -> [AccessFinding.Evidence] {
        Set(rows).sorted().map { row in
            .init(journal: row, message: messages[row].flatMap { $0.isEmpty ? nil : $0 })
        }
    }
}
