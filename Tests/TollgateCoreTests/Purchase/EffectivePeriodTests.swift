import Testing
import TollgateCore

@Suite("The App Store's periods as reports count them")
struct EffectivePeriodTests {
    /// One period as a table writes it, in days.
    struct Row: Hashable, Sendable {
        var id: String
        /// `nil`: never.
        var end: Double?
        var grace: Double?
        var revoked: Double?
        var hasBegun = true
        var isAddition = false
        /// The number of refunded seats by the day from which on it holds.
        var seatRefunds: [Double: Int64] = [:]
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let facts: [Fact]
        let rows: [Row]
    }

    private static let receiptGrace = Fact.said(
        .renewal(RenewalTerms(willRenew: true, graceEnd: .day(46))),
        on: 30,
        source: "receipt:t"
    )

    static let cases = [
        Case(
            testDescription: "one after the other, without window and reach of a status",
            facts: [
                .paid("p2", 30, 60), .paid("p1", 0, 30), .terms(30), .status(1, 61, reaching: 90),
            ],
            rows: [Row(id: "p1", end: 30), Row(id: "p2", end: 60)]
        ),
        Case(
            testDescription: "the next one ends what it follows",
            facts: [.paid("p1", 0, 30), .paid("p2", 20, 50)],
            rows: [Row(id: "p1", end: 20), Row(id: "p2", end: 50)]
        ),
        Case(
            testDescription: "the next one, not the one after it",
            facts: [.paid("y", 0, 365, Shop.yearly), .paid("p1", 20, 50), .paid("p2", 50, 80)],
            rows: [Row(id: "y", end: 20), Row(id: "p1", end: 50), Row(id: "p2", end: 80)]
        ),
        Case(
            testDescription: "an upgrade, a refund, and one that was taken back",
            facts: [
                .paid("p1", 0, 30, said: 10, upgraded: true),
                .paid("p2", 10, 40, said: 15, revoked: 15),
                .paid("p3", 50, 80, said: 55, revoked: 55), .reversed("p3", 60),
            ],
            rows: [
                Row(id: "p1", end: 10), Row(id: "p2", end: 15, revoked: 15), Row(id: "p3", end: 80),
            ]
        ),
        Case(
            testDescription: "another plan takes its place in the instant in which it began",
            facts: [
                .paid("b", 0, 30, said: 2, upgraded: true), .paid("a", 0, 365, Shop.yearly),
            ],
            rows: [Row(id: "b", end: 0), Row(id: "a", end: 365)]
        ),
        Case(
            testDescription: "so it does where the word of it is of that instant",
            facts: [
                .paid("a", 0, 30, said: 0, upgraded: true), .paid("b", 0, 365, Shop.yearly),
            ],
            rows: [Row(id: "a", end: 0), Row(id: "b", end: 365)]
        ),
        Case(
            testDescription: "two plans take each other's place in one instant, and a third later",
            facts: [
                .paid("a", 0, 30, said: 20, upgraded: true),
                .paid("b", 0, 365, Shop.yearly, said: 20, upgraded: true),
                .paid("c", 10, 40),
            ],
            rows: [Row(id: "a", end: 0), Row(id: "b", end: 10), Row(id: "c", end: 40)]
        ),
        Case(
            testDescription:
                "a receipt repeats the date of a refund that was taken back before an upgrade",
            facts: [
                .paid("y", 0, 365, Shop.yearly, said: 4, revoked: 4), .reversed("y", 6),
                .paid("y", 0, 365, Shop.yearly, said: 6.5, revoked: 4, upgraded: true),
                .paid("w", 6.5, 13.5),
                .paid(
                    "y",
                    0,
                    365,
                    Shop.yearly,
                    said: 30,
                    revoked: 4,
                    upgraded: true,
                    source: "receipt:t"
                ),
            ],
            rows: [Row(id: "y", end: 6.5), Row(id: "w", end: 13.5)]
        ),
        Case(
            testDescription: "what was bought once has no end, until it is revoked",
            facts: [.bought("l1", .nonConsumable, "lifetime", on: 0)],
            rows: [Row(id: "l1")]
        ),
        Case(
            testDescription: "grace of the newest",
            facts: [.paid("p1", 0, 30), .terms(30, grace: 46), .status(4, 30)],
            rows: [Row(id: "p1", end: 30, grace: 46)]
        ),
        Case(
            testDescription: "grace without a date is three days from its statement",
            facts: [.paid("p1", 0, 30), .status(4, 30.5)],
            rows: [Row(id: "p1", end: 30, grace: 33.5)]
        ),
        Case(
            testDescription: "grace that was over before its date",
            facts: [
                .paid("p1", 0, 30), .terms(30, grace: 46), .status(4, 30), .status(3, 40),
            ],
            rows: [Row(id: "p1", end: 30, grace: 40)]
        ),
        Case(
            testDescription: "before its date and twice: the first time counts",
            facts: [
                .paid("p1", 0, 30), .terms(30, grace: 46), .status(4, 30), .status(3, 40),
                .status(2, 43),
            ],
            rows: [Row(id: "p1", end: 30, grace: 40)]
        ),
        Case(
            testDescription: "a legacy receipt ends a grace that only a receipt stated",
            facts: [
                .paid("p1", 0, 30), receiptGrace, .status(3, 36, source: "receipt:t"),
                .status(2, 38, source: "receipt:t"), .status(3, 41), .paid("p2", 50, 80),
            ],
            rows: [Row(id: "p1", end: 30, grace: 36), Row(id: "p2", end: 80)]
        ),
        Case(
            testDescription: "and none that was signed, too",
            facts: [
                .paid("p1", 0, 30), .terms(30, grace: 46), receiptGrace,
                .status(3, 36, source: "receipt:t"), .paid("p2", 50, 80),
            ],
            rows: [Row(id: "p1", end: 30, grace: 46), Row(id: "p2", end: 80)]
        ),
        Case(
            testDescription: "a legacy receipt ends no grace that was signed",
            facts: [
                .paid("p1", 0, 30), .terms(30, grace: 46), .status(4, 30),
                .status(3, 35, source: "receipt:t"), .paid("p2", 40, 70),
            ],
            rows: [Row(id: "p1", end: 30, grace: 40), Row(id: "p2", end: 70)]
        ),
        Case(
            testDescription: "a failure that is signed beside the grace does not end it",
            facts: [.paid("p1", 0, 30), .terms(30, grace: 46), .status(3, 30)],
            rows: [Row(id: "p1", end: 30, grace: 46)]
        ),
        Case(
            testDescription: "grace of an older one lasted until the payment came",
            facts: [
                .paid("p1", 0, 30), .terms(30, grace: 46), .status(4, 30), .paid("p2", 35, 65),
                .terms(35), .status(1, 35),
            ],
            rows: [Row(id: "p1", end: 30, grace: 35), Row(id: "p2", end: 65)]
        ),
        Case(
            testDescription: "until the first payment that came, of several",
            facts: [
                .paid("p1", 0, 30), .terms(30, grace: 46), .paid("p2", 35, 65),
                .paid("p3", 65, 95),
            ],
            rows: [
                Row(id: "p1", end: 30, grace: 35), Row(id: "p2", end: 65), Row(id: "p3", end: 95),
            ]
        ),
        Case(
            testDescription: "a grace that was prolonged lasted to its later end",
            facts: [
                .paid("p1", 0, 30), .terms(30, grace: 36), .terms(33, grace: 46),
                .paid("p2", 50, 80),
            ],
            rows: [Row(id: "p1", end: 30, grace: 46), Row(id: "p2", end: 80)]
        ),
        Case(
            testDescription: "a payment that came in time left nothing to tolerate",
            facts: [.paid("p1", 0, 30), .terms(29, grace: 46), .paid("p2", 30, 60)],
            rows: [Row(id: "p1", end: 30, grace: 30), Row(id: "p2", end: 60)]
        ),
        Case(
            testDescription: "grace that is stated when the next one begins is none of this one",
            facts: [.paid("p1", 0, 30), .paid("p2", 30, 60), .terms(30, grace: 46)],
            rows: [Row(id: "p1", end: 30), Row(id: "p2", end: 60)]
        ),
        Case(
            testDescription: "grace of the newest is none of an older one",
            facts: [
                .paid("p1", 0, 30), .paid("p2", 30, 60), .terms(60, grace: 76), .status(4, 60),
            ],
            rows: [Row(id: "p1", end: 30), Row(id: "p2", end: 60, grace: 76)]
        ),
        Case(
            testDescription: "a date of grace that is no later than the end is none",
            facts: [.paid("p1", 0, 30), .terms(20, grace: 30)],
            rows: [Row(id: "p1", end: 30)]
        ),
        Case(
            testDescription: "nor are three days that are over at the end",
            facts: [.paid("p1", 0, 30), .status(4, 27)],
            rows: [Row(id: "p1", end: 30)]
        ),
        Case(
            testDescription: "what was refunded has no grace",
            facts: [
                .paid("p1", 0, 30), .terms(30, grace: 46),
                .paid("p1", 0, 30, said: 40, revoked: 35),
            ],
            rows: [Row(id: "p1", end: 30, revoked: 35)]
        ),
        Case(
            testDescription: "what was upgraded has none",
            facts: [
                .paid("p1", 0, 30, said: 10, upgraded: true), .terms(12, grace: 46),
                .status(4, 12),
            ],
            rows: [Row(id: "p1", end: 10)]
        ),
        Case(
            testDescription:
                "the refund of an upgrade, whose share nobody states, is none of the whole",
            facts: [
                .paid("p1", 0, 30, said: 15, revoked: 15 + 2.0 / 86_400, upgraded: true),
                .paid("y", 15, 380, Shop.yearly),
            ],
            rows: [Row(id: "p1", end: 15), Row(id: "y", end: 380)]
        ),
        Case(
            testDescription: "a renewal that another plan replaced before it began is refunded",
            facts: [
                .paid("p1", 0, 30), .paid("y", 29, 394, Shop.yearly),
                .paid("p2", 30, 60, said: 29.5, revoked: 29.5, upgraded: true),
            ],
            rows: [
                Row(id: "p1", end: 29), Row(id: "y", end: 394),
                Row(id: "p2", end: 30, revoked: 29.5, hasBegun: false),
            ]
        ),
        Case(
            testDescription: "so it is where the word of the upgrade follows the refund",
            facts: [
                .paid("p1", 0, 30), .paid("y", 29, 394, Shop.yearly),
                .paid("p2", 30, 60, said: 29.5, plus: 2000, revoked: 29.5, upgraded: true),
            ],
            rows: [
                Row(id: "p1", end: 29), Row(id: "y", end: 394),
                Row(id: "p2", end: 30, revoked: 29.5, hasBegun: false),
            ]
        ),
        Case(
            testDescription: "a refund of a stated share is one, also beside an upgrade",
            facts: [
                .paid(
                    "p1",
                    0,
                    30,
                    said: 15,
                    plus: 2000,
                    revoked: 15,
                    share: 40_000,
                    upgraded: true
                ),
                .paid("y", 15, 380, Shop.yearly),
            ],
            rows: [Row(id: "p1", end: 15, revoked: 15), Row(id: "y", end: 380)]
        ),
        Case(
            testDescription: "a switch to a bundle is no refund",
            facts: [.paid("p1", 0, 30, said: 10, revoked: 10, switched: true)],
            rows: [Row(id: "p1", end: 10)]
        ),
        Case(
            testDescription: "added seats, of which some are refunded",
            facts: [
                .paid("p1", 0, 30, seats: 10, addition: true),
                .paid("p2", 10, 30, seats: 5, addition: true),
                .paid("p2", 10, 30, said: 20, seats: 5, addition: true, returned: 2),
                .paid("p2", 10, 30, said: 22, seats: 5, addition: true, returned: 3),
            ],
            rows: [
                Row(id: "p1", end: 30),
                Row(id: "p2", end: 30, isAddition: true, seatRefunds: [20: 2, 22: 3]),
            ]
        ),
        Case(
            testDescription: "seats that were refunded one by one, told in another order, twice",
            facts: [
                .paid("p1", 0, 30, said: 12, seats: 5, returned: 2),
                .paid("p1", 0, 30, said: 14, seats: 5, returned: 2),
                .paid("p1", 0, 30, said: 10, seats: 5, returned: 1),
                .paid("p1", 0, 30, said: 11, seats: 5, returned: 1),
            ],
            rows: [Row(id: "p1", end: 30, seatRefunds: [10: 1, 12: 2])]
        ),
        Case(
            testDescription:
                "a smaller number of refunded seats that was stated later, or with a larger one",
            facts: [
                .paid("p1", 0, 30, said: 10, seats: 5, returned: 2),
                .paid("p1", 0, 30, said: 12, seats: 5, returned: 1),
                .paid("p1", 0, 30, said: 14, seats: 5, returned: 3),
                .paid("p1", 0, 30, said: 14, seats: 5, returned: 2),
            ],
            rows: [Row(id: "p1", end: 30, seatRefunds: [10: 1, 14: 3])]
        ),
        Case(
            testDescription: "refunded seats that were taken back, and then fewer",
            facts: [
                .paid("p1", 0, 30, said: 0, seats: 10),
                .paid("p1", 0, 30, said: 5, seats: 10, returned: 5),
                .paid("p1", 0, 30, said: 10, seats: 10),
                .paid("p1", 0, 30, said: 15, seats: 10, returned: 3),
            ],
            rows: [Row(id: "p1", end: 30, seatRefunds: [15: 3])]
        ),
        Case(
            testDescription: "some of the refunded seats that were taken back",
            facts: [
                .paid("p1", 0, 30, said: 5, seats: 10, returned: 2),
                .paid("p1", 0, 30, said: 7, seats: 10, returned: 5),
                .paid("p1", 0, 30, said: 15, seats: 10, returned: 3),
            ],
            rows: [Row(id: "p1", end: 30, seatRefunds: [5: 2, 7: 3])]
        ),
        Case(
            testDescription: "as many again as had been taken back, since the last word of fewer",
            facts: [
                .paid("p1", 0, 30, said: 5, seats: 10, returned: 5),
                .paid("p1", 0, 30, said: 10, seats: 10),
                .paid("p1", 0, 30, said: 15, seats: 10, returned: 5),
                .paid("p1", 0, 30, said: 20, seats: 10, returned: 5),
            ],
            rows: [Row(id: "p1", end: 30, seatRefunds: [10: 5])]
        ),
        Case(
            testDescription: "one of three that was taken back, and refunded again",
            facts: [
                .paid("p1", 0, 30, said: 4, seats: 5, returned: 1),
                .paid("p1", 0, 30, said: 5, seats: 5, returned: 3),
                .paid("p1", 0, 30, said: 8, seats: 5, returned: 2),
                .paid("p1", 0, 30, said: 12, seats: 5, returned: 3),
            ],
            rows: [Row(id: "p1", end: 30, seatRefunds: [4: 1, 5: 2, 8: 3])]
        ),
        Case(
            testDescription: "two numbers of one clock, and a larger one later",
            facts: [
                .paid("p1", 0, 30, said: 14, seats: 5, returned: 2),
                .paid("p1", 0, 30, said: 14, seats: 5, returned: 3),
                .paid("p1", 0, 30, said: 20, seats: 5, returned: 5),
            ],
            rows: [Row(id: "p1", end: 30, seatRefunds: [14: 3, 20: 5])]
        ),
        Case(
            testDescription: "refunded seats that were taken back before the whole was revoked",
            facts: [
                .paid("p1", 0, 30, said: 5, seats: 10, returned: 5),
                .paid("p1", 0, 30, said: 10, seats: 10),
                .paid("p1", 0, 30, said: 20, revoked: 20, seats: 10),
            ],
            rows: [Row(id: "p1", end: 20, revoked: 20)]
        ),
        Case(
            testDescription: "some seats, and then the whole",
            facts: [
                .paid("p1", 0, 30, said: 10, seats: 5, returned: 2),
                .paid("p1", 0, 30, said: 21, revoked: 20, seats: 5, returned: 2),
            ],
            rows: [Row(id: "p1", end: 20, revoked: 20, seatRefunds: [10: 2])]
        ),
        Case(
            testDescription: "some seats, and then the whole, which says nothing of them",
            facts: [
                .paid("p1", 0, 30, said: 10, seats: 5, returned: 2),
                .paid("p1", 0, 30, said: 21, revoked: 20, seats: 5, returned: 0),
            ],
            rows: [Row(id: "p1", end: 20, revoked: 20, seatRefunds: [10: 2])]
        ),
        Case(
            testDescription: "refunded seats of which newer statements know nothing",
            facts: [
                .paid("p1", 0, 30, said: 20, seats: 5, returned: 2),
                .paid("p1", 0, 30, said: 25, seats: 5, returned: 0),
                .paid("p2", 30, 60, said: 40, seats: 5, returned: 2),
                .paid("p2", 30, 60, said: 45, seats: 5),
            ],
            rows: [Row(id: "p1", end: 30), Row(id: "p2", end: 60)]
        ),
        Case(
            testDescription: "seats that are added when a period ends are of the next one",
            facts: [
                .paid("p1", 0, 30, seats: 10, addition: true),
                .paid("p2", 30, 60, seats: 5, addition: true),
            ],
            rows: [Row(id: "p1", end: 30), Row(id: "p2", end: 60)]
        ),
        Case(
            testDescription: "seats of what was revoked as a whole",
            facts: [.paid("p1", 0, 30, said: 20, revoked: 20, seats: 5, returned: 5)],
            rows: [Row(id: "p1", end: 20, revoked: 20)]
        ),
        Case(
            testDescription: "no seats",
            facts: [.paid("p1", 0, 30, seats: 5, returned: 0)],
            rows: [Row(id: "p1", end: 30)]
        ),
    ]

