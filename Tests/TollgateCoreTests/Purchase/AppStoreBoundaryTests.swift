import Testing
import TollgateCore

/// What is stated, begins or ends in the very instant of something else.
@Suite("The App Store's statements at the boundaries")
struct AppStoreBoundaryTests {
    static let hour = Instant.hour
    static let minute: Int64 = 60_000

    static func receiptTerms(_ day: Double, renews: Bool) -> Fact {
        .said(.renewal(RenewalTerms(willRenew: renews)), on: day, source: "receipt:t")
    }

    /// RULES §2.2, §2.5, §2.10.
    static let revocations = [
        Story(
            testDescription: "a reversal undoes what is dated at its clock",
            facts: [
                .paid("p1", 0, 30), .paid("p1", 0, 30, said: 10, revoked: 10),
                .reversed("p1", 10),
            ],
            expected: [.on(15, .payment), .off(30)],
            coins: 10
        ),
        Story(
            testDescription: "so does one that names no period",
            facts: [
                .paid("p1", 0, 30, said: 5, revoked: 5), .paid("p2", 30, 60, said: 40, revoked: 40),
                .reversed(nil, 40),
            ],
            expected: [.off(10), .on(45, .payment)],
            coins: 10
        ),
        Story(
            testDescription: "a named reversal is nobody else's, an unnamed one of nothing later",
            facts: [
                .paid("p1", 0, 30, said: 5, revoked: 5), .paid("p2", 30, 60, said: 40, revoked: 40),
                .reversed("p3", 50), .reversed(nil, 39),
            ],
            expected: [.on(10, .payment), .off(45)],
            coins: 10
        ),
        Story(
            testDescription: "status 5 ends what began before its clock, not what begins then",
            facts: [.paid("p1", 0, 30), .paid("p2", 30, 60), .status(5, 30)],
            expected: [.on(29, .payment), .on(45, .payment)]
        ),
        Story(
            testDescription: "a transaction signed in the instant of a status 5 is not newer",
            facts: [.status(5, 10, source: "a"), .paid("p1", 0, 30, said: 10, source: "b")],
            expected: [.on(9, .payment), .off(11)]
        ),
        Story(
            testDescription: "what is signed within a minute under one id is one message",
            facts: [
                .status(5, 10, source: "m"),
                .paid("p1", 0, 30, said: 10, plus: minute, source: "m"),
            ],
            expected: [.off(11)]
        ),
        Story(
            testDescription: "a receipt is no signature, and ends no status 5",
            facts: [.status(5, 10), .paid("p1", 0, 30, said: 20, source: "receipt:t")],
            expected: [.on(9, .payment), .off(21)]
        ),
        Story(
            testDescription: "nor does a signature that still names a revocation",
            facts: [
                .paid("p1", 0, 30, said: 5, revoked: 5), .reversed("p1", 8), .status(5, 10),
                .paid("p1", 0, 30, said: 20, revoked: 5),
            ],
            expected: [.on(9, .payment), .off(21)]
        ),
        Story(
            testDescription: "after that minute it is another one",
            facts: [
                .status(5, 10, source: "m"),
                .paid("p1", 0, 30, said: 10, plus: minute + 1, source: "m"),
            ],
            expected: [.on(11, .payment)]
        ),
    ]

