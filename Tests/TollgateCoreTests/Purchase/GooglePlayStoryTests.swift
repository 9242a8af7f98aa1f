import Testing
import TollgateCore

/// The cases of Google Play by their names, as far as facts alone tell them.
@Suite("What Google Play tells")
struct GooglePlayStoryTests {
    static let stories = subscriptions + chains + boughtOnce

    /// A month from day 0, which renews.
    private static let month = Fact.play("ACTIVE", 0, .item(to: 30))

    static let subscriptions = [
        Story(
            testDescription: "G1: one change read twice is one purchase",
            facts: [month, .play("ACTIVE", 0.001, .item(to: 30))],
            expected: [.on(1, .payment), .on(30, .renewal), .off(31)],
            coins: 10
        ),
        Story(
            testDescription: "G2: a read that still shows the old state changes nothing",
            facts: [
                month, .play("ACTIVE", 10, .item(to: 30)),
                .play("CANCELED", 11, .item(to: 30, renews: false)),
            ],
            expected: [.on(29, .payment), .off(30)]
        ),
        Story(
            testDescription: "G3: a renewal nobody heard of: leeway until a read finds it",
            facts: [month],
            expected: [.on(30, .renewal), .on(30.9, .renewal), .off(31)]
        ),
        Story(
            testDescription: "G3: a renewal nobody heard of, and the read that finds it",
            facts: [month, .play("ACTIVE", 30.2, .item(to: 60, order: "GPA.1..0"))],
            expected: [.on(29, .payment), .on(30.5, .payment), .on(60, .renewal), .off(61)],
            coins: 20
        ),
        Story(
            testDescription: "G3: the read after the end of a period says that it is over",
            facts: [month, .play("EXPIRED", 30.1, .item(to: 30, renews: false))],
            expected: [.on(29, .payment), .off(30)]
        ),
        Story(
            testDescription:
                "G8: a downgrade that waits: the old product to its end, nothing of the new",
            facts: [
                .play("ACTIVE", 0, .item(to: 365, "premium", "yearly")),
                .play(
                    "ACTIVE",
                    100,
                    from: 100,
                    .item(to: 365, "premium", "yearly", renews: false, then: "premium_basic"),
                    .item(to: nil, order: nil),
                    token: "B",
                    linked: "A"
                ),
            ],
            expected: [
                .archive(50, .payment), .archive(364, .payment), .archive(365, .renewal), .off(100),
                .off(365),
            ],
            coins: 0
        ),
        Story(
            testDescription: "G8: a downgrade that states no start",
            facts: [
                .play("ACTIVE", 0, .item(to: 365, "premium", "yearly")),
                .play("EXPIRED", 100, .item(to: 100, "premium", "yearly", renews: false)),
                .play(
                    "ACTIVE",
                    100,
                    from: nil,
                    .item(to: 365, "premium", "yearly", renews: false, then: "premium_basic"),
                    .item(to: nil, order: nil),
                    token: "B",
                    linked: "A"
                ),
            ],
            expected: [.archive(50, .payment), .archive(200, .payment), .archive(364, .payment)]
        ),
        Story(
            testDescription: "G8: a downgrade that has taken effect",
            facts: [
                .play("ACTIVE", 0, .item(to: 365, "premium", "yearly")),
                .play(
                    "ACTIVE",
                    100,
                    from: 100,
                    .item(to: 365, "premium", "yearly", renews: false, then: "premium_basic"),
                    .item(to: nil, order: nil),
                    token: "B",
                    linked: "A"
                ),
                .play(
                    "ACTIVE",
                    365,
                    from: 100,
                    .item(to: 365, "premium", "yearly", renews: false),
                    .item(to: 396, order: "GPA.2..0"),
                    token: "B",
                    linked: "A"
                ),
            ],
            expected: [
                .archive(364, .payment), .archive(365, nil), .off(200), .on(366, .payment),
            ],
            coins: 10
        ),
        Story(
            testDescription: "G17: an old renewal is voided: access stays, its coins go",
            facts: [
                month, .play("ACTIVE", 30, .item(to: 60, order: "GPA.1..0")), .void("GPA.1", 40),
            ],
            expected: [.on(45, .payment)],
            coins: 10
        ),
        Story(
            testDescription: "G18: a refund without revoke: access and coins stay",
            facts: [
                month, .order("GPA.1", 0, from: 0, to: 30),
                .order("GPA.1", 20, from: 0, to: 30, state: "REFUNDED", refunded: 20),
            ],
            expected: [.on(25, .payment)],
            coins: 10
        ),
        Story(
            testDescription: "G17: a prorated revocation takes coins in the share of its money",
            facts: [
                month, .play("EXPIRED", 12, .item(to: 12, renews: false)), .void("GPA.1", 12),
                .order(
                    "GPA.1",
                    13,
                    from: 0,
                    to: 30,
                    state: "PARTIALLY_REFUNDED",
                    refunded: 12,
                    share: 6
                ),
            ],
            expected: [.off(12)],
            coins: 4
        ),
        Story(
            testDescription: "G17: a prorated revocation of two products",
            facts: [
                .play("ACTIVE", 0, .item(to: 30), .item(to: 30, order: "GPA.1", "club", nil)),
                .play(
                    "EXPIRED",
                    20,
                    .item(to: 20, renews: false),
                    .item(to: 20, order: "GPA.1", "club", nil, renews: false)
                ),
                .void("GPA.1", 20),
                .order("GPA.1", 21, from: 0, to: 30, refunded: 20, share: 4, club: 2),
            ],
            coins: 21
        ),
        Story(
            testDescription: "G17: a refund that is older than the void says nothing of it",
            facts: [
                month, .order("GPA.1", 6, from: 0, to: 30, refunded: 5, share: 1),
                .void("GPA.1", 20),
            ],
            coins: 0
        ),
        Story(
            testDescription: "G19: a chargeback of two products, read once more before it shows",
            facts: [
                .play("ACTIVE", 0, .item(to: 30), .item(to: 30, order: "GPA.1", "club", nil)),
                .void("GPA.1", 10),
                .play("ACTIVE", 10.01, .item(to: 30), .item(to: 30, order: "GPA.1", "club", nil)),
                .play(
                    "EXPIRED",
                    11,
                    .item(to: 10, renews: false),
                    .item(to: 10, order: "GPA.1", "club", nil, renews: false)
                ),
            ],
            expected: [.off(12)],
            coins: 0
        ),
        Story(
            testDescription: "G19: a chargeback: revoked and voided",
            facts: [
                month, .play("EXPIRED", 10, .item(to: 10, renews: false)), .void("GPA.1", 10),
            ],
            expected: [.on(9, .payment), .off(10)],
            coins: 0
        ),
        Story(
            testDescription: "G20: grace is extended day by day, and is one",
            facts: [
                month, .play("IN_GRACE_PERIOD", 30, .item(to: 31)),
                .play("IN_GRACE_PERIOD", 31, .item(to: 32)),
                .play("IN_GRACE_PERIOD", 32, .item(to: 33)),
            ],
            expected: [.on(29, .payment), .on(30.5, .grace), .on(32.5, .grace), .on(33, .renewal)],
            coins: 10
        ),
        Story(
            testDescription: "G20: grace, then account hold",
            facts: [
                month, .play("IN_GRACE_PERIOD", 30, .item(to: 37)),
                .play("ON_HOLD", 37, .item(to: 37)),
            ],
            expected: [.on(29, .payment), .on(36, .grace), .off(37)]
        ),
        Story(
            testDescription: "G20: grace, then the payment goes through",
            facts: [
                month, .play("IN_GRACE_PERIOD", 30, .item(to: 37)),
                .play("ACTIVE", 33, .item(to: 60, order: "GPA.1..0")),
            ],
            expected: [.on(36, .payment), .on(59, .payment)],
            coins: 20
        ),
        Story(
            testDescription: "G21: account hold, and recovered with another billing date",
            facts: [
                month, .play("ON_HOLD", 30, .item(to: 30)),
                .play("ACTIVE", 40, .item(to: 70, order: "GPA.1..0")),
            ],
            expected: [.on(20, .payment), .off(35), .on(41, .payment), .on(69, .payment)],
            coins: 20
        ),
        Story(
            testDescription: "G21: recovered, by the service period of its order",
            facts: [
                month, .play("ON_HOLD", 30, .item(to: 30)),
                .play("ACTIVE", 45, .item(to: 70, order: "GPA.1..0")),
                .order("GPA.1..0", 46, from: 40, to: 70),
            ],
            expected: [.on(20, .payment), .off(39), .on(40, .payment)],
            coins: 20
        ),
        Story(
            testDescription: "G22: account hold that ends one item, and the other comes back",
            facts: [
                .play(
                    "ACTIVE",
                    0,
                    .item(to: 30),
                    .item(to: 30, order: "GPA.1", "premium", "yearly")
                ),
                .play("ON_HOLD", 10, .item(to: 10), .item(to: 10, "premium", "yearly")),
                .play(
                    "CANCELED",
                    40,
                    .item(to: 60, renews: false),
                    .item(to: 10, "premium", "yearly", renews: false)
                ),
            ],
            expected: [.on(50, .payment), .off(60), .archive(50, nil)]
        ),
        Story(
            testDescription: "G23: paused at the period's end, and resumed early",
            facts: [
                month, .play("PAUSED", 30, .item(to: 30)),
                .play("ACTIVE", 38, .item(to: 68, order: "GPA.1..0")),
            ],
            expected: [.on(20, .payment), .off(37), .on(38, .payment), .on(67, .payment)]
        ),
        Story(
            testDescription: "G21: two holds, and what was paid between them",
            facts: [
                month, .play("ON_HOLD", 30, .item(to: 30)),
                .play("ACTIVE", 40, .item(to: 70, order: "GPA.1..0")),
                .play("ON_HOLD", 70, .item(to: 70, order: "GPA.1..0")),
                .play("ACTIVE", 75, .item(to: 105, order: "GPA.1..1")),
            ],
            expected: [
                .on(20, .payment), .off(35), .on(50, .payment), .off(72), .on(100, .payment),
            ]
        ),
        Story(
            testDescription:
                "G21: account hold that ends with the subscription, which states that end",
            facts: [
                month, .play("ON_HOLD", 30, .item(to: 30)),
                .play("EXPIRED", 60, .item(to: 60, renews: false)),
            ],
            expected: [.on(29, .payment), .off(30), .off(45), .off(59), .off(60)],
            coins: 10
        ),
        Story(
            testDescription: "G21: account hold that the customer ends",
            facts: [
                month, .play("ON_HOLD", 30, .item(to: 30)),
                .play("CANCELED", 40, .item(to: 40, renews: false)),
            ],
            expected: [.on(29, .payment), .off(35), .off(40)]
        ),
        Story(
            testDescription: "G21: account hold after grace ends with the subscription",
            facts: [
                month, .play("IN_GRACE_PERIOD", 30, .item(to: 37)),
                .play("ON_HOLD", 37, .item(to: 37)),
                .play("EXPIRED", 60, .item(to: 60, renews: false)),
            ],
            expected: [.on(29, .payment), .on(36, .grace), .off(37), .off(50)]
        ),
        Story(
            testDescription: "G21: account hold that is read late began at the end that it states",
            facts: [
                month, .play("ON_HOLD", 35, .item(to: 30)),
                .play("ACTIVE", 40, .item(to: 70, order: "GPA.1..0")),
            ],
            expected: [.on(29, .payment), .off(30), .off(36), .on(40, .payment)]
        ),
        Story(
            testDescription: "G21: a purchase that is first read on hold, and ends",
            facts: [
                .play("ON_HOLD", 35, .item(to: 30)),
                .play("EXPIRED", 60, .item(to: 60, renews: false)),
            ],
            expected: [.on(29, .payment), .off(30), .off(40)]
        ),
        Story(
            testDescription: "G21: recovered, and first read when the next renewal has failed",
            facts: [
                month, .play("ON_HOLD", 30, .item(to: 30)),
                .play("IN_GRACE_PERIOD", 72, .item(to: 77, order: "GPA.1..0")),
                .order("GPA.1..0", 73, from: 40, to: 70),
            ],
            expected: [.off(35), .on(41, .payment), .on(69, .payment), .on(71, .grace)]
        ),
        Story(
            testDescription: "G22: what the hold interrupted has its time, also once it is over",
            facts: [
                .play(
                    "ACTIVE",
                    0,
                    .item(to: 30),
                    .item(to: 10, order: "GPA.1", "premium", "yearly")
                ),
                .play("ON_HOLD", 10, .item(to: 10), .item(to: 10, "premium", "yearly")),
                .play(
                    "CANCELED",
                    40,
                    .item(to: 60, renews: false),
                    .item(to: 10, "premium", "yearly", renews: false)
                ),
                .play(
                    "CANCELED",
                    50,
                    .item(to: 60, renews: false),
                    .item(to: 10, "premium", "yearly", renews: false)
                ),
                .play(
                    "EXPIRED",
                    61,
                    .item(to: 60, renews: false),
                    .item(to: 10, "premium", "yearly", renews: false)
                ),
            ],
            expected: [
                .on(9, .payment), .off(10), .off(39), .on(40, .payment), .on(59, .payment),
                .off(60),
                .archive(45, nil),
            ]
        ),
        Story(
            testDescription: "G3: past the end Google still says ACTIVE, and tries again",
            facts: [month, .play("ACTIVE", 31.2, .item(to: 30))],
            expected: [.on(29, .payment), .on(32, .renewal), .off(32.3)]
        ),
        Story(
            testDescription: "G23: paused: no access",
            facts: [month, .play("PAUSED", 30, .item(to: 30))],
            expected: [.on(29, .payment), .off(30)]
        ),
        Story(
            testDescription: "G25: revoked, then a cached read of before",
            facts: [
                month, .play("EXPIRED", 10, .item(to: 10, renews: false)),
                .play("ACTIVE", 9.9, .item(to: 30)),
            ],
            expected: [.on(9, .payment), .off(10)]
        ),
        Story(
            testDescription: "G25: revoked, then a stale read of after it",
            facts: [
                .play("ACTIVE", 0, .item(to: 365)),
                .play("EXPIRED", 10, .item(to: 10, renews: false)),
                .play("ACTIVE", 10.001, .item(to: 365)),
            ],
            expected: [.on(9, .payment), .off(11)]
        ),
        Story(
            testDescription: "G25: of two reads of one second the one that ends it",
            facts: [
                .play("EXPIRED", 10, .item(to: 10, renews: false)),
                .play("ACTIVE", 10, .item(to: 30)),
            ],
            expected: [.on(9, .payment), .off(11)]
        ),
        Story(
            testDescription: "G26: two months of history, then 410: nothing changes",
            facts: [
                month, .play("ACTIVE", 30, .item(to: 60, order: "GPA.1..0")), .unreadable(50),
            ],
            expected: [.on(55, .payment)],
            coins: 20
        ),
        Story(
            testDescription:
                "G27: Google cannot be asked over a renewal: the window runs from there",
            facts: [month, .outage(30.5)],
            expected: [.on(31.4, .renewal), .off(31.5)]
        ),
        Story(
            testDescription: "G27: after seven days an outage keeps nobody in any more",
            facts: [month, .outage(33), .outage(36.9), .outage(41)],
            expected: [.on(37.9, .renewal), .off(38)]
        ),
        Story(
            testDescription:
                "G27: what was renewed in an outage is paid; its end has a window again",
            facts: [month, .outage(34), .play("ACTIVE", 35, .item(to: 60, order: "GPA.1..0"))],
            expected: [.on(34.5, .payment), .on(60.9, .renewal), .off(61)],
            coins: 20
        ),
        Story(
            testDescription: "G27: what an outage hid had expired",
            facts: [
                month, .outage(30.5), .play("EXPIRED", 32, .item(to: 30, renews: false)),
            ],
            expected: [.off(30), .off(31)]
        ),
        Story(
            testDescription: "G27: what will not renew ends in an outage as ever",
            facts: [
                month, .play("CANCELED", 5, .item(to: 30, renews: false)), .outage(30.5),
            ],
            expected: [.on(29, .payment), .off(30)]
        ),
        Story(
            testDescription: "G28: a test purchase is sandbox's",
            facts: [
                month, .play("EXPIRED", 5, .item(to: 5, renews: false), in: .sandbox),
            ],
            expected: [.on(20, .payment)]
        ),
        Story(
            testDescription: "G33: dates are as stated",
            facts: [
                .play("ACTIVE", 30, from: 30, .item(to: 58)),
                .play("ACTIVE", 58, from: 30, .item(to: 86, order: "GPA.1..0")),
            ],
            expected: [.on(57.9, .payment), .on(85.9, .payment), .on(86, .renewal)]
        ),
        Story(
            testDescription: "pending: nobody has paid yet",
            facts: [.play("PENDING", 0, from: nil, .item(to: nil, order: nil))],
            expected: [.off(1)],
            coins: 0
        ),
        Story(
            testDescription: "a state of tomorrow gives nothing",
            facts: [.play("FROZEN", 0, .item(to: 30))],
            expected: [.off(1)]
        ),
        Story(
            testDescription: "what is canceled, prepaid, removed or not consented to has no leeway",
            facts: [
                .play("CANCELED", 0, .item(to: 30, renews: false), token: "A"),
                .play("ACTIVE", 0, .item(to: 30, renews: false, isPrepaid: true), token: "B"),
                .play("ACTIVE", 0, .item(to: 30, isRemoved: true), token: "C"),
                .play("ACTIVE", 0, .item(to: 30, awaitsConsent: true), token: "D"),
            ],
            expected: [.on(29, .payment), .off(30)]
        ),
        Story(
            testDescription: "what a change of plan began credits no coins; the next period does",
            facts: [
                .play("ACTIVE", 0, .item(to: 20, phase: "prorationPeriod")),
                .play("ACTIVE", 20, .item(to: 50, order: "GPA.1..0", phase: "basePrice")),
            ],
            expected: [.on(40, .payment)],
            coins: 10
        ),
        Story(
            testDescription: "what a change of plan charged credits its share of the coins",
            facts: [
                .play("ACTIVE", 0, .item(to: 20, phase: "prorationPeriod")),
                .order("GPA.1", 1, from: 0, to: 20, charged: 4),
                .play(
                    "ACTIVE",
                    0,
                    .item(to: 60, order: "GPA.2", phase: "prorationPeriod"),
                    token: "B"
                ),
                .order("GPA.2", 1, from: 0, to: 30, token: "B"),
                .play(
                    "ACTIVE",
                    0,
                    .item(to: 60, order: "GPA.3", phase: "prorationPeriod"),
                    token: "C"
                ),
                .order("GPA.3", 1, from: 0, to: 30, charged: 0, token: "C"),
            ],
            coins: 14
        ),
        Story(
            testDescription:
                "a change that charged for more than one period credits more than one's coins",
            facts: [
                .play("ACTIVE", 0, .item(to: 75, phase: "prorationPeriod")),
                .order("GPA.1", 1, from: 0, to: 75, charged: 25),
            ],
            coins: 25
        ),
        Story(
            testDescription:
                "a tax on top of the listed price credits no coins, one within it does",
            facts: [
                .play("ACTIVE", 0, .item(to: 30, phase: "prorationPeriod")),
                .order("GPA.1", 1, from: 0, to: 30, tax: 2),
                .play(
                    "ACTIVE",
                    0,
                    .item(to: 30, order: "GPA.2", phase: "prorationPeriod"),
                    token: "B"
                ),
                .order("GPA.2", 1, from: 0, to: 30, tax: 1, isTaxInclusive: true, token: "B"),
            ],
            coins: 20
        ),
        Story(
            testDescription: "an order that only the orders show credits its coins",
            facts: [
                .play("ACTIVE", 60, .item(to: 90, order: "GPA.1..1")),
                .order("GPA.1..0", 61, from: 30, to: 60),
                .order("GPA.1", 61, from: 0, to: 30, state: "CANCELED"),
            ],
            coins: 20
        ),
    ]