    @Test("what was paid for, where it ends, and what was tolerated after that", arguments: cases)
    func periods(_ story: Case) {
        let day = Double(Instant.day(1).milliseconds - Instant.day(0).milliseconds)
        func days(_ instant: Instant?) -> Double? {
            instant.map { Double($0.milliseconds - Instant.day(0).milliseconds) / day }
        }
        let rows = World(story.facts).records.flatMap(\.effectivePeriods).map {
            Row(
                id: $0.period.id,
                end: days($0.end),
                grace: days($0.graceEnd),
                revoked: days($0.revoked),
                hasBegun: $0.hasBegun,
                isAddition: $0.isAddition,
                seatRefunds: Dictionary(
                    uniqueKeysWithValues: $0.seatRefunds.map { (days($0.stated) ?? 0, $0.seats) }
                )
            )
        }
        #expect(rows == story.rows)
    }

    @Test(
        "of two plans of one instant, the one that was upgraded later was in use until then",
        arguments: [("z", "b"), ("b", "z")],
        [[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0]]
    )
    func upgradedInOneInstantAndLater(_ ids: (String, String), order: [Int]) {
        let (silver, gold) = ids
        let facts: [Fact] = [
            .paid(silver, 0, 30, said: 1, upgraded: true),
            .paid(gold, 0, 365, Shop.yearly, said: 10, upgraded: true),
            .paid("next", 10, 40),
        ]
        let periods = World(order.map { facts[$0] }).records.flatMap(\.effectivePeriods)
        #expect(periods.map(\.period.id) == [silver, gold, "next"])
        #expect(periods.map(\.end) == [.day(0), .day(10), .day(40)])
    }

