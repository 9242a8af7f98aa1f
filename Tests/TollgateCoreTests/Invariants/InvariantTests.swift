import Testing
import TollgateCore

/// The invariants as far as facts alone go: each holds for every seed, and each is broken by a
/// mutation that it is there to catch.
@Suite("Invariants of the record")
struct InvariantTests {
    /// A mistake that is made on the way from facts to answers.
    enum Mutation: String, CaseIterable, Sendable {
        case arrivalOrderTrusted, creditedPerMessage, snapshotForgetsTerms, graceIgnored
        case periodsLastLonger, olderStatementWins, refundTakenTwice, reversalForgotten
        case environmentsMixed, everyClaimOwns, lapsesAtMidnight
    }

    struct Law: CustomTestStringConvertible, Sendable {
        var name: String
        var mutation: Mutation
        /// Whether it holds in one life.
        var holds: @Sendable (SubscribedLife, Mutation?, inout Seeded) -> Bool

        var testDescription: String { name }
    }

    static let laws = [
        Law(name: "I1: order and repetition change nothing", mutation: .arrivalOrderTrusted) {
            life,
            mutation,
            random in
            let arrived = (life.facts + life.facts.prefix(5)).shuffled(using: &random)
            return Ledger(arrived, mutation).access == Ledger(life.facts, nil).access
        },
        Law(name: "I3: one thing credits once", mutation: .creditedPerMessage) {
            life,
            mutation,
            random in
            let arrived = (life.facts + life.restated).shuffled(using: &random)
            return Ledger(arrived, mutation).coins == life.coins
        },
        Law(name: "I4: replay from a snapshot is replay", mutation: .snapshotForgetsTerms) {
            life,
            mutation,
            random in
            let half = Int.random(in: 0...life.facts.count, using: &random)
            return Ledger(life.facts, mutation, snapshotAfter: half).access
                == Ledger(life.facts, nil).access
        },
        Law(name: "I5: no access beyond what was paid, and grace", mutation: .periodsLastLonger) {
            life,
            mutation,
            random in
            let ledger = Ledger(life.facts.shuffled(using: &random), mutation)
            return life.probes.allSatisfy { life.isEntitled(at: $0) || !ledger.isEntitled(at: $0) }
        },
        Law(name: "I5: nobody who paid is locked out", mutation: .graceIgnored) {
            life,
            mutation,
            random in
            let ledger = Ledger(life.facts.shuffled(using: &random), mutation)
            return life.probes.allSatisfy { !life.isEntitled(at: $0) || ledger.isEntitled(at: $0) }
        },
        Law(name: "I6: what is not newer changes nothing", mutation: .olderStatementWins) {
            life,
            mutation,
            random in
            let stale = life.facts.filter { fact in
                life.facts.contains { $0.supersedes(fact) }
            }
            let newest = life.facts + stale.shuffled(using: &random)
            return Ledger(newest, mutation).access == Ledger(life.facts, nil).access
        },
        Law(name: "I7: the ledger sums to zero after every fact", mutation: .refundTakenTwice) {
            life,
            mutation,
            random in
            let ledger = Ledger(life.facts.shuffled(using: &random), mutation)
            return ledger.imbalance == 0 && ledger.coins == life.coins && ledger.lowest >= 0
        },
        Law(name: "I8: a refund and its reversal are nothing", mutation: .reversalForgotten) {
            life,
            mutation,
            random in
            guard let key = life.facts.first?.purchase else { return true }
            let refunded = life.refundedAndReversed(key)
            let ledger = Ledger((life.facts + refunded).shuffled(using: &random), mutation)
            return ledger.coins == life.reversedCoins
        },
        Law(name: "I9: a sandbox does not touch production", mutation: .environmentsMixed) {
            life,
            mutation,
            random in
            let others = life.facts.map { fact in
                var fact = fact
                fact.purchase = Purchase.Key(
                    store: .appStore,
                    environment: .sandbox,
                    application: "com.example.app",
                    id: fact.purchase.id
                )
                return fact
            }
            let arrived = (life.facts + others).shuffled(using: &random)
            let ledger = Ledger(arrived, mutation)
            return ledger.production == Ledger(life.facts, nil).production
        },
        Law(name: "I10: one owner at any time", mutation: .everyClaimOwns) {
            life,
            mutation,
            random in
            let arrived = (life.facts + life.claims).shuffled(using: &random)
            let ledger = Ledger(arrived, mutation)
            return life.probes.allSatisfy { ledger.owners(at: $0).count <= 1 }
        },
        Law(name: "I12: access ends by itself, to the millisecond", mutation: .lapsesAtMidnight) {
            life,
            mutation,
            _ in
            let ledger = Ledger(life.facts, mutation)
            return life.ends.allSatisfy { end in
                ledger.isEntitled(at: end.advanced(by: -1)) && !ledger.isEntitled(at: end)
            }
        },
    ]

    @Test("holds in every life", arguments: laws)
    func holds(_ law: Law) {
        for seed in UInt64(1)...300 {
            var random = Seeded(seed)
            let life = SubscribedLife(&random)
            let isKept = law.holds(life, nil, &random)
            #expect(isKept, "seed \(seed)")
            guard isKept else { return }
        }
    }

    @Test("its mutation is caught within 200 lives", arguments: laws)
    func caught(_ law: Law) {
        let seed = (UInt64(1)...200).first { seed in
            var random = Seeded(seed)
            let life = SubscribedLife(&random)
            return !law.holds(life, law.mutation, &random)
        }
        #expect(seed != nil, "\(law.mutation)")
    }
}

extension Fact {
    /// Whether it says the same kind of thing about the same object, with a newer clock.
    fileprivate func supersedes(_ other: Fact) -> Bool {
        guard purchase == other.purchase, other.stated < stated else { return false }
        switch (statement, other.statement) {
        case (.period(let mine), .period(let theirs)): return mine.id == theirs.id
        case (.renewal, .renewal), (.status, .status): return true
        default: return false
        }
    }
}
