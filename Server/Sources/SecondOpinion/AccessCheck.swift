package import Storage
package import TollgateCore

/// A second opinion on who may use what, from the stores' own words alone.
///
/// It goes once over the journal, purchase by purchase, and says of each what its holders must be
/// able to use at an instant; then once over the customers, and says of each answer whether anything
/// covers it. Where the server answers otherwise, the customer is looked at again with all that they
/// hold, on one snapshot, and only what is still so is told.
///
/// It shares nothing with the engine but the catalog. In memory it keeps 8 bytes for each
/// entitlement that somebody has, and what it found.
package struct AccessCheck: Sendable {
    private let store: RecordStore
    private let question: Question

    /// Rows that are read on one snapshot.
    private static let page = 2_000
    /// Customers who are looked at again.
    private static let mostCandidates = 20_000

    /// - Parameters:
    ///   - history: the catalog over time.
    ///   - at: the instant to look at, by the stores' time.
    package init(_ store: RecordStore, history: CatalogHistory, at: Instant) {
        self.store = store
        question = Question(at: at, history: history)
    }

    /// Checks everybody.
    ///
    /// - Parameter step: told how many rows one half has read so far; what it throws ends the check.
    package func run(
        step: @Sendable (Int) async throws -> Void = { _ in }
    ) async throws -> AccessReport {
        let first = try RowKey(bytes: Array(repeating: 0, count: 16))
        let middle = try RowKey(bytes: [0x80] + Array(repeating: 0, count: 15))
        // Two halves, each on a thread of its own.
        async let lower = scan(from: first, before: middle, step)
        async let upper = scan(from: middle, before: nil, step)
        var tally = try await lower
        tally.merge(try await upper)
        try await lookAtMisfiled(&tally)
        try await lookAtAnswers(&tally)
        var report = AccessReport(at: question.at)
        (report.rows, report.purchases) = (tally.rows, tally.purchases)
        report.unjudged = tally.unjudged.count
        report.isCut = tally.candidates.count > Self.mostCandidates
        let candidates = tally.candidates.sorted { $0.key < $1.key }
        for (person, subjects) in candidates.prefix(Self.mostCandidates) {
            report.findings += try await findings(of: person, and: subjects, tally.misfiled)
            try await step(tally.rows)
        }
        report.findings.sort {
            ($0.kind.rawValue, $0.customer.rawValue, $0.lookupKey)
                < ($1.kind.rawValue, $1.customer.rawValue, $1.lookupKey)
        }
        return report
    }

    /// Checks one customer.
    ///
    /// - Parameter purchases: names of purchases that are looked at besides those kept as theirs.
    package func findings(
        of customer: Customer.ID,
        in environment: StoreEnvironment,
        and purchases: [String] = []
    ) async throws -> [AccessFinding] {
        let person = Person(customer: RowKey(of: customer), environment: environment)
        return try await findings(
            of: person,
            and: Set(purchases.map { RowKey(purchaseNamed: $0) }),
            [:]
        )
    }

    private func findings(
        of person: Person,
        and subjects: Set<RowKey>,
        _ misfiled: [RowKey: [Int64]]
    ) async throws -> [AccessFinding] {
        try await store.readEvidence(question.history) { [question] reader in
            try CustomerCheck(reader: reader, person: person, question: question)
                .findings(and: subjects, misfiled)
        }
    }

    private func scan(
        from first: RowKey,
        before end: RowKey?,
        _ step: @Sendable (Int) async throws -> Void
    ) async throws -> Tally {
        var tally = Tally()
        var place: (subject: RowKey, id: Int64) = (first, -1)
        var open: PurchaseEvidence?
        while true {
            let (known, unfinished, from) = (tally, open, place)
            let (next, rest, last) = try await store.readEvidence(question.history) {
                [question] reader in
                var (tally, open) = (known, unfinished)
                let rows = try reader.rows(after: from, before: end, limit: Self.page)
                var finished: [PurchaseEvidence] = []
                for row in rows {
                    if let other = open, other.subject != row.subject {
                        finished.append(other)
                        open = nil
                    }
                    var evidence = open.take() ?? PurchaseEvidence(row.subject)
                    try evidence.add(row)
                    open = evidence
                }
                if rows.count < Self.page, let other = open.take() { finished.append(other) }
                tally.rows += rows.count
                try tally.judge(finished, reader, question)
                return (tally, open, rows.last.map { ($0.subject, $0.id) })
            }
            (tally, open) = (next, rest)
            try await step(tally.rows)
            guard let last, tally.rows % Self.page == 0 else { return tally }
            place = last
        }
    }

    /// Messages that say themselves that they are about another purchase than they are filed under.
    private func lookAtMisfiled(_ tally: inout Tally) async throws {
        for (subject, rows) in tally.misfiled.sorted(by: { $0.key < $1.key }) {
            let known = tally
            tally = try await store.readEvidence(question.history) { [question] reader in
                var tally = known
                let evidence = try PurchaseEvidence(gathering: subject, and: rows, reader)
                try tally.judge([evidence], reader, question)
                return tally
            }
        }
    }

    private func lookAtAnswers(_ tally: inout Tally) async throws {
        var last: RowKey?
        repeat {
            let after = last
            let page = try await store.readEvidence(question.history) { reader in
                try reader.answers(after: after, limit: Self.page)
            }
            for (_, answer) in page where !answer.isErased { tally.compare(answer, question) }
            last = page.last?.row
        } while last != nil && tally.candidates.count <= Self.mostCandidates
    }
}

