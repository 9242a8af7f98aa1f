import Testing
import TollgateCore

/// The ends that a subscription in Google Play has, for the next read and for figures (RULES §18.2).
@Suite("Which ends Google Play states, awaits and hides")
struct GooglePlayEndsTests {
    /// A month from day 0, which renews.
    private static let month = Fact.play("ACTIVE", 0, .item(to: 30))

    private static func record(_ facts: [Fact], of token: String = "A") throws -> GooglePlayRecord {
        let purchase = World(facts).records.first { $0.key == .play(token) }
        return try #require(purchase?.googlePlay)
    }

    // MARK: - An outage

    static let outages = [
        Story(
            testDescription:
                "a read after an outage says what it hid, and then two days are enough",
            facts: [month, .outage(32.5), .play("ACTIVE", 33, .item(to: 30))],
            expected: [.on(32.9, .renewal), .off(33)]
        ),
        Story(
            testDescription: "a read in the second of an outage is an answer all the same",
            facts: [month, .outage(33), .play("ACTIVE", 33, .item(to: 30))],
            expected: [.on(32.9, .renewal), .off(33)]
        ),
        Story(
            testDescription: "an outage adds nothing to grace: that renewal has failed",
            facts: [month, .play("IN_GRACE_PERIOD", 30, .item(to: 33)), .outage(33.5)],
            expected: [.on(32.9, .grace), .on(33.9, .renewal), .off(34)]
        ),
        Story(
            testDescription: "an outage adds nothing where Google answers no more",
            facts: [month, .unreadable(30.2), .outage(30.5)],
            expected: [.on(30.9, .renewal), .off(31)]
        ),
        Story(
            testDescription: "nor where it answered for the last time within that second",
            facts: [month, .unreadable(0), .outage(30.5)],
            expected: [.on(30.9, .renewal), .off(31)]
        ),
    ]

    @Test("an outage hides a renewal until an answer comes:", arguments: outages)
    func outage(_ story: Story) throws {
        expect(story)
        try expectOrderDoesNotMatter(story)
    }

    // MARK: - The next read