    /// RULES §2.4.
    static let reaches = [
        Story(
            testDescription: "a status that reaches to the end of the period gives nothing more",
            facts: [.paid("p1", 0, 30), .status(1, 20, reaching: 30)],
            expected: [.on(29, .payment), .off(30)]
        ),
        Story(
            testDescription: "a status signed when the period begins speaks of it",
            facts: [.paid("p1", 0, 30), .status(1, 0, reaching: 60)],
            expected: [.on(29, .payment), .on(45, .status), .off(60)]
        ),
        Story(
            testDescription: "one signed a moment before does not",
            facts: [.paid("p1", 0, 30), .status(1, 0, plus: -1, reaching: 60)],
            expected: [.on(29, .payment), .off(45)]
        ),
        Story(
            testDescription: "a status of the instant of a revocation knows of it",
            facts: [
                .paid("p1", 0, 30, said: 10, revoked: 10, source: "a"),
                .status(1, 10, reaching: 60, source: "b"),
            ],
            expected: [.on(9, .payment), .on(11, .status), .on(45, .status), .off(60)]
        ),
        Story(
            testDescription: "one of before does not",
            facts: [
                .paid("p1", 0, 30, said: 10, revoked: 10, source: "a"),
                .status(1, 10, plus: -1, reaching: 60, source: "b"),
            ],
            expected: [.off(11), .off(45)]
        ),
        Story(
            testDescription: "after a refund something newer runs since the status says so",
            facts: [
                .paid("p1", 0, 30, said: 10, revoked: 10, source: "a"),
                .status(1, 20, reaching: 60, source: "b"),
            ],
            expected: [.off(15), .on(20, .status), .on(45, .status)]
        ),
        Story(
            testDescription: "after the end of what was refunded since that end",
            facts: [
                .paid("p1", 0, 30, said: 40, revoked: 35), .status(1, 50, reaching: 60),
            ],
            expected: [.on(29, .payment), .on(31, .status), .off(60)]
        ),
        Story(
            testDescription: "grace reaches as far as an active status",
            facts: [.paid("p1", 0, 30), .status(4, 31, reaching: 60)],
            expected: [.on(32, .status), .on(59, .status), .off(60)]
        ),
        Story(
            testDescription: "statuses that give nothing reach nowhere",
            facts: [.paid("p1", 0, 30), .status(2, 31, reaching: 60)],
            expected: [.off(31)]
        ),
    ]

    /// RULES §2.4, §2.10: what a family member has again after they lost something newer.
    static let shares = [
        Story(
            testDescription: "a reach that is no share's end is of the newest product",
            facts: [
                .paid("y", 0, 20, Shop.yearly, family: true),
                .paid("p", 30, 60, said: 40, revoked: 40, family: true),
                .status(1, 50, reaching: 70),
            ],
            expected: [.on(55, .status), .archive(55, nil)]
        ),
        Story(
            testDescription: "while the newest runs nothing was lost",
            facts: [
                .paid("y", 0, 365, Shop.yearly, family: true), .paid("p", 30, 60, family: true),
                .status(1, 40, reaching: 365),
            ],
            expected: [.on(61, .status), .archive(61, nil)]
        ),
        Story(
            testDescription: "when it has ended, what ends where the status reaches is had again",
            facts: [
                .paid("y", 0, 365, Shop.yearly, family: true), .paid("p", 30, 60, family: true),
                .status(1, 60, reaching: 365),
            ],
            expected: [.off(61), .archive(61, .status)]
        ),
        Story(
            testDescription: "a status of the instant in which that is revoked knows of it",
            facts: [
                .paid("y", 0, 365, Shop.yearly, said: 50, revoked: 50, family: true, source: "a"),
                .paid("p", 30, 45, family: true), .status(1, 50, reaching: 365, source: "b"),
            ],
            expected: [.on(100, .status), .archive(100, nil)]
        ),
        Story(
            testDescription:
                "what was signed after the loss is had again, whatever a status 1 says",
            facts: [
                .paid("y", 5, 365, Shop.yearly, said: 42, family: true),
                .paid("p", 30, 60, said: 40, revoked: 40, family: true), .status(1, 45),
            ],
            expected: [.archive(41, nil), .archive(43, .family)]
        ),
        Story(
            testDescription: "but not what was upgraded",
            facts: [
                .paid("y", 5, 365, Shop.yearly, said: 42, upgraded: true, family: true),
                .paid("p", 30, 60, said: 40, revoked: 40, family: true),
            ],
            expected: [.archive(43, nil)]
        ),
        Story(
            testDescription: "a status 5 alone is a loss too",
            facts: [
                .paid("y", 5, 365, Shop.yearly, said: 50, family: true),
                .paid("p", 30, 60, family: true), .status(5, 40),
            ],
            expected: [.off(41), .archive(49, nil), .archive(51, .family)]
        ),
    ]

