internal import Storage
internal import TollgateCore

/// One customer, looked at with all that they hold, on one snapshot.
struct CustomerCheck {
    let reader: EvidenceReader
    let person: Person
    let question: Question

    private typealias Judged = (evidence: PurchaseEvidence, opinions: [Opinion])

    /// Somebody with more purchases than this is judged by these.
    private static let mostHoldings = 500

    /// - Parameters:
    ///   - subjects: purchases beside those that are kept as the customer's.
    ///   - misfiled: rows about purchases that are filed elsewhere.
    func findings(
        and subjects: Set<RowKey>,
        _ misfiled: [RowKey: [Int64]]
    ) throws -> [AccessFinding] {
        let given = try reader.answers(of: [(person.customer, person.environment)])
        guard let answer = given.first, !answer.isErased,
            let customer = try reader.customerID(person.customer)
        else { return [] }
        let active = answer.active(at: question.at)
        let held = try reader.holdings(
            of: person.customer,
            in: person.environment,
            limit: Self.mostHoldings
        )
        let all = try subjects.union(held).union(active.map(\.subject)).sorted().map {
            try PurchaseEvidence(gathering: $0, and: misfiled[$0] ?? [], reader)
        }
        let customers = try reader.customers(knownAs: all.flatMap(\.names))
        var judged: [Judged] = all.filter {
            $0.environment ?? person.environment == person.environment
        }
        .map { ($0, $0.opinions(question, customers: customers)) }
        stack(&judged)
        return lockedOut(customer, answer, active, judged) + letIn(customer, active, judged)
    }

    /// Passes of one product last one after the other.
    private func stack(_ judged: inout [Judged]) {
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
            for (index, number, pass) in passes.sorted(by: {
                ($0.pass.paid.lowerBound, judged[$0.index].evidence.name ?? "")
                    < ($1.pass.paid.lowerBound, judged[$1.index].evidence.name ?? "")
            }) {
                let start = max(end, pass.paid.upperBound)
                let over = min(pass.end(after: start), pass.cut ?? .distantFuture)
                guard start < over else { continue }
                end = over
                guard start <= question.at, question.at < over else { continue }
                judged[index].opinions[number].verdict = isExact ? .yes : .open
                judged[index].opinions[number].since = start
                judged[index].opinions[number].reason =
                    Reason("the pass, begun after what was there, runs until", over)
            }
        }
    }

    private func lockedOut(
        _ customer: Customer.ID,
        _ answer: GivenAnswer,
        _ active: [GivenAnswer.Access],
        _ judged: [Judged]
    ) -> [AccessFinding] {
        var told = Set(active.map(\.lookupKey))
        return judged.flatMap { evidence, opinions in
            opinions.filter { opinion in
                opinion.verdict == .yes && opinion.owners.certain.contains(person.customer)
            }.flatMap { opinion in
                opinion.lookupKeys.filter { told.insert($0).inserted }.map { lookupKey in
                    let last = answer.last(lookupKey, before: question.at)
                    return AccessFinding(
                        .lockedOut,
                        lookupKey,
                        of: customer,
                        in: person.environment,
                        purchase: evidence.name,
                        since: max(opinion.since, last?.until ?? opinion.since),
                        opinion: opinion.reason.text,
                        answer: last.map { "\($0.purchase) gave it until \($0.until)" }
                            ?? "nothing that this customer holds gives it",
                        evidence: evidence.messages(opinion.evidence)
                    )
                }
            }
        }
    }

    private func letIn(
        _ customer: Customer.ID,
        _ active: [GivenAnswer.Access],
        _ judged: [Judged]
    ) -> [AccessFinding] {
        active.compactMap { access in
            let about = judged.flatMap(\.opinions).filter {
                $0.lookupKeys.contains(access.lookupKey)
            }
            let theirs = about.filter { $0.owners.mayInclude(person.customer) }
            guard !theirs.contains(where: { $0.verdict > .no }),
                let ground = judged.first(where: { $0.evidence.subject == access.subject }),
                // What was erased is not judged.
                !ground.evidence.isUnjudged
            else { return nil }
            let opinion = theirs.max { $0.since < $1.since }
            let reason =
                ground.evidence.isEmpty
                ? "nothing in the journal is about this purchase"
                : opinion?.reason.text
                    ?? (about.isEmpty ? "nothing that was said gives it" : "it is somebody else's")
            let until = access.until.map { "until \($0)" } ?? "for ever"
            return AccessFinding(
                .letIn,
                access.lookupKey,
                of: customer,
                in: person.environment,
                purchase: access.purchase,
                since: max(opinion?.since ?? access.since, access.since),
                opinion: reason,
                answer: "\(access.ground), by \(access.purchase) \(until)",
                evidence: ground.evidence.messages(opinion?.evidence ?? [])
            )
        }
    }
}

extension PurchaseEvidence {
    fileprivate func messages(_ rows: [Int64]) -> [AccessFinding.Evidence] {
        var seen: Set<Int64> = []
        return rows.filter { seen.insert($0).inserted }.map { row in
            let message = messages[row].flatMap { $0.isEmpty ? nil : $0 }
            return AccessFinding.Evidence(journal: row, message: message)
        }
    }
}