    struct Next: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let facts: [Fact]
        /// The days on which a renewal may have come that nobody heard of.
        var renewable: [Double] = []
        /// The days that a renewal may still follow.
        var open: [Double] = []
        /// The day after which Google Play should have said something; `nil`: none.
        var awaited: Double?
    }

    static let nexts = [
        Next(
            testDescription: "a month that renews",
            facts: [month],
            renewable: [30],
            open: [30],
            awaited: 30
        ),
        Next(
            testDescription: "of two items that renew the earlier one",
            facts: [.play("ACTIVE", 0, .item(to: 10, "club", nil), .item(to: 30))],
            renewable: [10, 30],
            open: [10, 30],
            awaited: 10
        ),
        Next(
            testDescription: "where nothing renews, the latest end",
            facts: [
                .play(
                    "CANCELED",
                    0,
                    .item(to: 10, "club", nil, renews: false),
                    .item(to: 30, renews: false)
                )
            ],
            awaited: 30
        ),
        Next(
            testDescription: "in grace the end that a renewal may still follow",
            facts: [month, .play("IN_GRACE_PERIOD", 30, .item(to: 31))],
            open: [31],
            awaited: 31
        ),
        Next(
            testDescription: "for two days after its end an item may be renewed",
            facts: [.play("ACTIVE", 12, .item(to: 10, "club", nil), .item(to: 30))],
            renewable: [10, 30],
            open: [10, 30],
            awaited: 10
        ),
        Next(
            testDescription: "and no longer",
            facts: [.play("ACTIVE", 12.001, .item(to: 10, "club", nil), .item(to: 30))],
            renewable: [10, 30],
            open: [30],
            awaited: 30
        ),
        Next(
            testDescription: "an account hold that began with the end",
            facts: [.play("ON_HOLD", 31, .item(to: 30))],
            awaited: 30
        ),
        Next(
            testDescription: "an account hold that began before the stated end",
            facts: [.play("ON_HOLD", 29, .item(to: 30))],
            awaited: 29
        ),
        Next(
            testDescription: "what another purchase replaced is not renewed any more",
            facts: [
                month,
                .play(
                    "ACTIVE",
                    10,
                    from: 10,
                    .item(to: 40, order: "GPA.2"),
                    token: "B",
                    linked: "A"
                ),
            ],
            awaited: 30
        ),
        Next(
            testDescription: "of what Google no longer answers for nobody hears of a renewal",
            facts: [month, .unreadable(5)],
            open: [30],
            awaited: 30
        ),
        Next(
            testDescription: "what waits for its payment has no end",
            facts: [.play("PENDING", 0, from: nil, .item(to: nil, order: nil))]
        ),
    ]

    @Test("a purchase is read again after", arguments: nexts)
    func next(_ next: Next) throws {
        let record = try Self.record(next.facts)
        #expect(record.renewableEnds == next.renewable.map { .day($0) })
        #expect(record.openEnds == next.open.map { .day($0) })
        #expect(record.awaitedEnd == next.awaited.map { .day($0) })
    }

    // MARK: - What an order paid for

    struct Paid: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let facts: [Fact]
        /// The period that the order `GPA.1` states.
        var from = 0.0
        var sold = 30.0
        let until: Double
    }

    static let orders = [
        Paid(testDescription: "its own end", facts: [month], until: 30),
        Paid(
            testDescription: "the later end to which the next charge was deferred",
            facts: [month, .play("ACTIVE", 5, .item(to: 40))],
            until: 40
        ),
        Paid(
            testDescription: "its own end, where reads stated an earlier one",
            facts: [.play("ACTIVE", 0, .item(to: 20, renews: false))],
            until: 30
        ),
        Paid(
            testDescription: "its own end, where a hold ended with the subscription",
            facts: [
                month, .play("ON_HOLD", 30, .item(to: 30)),
                .play("CANCELED", 60, .item(to: 60, renews: false)),
            ],
            until: 30
        ),
        Paid(
            testDescription: "its own end, where the hold began in its first instant",
            facts: [
                .play("ON_HOLD", 30, .item(to: 60)),
                .play("CANCELED", 90, .item(to: 90, renews: false)),
            ],
            from: 30,
            sold: 60,
            until: 60
        ),
        Paid(
            testDescription: "the deferred end, after a hold of the period before it",
            facts: [
                .play("ON_HOLD", 20, .item(to: 20, order: "GPA.0")),
                .play("ACTIVE", 30, .item(to: 60)), .play("ACTIVE", 35, .item(to: 70)),
            ],
            from: 30,
            sold: 60,
            until: 70
        ),
        Paid(
            testDescription: "the deferred end, where the next renewal fails and a hold begins",
            facts: [
                month, .play("ACTIVE", 5, .item(to: 40)), .play("ON_HOLD", 40, .item(to: 40)),
            ],
            until: 40
        ),
        Paid(
            testDescription: "its own end, where no read names the order",
            facts: [.play("ACTIVE", 35, .item(to: 60, order: "GPA.1..0"))],
            until: 30
        ),
    ]

    @Test("an order pays for the time to", arguments: orders)
    func paidUntil(_ paid: Paid) throws {
        let record = try Self.record(paid.facts)
        let until = record.paidUntil(
            "GPA.1",
            "premium",
            from: .day(paid.from),
            sold: .day(paid.sold)
        )
        #expect(until == .day(paid.until))
    }

    @Test("the hold that follows a period begins at its end, or at most 30 days of grace later")
    func hold() throws {
        let record = try Self.record([
            Self.month, .play("ON_HOLD", 37, .item(to: 37)),
            .play("ACTIVE", 40, .item(to: 47, order: "GPA.1..0")),
            .play("ON_HOLD", 47, .item(to: 47, order: "GPA.1..0")),
        ])
        #expect(record.hold(after: .day(30)) == .day(37))
        #expect(record.hold(after: .day(37)) == .day(37))
        #expect(record.hold(after: .day(37, plus: 1)) == .day(47))
        #expect(record.hold(after: .day(47, plus: 1)) == nil)
        #expect(record.hold(after: .day(7)) == .day(37))
        #expect(record.hold(after: .day(7, plus: -1)) == nil)
        #expect(try Self.record([Self.month]).hold(after: .day(30)) == nil)
    }
}
