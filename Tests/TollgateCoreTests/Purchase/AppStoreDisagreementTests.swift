import Testing
import TollgateCore

@Suite("Where the App Store's statements disagree")
struct AppStoreDisagreementTests {
    static let hour = Instant.hour

    static let reversals = [
        Story(
            testDescription: "two periods are refunded, and the older refund is taken back",
            facts: [
                .paid("p1", 0, 30), .paid("p2", 30, 60),
                .paid("p1", 0, 30, said: 40, revoked: 40),
                .paid("p2", 30, 60, said: 41, revoked: 41), .status(5, 41),
                .reversed("p1", 50), .paid("p1", 0, 30, said: 50),
            ],
            expected: [.on(29, .payment), .on(40, .payment), .off(41), .off(55)],
            coins: 10
        ),
        Story(
            testDescription: "a reversal does not make void the status 5 beside it",
            facts: [
                .paid("p1", 0, 30), .paid("p1", 0, 30, said: 10, revoked: 10), .status(5, 10),
                .reversed("p1", 20, source: "m"), .status(5, 20, plus: -2, source: "m"),
            ],
            expected: [.on(9, .payment), .on(19, .payment), .off(21)],
            coins: 10
        ),
        Story(
            testDescription: "a reversal ends an older status 5, though no newer status came",
            facts: [
                .paid("p1", 0, 30), .paid("p1", 0, 30, said: 10, revoked: 10), .status(5, 10),
                .reversed("p1", 20),
            ],
            expected: [.on(25, .payment), .off(30)],
            coins: 10
        ),
        Story(
            testDescription: "a reversal of an older period leaves the status 5 of the newer one",
            facts: [
                .paid("p1", 0, 30, said: 5, revoked: 5), .paid("p2", 30, 60), .status(5, 41),
                .reversed("p1", 50),
            ],
            expected: [.on(29, .payment), .on(40, .payment), .off(42)],
            coins: 20
        ),
        Story(
            testDescription: "a reversal that names no period is of the latest revocation",
            facts: [
                .paid("p1", 0, 30, said: 5, revoked: 5),
                .paid("p2", 30, 60, said: 40, revoked: 40),
                .paid("p3", 60, 90, said: 70, revoked: 70), .reversed(nil, 50),
            ],
            expected: [.off(10), .on(50, .payment), .off(75)],
            coins: 10
        ),
    ]

    static let contradictions = [
        Story(
            testDescription: "a transaction signed without revocation ends an older status 5",
            facts: [
                .paid("p1", 0, 30), .paid("p1", 0, 30, said: 10, revoked: 10), .status(5, 10),
                .paid("p1", 0, 30, said: 20), .terms(0),
            ],
            expected: [.on(25, .payment), .on(30, plus: hour, .renewal), .off(31)],
            coins: 10
        ),
        Story(
            testDescription: "one signed before the status, or beside it, does not",
            facts: [
                .paid("p1", 0, 30, said: 9), .status(5, 10, source: "m"),
                .paid("p1", 0, 30, said: 10, plus: 2, source: "m"),
            ],
            expected: [.on(9, .payment), .off(11)],
            coins: 10
        ),
        Story(
            testDescription: "of two reads under one id the later one is another message",
            facts: [
                .paid("p1", 0, 30), .status(5, 10, source: "read:1"),
                .paid("p1", 0, 30, said: 20, source: "read:1"),
            ],
            expected: [.on(25, .payment)],
            coins: 10
        ),
        Story(
            testDescription: "a family share of the same period is given anew",
            facts: [
                .paid("p1", 0, 30, family: true),
                .paid("p1", 0, 30, said: 10, revoked: 10, family: true), .status(5, 10),
                .paid("again", 0, 30, said: 20, family: true),
            ],
            expected: [.on(9, .family), .on(25, .family), .off(30)]
        ),
        Story(
            testDescription: "what is shared anew was bought before what was lost",
            facts: [
                .paid("p2", 30, 60, family: true),
                .paid("p2", 30, 60, said: 40, revoked: 40, family: true), .status(5, 40),
                .paid("y", 5, 370, Shop.yearly, said: 50, family: true),
            ],
            expected: [
                .on(39, .family), .off(41), .archive(45, nil), .archive(55, .family),
                .archive(369, .family), .archive(370, nil),
            ]
        ),
        Story(
            testDescription: "a status that is newer than the first word of a revocation",
            facts: [
                .paid("p1", 0, 30), .paid("p1", 0, 30, said: 10, revoked: 10), .status(5, 10),
                .status(1, 20, reaching: 30), .paid("p1", 0, 30, said: 25, revoked: 10),
            ],
            expected: [.on(9, .payment), .off(15), .on(21, .status), .on(29, .status), .off(30)],
            coins: 0
        ),
        Story(
            testDescription: "a status beside the first word of a revocation is late, not newer",
            facts: [
                .paid("p1", 0, 30),
                .paid("p1", 0, 30, said: 10, revoked: 10, source: "m"),
                .status(1, 10, plus: 5, reaching: 30, source: "m"),
            ],
            expected: [.on(9, .payment), .off(10), .off(29)],
            coins: 0
        ),
        Story(
            testDescription: "a status signed before a later revocation gives nothing",
            facts: [
                .paid("p1", 0, 30, said: 10, revoked: 10), .status(1, 20, reaching: 30),
                .paid("p1", 0, 30, said: 25, revoked: 24),
            ],
            expected: [.on(23, .payment), .off(25)],
            coins: 0
        ),
    ]

