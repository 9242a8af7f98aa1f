import Testing
import TollgateCore

/// What another purchase replaced (RULES §8): `previousOriginalTransactionId`.
@Suite("Plans that another purchase replaced")
struct ReplacedPlanTests {
    private static let plan = Purchase.Key.appStore("1")
    private static let other = Purchase.Key.appStore("2")

    /// A purchase that the purchase `2` took the place of on each of the days.
    private static func plan(_ facts: [Fact], replaced days: [Double]) -> Purchase {
        var plan = Purchase(key: plan, joining: facts)
        for day in days { plan.isContinued(by: Successor(id: "2", since: .day(day))) }
        return plan
    }

    private static func timeline(_ purchase: Purchase) -> Timeline {
        Timeline(
            purchase.evaluate(in: Shop.history).shares.map { (purchase.key, $0.access) },
            in: Shop.catalog
        )
    }

    // MARK: - Words that are newer than the switch

    struct Word: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// What the store says of a year, of which a bundle took the place on day 60.
        let facts: [Fact]
        /// On which ground it may be used on day 80.
        let ground: Ground?
        var isAsked = false
    }

    private static func year(
        _ day: Double,
        plus milliseconds: Int64 = 0,
        revoked: Bool = false
    ) -> Fact {
        .paid(
            "y",
            0,
            365,
            Shop.yearly,
            said: day,
            plus: milliseconds,
            revoked: revoked ? 60 : nil,
            switched: revoked
        )
    }

    static let words = [
        Word(
            testDescription: "none",
            facts: [year(0), .status(1, 50, reaching: 365)],
            ground: nil
        ),
        Word(
            testDescription: "the switch was heard of",
            facts: [year(60, revoked: true), .status(5, 60)],
            ground: nil
        ),
        Word(
            testDescription: "REFUND_REVERSED, with a status beside it",
            facts: [
                year(60, revoked: true), .status(5, 60), year(75), .status(1, 75, reaching: 365),
                .reversed("y", 75),
            ],
            ground: .payment
        ),
        Word(
            testDescription: "REFUND_REVERSED alone, where the fields stay",
            facts: [year(60, revoked: true), year(75, revoked: true), .reversed("y", 75)],
            ground: .payment,
            isAsked: true
        ),
        Word(
            testDescription: "its transaction is signed without a revocation",
            facts: [year(60, revoked: true), .status(5, 60), year(75)],
            ground: .payment,
            isAsked: true
        ),
        Word(
            testDescription: "the same, and nobody had heard of the switch",
            facts: [year(75)],
            ground: .payment,
            isAsked: true
        ),
        Word(
            testDescription: "the answer says that it runs",
            facts: [year(75), year(76), .status(1, 76, reaching: 365)],
            ground: .payment
        ),
        Word(
            testDescription: "the answer says that it is over: it was migrated",
            facts: [year(75), year(76), .status(2, 76)],
            ground: nil
        ),
        Word(
            testDescription: "its transaction is signed after a status 2",
            facts: [year(0), .status(2, 76), year(79)],
            ground: .payment,
            isAsked: true
        ),
        Word(
            testDescription: "the answer says that it is revoked",
            facts: [year(75), year(76, revoked: true), .status(5, 76)],
            ground: nil
        ),
        Word(
            testDescription: "a status that is signed later",
            facts: [year(0), .status(1, 75, reaching: 365)],
            ground: .payment
        ),
        Word(
            testDescription: "a status that keeps the fields of the revocation",
            facts: [year(60, revoked: true), .status(1, 75, reaching: 365)],
            ground: .status,
            isAsked: true
        ),
        Word(
            testDescription: "a status that is signed beside the switch",
            facts: [year(0), .status(1, 60, plus: 60_000, reaching: 365)],
            ground: nil
        ),
        Word(
            testDescription: "a transaction that is signed beside the switch",
            facts: [year(60, plus: 60_000)],
            ground: nil
        ),
        Word(
            testDescription: "a transaction and the status of its own message, a minute apart",
            facts: [
                .status(1, 60, plus: 30_000, reaching: 365), year(60, plus: 90_000),
            ],
            ground: .payment
        ),
        Word(
            testDescription: "a receipt is no signature",
            facts: [.paid("y", 0, 365, Shop.yearly, said: 75, source: "receipt:y")],
            ground: nil
        ),
        Word(
            testDescription: "REFUND_REVERSED from before the switch",
            facts: [year(0), .reversed("y", 55)],
            ground: nil
        ),
        Word(
            testDescription: "REFUND_REVERSED that is signed beside the switch",
            facts: [
                year(75, revoked: true),
                .said(.refundReversed(period: "y"), on: 60, plus: 60_000),
            ],
            ground: nil
        ),
        Word(
            testDescription: "REFUND_REVERSED, and another refund after it",
            facts: [
                year(60, revoked: true), .reversed("y", 75),
                .paid("y", 0, 365, Shop.yearly, said: 78, revoked: 78),
            ],
            ground: nil
        ),
        Word(
            testDescription: "seats that were added are no later period",
            facts: [
                .paid("y", 0, 365, Shop.yearly, said: 75, seats: 10),
                .paid("a", 50, 365, Shop.yearly, seats: 5, addition: true),
            ],
            ground: .payment,
            isAsked: true
        ),
        Word(
            testDescription: "nor is a renewal that never began",
            facts: [
                .paid("r", 30, 60, said: 29), .paid("y", 29.5, 394.5, Shop.yearly, said: 75),
            ],
            ground: .payment,
            isAsked: true
        ),
        Word(
            testDescription: "a later period has begun since",
            facts: [
                year(0), .paid("z", 65, 70, Shop.yearly), .status(1, 75), year(76),
            ],
            ground: nil
        ),
    ]

    @Test("a newer word of the store's counts, and is asked about once", arguments: words)
    func newer(_ word: Word) {
        let plan = Self.plan(word.facts, replaced: [60])
        #expect(Self.timeline(plan).ground("archive", at: .day(80)) == word.ground)
        let isAsked = plan.evaluate(in: Shop.history).wanted.contains {
            $0 == Wanted(kind: .subscriptionStatus, object: "1")
        }
        #expect(isAsked == word.isAsked)
        #expect(plan.isContested == (word.isAsked && word.ground == .payment))
    }

    @Test(
        "a word about a period that is over when it is signed says nothing of it",
        arguments: [30, 40]
    )
    func over(day: Double) {
        let plan = Self.plan([.paid("p1", 0, 30, said: day)], replaced: [10])
        #expect(Self.timeline(plan).ground(at: .day(20)) == nil)
        #expect(plan.evaluate(in: Shop.history).wanted.isEmpty)
    }

    @Test("a reversal of what is over is not asked about", arguments: [30, 40])
    func reversedWhenOver(day: Double) {
        let facts: [Fact] = [
            .paid("p1", 0, 30, said: 10, revoked: 10, switched: true), .reversed("p1", day),
        ]
        #expect(Self.plan(facts, replaced: [10]).evaluate(in: Shop.history).wanted.isEmpty)
    }

    @Test("what is said since a later period began is about that one", arguments: [65, 75])
    func later(begin: Double) {
        let later = Fact.paid("z", begin, begin + 5, Shop.yearly)
        for word in [Fact.status(1, 75), Self.year(75)] {
            let plan = Self.plan([Self.year(0), later, word], replaced: [60])
            #expect(Self.timeline(plan).ground("archive", at: .day(62)) == nil)
        }
        // A status that is signed then says nothing of the one before, so that is asked about.
        let facts = [Self.year(72), .paid("z", 74, 79, Shop.yearly), .status(1, 75)]
        let wanted = Self.plan(facts, replaced: [60]).evaluate(in: Shop.history).wanted
        #expect(wanted == [Wanted(kind: .subscriptionStatus, object: "1")])
    }

    @Test("a word between two replacements is about the first one, and no status says it")
    func between() {
        var plan = Self.plan([Self.year(12)], replaced: [10])
        plan.isContinued(by: Successor(id: "3", since: .day(40)))
        #expect(plan.effectivePeriods.map(\.end) == [.day(40)])
        let wanted = plan.evaluate(in: Shop.history).wanted
        #expect(wanted == [Wanted(kind: .subscriptionStatus, object: "1")])
    }

    // MARK: - To and fro

    @Test(
        "a purchase that comes back under its id is replaced again, and not by a renewal",
        arguments: [
            // Back on day 20, and gone again on day 40: nobody hears of the last switch.
            ([.paid("p2", 20, 50, previous: "2")], [10, 40], 40),
            ([.paid("p2", 20, 50, previous: "2")], [10], 50),
            // The renewals of what was replaced name it, too.
            ([.paid("p2", 20, 50, previous: "2")], [10, 15], 50),
            ([.paid("p2", 20, 50, previous: "2")], [10, 15, 40], 40),
            // It was bought anew beside the other one, which renews.
            ([.paid("p2", 20, 50)], [10, 40], 50),
            (
                [.paid("p2", 20, 50, previous: "2"), .paid("p3", 50, 80, previous: "2")],
                [10, 60], 60
            ),
        ] as [([Fact], [Double], Double)]
    )
    func again(_ facts: [Fact], replaced days: [Double], end: Double) {
        for facts in permutations(facts + [.paid("p1", 0, 30)]) {
            for days in permutations(days) {
                let plan = Self.plan(facts, replaced: days)
                let ends = plan.effectivePeriods.map(\.end)
                #expect(ends.first == .day(10))
                #expect(ends.last == .day(end))
            }
        }
    }

    @Test("a renewal that names what came back by the store's word alone replaces nothing")
    func renewed() {
        let facts: [Fact] = [.paid("p1", 0, 30, said: 12), .paid("p2", 20, 50, previous: "2")]
        let plan = Self.plan(facts, replaced: [10, 15])
        #expect(plan.effectivePeriods.map(\.end) == [.day(20), .day(50)])
    }

    // MARK: - Coins

    /// What the purchase `2` credits, which continues `plan` since day 15.
    private static func coins(_ facts: [Fact], after plan: [Fact]) -> Int64 {
        var purchase = Purchase(
            key: other,
            joining: facts.map { PredecessorTests.about(other, $0) }
        )
        purchase.follow(Purchase(key: Self.plan, joining: plan))
        return purchase.evaluate(in: Shop.history).lots.reduce(0) { $0 + $1.remainder }
    }

    @Test(
        "a migration's first period credits no coins where the other purchase was paid",
        arguments: [
            ([.paid("b1", 15, 30, previous: "1", price: 0)], [.paid("p1", 0, 30)], 0),
            // Renewals are paid, and name the other purchase, too.
            (
                [
                    .paid("b1", 15, 30, previous: "1", price: 0),
                    .paid("b2", 30, 60, previous: "1", price: 9_990),
                ],
                [.paid("p1", 0, 30)], 10
            ),
            // Only the first period is what was paid before.
            (
                [
                    .paid("b1", 15, 45, previous: "1", price: 0),
                    .paid("b2", 45, 75, previous: "1", price: 0),
                ],
                [.paid("p1", 0, 365)], 10
            ),
            ([.paid("b1", 15, 45, previous: "1", price: 0)], [.paid("p1", 0, 30)], 10),
            ([.paid("b1", 15, 30, previous: "1", price: 9_990)], [.paid("p1", 0, 30)], 10),
            ([.paid("b1", 15, 30, previous: "1")], [.paid("p1", 0, 30)], 10),
            // A trial of the other kind.
            ([.paid("b1", 15, 30, previous: "1", price: 0, offer: 1)], [.paid("p1", 0, 30)], 10),
            ([.paid("b1", 15, 30, price: 0)], [.paid("p1", 0, 30)], 10),
            // Of the other purchase nothing is known yet, or only what began later.
            ([.paid("b1", 15, 30, previous: "1", price: 0)], [], 10),
            ([.paid("b1", 15, 30, previous: "1", price: 0)], [.paid("p2", 16, 46)], 10),
            // Of its periods the one that ran.
            (
                [.paid("b1", 15, 30, previous: "1", price: 0)],
                [.paid("p0", -30, 0), .paid("p1", 0, 30), .paid("p2", 30, 60)], 0
            ),
            ([.paid("b1", 15, 30, previous: "1", price: 0)], [.paid("p1", 15, 45)], 0),
        ] as [([Fact], [Fact], Int64)]
    )
    func migrated(_ facts: [Fact], plan: [Fact], coins: Int64) {
        #expect(Self.coins(facts, after: plan) == coins)
    }

    @Test("what a switch to a bundle gave back takes its share of the coins, and of the money")
    func switchedWithRefund() {
        let facts: [Fact] = [
            .paid("p1", 0, 30),
            .paid("p1", 0, 30, said: 10, revoked: 10, share: 50_000, switched: true),
        ]
        #expect(World(facts).coins() == 5)
        #expect(World(facts).records[0].effectivePeriods.map(\.revoked) == [.day(10)])
        #expect(World(facts.dropLast()).coins() == 10)
    }
}
