import Testing
import TollgateCore

@Suite("Free subscriptions")
struct FreeSubscriptionTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let facts: [Fact]
        /// Spans of access in days; no end: for ever.
        let spans: [[Double]]
        var ground = Ground.payment
    }

    static let key = Purchase.Key.appStore("r1")

    static func bought(revoked: Double? = nil) -> Fact {
        .bought("r1", .unstated, "reader", on: 0, said: revoked, revoked: revoked)
    }

    static let cases = [
        Case(
            testDescription: "taken, taken again, removed, taken",
            facts: [.reader(true, 0), .reader(true, 5), .reader(false, 10), .reader(true, 20)],
            spans: [[0, 10], [20]],
            ground: .grant
        ),
        Case(
            testDescription: "removed before it was taken",
            facts: [.reader(false, 0), .reader(true, 20), .reader(false, 30), .reader(false, 40)],
            spans: [[20, 30]],
            ground: .grant
        ),
        Case(testDescription: "only removed", facts: [.reader(false, 0)], spans: []),
        Case(
            testDescription: "of the App Store, removed and taken again",
            facts: [bought(), .reader(false, 10, key), .reader(true, 20, key)],
            spans: [[0, 10], [20]]
        ),
        Case(
            testDescription: "what was reported before it was bought is over",
            facts: [.reader(false, -5, key), bought()],
            spans: [[0]]
        ),
        Case(
            testDescription: "removed in the instant in which it was bought",
            facts: [bought(), .reader(false, 0, key), .reader(true, 20, key)],
            spans: [[20]]
        ),
        Case(
            testDescription: "a revocation ends it, and nothing brings it back",
            facts: [
                bought(revoked: 15), .reader(false, 10, key), .reader(true, 12, key),
                .reader(false, 20, key), .reader(true, 30, key),
            ],
            spans: [[0, 10], [12, 15]]
        ),
        Case(
            testDescription: "a revocation in the instant in which it was taken again",
            facts: [bought(revoked: 20), .reader(false, 10, key), .reader(true, 20, key)],
            spans: [[0, 10]]
        ),
    ]

    @Test("it is there for ever, but for the times for which the app removed it", arguments: cases)
    func spans(_ story: Case) {
        let intervals = World(story.facts).evaluations()[0].shares.flatMap(\.access.intervals)
        let day = Double(Instant.day(1).milliseconds - Instant.day(0).milliseconds)
        func days(_ instant: Instant) -> Double {
            Double(instant.milliseconds - Instant.day(0).milliseconds) / day
        }
        let found = intervals.map { [$0.since, $0.until].compactMap { $0 }.map(days) }
        #expect(found == story.spans)
        #expect(intervals.allSatisfy { $0.ground == story.ground })
    }

    @Test("its owner and its evidence are the newest report's")
    func newest() {
        let facts: [Fact] = [.reader(true, 0, customer: "ann"), .reader(true, 9, customer: "bob")]
        let share = World(facts).evaluations()[0].shares[0]
        #expect(share.owner == [.customer(Customer.ID("bob"))])
        #expect(share.access.intervals.map(\.evidence) == ["message of day 9.0"])
    }

    @Test("what a family member has is their family's")
    func family() {
        var fact = Self.bought()
        if case .period(var period) = fact.statement {
            period.isFamilyShared = true
            fact.statement = .period(period)
        }
        let intervals = World([fact]).evaluations()[0].shares.flatMap(\.access.intervals)
        #expect(intervals.map(\.ground) == [.family])
    }
}
