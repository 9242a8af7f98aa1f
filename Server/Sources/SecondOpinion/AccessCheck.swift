package import Storage
package import TollgateCore

/// A second opinion on who may use what, from the stores' own words alone.
///
/// It goes over the journal, purchase by purchase: what must its holders be able to use? Then over
/// the answers: does anything cover them? Whoever is answered otherwise is looked at again with all
/// that they hold, on one snapshot. It keeps 8 bytes for each entitlement that somebody has.
package struct AccessCheck: Sendable {
    /// Told how many rows were read so far; what it throws ends the check.
    package typealias Step = @Sendable (Int) async throws -> Void

    private let store: RecordStore
    private let question: Question
    /// Rows (20 kB each in memory) or customers read on one snapshot, and findings that are told.
    private static let (page, most) = (200, 20_000)

    package init(_ store: RecordStore, history: CatalogHistory, at: Instant) {
        self.store = store
        question = Question(at: at, history: history)
    }

    package func run(step: Step = { _ in }) async throws -> AccessReport {
        // Two halves, each on a thread of its own.
        let middle = try RowKey(bytes: [0x80] + Array(repeating: 0, count: 15))
        async let lower = scan(after: nil, upTo: middle, step)
        async let upper = scan(after: middle, upTo: nil, step)
        var tally = try await lower
        tally.merge(try await upper)
        for strays in Array(tally.misfiled).batches(of: Self.page) {
            let part = try await read { reader in
                let all = try strays.map { try PurchaseEvidence($0.key, and: $0.value, reader) }
                return try Tally(judging: all, reader, question)
            }
            tally.merge(part)
        }
        var report = AccessReport(at: question.at)
        let counts = (tally.rows, tally.purchases, tally.unjudged.count)
        (report.rows, report.purchases, report.unjudged) = counts
        // Whose purchases give what they are not answered, and whose answer nothing covers.
        var (people, last) = (Array(tally.candidates.keys), RowKey?.none)
        repeat {
            let after = last
            let page = try await read { try $0.answers(after: after, limit: Self.page) }
            people += page.map(\.answer).filter { tally.doubts($0, question) }.map(\.person)
            last = page.last?.row
            try await step(tally.rows)
        } while last != nil
        for group in people.batches(of: Self.page) where report.findings.count <= Self.most {
            report.findings += try await read { [tally] reader in
                try group.flatMap { person in
                    let more = tally.candidates[person] ?? []
                    let check = try CustomerCheck(person, question, reader, more, tally.misfiled)
                    return check?.findings() ?? []
                }
            }
            try await step(tally.rows)
        }
        report.isCut = report.findings.count > Self.most
        report.findings.sort()
        return report
    }

    /// Checks one customer, also with purchases of these names: the findings, the causes of what both
    /// answer with no (`denied`), and the verdict on each entitlement that something is about.
    package func judge(
        _ customer: Customer.ID,
        in environment: StoreEnvironment,
        and purchases: [String] = [],
        denied: [String] = []
    ) async throws -> (findings: [AccessFinding], verdicts: [String: Verdict]) {
        let person = EvidencePerson(customer: RowKey(of: customer), environment: environment)
        let more = Set(purchases.map { RowKey(purchaseNamed: $0) })
        return try await read { reader in
            guard let check = try CustomerCheck(person, question, reader, more, [:]) else {
                return ([], [:])
            }
            return (check.findings() + check.causes(of: denied), check.verdicts)
        }
    }

    private func read<Result: Sendable>(
        _ body: @escaping @Sendable (EvidenceReader) throws -> Result
    ) async throws -> Result {
        try await store.evidence.read(question.history, body)
    }

    private func scan(after first: RowKey?, upTo end: RowKey?, _ step: Step) async throws -> Tally {
        var (tally, last) = (Tally(), first)
        while true {
            let after = last
            let page = try await read { reader in
                let subjects = try reader.subjects(after: after, upTo: end, limit: Self.page)
                let all = try subjects.map { try PurchaseEvidence($0.subject, $0.rows) }
                var tally = try Tally(judging: all, reader, question)
                tally.rows = subjects.reduce(0) { $0 + $1.rows.count }
                return (tally: tally, last: all.last?.subject)
            }
            guard page.last != nil else { return tally }
            last = page.last
            tally.merge(page.tally)
            try await step(tally.rows)
        }
    }
}

extension EvidencePerson {
    /// Tells something of one person from all else, by 64 bits of a hash.
    func mark(_ word: String) -> UInt64 {
        var mark = customer.low ^ (environment == .production ? 0 : 0x5a5a_5a5a_5a5a_5a5a)
        for byte in word.utf8 { mark = (mark ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        return mark
    }
}

/// What a check remembers while it goes over the journal.
struct Tally: Sendable {
    var (rows, purchases) = (0, 0)
    /// Half of the keys of purchases that cannot be judged.
    private(set) var unjudged: Set<UInt64> = []
    /// Entitlements that something covers, or may.
    private var covered: Set<UInt64> = []
    /// How many passes a person has: those are looked at together.
    private var passes: [UInt64: UInt8] = [:]
    /// Who is due something that is not answered, and by which purchases.
    private(set) var candidates: [EvidencePerson: Set<RowKey>] = [:]
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
        var due: [EvidencePerson: [(lookupKey: String, subject: RowKey)]] = [:]
        for evidence in all {
            for (subject, row) in evidence.misfiled { misfiled[subject, default: []].append(row) }
            if evidence.isUnjudged { unjudged.insert(evidence.subject.low) }
            guard !evidence.isEmpty, let environment = evidence.environment else { continue }
            purchases += 1
            for opinion in evidence.opinions(question, customers: customers) {
                for customer in opinion.owners.possible {
                    let person = EvidencePerson(customer: customer, environment: environment)
                    if opinion.pass != nil { passes[person.mark("pass"), default: 0] &+= 1 }
                    guard opinion.verdict != .no else { continue }
                    covered.formUnion(opinion.lookupKeys.map(person.mark))
                    guard opinion.isDue(to: customer) else { continue }
                    due[person, default: []] += opinion.lookupKeys.map { ($0, evidence.subject) }
                }
            }
        }
        let people = Array(due.keys)
        let answers = try reader.answers(of: people)
        for (person, answer) in zip(people, answers) where !answer.isErased {
            let active = answer.active(at: question.at).map(\.lookupKey)
            for (lookupKey, subject) in due[person] ?? [] where !active.contains(lookupKey) {
                candidates[person, default: []].insert(subject)
            }
        }
    }

    /// Whether nothing lets somebody in, or they have passes to be looked at together.
    func doubts(_ answer: GivenAnswer, _ question: Question) -> Bool {
        let person = answer.person
        guard !answer.isErased, candidates[person] == nil else { return false }
        return passes[person.mark("pass")] ?? 0 > 1
            || answer.active(at: question.at).contains { access in
                !covered.contains(person.mark(access.lookupKey))
                    && !unjudged.contains(access.subject.low)
            }
    }
}
