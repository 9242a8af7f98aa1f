package import Storage
package import TollgateCore

/// A second opinion on who may use what, from the stores' own words alone.
///
/// It goes once over the journal, purchase by purchase: what must its holders be able to use? Then
/// once over the answers: does anything cover them? Where the server answers otherwise, the customer
/// is looked at again with all that they hold, on one snapshot, and only what is still so is told.
///
/// It shares nothing with the engine but the catalog. In memory it keeps 8 bytes for each
/// entitlement that somebody has, and what it found.
package struct AccessCheck: Sendable {
    /// Told how many rows were read so far; what it throws ends the check.
    package typealias Step = @Sendable (Int) async throws -> Void

    private let store: RecordStore
    private let question: Question

    /// Rows that are read on one snapshot, and customers who are looked at again.
    private static let (page, mostCandidates) = (2_000, 20_000)

    /// - Parameters:
    ///   - history: the catalog over time.
    ///   - at: the instant to look at, by the stores' time.
    package init(_ store: RecordStore, history: CatalogHistory, at: Instant) {
        self.store = store
        question = Question(at: at, history: history)
    }

    /// Checks everybody.
    package func run(step: Step = { _ in }) async throws -> AccessReport {
        let first = try RowKey(bytes: Array(repeating: 0, count: 16))
        let middle = try RowKey(bytes: [0x80] + Array(repeating: 0, count: 15))
        // Two halves, each on a thread of its own.
        async let lower = scan(from: first, before: middle, step)
        async let upper = scan(from: middle, before: nil, step)
        var tally = try await lower
        tally.merge(try await upper)
        for (subject, rows) in tally.misfiled {
            tally.merge(
                try await store.evidence.read(question.history) { [question] reader in
                    let evidence = try PurchaseEvidence(gathering: subject, and: rows, reader)
                    return try Tally(judging: [evidence], reader, question)
                }
            )
        }
        try await lookAtAnswers(&tally)
        var report = AccessReport(at: question.at)
        (report.rows, report.purchases) = (tally.rows, tally.purchases)
        report.unjudged = tally.unjudged.count
        report.isCut = tally.candidates.count > Self.mostCandidates
        for (person, more) in tally.candidates.prefix(Self.mostCandidates) {
            report.findings += try await store.evidence.read(question.history) {
                [question, misfiled = tally.misfiled] reader in
                try CustomerCheck(person, question, reader, more, misfiled)?.findings() ?? []
            }
            try await step(tally.rows)
        }
        report.findings.sort()
        return report
    }

    /// Checks one customer.
    ///
    /// - Parameters:
    ///   - purchases: names of purchases that are looked at besides those kept as theirs.
    ///   - denied: lookup keys of which the cause is told where both answer with no.
    package func findings(
        of customer: Customer.ID,
        in environment: StoreEnvironment,
        and purchases: [String] = [],
        denied: [String] = []
    ) async throws -> [AccessFinding] {
        let person = Person(customer: RowKey(of: customer), environment: environment)
        let more = Set(purchases.map { RowKey(purchaseNamed: $0) })
        return try await store.evidence.read(question.history) { [question] reader in
            let check = try CustomerCheck(person, question, reader, more, [:])
            return check.map { $0.findings() + $0.causes(of: denied) } ?? []
        }
    }

    private func scan(from first: RowKey, before end: RowKey?, _ step: Step) async throws -> Tally {
        var tally = Tally()
        var place: (subject: RowKey, id: Int64)? = (first, -1)
        // The purchase whose rows are not all read yet.
        var rest: PurchaseEvidence?
        while let from = place {
            let page = try await store.evidence.read(question.history) { [question, rest] reader in
                let rows = try reader.rows(after: from, before: end, limit: Self.page)
                var (finished, open) = ([PurchaseEvidence](), rest)
                for row in rows {
                    if open?.subject != row.subject {
                        if let other = open.take() { finished.append(other) }
                        open = PurchaseEvidence(row.subject)
                    }
                    try open?.add(row)
                }
                let next = rows.count < Self.page ? nil : rows.last.map { ($0.subject, $0.id) }
                if next == nil, let other = open.take() { finished.append(other) }
                var tally = try Tally(judging: finished, reader, question)
                tally.rows = rows.count
                return (tally: tally, rest: open, next: next)
            }
            (rest, place) = (page.rest, page.next)
            tally.merge(page.tally)
            try await step(tally.rows)
        }
        return tally
    }

    private func lookAtAnswers(_ tally: inout Tally) async throws {
        var last: RowKey?
        repeat {
            let after = last
            let page = try await store.evidence.read(question.history) { reader in
                try reader.answers(after: after, limit: Self.page)
            }
            for (_, answer) in page where !answer.isErased { tally.compare(answer, question) }
            last = page.last?.row
        } while last != nil && tally.candidates.count <= Self.mostCandidates
    }
}