    /// RULES §2.3, §3.
    static let failures = [
        Story(
            testDescription: "terms of the instant in which a period begins are its own",
            facts: [.paid("p1", 0, 30), .terms(0, grace: 46)],
            expected: [.on(40, .grace), .off(46)]
        ),
        Story(
            testDescription: "a date of grace that is the end leaves the window",
            facts: [.paid("p1", 0, 30), .terms(10, grace: 30)],
            expected: [.on(30, plus: hour, .renewal), .off(31)]
        ),
        Story(
            testDescription: "so does one of an older period",
            facts: [.paid("p1", 30, 60), .terms(29, grace: 70)],
            expected: [.on(60, plus: hour, .renewal), .off(61)]
        ),
        Story(
            testDescription: "terms of before the newest seats that are left speak of none of them",
            facts: [
                .paid("p1", 0, 30, seats: 10, addition: true),
                .paid("p2", 10, 30, seats: 5, addition: true),
                .paid("p3", 20, 30, said: 21, revoked: 21, seats: 5, addition: true),
                .terms(5, grace: 46),
            ],
            expected: [.on(29, .payment), .on(30, plus: hour, .renewal), .off(40)]
        ),
        Story(
            testDescription: "an upgrade that is stated when the period ends leaves no window",
            facts: [.paid("p1", 0, 30, said: 30, upgraded: true), .terms(30)],
            expected: [.on(29, .payment), .off(30, plus: hour)]
        ),
        Story(
            testDescription: "a grace shorter than the window is all there is",
            facts: [.paid("p1", 0, 30), .terms(30, grace: 30 + 1.0 / 24)],
            expected: [.on(30, plus: hour / 2, .grace), .off(30, plus: hour * 3 / 2)]
        ),
        Story(
            testDescription: "also one that is stated when the period begins",
            facts: [.paid("p1", 0, 30), .terms(0, grace: 30 + 1.0 / 24)],
            expected: [.on(30, plus: hour / 2, .grace), .off(30, plus: hour * 3 / 2)]
        ),
        Story(
            testDescription: "a status 5 after the end leaves no window",
            facts: [.paid("p1", 0, 30), .terms(20), .status(5, 31)],
            expected: [.on(29, .payment), .off(30, plus: hour)]
        ),
        Story(
            testDescription: "and ends the grace",
            facts: [.paid("p1", 0, 30), .terms(30, grace: 46), .status(5, 40)],
            expected: [.on(39, .grace), .off(41)]
        ),
        Story(
            testDescription: "a date that is the end is none: three days from the status",
            facts: [.paid("p1", 0, 30), .terms(31, grace: 30), .status(4, 31)],
            expected: [.on(33, .grace), .off(34)]
        ),
        Story(
            testDescription: "a price that waits for consent leaves no window",
            facts: [.paid("p1", 0, 30), .terms(20, awaitsConsent: true)],
            expected: [.on(29, .payment), .off(30, plus: hour)]
        ),
        Story(
            testDescription: "what was refunded has no grace",
            facts: [.paid("p1", 0, 30, said: 10, revoked: 10), .terms(20, grace: 46)],
            expected: [.on(9, .payment), .off(31), .off(40)]
        ),
        Story(
            testDescription: "what rests on a status alone ends where that reaches",
            facts: [
                .paid("p1", 0, 30, said: 10, revoked: 10, source: "a"), .terms(0),
                .status(1, 20, reaching: 30, source: "b"),
            ],
            expected: [.off(19), .on(29, .status), .off(30, plus: hour)]
        ),
        Story(
            testDescription: "a status 3 of the instant in which a period begins is its own",
            facts: [.paid("p1", 30, 60), .terms(30), .status(3, 30)],
            expected: [.on(59, .payment), .off(60, plus: hour)]
        ),
        Story(
            testDescription: "one of before was an older one's",
            facts: [.paid("p1", 30, 60), .terms(30), .status(3, 30, plus: -1)],
            expected: [.on(60, plus: hour, .renewal)]
        ),
        Story(
            testDescription: "a status 4 of the instant in which a period begins is its own",
            facts: [.paid("p1", 30, 31), .status(4, 30)],
            expected: [.on(32, .grace), .off(33)]
        ),
        Story(
            testDescription: "one of before was an older one's grace",
            facts: [.paid("p1", 30, 31), .status(4, 30, plus: -1)],
            expected: [.off(31)]
        ),
        Story(
            testDescription: "a failure of the clock of the grace does not end it",
            facts: [.paid("p1", 0, 30), .terms(30, grace: 46), .status(3, 30)],
            expected: [.on(40, .grace), .off(46)]
        ),
        Story(
            testDescription: "a failure before the end leaves no grace",
            facts: [.paid("p1", 0, 30), .terms(20, grace: 46), .status(3, 25)],
            expected: [.on(29, .payment), .off(30)]
        ),
        Story(
            testDescription: "a status 5 that a newer signature makes void is no failure",
            facts: [
                .paid("p1", 0, 30), .status(5, 10), .paid("p1", 0, 30, said: 20), .terms(0),
            ],
            expected: [.on(25, .payment), .on(30, plus: hour, .renewal)]
        ),
    ]

