import Testing
import TollgateCore

@Suite("What the App Store tells")
struct AppStoreStoryTests {
    static let hour = Instant.hour

    static let stories = [
        Story(
            testDescription: "A1: a refund of an old period leaves the newer one alone",
            facts: [
                .paid("p1", 0, 30), .paid("p2", 30, 60),
                .paid("p1", 0, 30, said: 40, revoked: 40), .status(1, 40),
            ],
            expected: [.on(29, .payment), .on(45, .payment), .off(60)],
            coins: 10
        ),
        Story(
            testDescription: "A2: a refund of the current period ends it at its revocation date",
            facts: [
                .paid("p1", 0, 30), .terms(0), .paid("p1", 0, 30, said: 11, revoked: 10),
                .status(5, 11),
            ],
            expected: [.on(9, .payment), .off(10), .off(29)],
            coins: 0
        ),
        Story(
            testDescription: "A3: a reversed refund gives everything back, though the fields stay",
            facts: [
                .paid("p1", 0, 30), .paid("p1", 0, 30, said: 10, revoked: 10), .status(5, 10),
                .reversed("p1", 20), .status(1, 20),
            ],
            expected: [.on(15, .payment), .on(29, .payment), .off(30)],
            coins: 10
        ),
        Story(
            testDescription: "A3: a refund after a reversal stands",
            facts: [
                .paid("p1", 0, 30), .reversed("p1", 10),
                .paid("p1", 0, 30, said: 20, revoked: 15),
            ],
            expected: [.on(14, .payment), .off(15)],
            coins: 0
        ),
        Story(
            testDescription:
                "A4: a prorated refund takes back its share of the coins, rounded down",
            facts: [.paid("p1", 0, 30), .paid("p1", 0, 30, said: 10, revoked: 10, share: 33_333)],
            expected: [.off(11)],
            coins: 7
        ),
        Story(
            testDescription:
                "A20: a renewal charged ahead gives way to the plan that is bought then",
            facts: [
                .paid("p1", 0, 30), .paid("p2", 30, 60, said: 29),
                .paid("p3", 29.5, 394.5, Shop.yearly),
            ],
            expected: [
                .on(29, .payment), .off(45), .archive(30, .payment), .archive(300, .payment),
                .archive(395, nil),
            ],
            coins: 9
        ),
        Story(
            testDescription: "A20: so it does where only the word of the upgrade came in time",
            facts: [
                .paid("p1", 0, 30), .paid("p2", 30, 60, said: 29.5, upgraded: true),
                .paid("p3", 29.5, 394.5, Shop.yearly),
            ],
            expected: [.off(45), .archive(30, .payment), .archive(300, .payment)],
            coins: 9
        ),
        Story(
            testDescription: "A5: a renewal without its purchase gives access on its own",
            facts: [.paid("p2", 30, 60), .terms(30)],
            expected: [.off(29), .on(30, .payment), .on(59, .payment)]
        ),
        Story(
            testDescription: "A6: a late EXPIRED does not end a recovered period",
            facts: [
                .paid("p1", 0, 30), .status(3, 30), .paid("p2", 35, 65), .status(1, 35), .terms(35),
                .status(2, 34),
            ],
            expected: [
                .off(34), .on(36, .payment), .on(64, .payment), .on(65, plus: hour, .renewal),
            ]
        ),
        Story(
            testDescription: "A7: grace lasts to its date although its end is never told",
            facts: [.paid("p1", 0, 30), .terms(30, grace: 46), .status(4, 30)],
            expected: [.on(29, .payment), .on(30, .grace), .on(46, plus: -1, .grace), .off(46)]
        ),
        Story(
            testDescription: "A7: status 4 without a date is three days of grace",
            facts: [.paid("p1", 0, 30), .terms(30, inRetry: true), .status(4, 30, reaching: nil)],
            expected: [.on(32, .grace), .off(33)]
        ),
        Story(
            testDescription: "A7: a newer status 3 ends the grace",
            facts: [
                .paid("p1", 0, 30), .terms(30, grace: 46), .status(4, 30), .status(3, 40),
            ],
            expected: [.on(39, .grace), .off(40)]
        ),
        Story(
            testDescription:
                "A8: billing retry without grace is over at the expiry; recovery is a new period",
            facts: [
                .paid("p1", 0, 30), .terms(30, inRetry: true), .status(3, 30), .paid("p2", 50, 80),
            ],
            expected: [.off(30), .off(49), .on(50, .payment), .off(81)]
        ),
        Story(
            testDescription: "being in billing retry decides nothing as long as no status says so",
            facts: [.paid("p1", 0, 30), .terms(29, inRetry: true)],
            expected: [.on(30, plus: hour, .renewal), .off(30, plus: 2 * hour)]
        ),
        Story(
            testDescription: "A9: an upgrade opens the new tier at once, and never both",
            facts: [
                .paid("p1", 0, 30), .paid("p1", 0, 30, said: 10, upgraded: true),
                .paid("p2", 10, 375, Shop.yearly), .terms(10),
            ],
            expected: [
                .on(9, .payment), .off(10), .archive(9, nil), .archive(10, .payment),
                .off(29),
            ]
        ),
        Story(
            testDescription:
                "A9: that it was upgraded stays, whatever a later statement leaves out",
            facts: [
                .paid("p1", 0, 30, said: 10, upgraded: true), .paid("p1", 0, 30, said: 20),
            ],
            expected: [.on(9, .payment), .off(10)]
        ),
        Story(
            testDescription: "A9: a downgrade waits for the renewal",
            facts: [
                .paid("p1", 0, 30, Shop.yearly), .terms(10), .paid("p2", 30, 60),
            ],
            expected: [.archive(29, .payment), .off(29), .archive(30, nil), .on(30, .payment)]
        ),
        Story(
            testDescription: "A10: a family member's share is family ground and credits no coins",
            facts: [.paid("p1", 0, 30, family: true)],
            expected: [.on(1, .family), .off(30)],
            coins: 0
        ),
        Story(
            testDescription: "A10: REVOKE ends the member's share",
            facts: [
                .paid("p1", 0, 30, family: true),
                .paid("p1", 0, 30, said: 10, revoked: 10, family: true), .status(5, 10),
            ],
            expected: [.on(9, .family), .off(10)]
        ),
        Story(
            testDescription: "A14: an extended renewal is the same period with a later end",
            facts: [.paid("p1", 0, 30), .paid("p1", 0, 37, said: 20), .terms(20)],
            expected: [.on(36, .payment), .on(37, plus: hour, .renewal), .off(37, plus: 2 * hour)],
            coins: 10
        ),
        Story(
            testDescription:
                "A14: an extension that only the status tells has its renewal window at its end",
            facts: [.paid("p1", 0, 30), .status(1, 20, reaching: 37), .terms(20)],
            expected: [
                .on(30, plus: hour, .status), .on(37, plus: hour, .renewal),
                .off(37, plus: 2 * hour),
            ],
            coins: 10
        ),
        Story(
            testDescription: "A15: a price increase without consent gets no renewal window",
            facts: [
                .paid("p1", 0, 30), .terms(20, awaitsConsent: true), .terms(30, renews: false),
                .status(2, 30),
            ],
            expected: [.on(29, .payment), .off(30), .off(30, plus: hour)]
        ),
        Story(
            testDescription: "A16: a consumable credits per unit, and no access",
            facts: [
                .bought("c1", .consumable, "coins", on: 0, quantity: 3),
                .bought("c1", .consumable, "coins", on: 0, said: 5, quantity: 3),
            ],
            expected: [.off(1)],
            coins: 300
        ),
        Story(
            testDescription: "A19: the period ends exactly at its expiry when a stop was stated",
            facts: [.paid("p1", 0, 30), .terms(10, renews: false)],
            expected: [
                .off(0, plus: -1), .on(0, .payment), .on(30, plus: -1, .payment), .off(30),
                .off(30, plus: 1),
            ]
        ),
        Story(
            testDescription: "A19: the renewal window ends exactly two hours after the expiry",
            facts: [.paid("p1", 0, 30), .terms(0)],
            expected: [
                .on(30, plus: -1, .payment), .on(30, .renewal),
                .on(30, plus: 2 * hour - 1, .renewal), .off(30, plus: 2 * hour),
            ]
        ),
        Story(
            testDescription: "without any terms there is no renewal window",
            facts: [.paid("p1", 0, 30)],
            expected: [.on(30, plus: -1, .payment), .off(30)]
        ),
        Story(
            testDescription: "the store says active, but the renewal was lost",
            facts: [.paid("p1", 0, 30), .status(1, 31, reaching: 60)],
            expected: [.on(59, .status), .off(60)]
        ),
        Story(
            testDescription:
                "a lost renewal is not forgotten because the old period is stated again",
            facts: [
                .paid("p1", 0, 30), .status(1, 31, reaching: 60), .paid("p1", 0, 30, said: 40),
            ],
            expected: [.on(41, .status), .off(60)]
        ),
        Story(
            testDescription: "a status is void once the newest period was revoked after it",
            facts: [
                .paid("p1", 0, 30), .status(1, 29, reaching: 60),
                .paid("p1", 0, 30, said: 40, revoked: 39),
            ],
            expected: [.off(30), .off(50)]
        ),
        Story(
            testDescription: "a refund in the renewal window ends it",
            facts: [
                .paid("p1", 0, 30), .terms(0), .paid("p1", 0, 30, said: 31, revoked: 30.01),
            ],
            expected: [.off(30.02)]
        ),
        Story(
            testDescription: "after a recovery the next renewal has its window again",
            facts: [
                .paid("p1", 0, 30), .terms(30, grace: 46), .status(3, 31), .paid("p2", 35, 65),
            ],
            expected: [.on(64, .payment), .on(65, plus: hour, .renewal), .off(65, plus: 2 * hour)]
        ),
        Story(
            testDescription: "status 2 never shortens a paid period",
            facts: [.paid("p1", 0, 30), .terms(0), .status(2, 10)],
            expected: [.on(29, .payment), .off(30)]
        ),
        Story(
            testDescription: "a restore's transaction id is an alias of the period",
            facts: [
                .paid("p1", 0, 30), .paid("p1", 0, 30, said: 5, transaction: "restored"),
                .paid("p1", 0, 30, said: 6, transaction: "again"),
            ],
            expected: [.on(29, .payment)],
            coins: 10
        ),
        Story(
            testDescription: "A17: of two statements about a period the newer one counts",
            facts: [
                .paid("p1", 0, 30, said: 9, revoked: 8), .paid("p1", 0, 30, said: 10),
            ],
            expected: [.on(9, .payment)]
        ),
        Story(
            testDescription: "non-renewing passes follow one another",
            facts: [
                .bought("n1", .nonRenewing, "pass", on: 0),
                .bought("n2", .nonRenewing, "pass", on: 10),
                .bought("n3", .nonRenewing, "pass", on: 100),
            ],
            expected: [
                .on(0, .payment), .on(59, .payment), .off(60), .off(99), .on(100, .payment),
                .on(129, .payment), .off(130),
            ]
        ),
        Story(
            testDescription: "a refunded pass lets its successor begin earlier",
            facts: [
                .bought("n1", .nonRenewing, "pass", on: 0),
                .bought("n2", .nonRenewing, "pass", on: 10),
                .bought("n1", .nonRenewing, "pass", on: 0, said: 20, revoked: 15),
            ],
            expected: [.on(14, .payment), .on(44, .payment), .off(45)]
        ),
        Story(
            testDescription: "a non-consumable is for ever, until it is revoked",
            facts: [
                .bought("l1", .nonConsumable, "lifetime", on: 0),
                .bought("l2", .nonConsumable, "lifetime", on: 50),
                .bought("l1", .nonConsumable, "lifetime", on: 0, said: 41, revoked: 40),
            ],
            expected: [.on(39, .payment), .off(40), .on(50, .payment), .on(90_000, .payment)]
        ),
        Story(
            testDescription: "a free subscription of a receipt without expiry never ends by itself",
            facts: [.bought("r1", .unstated, "reader", on: 0)],
            expected: [.archive(-1, nil), .archive(0, .payment), .archive(90_000, .payment)]
        ),
        Story(
            testDescription:
                "it ends when the app reports its removal, and a restore brings it back",
            facts: [
                .bought("r1", .unstated, "reader", on: 0), .reader(false, 10, .appStore("r1")),
                .reader(true, 20, .appStore("r1")),
            ],
            expected: [
                .archive(9, .payment), .archive(10, nil), .archive(19, nil),
                .archive(20, .payment), .archive(90_000, .payment),
            ]
        ),
        Story(
            testDescription: "a receipt may call it an auto-renewable without expiry",
            facts: [.bought("r1", .autoRenewable, "reader", on: 0)],
            expected: [.archive(90_000, .payment)]
        ),
        Story(
            testDescription: "a removal that arrives before the receipt",
            facts: [
                .reader(false, 10, .appStore("r1")), .bought("r1", .unstated, "reader", on: 0),
            ],
            expected: [.archive(9, .payment), .archive(10, nil)]
        ),
        Story(
            testDescription: "a free subscription that the app reported, taken, removed, taken",
            facts: [
                .reader(true, 0), .reader(true, 5), .reader(false, 10), .reader(true, 20),
            ],
            expected: [
                .archive(-1, nil), .archive(0, .grant), .archive(9, .grant), .archive(10, nil),
                .archive(20, .grant), .archive(90_000, .grant),
            ]
        ),
        Story(
            testDescription: "where a receipt states no expiry, the catalog's duration counts",
            facts: [
                .bought("m1", .unstated, "monthly", on: 0),
                .bought("p1", .unstated, "pass", on: 50),
            ],
            expected: [
                .on(30.99, .payment), .off(31), .on(50, .payment), .on(79, .payment), .off(80),
            ]
        ),
        Story(
            testDescription: "a receipt that does not state the type credits coins once",
            facts: [
                .bought("c1", .unstated, "coins", on: 0, quantity: 2),
                .bought("c1", .consumable, "coins", on: 0, said: 3, quantity: 2),
            ],
            expected: [.off(1)],
            coins: 200
        ),
        Story(
            testDescription: "a plan without a duration and without an expiry gives nothing",
            facts: [
                .said(
                    .period(
                        Period(
                            id: "x",
                            transactionID: "x",
                            product: "com.example.app.endless",
                            kind: .autoRenewable,
                            start: .day(0)
                        )
                    ),
                    on: 0
                )
            ],
            expected: [.off(0), .off(1)]
        ),
        Story(
            testDescription: "an extension after a refund was reversed",
            facts: [
                .paid("p1", 0, 30), .paid("p1", 0, 30, said: 5, revoked: 5), .status(5, 5),
                .reversed("p1", 8), .paid("p1", 0, 37, said: 9),
            ],
            expected: [.on(6, .payment), .on(36, .payment), .off(37)]
        ),
    ]