/// A customer in one environment.
struct Person: Hashable, Sendable {
    var customer: RowKey
    var environment: StoreEnvironment

    /// Tells something of one person from all else, by 64 bits of a hash.
    func mark(_ word: String) -> UInt64 {
        var mark = customer.low ^ (environment == .production ? 0 : 0x5a5a_5a5a_5a5a_5a5a)
        for byte in word.utf8 { mark = (mark ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        return mark
    }
}

extension PurchaseEvidence {
    /// All that is filed under `subject`, and these rows, which are filed elsewhere.
    init(gathering subject: RowKey, and strays: [Int64], _ reader: EvidenceReader) throws {
        self.init(subject, takingAll: !strays.isEmpty)
        let rows = try reader.rows(of: subject) + reader.rows(strays)
        for row in rows.sorted(by: { $0.id < $1.id }) { try add(row) }
    }
}

/// What a check remembers while it goes over the journal.
struct Tally: Sendable {
    var rows = 0
    private(set) var purchases = 0
    /// Half of the keys of purchases that cannot be judged.
    private(set) var unjudged: Set<UInt64> = []
    /// Entitlements that something covers, or may.
    private var covered: Set<UInt64> = []
    /// How many passes a person has: those are looked at together.
    private var passes: [UInt64: UInt8] = [:]
    /// Who has to be looked at again, and with which purchases besides those kept as theirs.
    private(set) var candidates: [Person: Set<RowKey>] = [:]
    /// Rows by what they are about, where they are filed under something else.
    private(set) var misfiled: [RowKey: [Int64]] = [:]

    init() {}

    mutating func merge(_ other: Tally) {
        rows += other.rows
        purchases += other.purchases
        unjudged.formUnion(other.unjudged)
        covered.formUnion(other.covered)
        passes.merge(other.passes) { $0 &+ $1 }
        candidates.merge(other.candidates) { $0.union($1) }
        if misfiled.count < 100_000 { misfiled.merge(other.misfiled) { $0 + $1 } }
    }

    /// What these purchases give, compared with what their holders are answered.
    init(judging all: [PurchaseEvidence], _ reader: EvidenceReader, _ question: Question) throws {
        let customers = try reader.customers(knownAs: all.flatMap(\.names))
        var due: [Person: [(lookupKey: String, subject: RowKey)]] = [:]
        for evidence in all {
            for (subject, row) in evidence.misfiled { misfiled[subject, default: []].append(row) }
            if evidence.isUnjudged { unjudged.insert(evidence.subject.low) }
            guard !evidence.isEmpty, let environment = evidence.environment else { continue }
            purchases += 1
            for opinion in evidence.opinions(question, customers: customers) {
                let certain = opinion.owners.certain
                for customer in certain.union(opinion.owners.possible) {
                    let person = Person(customer: customer, environment: environment)
                    if opinion.pass != nil { passes[person.mark("pass"), default: 0] &+= 1 }
                    guard opinion.verdict != .no else { continue }
                    covered.formUnion(opinion.lookupKeys.map(person.mark))
                    guard opinion.verdict == .yes, certain.contains(customer) else { continue }
                    due[person, default: []] += opinion.lookupKeys.map { ($0, evidence.subject) }
                }
            }
        }
        let people = Array(due.keys)
        let answers = try reader.answers(of: people.map { ($0.customer, $0.environment) })
        for (person, answer) in zip(people, answers) where !answer.isErased {
            let active = answer.active(at: question.at).map(\.lookupKey)
            for (lookupKey, subject) in due[person] ?? [] where !active.contains(lookupKey) {
                candidates[person, default: []].insert(subject)
            }
        }
    }

    /// Remembers who is let in by nothing, or has passes to be looked at together.
    mutating func compare(_ answer: GivenAnswer, _ question: Question) {
        let person = Person(customer: answer.customer, environment: answer.environment)
        let isUncovered = answer.active(at: question.at).contains { access in
            !covered.contains(person.mark(access.lookupKey))
                && !unjudged.contains(access.subject.low)
        }
        let hasPasses = passes[person.mark("pass")] ?? 0 > 1
        if isUncovered || hasPasses { candidates[person, default: []].formUnion([]) }
    }
}
