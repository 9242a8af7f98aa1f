import Testing
import TollgateCore

@Suite("After which period's end the App Store should say something")
struct AwaitedPeriodTests {
    /// A story, and the days from which to which the period runs; `nil`: there is none.
    struct Awaited: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let facts: [Fact]
        let from: Double?
        let to: Double?
    }

    static let stories = [
        Awaited(
            testDescription: "the newest of a subscription's periods",
            facts: [.paid("p1", 0, 30), .paid("p2", 30, 60)],
            from: 30,
            to: 60
        ),
        Awaited(
            testDescription: "a purchase that does not renew awaits nothing",
            facts: [.bought("1", .nonRenewing, "pass", on: 0)],
            from: nil,
            to: nil
        ),
        Awaited(
            testDescription:
                "an upgraded year ends with the upgrade, and the month after it counts",
            facts: [
                .paid("y", 0, 365, Shop.yearly),
                .paid("y", 0, 365, Shop.yearly, said: 20, upgraded: true),
                .paid("m", 20, 50),
            ],
            from: 20,
            to: 50
        ),
        Awaited(
            testDescription: "a year that was replaced by a month without a word counts no more",
            facts: [.paid("y", 0, 365, Shop.yearly), .paid("m", 20, 50)],
            from: 20,
            to: 50
        ),
        Awaited(
            testDescription: "a refunded period counts no more while an older one runs",
            facts: [
                .paid("p1", 0, 30), .paid("p2", 30, 60),
                .paid("p2", 30, 60, said: 31, revoked: 31),
            ],
            from: 0,
            to: 30
        ),
        Awaited(
            testDescription: "where every period was refunded, the newest",
            facts: [
                .paid("p1", 0, 30), .paid("p1", 0, 30, said: 10, revoked: 10),
                .paid("p2", 30, 60, said: 35, revoked: 35),
            ],
            from: 30,
            to: 60
        ),
        Awaited(
            testDescription: "a family shares an older year again after the month was lost",
            facts: [
                .paid("m", 30, 60, family: true),
                .paid("m", 30, 60, said: 40, revoked: 40, family: true), .status(5, 40),
                .paid("y", 5, 370, Shop.yearly, said: 50, family: true),
            ],
            from: 5,
            to: 370
        ),
        Awaited(
            testDescription: "a renewal that never began is not awaited",
            facts: [
                .paid("m1", 0, 30), .paid("m2", 30, 60, said: 29),
                .paid("y", 29.5, 394.5, Shop.yearly),
            ],
            from: 29.5,
            to: 394.5
        ),
    ]

    @Test("whatever comes first:", arguments: stories)
    func awaited(_ story: Awaited) throws {
        for seed in UInt64(1)...20 {
            var random = Seeded(seed)
            let record = try #require(World(story.facts.shuffled(using: &random)).records.first)
            #expect(record.awaitedPeriod?.start == story.from.map { .day($0) })
            #expect(record.awaitedPeriod?.end == story.to.map { .day($0) })
        }
    }
}