    @Test("each period's buyer is its epoch's")
    func buyers() {
        let facts: [Fact] = [
            .paid("p1", 0, 30, token: "a"), .paid("p2", 30, 60), .paid("p3", 60, 90, token: "b"),
            .claimed("ann", .restored, 70),
        ]
        let buyers = World(facts).records.flatMap(\.effectivePeriods).map(\.buyer)
        #expect(buyers == [[.token("a")], [.token("a")], [.token("b")]])
    }

    @Test("who bought in Stripe has every name that a message gave")
    func stripeBuyer() {
        let staff = Fact.said(
            .assignment(Assignment(customer: Customer.ID("ann"))),
            on: 9,
            about: .stripe("sub_1")
        )
        let plan = Fact.subscription("active", 0, from: 0, to: 30)
        let buyer = Fact.said(
            .buyer(StripeBuyer(reference: "user_1")),
            on: 0,
            about: .stripe("sub_1")
        )
        func names(_ facts: [Fact]) -> [Holder] { World(facts).records[0].stripeBuyer }
        #expect(names([plan, buyer]) == [.stripeCustomer("cus_1"), .reference("user_1")])
        #expect(names([.checkout("complete", paid: true, 0)]) == names([plan, buyer]))
        #expect(names([plan, buyer, staff]) == [.customer(Customer.ID("ann"))])
        #expect(names([.refund("re_1", 1, "pending", 0)]) == [.unclaimed(.stripe("pi_1"))])
    }
}