    /// RULES §2.8: a receipt's word counts if it is newer.
    static let receipts = [
        Story(
            testDescription: "of a signed and a receipt's status at one clock the signed one holds",
            facts: [
                .paid("p1", 0, 30), .status(1, 40, reaching: 60),
                .status(2, 40, source: "receipt:t"),
            ],
            expected: [.on(45, .status), .off(60)]
        ),
        Story(
            testDescription: "a newer one of a receipt takes nothing that was signed to last",
            facts: [
                .paid("p1", 0, 30), .status(1, 40, reaching: 60),
                .status(2, 41, source: "receipt:t"),
            ],
            expected: [.on(45, .status), .off(60)]
        ),
        Story(
            testDescription: "nor does one that knows of no grace period",
            facts: [
                .paid("p1", 0, 30), .terms(30, grace: 46), .status(4, 30, reaching: 30),
                receiptTerms(35, renews: true), .status(3, 35, source: "receipt:t"),
            ],
            expected: [.on(45, .grace), .off(46)]
        ),
        Story(
            testDescription: "nor does terms' silence where no status was signed",
            facts: [
                .paid("p1", 0, 30), .terms(30, grace: 46), receiptTerms(35, renews: true),
                .status(2, 36, source: "receipt:t"),
            ],
            expected: [.on(45, .grace), .off(46)]
        ),
        Story(
            testDescription: "nor the three days of a grace that was signed without a date",
            facts: [
                .paid("p1", 0, 30), .terms(30), .status(4, 30, reaching: 30),
                .status(3, 31, source: "receipt:t"),
            ],
            expected: [.on(32, .grace), .off(33)]
        ),
        Story(
            testDescription: "nor does a signed status of before a newer period",
            facts: [
                .paid("p1", 0, 30), .status(1, 5, reaching: 60), .paid("p2", 30, 40),
                .status(2, 41, source: "receipt:t"),
            ],
            expected: [.on(39, .payment), .off(42)]
        ),
        Story(
            testDescription:
                "what was signed of an older renewal protects nothing after a newer period",
            facts: [
                .paid("p1", 0, 30), .terms(30, grace: 46), .status(4, 30), .paid("p2", 32, 39),
                receiptTerms(40, renews: true), .status(2, 40, source: "receipt:t"),
            ],
            expected: [.on(38, .payment), .off(39, plus: hour), .off(41)]
        ),
        Story(
            testDescription: "nor in the instant in which that begins",
            facts: [
                .paid("p1", 0, 30), .terms(30, grace: 46), .status(4, 30), .paid("p2", 35, 42),
                .status(2, 35, source: "receipt:t"),
            ],
            expected: [.on(41, .payment), .off(42, plus: hour)]
        ),
        Story(
            testDescription: "what is signed in the instant in which a period begins is its own",
            facts: [
                .paid("p1", 30, 31), .terms(30, grace: 40), .status(2, 35, source: "receipt:t"),
            ],
            expected: [.on(39, .grace), .off(40)]
        ),
        Story(
            testDescription: "what was signed is over, and the receipt's status holds",
            facts: [
                .paid("p1", 0, 30), .terms(0), .status(1, 0, reaching: 30),
                .status(2, 30, source: "receipt:t"),
            ],
            expected: [.off(30, plus: hour)]
        ),
        Story(
            testDescription: "a receipt's grace period adds to a signed failure",
            facts: [
                .paid("p1", 0, 30), .status(3, 30), .status(4, 31, source: "receipt:t"),
            ],
            expected: [.on(33, .grace), .off(34)]
        ),
        Story(
            testDescription: "but not one at the clock of the failure",
            facts: [
                .paid("p1", 0, 30), .status(3, 30), .status(4, 30, source: "receipt:t"),
            ],
            expected: [.off(31)]
        ),
        Story(
            testDescription: "of terms at one clock the signed ones hold",
            facts: [.paid("p1", 0, 30), .terms(20), receiptTerms(20, renews: false)],
            expected: [.on(30, plus: hour, .renewal)]
        ),
        Story(
            testDescription: "newer ones of a receipt hold",
            facts: [.paid("p1", 0, 30), .terms(20), receiptTerms(21, renews: false)],
            expected: [.off(30, plus: hour)]
        ),
        Story(
            testDescription: "terms of a receipt alone",
            facts: [.paid("p1", 0, 30), receiptTerms(21, renews: true)],
            expected: [.on(30, plus: hour, .renewal)]
        ),
        Story(
            testDescription: "a receipt's cancellation of the clock of the signature is not newer",
            facts: [
                .paid("p1", 0, 30, said: 12),
                .paid("p1", 0, 37, said: 12, revoked: 10, source: "receipt:t"),
            ],
            expected: [.on(15, .payment), .off(30)],
            coins: 10
        ),
        Story(
            testDescription: "a newer receipt's later end counts, an earlier one does not",
            facts: [
                .paid("p1", 0, 30, said: 12), .paid("p1", 0, 37, said: 13, source: "receipt:t"),
                .paid("p2", 50, 80, said: 50), .paid("p2", 50, 60, said: 51, source: "receipt:u"),
            ],
            expected: [.on(36, .payment), .off(37), .on(79, .payment), .off(80)]
        ),
        Story(
            testDescription:
                "a receipt that repeats a signed transaction under another id adds nothing",
            facts: [
                .paid("p1", 0, 30), .paid("p2", 30, 60),
                .paid("web", 0, 30, said: 1, transaction: "tp1", source: "receipt:t"),
            ],
            expected: [.on(29, .payment), .on(59, .payment), .off(60)],
            coins: 20
        ),
    ]

