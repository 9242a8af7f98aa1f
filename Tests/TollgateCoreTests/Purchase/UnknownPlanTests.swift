import Testing
import TollgateCore

/// A month is upgraded on day 10, and the notice that names the new plan is lost (RULES §2.4).
@Suite("An upgrade to a plan of which only a status tells")
struct UnknownPlanTests {
    private static let bought = Fact.paid("p1", 0, 30)
    private static let upgraded = Fact.paid("p1", 0, 30, said: 10, upgraded: true, source: "m")

    private static func terms(
        _ day: Double,
        next: String = Shop.yearly,
        grace: Double? = nil
    ) -> Fact {
        let terms = RenewalTerms(
            willRenew: true,
            nextProduct: next,
            graceEnd: grace.map { .day($0) }
        )
        return .said(.renewal(terms), on: day)
    }

    static let active = [
        Story(
            testDescription: "a status 1 beside it gives the plan that renews",
            facts: [
                bought, upgraded, terms(10), .status(1, 10, plus: -2, reaching: 375, source: "m"),
            ],
            expected: [
                .on(9, .payment), .off(11), .archive(9, nil), .archive(11, .status),
                .archive(374, .status), .archive(375, nil),
            ],
            coins: 3
        ),  // ⌊10 × 10/30⌋
        Story(
            testDescription: "so does a later one",
            facts: [bought, upgraded, terms(20), .status(1, 20, reaching: 375)],
            expected: [.off(15), .archive(25, .status), .archive(374, .status)]
        ),
        Story(
            testDescription: "the old plan, where the catalog does not know the one that renews",
            facts: [
                bought, upgraded, terms(10, next: "com.example.app.new"),
                .status(1, 10, reaching: 375),
            ],
            expected: [.on(11, .status), .on(374, .status), .off(375)]
        ),
        Story(
            testDescription: "the old plan, where what renews is no plan in the catalog",
            facts: [
                bought, upgraded, terms(10, next: "com.example.app.lifetime"),
                .status(1, 10, reaching: 40),
            ],
            expected: [.on(11, .status), .off(40)]
        ),
        Story(
            testDescription: "the old plan, where the terms are of before the upgrade",
            facts: [bought, upgraded, terms(5), .status(1, 10, reaching: 375)],
            expected: [.on(11, .status), .archive(11, nil)]
        ),
        Story(
            testDescription: "the refund of the change is none of the new plan",
            facts: [
                .paid("p1", 0, 30, said: 10, plus: 5000, revoked: 10, upgraded: true),
                .status(1, 10, plus: 4000, reaching: 375),
            ],
            expected: [.on(9, .payment), .on(11, .status), .off(375)]
        ),
        Story(
            testDescription: "so it is where the refund of the change has the status' instant",
            facts: [
                .paid("p1", 0, 30, said: 10, plus: 5000, revoked: 10, upgraded: true),
                .status(1, 10, reaching: 375),
            ],
            expected: [.on(9, .payment), .on(11, .status), .off(375)]
        ),
        Story(
            testDescription: "a status signed a minute before the word of the upgrade",
            facts: [bought, upgraded, .status(1, 10, plus: -60_000, reaching: 375)],
            expected: [.on(11, .status)]
        ),
        Story(
            testDescription: "status 4 gives the grace period after the new plan's renewal date",
            facts: [
                bought, upgraded, terms(375, grace: 391), .status(4, 375, reaching: 375),
            ],
            expected: [.archive(374, .status), .archive(390, .grace), .archive(391, nil)]
        ),
        Story(
            testDescription: "without a date that is three days",
            facts: [bought, upgraded, terms(375), .status(4, 375, reaching: 375)],
            expected: [.archive(377, .grace), .archive(378, nil)]
        ),
    ]

    static let inactive = [
        Story(
            testDescription: "a status of before the upgrade is about the old plan",
            facts: [bought, upgraded, terms(10), .status(1, 8, reaching: 60)],
            expected: [.on(9, .payment), .off(11), .off(40), .archive(11, nil)]
        ),
        Story(
            testDescription: "so may be one signed more than a minute before",
            facts: [bought, upgraded, terms(10), .status(1, 10, plus: -60_001, reaching: 375)],
            expected: [.off(11), .archive(11, nil)]
        ),
        Story(
            testDescription: "the new plan is refunded: a newer status says 5",
            facts: [bought, upgraded, terms(10), .status(1, 10, reaching: 375), .status(5, 20)],
            expected: [.off(21), .archive(21, nil)]
        ),
        Story(
            testDescription: "the new plan expires: a newer status says 2",
            facts: [bought, upgraded, terms(10), .status(1, 10, reaching: 375), .status(2, 300)],
            expected: [.off(301), .archive(301, nil)]
        ),
        Story(
            testDescription: "the new plan's renewal fails: the status says where it was due",
            facts: [bought, upgraded, terms(10), .status(3, 376, reaching: 375)],
            expected: [.off(11), .archive(11, nil), .archive(374, nil)]
        ),
        Story(
            testDescription: "what is known of it is revoked after the status",
            facts: [
                bought, upgraded, terms(10), .status(1, 20, reaching: 375),
                .paid("p1", 0, 30, said: 25, revoked: 24, upgraded: true),
            ],
            expected: [.off(25), .archive(25, nil)]
        ),
        Story(
            testDescription: "the new plan is known, and ends",
            facts: [
                bought, upgraded, .status(1, 10, reaching: 40),
                .paid("p2", 10, 40, Shop.yearly, said: 20, revoked: 20),
            ],
            expected: [.archive(19, .payment), .archive(21, nil), .off(21)]
        ),
        Story(
            testDescription: "a status without a renewal date reaches nowhere",
            facts: [bought, upgraded, terms(10), .status(1, 10)],
            expected: [.off(11), .archive(11, nil)]
        ),
    ]

    @Test(
        "access follows a status that is not older than the upgrade",
        arguments: active + inactive
    )
    func access(_ story: Story) {
        expect(story)
    }

    @Test("order and repetition of arrival do not matter", arguments: active + inactive)
    func convergence(_ story: Story) throws {
        try expectOrderDoesNotMatter(story)
    }

    @Test("the App Store is asked which plan it is", arguments: active)
    func asked(_ story: Story) {
        let wanted = World(story.facts).evaluations().flatMap(\.wanted)
        #expect(wanted == [Wanted(kind: .subscriptionStatus, object: "1")])
    }
}