/// A customer in one environment.
struct Person: Hashable, Comparable, Sendable {
    var customer: RowKey
    var environment: StoreEnvironment

    static func < (left: Self, right: Self) -> Bool {
        (left.customer, left.environment.rawValue) < (right.customer, right.environment.rawValue)
    }

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
    /// How many passes of one product a person has: those are looked at together.
    private var passes: [UInt64: UInt8] = [:]
    /// Who has to be looked at again, and with which purchases besides those kept as theirs.
    private(set) var candidates: [Person: Set<RowKey>] = [:]
    /// Rows by what they are about, where they are filed under something else.
    private(set) var misfiled: [RowKey: [Int64]] = [:]

    private static let mostMisfiled = 100_000

    mutating func merge(_ other: Tally) {
        rows += other.rows
        purchases += other.purchases
        unjudged.formUnion(other.unjudged)
        covered.formUnion(other.covered)
        passes.merge(other.passes) { $0 &+ $1 }
        candidates.merge(other.candidates) { $0.union($1) }
        misfiled.merge(other.misfiled) { $0 + $1 }
    }

    /// What these purchases give, compared with what their holders are answered.
    mutating func judge(
        _ all: [PurchaseEvidence],
        _ reader: EvidenceReader,
        _ question: Question
    ) throws {
        let customers = try reader.customers(knownAs: all.flatMap(\.names))
        var expected: [(person: Person, lookupKey: String, subject: RowKey)] = []
        for evidence in all {
            for (subject, row) in evidence.misfiled where misfiled.count < Self.mostMisfiled {
                misfiled[subject, default: []].append(row)
            }
            if evidence.isUnjudged { unjudged.insert(evidence.subject.low) }
            guard !evidence.isEmpty, let environment = evidence.environment else { continue }
            purchases += 1
            for opinion in evidence.opinions(question, customers: customers) {
                if opinion.owners.isOpen { unjudged.insert(evidence.subject.low) }
                let owners = opinion.owners
                for customer in owners.certain.union(owners.possible) {
                    let person = Person(customer: customer, environment: environment)
                    if let pass = opinion.pass {
                        passes[person.mark(pass.product), default: 0] &+= 1
                    }
                    guard opinion.verdict > .no else { continue }
                    covered.formUnion(opinion.lookupKeys.map(person.mark))
                    guard opinion.verdict == .yes, owners.certain.contains(customer) else {
                        continue
                    }
                    expected += opinion.lookupKeys.map { (person, $0, evidence.subject) }
                }
            }
        }
        let people = Array(Set(expected.map(\.person)))
        let answers = try reader.answers(of: people.map { ($0.customer, $0.environment) })
        var active: [Person: Set<String>] = [:]
        for (person, answer) in zip(people, answers) where !answer.isErased {
            active[person] = Set(answer.active(at: question.at).map(\.lookupKey))
        }
        for (person, lookupKey, subject) in expected
        where active[person].map({ !$0.contains(lookupKey) }) ?? false {
            candidates[person, default: []].insert(subject)
        }
    }

    /// Remembers who is let in by nothing, or has passes to be looked at together.
    mutating func compare(_ answer: GivenAnswer, _ question: Question) {
        let person = Person(customer: answer.customer, environment: answer.environment)
        let isUncovered = answer.active(at: question.at).contains { access in
            !covered.contains(person.mark(access.lookupKey))
                && !unjudged.contains(access.subject.low)
        }
        let hasPasses =
            !passes.isEmpty
            && question.catalog.products.contains { product in
                product.kind == .nonRenewing && passes[person.mark(product.id)] ?? 0 > 1
            }
        if isUncovered || hasPasses { candidates[person, default: []].formUnion([]) }
    }
}