    @Test("access follows the facts", arguments: stories)
    func access(_ story: Story) {
        expect(story)
    }

    @Test("order and repetition of arrival do not matter", arguments: stories)
    func convergence(_ story: Story) throws {
        try expectOrderDoesNotMatter(story)
    }

    @Test("a refund and its reversal are as if nothing had been")
    func refundInverse() {
        let paid: [Fact] = [.paid("p1", 0, 30), .paid("p2", 30, 60), .terms(30)]
        let refunded =
            paid + [
                .paid("p2", 30, 60, said: 40, revoked: 39), .status(5, 40),
                .reversed("p2", 50), .status(1, 50),
            ]
        #expect(World(refunded).evaluations() == World(paid).evaluations())
    }

    @Test("a lost renewal is asked for")
    func wanted() {
        let evaluation = World([.paid("p1", 0, 30), .status(1, 31, reaching: 60)]).evaluations()[0]
        #expect(evaluation.wanted == [Wanted(kind: .subscriptionStatus, object: "1")])
    }

    /// What the status gives beyond the newest period, and whether the store is asked.
    private func beyond(_ facts: [Fact]) -> (product: String?, isAsked: Bool) {
        let evaluation = World(facts).evaluations()[0]
        let intervals = evaluation.shares.flatMap(\.access.intervals)
        return (
            intervals.first { $0.ground == .status }?.product.id, !evaluation.wanted.isEmpty
        )
    }