    /// RULES §2.14: a renewal that was charged ahead.
    static let ahead = [
        Story(
            testDescription: "another plan that began before the charge ends with it",
            facts: [.paid("y", 0, 30, Shop.yearly), .paid("p2", 30, 60, said: 29)],
            expected: [.archive(29, .payment), .on(31, .payment), .archive(31, nil)],
            coins: 10
        ),
        Story(
            testDescription: "so does one that begins in the instant of the charge",
            facts: [
                .paid("p1", 0, 30), .paid("p2", 30, 60, said: 29.5),
                .paid("y", 29.5, 394.5, Shop.yearly),
            ],
            expected: [.archive(29.75, .payment), .on(31, .payment), .archive(31, nil)]
        ),
        Story(
            testDescription: "one that begins with the renewal did not begin before it",
            facts: [.paid("p2", 30, 60, said: 29), .paid("y", 30, 395, Shop.yearly)],
            expected: [.on(31, .payment), .archive(31, .payment)],
            coins: 10
        ),
        Story(
            testDescription: "a charge that is stated again after another plan began",
            facts: [
                .paid("p2", 30, 60, said: 29), .paid("p2", 30, 60, said: 29.8),
                .paid("y", 29.5, 394.5, Shop.yearly),
            ],
            expected: [.off(31), .archive(31, .payment)],
            coins: 0
        ),
        Story(
            testDescription: "the same plan is not another one",
            facts: [
                .paid("p1", 0, 30), .paid("p2", 30, 60, said: 29), .paid("p3", 29.5, 59.5),
            ],
            coins: 30
        ),
    ]

