import Testing
import TollgateCore

@Suite("What is kept of a period")
struct PeriodRecordTests {
    private static func record(_ facts: [Fact]) -> PeriodRecord {
        World(facts).records[0].periods[0]
    }

    @Test("in a receipt the date beside an upgrade is that of the upgrade, no revocation")
    func receipts() {
        func record(upgraded: Bool, _ source: String) -> PeriodRecord {
            Self.record([
                .paid("p1", 0, 30, said: 15, revoked: 10, upgraded: upgraded, source: source)
            ])
        }
        let receipt = record(upgraded: true, "receipt:t")
        #expect(receipt.revocation == nil && receipt.upgradedBy == .day(10))
        #expect(record(upgraded: false, "receipt:t").revocation?.date == .day(10))
        let signed = record(upgraded: true, "a")
        #expect(signed.revocation?.date == .day(10) && signed.upgradedBy == .day(15))
    }

    /// Revocations with the day of their statement and its message; the first one is the one kept.
    static let revocations: [(name: String, [(date: Double, stated: Double, source: String)])] = [
        ("the later date", [(12, 13, "a"), (10, 11, "b"), (10, 20, "c")]),
        ("of one date, where it was stated first", [(10, 11, "c"), (10, 12, "b"), (10, 13, "a")]),
        ("of one clock, the smaller id", [(10, 11, "a"), (10, 11, "b"), (10, 11, "c")]),
    ]

    @Test("of several revocations one is kept, in whatever order they come")
    func revocation() throws {
        for (name, stated) in Self.revocations {
            let facts = stated.map { date, day, source in
                Fact.paid("p1", 0, 30, said: day, revoked: date, source: source)
            }
            let first = try #require(stated.first)
            for facts in permutations(facts) {
                let kept = Self.record(facts).revocation
                #expect(kept?.date == .day(first.date), "\(name)")
                #expect(kept?.stated.instant == .day(first.stated), "\(name)")
                #expect(kept?.source == first.source, "\(name)")
            }
        }
    }

    @Test("after a status 5 it is news that a period runs, and only that")
    func repeats() {
        func repeats(_ fact: Fact, after status: Double) -> Bool? {
            guard case .period(let period) = fact.statement else { return nil }
            return World([fact, .status(5, status)]).records[0].repeats(period)
        }
        let running = Fact.paid("p1", 0, 30, said: 9)
        #expect(repeats(running, after: 10) == false)
        #expect(repeats(running, after: 9) == false, "signed with it, not after it")
        #expect(repeats(running, after: 8) == true, "known since")
        #expect(repeats(running, after: 30) == true, "over when it is said")
        #expect(repeats(.paid("p1", 0, 30, said: 9, revoked: 8), after: 10) == true)
    }

    @Test("only what is sold by the seat has statements about seats")
    func seats() {
        func stated(_ fact: Fact) -> [SeatStatement]? { Self.record([fact]).seatStatements }
        #expect(stated(.paid("p1", 0, 30)) == nil)
        #expect(stated(.bought("c1", .consumable, "coins", on: 0, quantity: 3)) == nil)
        let none = SeatStatement(seats: 0, first: .day(0), last: .day(0))
        #expect(stated(.paid("p1", 0, 30, seats: 2)) == [none])
    }

    @Test("what is revoked when it begins gives no access at all")
    func void() {
        let world = World([.paid("p1", 0, 30, said: 1, revoked: 0)])
        #expect(world.evaluations()[0].shares.map(\.access) == [PurchaseAccess()])
    }
}