    static let stale = [
        Story(
            testDescription: "a yearly plan's status says nothing of the months that came after it",
            facts: [
                .paid("y", 0, 365, Shop.yearly), .status(1, 0, reaching: 365),
                .paid("m", 60, 90),
            ],
            expected: [
                .archive(59, .payment), .archive(61, nil), .on(89, .payment), .off(90),
                .off(100), .archive(100, nil),
            ]
        ),
        Story(
            testDescription: "a status signed in the month does",
            facts: [
                .paid("y", 0, 365, Shop.yearly), .status(1, 0, reaching: 365),
                .paid("m", 60, 90), .status(1, 95, reaching: 120),
            ],
            expected: [.on(89, .payment), .on(100, .status), .off(120), .archive(100, nil)]
        ),
        Story(
            testDescription: "grace of an older period is none of the newest one",
            facts: [
                .paid("p1", 0, 30), .terms(30, grace: 58), .status(4, 30), .paid("p2", 31, 38),
            ],
            expected: [
                .on(29, .payment), .on(37, .payment), .on(38, plus: hour, .renewal), .off(39),
            ]
        ),
    ]

    static let receipts = [
        Story(
            testDescription: "a receipt leaves the share of a refund as it was signed",
            facts: [
                .paid("p1", 0, 30), .paid("p1", 0, 30, said: 10, revoked: 10, share: 50_000),
                .paid("p1", 0, 30, said: 12, revoked: 10, source: "receipt:t"),
            ],
            expected: [.on(9, .payment), .off(11)],
            coins: 5
        ),
        Story(
            testDescription: "a receipt that does not tell of a refund takes none back",
            facts: [
                .paid("p1", 0, 30, said: 10, revoked: 10),
                .paid("p1", 0, 30, said: 12, source: "receipt:t"),
            ],
            expected: [.off(11)],
            coins: 0
        ),
        Story(
            testDescription: "a newer receipt tells of a refund whose notice was lost",
            facts: [
                .paid("p1", 0, 30), .paid("p1", 0, 30, said: 12, revoked: 10, source: "receipt:t"),
            ],
            expected: [.on(9, .payment), .off(11)],
            coins: 0
        ),
        Story(
            testDescription: "an older receipt tells nothing that was not signed later",
            facts: [
                .paid("p1", 0, 30, said: 12, revoked: 10, source: "receipt:t"),
                .paid("p1", 0, 30, said: 15), .paid("p1", 0, 37, said: 11, source: "receipt:u"),
            ],
            expected: [.on(25, .payment), .off(30)],
            coins: 10
        ),
        Story(
            testDescription: "a receipt's cancellation date beside an upgrade is no refund",
            facts: [
                .paid("p1", 0, 30, said: 20, revoked: 10, upgraded: true, source: "receipt:t"),
                .paid("p2", 10, 375, Shop.yearly, said: 20, source: "receipt:u"),
            ],
            expected: [.on(9, .payment), .off(11), .archive(11, .payment)],
            coins: 3
        ),  // ⌊10 × 10/30⌋
        Story(
            testDescription: "nor where the upgraded plan was signed before",
            facts: [
                .paid("p1", 0, 30), .paid("p2", 10, 375, Shop.yearly),
                .paid("p1", 0, 30, said: 20, revoked: 10, upgraded: true, source: "receipt:t"),
            ],
            expected: [.on(9, .payment), .off(11), .archive(11, .payment)],
            coins: 3
        ),  // ⌊10 × 10/30⌋
        Story(
            testDescription: "a receipt's status does not replace a signed status 5",
            facts: [
                .paid("p1", 0, 30), .status(5, 10), .status(2, 20, source: "receipt:t"),
                .status(1, 9),
            ],
            expected: [.on(9, .payment), .off(11)]
        ),
        Story(
            testDescription: "a receipt without a line item repeats the signed transaction",
            facts: [
                .paid("p1", 0, 30, transaction: "t"),
                .paid("t", 0, 30, said: 12, transaction: "t", source: "receipt:t"),
            ],
            expected: [.on(25, .payment)],
            coins: 10
        ),
    ]