    /// RULES §2.1: plans that begin in one instant.
    static let atOnce = [
        Story(
            testDescription: "a plan that is replaced in its first instant gives nothing",
            facts: [.paid("p1", 0, 30, said: 5, upgraded: true), .paid("y", 0, 365, Shop.yearly)],
            expected: [.off(1), .archive(1, .payment), .archive(364, .payment)],
            coins: 0
        ),
        Story(
            testDescription: "so it does where its line item has the later name",
            facts: [.paid("z", 0, 30, said: 0, upgraded: true), .paid("y", 0, 365, Shop.yearly)],
            expected: [.off(1), .archive(1, .payment), .archive(364, .payment)],
            coins: 0
        ),
        Story(
            testDescription: "as long as nothing says that it was upgraded, it runs",
            facts: [.paid("p1", 0, 30), .paid("y", 0, 365, Shop.yearly)],
            expected: [.on(1, .payment), .archive(1, .payment)]
        ),
    ]

    static let stories =
        revocations + reaches + shares + failures + receipts + ahead + atOnce

    @Test("access follows the rules to the millisecond", arguments: stories)
    func access(_ story: Story) { expect(story) }

    @Test("order and repetition of arrival do not matter", arguments: stories)
    func convergence(_ story: Story) throws { try expectOrderDoesNotMatter(story) }

    private static func asks(_ facts: [Fact]) -> Bool {
        !World(facts).evaluations().flatMap(\.wanted).isEmpty
    }

    @Test("what is over when it is contradicted is no disagreement about the present")
    func present() {
        let valid = Fact.paid("p1", 0, 30, said: 50)
        #expect(!Self.asks([valid, .status(5, 30)]))
        #expect(Self.asks([valid, .status(5, 29)]))
        #expect(!Self.asks([valid, .status(5, 0)]))
        // A receipt of the same clock adds nothing.
        let receipt = Fact.paid("p1", 0, 30, said: 50, revoked: 10, source: "receipt:t")
        #expect(!Self.asks([valid, receipt]))
        #expect(!Self.asks([valid, .status(1, 60, reaching: 30)]))
        #expect(Self.asks([valid, .status(1, 60, reaching: 90)]))
    }