    /// A member's monthly share, lost on day 40, and one of a year that was bought on day 5.
    private static let sharedAnew: [Fact] = [
        .paid("p1", 0, 30, family: true),
        .paid("p2", 30, 60, said: 40, revoked: 40, family: true), .status(5, 40),
        .paid("y", 5, 370, Shop.yearly, said: 50, family: true),
    ]

    @Test("what a family member shares anew may have been bought before what they lost")
    func sharedAnew() {
        let shared = beyond(Self.sharedAnew + [.status(1, 50, reaching: 370)])
        #expect(shared.product == Shop.yearly)
        #expect(!shared.isAsked)
        let late = beyond(
            [
                .paid("p1", 30, 60, family: true),
                .paid("y", 5, 370, Shop.yearly, said: 61, family: true),
                .status(1, 61, reaching: 370),
            ]
        )
        #expect(late.product == Shop.yearly)
        #expect(!late.isAsked)
    }

    @Test("when that is lost too, its status gives nothing any more")
    func sharedAnewAndLost() {
        let lost = beyond(
            Self.sharedAnew + [
                .status(1, 50, reaching: 370),
                .paid("y", 5, 370, Shop.yearly, said: 70, revoked: 70, family: true),
            ]
        )
        #expect(lost.product == nil)
        #expect(lost.isAsked)
    }
}