    static let seats = [
        Story(
            testDescription: "added seats that are refunded leave the others' access",
            facts: [
                .paid("p1", 0, 30, seats: 10),
                .paid("p1", 0, 30, said: 10, seats: 10, addition: true),
                .paid("p2", 10, 30, seats: 5, addition: true), .terms(10),
                .paid("p2", 10, 30, said: 20, revoked: 20, seats: 5, addition: true),
                .status(1, 20),
            ],
            expected: [
                .on(9, .payment), .on(15, .payment), .on(25, .payment),
                .on(30, plus: hour, .renewal),
            ],
            coins: 100
        ),
        Story(
            testDescription: "access ends when every transaction of the period is revoked",
            facts: [
                .paid("p1", 0, 30, said: 20, revoked: 20, seats: 10, addition: true),
                .paid("p2", 10, 30, said: 25, revoked: 25, seats: 5, addition: true), .terms(10),
                .status(5, 25),
            ],
            expected: [.on(15, .payment), .on(24, .payment), .off(25), .off(30)],
            coins: 0
        ),
        Story(
            testDescription: "the next period follows all transactions of the one before",
            facts: [
                .paid("p1", 0, 30, seats: 10, addition: true),
                .paid("p2", 10, 30, seats: 5, addition: true), .paid("p3", 30, 60, seats: 15),
            ],
            expected: [.on(29, .payment), .on(31, .payment), .off(60)],
            coins: 300
        ),
        Story(
            testDescription: "refunded seats take back their coins and no access",
            facts: [
                .paid("p1", 0, 30, seats: 10), .paid("p1", 0, 30, said: 10, seats: 10, returned: 3),
            ],
            expected: [.on(25, .payment)],
            coins: 70
        ),
        Story(
            testDescription: "another plan ends all transactions of the period",
            facts: [
                .paid("p1", 0, 30, seats: 10, addition: true),
                .paid("p2", 10, 30, seats: 5, addition: true),
                .paid("y", 20, 385, Shop.yearly, addition: true),
            ],
            expected: [.on(19, .payment), .off(21), .archive(21, .payment)]
        ),
        Story(
            testDescription: "a switch to a bundle ends access and takes back no coins",
            facts: [
                .paid("p1", 0, 30), .paid("p1", 0, 30, said: 10, revoked: 10, switched: true),
                .status(5, 10),
            ],
            expected: [.on(9, .payment), .off(11)],
            coins: 10
        ),
        Story(
            testDescription: "refunded seats, and then a higher plan that takes effect at once",
            facts: [
                .paid("p1", 0, 30, seats: 10), .paid("p1", 0, 30, said: 5, seats: 10, returned: 5),
                .paid("p1", 0, 30, said: 15, revoked: 15, upgraded: true, seats: 10),
                .paid("y", 15, 380, Shop.yearly, seats: 10),
            ],
            expected: [.on(14, .payment), .off(16), .archive(16, .payment)],
            coins: 25
        ),  // of the 50 that five seats left, ⌊50 × 15/30⌋
        Story(
            testDescription: "refunded seats, and then half of the rest",
            facts: [
                .paid("p1", 0, 30, said: 5, seats: 10, returned: 5),
                .paid("p1", 0, 30, said: 15, revoked: 15, share: 50_000, seats: 10),
            ],
            expected: [.on(14, .payment), .off(16)],
            coins: 25
        ),
        Story(
            testDescription: "refunded seats that were taken back before the whole was refunded",
            facts: [
                .paid("p1", 0, 30, said: 5, seats: 10, returned: 5),
                .paid("p1", 0, 30, said: 10, seats: 10),
                .paid("p1", 0, 30, said: 15, revoked: 15, share: 50_000, seats: 10),
            ],
            coins: 50
        ),
        Story(
            testDescription: "refunded seats that were taken back, and then fewer",
            facts: [
                .paid("p1", 0, 30, said: 5, seats: 10, returned: 5),
                .paid("p1", 0, 30, said: 10, seats: 10),
                .paid("p1", 0, 30, said: 15, seats: 10, returned: 3),
            ],
            expected: [.on(25, .payment)],
            coins: 70
        ),
    ]

    static let upgrades = [
        Story(
            testDescription: "an upgrade's refund that is dated seconds after the new period",
            facts: [
                .paid("p1", 0, 30),
                .paid("p1", 0, 30, said: 15, revoked: 15 + 2.0 / 86_400, upgraded: true),
                .paid("y", 15, 380, Shop.yearly),
            ],
            expected: [.on(14, .payment), .off(16), .archive(16, .payment)],
            coins: 5
        ),
        Story(
            testDescription: "one of an upgrade that only the new period tells of",
            facts: [
                .paid("p1", 0, 30), .paid("p1", 0, 30, said: 15, revoked: 15 + 60.0 / 86_400),
                .paid("y", 15, 380, Shop.yearly),
            ],
            coins: 5
        ),
        Story(
            testDescription: "a refund of its own after the upgrade",
            facts: [
                .paid("p1", 0, 30),
                .paid("p1", 0, 30, said: 15, revoked: 15 + 61.0 / 86_400, upgraded: true),
                .paid("y", 15, 380, Shop.yearly),
            ],
            coins: 0
        ),
    ]

    static let stories = reversals + contradictions + stale + receipts + seats + upgrades

    @Test("access follows the newer statement", arguments: stories)
    func access(_ story: Story) {
        expect(story)
    }

    @Test("order and repetition of arrival do not matter", arguments: stories)
    func convergence(_ story: Story) throws {
        try expectOrderDoesNotMatter(story)
    }
}