    static let chains = [
        Story(
            testDescription: "G5: replaced: never two tiers, and no gap",
            facts: [
                .play("ACTIVE", 0, .item(to: 365, "premium", "yearly")),
                .play("EXPIRED", 20, .item(to: 20, "premium", "yearly", renews: false)),
                .play(
                    "ACTIVE",
                    20,
                    from: 20,
                    .item(to: 50, order: "GPA.2"),
                    token: "B",
                    linked: "A"
                ),
            ],
            expected: [
                .archive(19, .payment), .archive(20, nil), .on(20, .payment), .on(49, .payment),
            ]
        ),
        Story(
            testDescription: "G5: replaced, and the old token still reads as valid to its end",
            facts: [
                .play("ACTIVE", 0, .item(to: 365, "premium", "yearly")),
                .play("CANCELED", 20, .item(to: 365, "premium", "yearly", renews: false)),
                .play(
                    "ACTIVE",
                    20,
                    from: 20,
                    .item(to: 50, order: "GPA.2"),
                    token: "B",
                    linked: "A"
                ),
            ],
            expected: [.archive(19, .payment), .archive(20, nil), .on(20, .payment)]
        ),
        Story(
            testDescription: "G7: of a chain only the last gives access",
            facts: [
                .play("ACTIVE", 0, .item(to: 30, order: "GPA.A")),
                .play("ACTIVE", 5, from: 5, .item(to: 35, order: "GPA.B"), token: "B", linked: "A"),
                .play(
                    "ACTIVE",
                    10,
                    from: 10,
                    .item(to: 375, order: "GPA.C", "premium", "yearly"),
                    token: "C",
                    linked: "B"
                ),
                .play("ACTIVE", 30, .item(to: 60, order: "GPA.A..0")),
            ],
            expected: [.on(9, .payment), .off(10), .off(45), .archive(45, .payment)]
        ),
        Story(
            testDescription:
                "G7: the middle of a chain is not known, and the first still gives access",
            facts: [
                .play("ACTIVE", 0, .item(to: 30)),
                .play(
                    "ACTIVE",
                    10,
                    from: 10,
                    .item(to: 375, order: "GPA.C", "premium", "yearly"),
                    token: "C",
                    linked: "B"
                ),
            ],
            expected: [.on(20, .payment), .archive(20, .payment)]
        ),
        Story(
            testDescription: "G9: a top-up: time adds up, coins once per order",
            facts: [
                .play("ACTIVE", 0, .item(to: 30, renews: false, isPrepaid: true)),
                .play(
                    "ACTIVE",
                    10,
                    from: 10,
                    .item(to: 60, order: "GPA.2", renews: false, isPrepaid: true),
                    token: "B",
                    linked: "A"
                ),
                .play("EXPIRED", 10, .item(to: 10, renews: false, isPrepaid: true)),
            ],
            expected: [.on(9, .payment), .on(10, .payment), .on(59, .payment), .off(60)],
            coins: 20
        ),
        Story(
            testDescription: "G9: an order that goes on under another token credits once",
            facts: [
                month,
                .play(
                    "ACTIVE",
                    10,
                    from: 10,
                    .item(to: 30),
                    .item(to: 30, order: "GPA.2", "club", nil),
                    token: "B",
                    linked: "A"
                ),
                .play("ACTIVE", 12, from: 12, .item(to: 30), token: "C", linked: "B"),
            ],
            coins: 30
        ),
        Story(
            testDescription: "G9: an order that goes on under another token is voided there",
            facts: [
                month, .play("ACTIVE", 10, from: 10, .item(to: 30), token: "B", linked: "A"),
                .play("ACTIVE", 12, from: 12, .item(to: 30), token: "C", linked: "B"),
                .void("GPA.1", 20, token: "C"),
            ],
            coins: 0
        ),
        Story(
            testDescription:
                "G9: what a purchase does not credit that nobody can read is not inherited",
            facts: [
                .order("GPA.1", 5, from: 0, to: 30), .unreadable(6),
                .play("ACTIVE", 10, from: 10, .item(to: 30), token: "B", linked: "A"),
            ],
            coins: 10
        ),
        Story(
            testDescription:
                "G10: a replacement that waits for its payment leaves the old one alone",
            facts: [
                month,
                .play(
                    "PENDING",
                    10,
                    from: nil,
                    .item(to: nil, order: nil, "premium", "yearly"),
                    token: "B",
                    linked: "A"
                ),
            ],
            expected: [.on(20, .payment), .on(30, .renewal), .archive(20, nil)]
        ),
        Story(
            testDescription: "G10: a replacement that was never paid leaves the old one alone",
            facts: [
                month,
                .play(
                    "PENDING",
                    10,
                    from: nil,
                    .item(to: nil, order: nil, "premium", "yearly"),
                    token: "B",
                    linked: "A"
                ),
                .play(
                    "PENDING_PURCHASE_CANCELED",
                    13,
                    from: nil,
                    .item(to: nil, order: nil, "premium", "yearly"),
                    token: "B",
                    linked: "A"
                ),
            ],
            expected: [.on(20, .payment), .on(30, .renewal), .archive(20, nil)]
        ),
    ]