    @Test(
        "a receipt that takes away what was signed is a disagreement, until newer words are signed"
    )
    func refusedByReceipt() {
        let refusal: [Fact] = [
            .paid("p1", 0, 30), .status(1, 40, reaching: 60, source: "m1"), .paid("p2", 30, 60),
            .status(2, 41, source: "receipt:t"),
        ]
        #expect(Self.asks(refusal))
        #expect(
            !Self.asks(refusal + [.paid("p2", 30, 60, said: 42), .status(1, 42, reaching: 60)])
        )
        #expect(!Self.asks(refusal + [.status(2, 61)]))
        let grace: [Fact] = [
            .paid("p1", 0, 30), .terms(30, grace: 46), .status(4, 30),
            .status(3, 45, source: "receipt:t"),
        ]
        #expect(Self.asks(grace))
        #expect(!Self.asks(Array(grace.dropLast()) + [.status(3, 46, source: "receipt:t")]))
        let terms: [Fact] = [.paid("p1", 0, 30), .terms(30, grace: 46)]
        #expect(Self.asks(terms + [.status(2, 45, source: "receipt:t")]))
        // A grace period lasts as long as was signed, in the status or beside it.
        let dated: [Fact] = [.paid("p1", 0, 30), .terms(30, grace: 46)]
        #expect(
            Self.asks(
                dated + [.status(4, 30, reaching: 40), .status(2, 43, source: "receipt:t")]
            )
        )
        let short: [Fact] = [.paid("p1", 0, 30), .terms(30, grace: 31), .status(4, 30)]
        #expect(!Self.asks(short + [.status(3, 32, source: "receipt:t")]))
        // Only a grace period without a date lasts longer than what was signed.
        #expect(
            !Self.asks([
                .paid("p1", 0, 30), .status(1, 29.9, reaching: 30),
                .status(2, 31, source: "receipt:t"),
            ])
        )
        // What was signed of the period before says nothing of the one that is over.
        #expect(
            !Self.asks([
                .paid("p1", 0, 30), .status(4, 30), .paid("p2", 31, 32),
                .status(2, 32.5, source: "receipt:t"),
            ])
        )
        // Nothing was signed to last, both say that billing failed, or the receipt is not newer.
        #expect(!Self.asks([.paid("p1", 0, 30), .status(2, 45, source: "receipt:t")]))
        #expect(!Self.asks(terms + [.status(3, 40), .status(2, 45, source: "receipt:t")]))
        #expect(!Self.asks(Array(refusal.dropLast()) + [.status(2, 40, source: "receipt:t")]))
    }

    @Test(
        "a status that says that billing failed while a paid period runs is asked about",
        arguments: [SubscriptionStatus.expired, SubscriptionStatus.billingRetry]
    )
    func failedInSpite(_ value: Int64) {
        let paid = Fact.paid("p1", 0, 30, source: "m1")
        func status(_ day: Double) -> Fact { .status(value, day, source: "m2") }
        #expect(Self.asks([paid, status(29)]))
        #expect(World([paid, status(29)]).timeline().ground(at: .day(29)) == .payment)
        #expect(!Self.asks([paid, status(30)]))
        // The answer states the period beside the status, or something newer.
        #expect(!Self.asks([paid, status(29), .paid("p1", 0, 30, said: 29, source: "m2")]))
        #expect(!Self.asks([paid, status(29), .paid("p1", 0, 30, said: 29.5, source: "m3")]))
        // A refund explains it, and so does an upgrade.
        #expect(!Self.asks([paid, status(29), .paid("p1", 0, 30, said: 20, revoked: 20)]))
        #expect(!Self.asks([paid, status(29), .paid("p2", 20, 29, Shop.yearly, said: 29)]))
        // What a status says in the first instant of a period is about that period.
        #expect(Self.asks([.paid("p2", 30, 60, said: 29), status(30)]))
        #expect(!Self.asks([.paid("p2", 30, 60, said: 29), status(29.9)]))
        #expect(!Self.asks([.paid("p2", 30, 60, said: 29), .status(5, 30)]))
        // A receipt's plan without an end is over after the catalog's month.
        #expect(!Self.asks([.bought("1", .autoRenewable, "monthly", on: 0), status(40)]))
    }

    @Test("what several rules ask is asked once")
    func once() {
        let world = World([
            .paid("p1", 0, 30, said: 5), .paid("p1", 0, 37, said: 6, source: "receipt:t"),
            .status(1, 20, reaching: 60),
        ])
        let question = Wanted(kind: .subscriptionStatus, object: "1")
        #expect(world.evaluations()[0].wanted == [question])
    }

    @Test("what is given anew counts until its end, if it is signed before")
    func resumed() {
        func archive(_ end: Double, said day: Double) -> Ground? {
            World([
                .paid("p2", 30, 60, said: 40, revoked: 40, family: true), .status(5, 40),
                .paid("y", 5, end, Shop.yearly, said: day, family: true),
            ])
            .timeline().ground("archive", at: .day(day, plus: 1))
        }
        #expect(archive(60, said: 50) == .family)
        #expect(archive(50, said: 50) == nil)
    }
}