    static let boughtOnce = [
        Story(
            testDescription: "G11: pending gives nothing, and later it is paid",
            facts: [
                .bought("PENDING", 0, at: nil, .init(product: "lifetime")),
                .bought("PURCHASED", 2, at: 2, .init(product: "lifetime")),
            ],
            expected: [.off(1), .on(2, .payment), .on(2000, .payment)]
        ),
        Story(
            testDescription: "G11: pending, and never paid",
            facts: [
                .bought("PENDING", 0, at: nil, .init(product: "coins")),
                .bought("CANCELLED", 3, at: nil, .init(product: "coins")),
            ],
            coins: 0
        ),
        Story(
            testDescription: "G14: consumed or not: one credit by token",
            facts: [
                .bought("PURCHASED", 0, .init(product: "coins")),
                .bought("PURCHASED", 1, .init(product: "coins", isConsumed: true)),
            ],
            coins: 100
        ),
        Story(
            testDescription: "G15: of ten, two are voided",
            facts: [
                .bought("PURCHASED", 0, .init(product: "coins", quantity: 10)),
                .void("GPA.P", 1, quantity: 2, token: "P"),
            ],
            coins: 800
        ),
        Story(
            testDescription: "G15: of ten, two and three are voided",
            facts: [
                .bought("PURCHASED", 0, .init(product: "coins", quantity: 10)),
                .void("GPA.P", 1, quantity: 2, token: "P"),
                .void("GPA.P", 2, quantity: 3, token: "P"),
            ],
            coins: 500
        ),
        Story(
            testDescription: "G15: of ten, two, three and the rest are voided",
            facts: [
                .bought("PURCHASED", 0, .init(product: "coins", quantity: 10)),
                .void("GPA.P", 1, quantity: 2, token: "P"),
                .void("GPA.P", 2, quantity: 3, token: "P"), .void("GPA.P", 3, token: "P"),
            ],
            coins: 0
        ),
        Story(
            testDescription: "G16: a void that two reads list",
            facts: [
                .bought("PURCHASED", 0, .init(product: "coins", quantity: 10)),
                .void("GPA.P", 1, quantity: 2, token: "P"),
                .void("GPA.P", 1, quantity: 2, said: 2, token: "P"),
                .bought("PURCHASED", 3, .init(product: "coins", quantity: 10, refundable: 8)),
            ],
            coins: 800
        ),
        Story(
            testDescription: "G18: refunded without revoke, what was bought once stays",
            facts: [
                .bought("PURCHASED", 0, .init(product: "lifetime")),
                .bought("PURCHASED", 6, .init(product: "lifetime", refundable: 0)),
            ],
            expected: [.on(100, .payment)]
        ),
        Story(
            testDescription: "G16: a part is voided, then the rest",
            facts: [
                .bought("PURCHASED", 0, .init(product: "coins", quantity: 3)),
                .void("GPA.P", 1, quantity: 1, token: "P"), .void("GPA.P", 2, token: "P"),
                .bought("CANCELLED", 3, .init(product: "coins", quantity: 3, refundable: 0)),
            ],
            coins: 0
        ),
        Story(
            testDescription: "G29: a bundle is one purchase with a line for each product",
            facts: [
                .bought(
                    "PURCHASED",
                    0,
                    .init(product: "coins", quantity: 1),
                    .init(product: "lifetime"),
                    .init(product: "club")
                )
            ],
            expected: [.on(100, .payment)],
            coins: 120
        ),
        Story(
            testDescription: "G29: a bundle is refunded as a whole, whatever a stale read shows",
            facts: [
                .bought("PURCHASED", 0, .init(product: "coins"), .init(product: "lifetime")),
                .void("GPA.P", 5, token: "P"),
                .bought("PURCHASED", 5.001, .init(product: "coins"), .init(product: "lifetime")),
            ],
            expected: [.on(4, .payment), .off(5)],
            coins: 0
        ),
        Story(
            testDescription: "bought once and voided: access ends then",
            facts: [
                .bought("PURCHASED", 0, .init(product: "lifetime")),
                .void("GPA.P", 5, said: 6, token: "P"),
            ],
            expected: [.on(4, .payment), .off(5)]
        ),
        Story(
            testDescription: "bought once and read as cancelled: access ends then",
            facts: [
                .bought("PURCHASED", 0, .init(product: "lifetime")),
                .bought("CANCELLED", 5, .init(product: "lifetime")),
                .bought("CANCELLED", 9, .init(product: "lifetime")),
            ],
            expected: [.on(4, .payment), .off(5)]
        ),
        Story(
            testDescription: "bought once and cancelled, then a stale read",
            facts: [
                .bought("PURCHASED", 0, .init(product: "lifetime")),
                .bought("CANCELLED", 5, .init(product: "lifetime")),
                .bought("PURCHASED", 5.001, .init(product: "lifetime")),
            ],
            expected: [.on(4, .payment), .off(6)]
        ),
        Story(
            testDescription: "a rental lasts as long as the catalog says, and else gives nothing",
            facts: [
                .bought("PURCHASED", 0, .init(product: "pass", option: "rent", isRental: true)),
                .bought("PURCHASED", 0, .init(product: "lifetime", isRental: true), token: "Q"),
            ],
            expected: [.on(29, .payment), .off(30)]
        ),
        Story(
            testDescription: "a purchase that was not paid as far as is known, and its void",
            facts: [.void("GPA.P", 5, token: "P"), .unreadable(6, token: "P")],
            expected: [.off(5)],
            coins: 0
        ),
    ]

    @Test("a story has its end", arguments: stories)
    func ends(_ story: Story) { expect(story) }

    @Test("a story has its end in every order, with repetitions", arguments: stories)
    func inEveryOrder(_ story: Story) throws { try expectOrderDoesNotMatter(story) }
}
