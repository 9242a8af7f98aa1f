import Testing
import TollgateCore

/// Instants and states on the edges of Google Play's rules (RULES §18).
@Suite("The edges of what Google Play tells")
struct GooglePlayBoundaryTests {
    /// A month from day 0, which renews.
    private static let month = Fact.play("ACTIVE", 0, .item(to: 30))

    static let stories = [
        Story(
            testDescription: "of two purchases that replace one the earlier one ends it",
            facts: [
                month,
                .play(
                    "EXPIRED",
                    15,
                    from: 10,
                    .item(to: 15, order: "GPA.2", "premium", "yearly", renews: false),
                    token: "B",
                    linked: "A"
                ),
                .play(
                    "ACTIVE",
                    25,
                    from: 25,
                    .item(to: 55, order: "GPA.3"),
                    token: "C",
                    linked: "A"
                ),
            ],
            expected: [
                .on(9, .payment), .off(12), .archive(12, .payment), .off(20), .on(26, .payment),
            ]
        ),
        Story(
            testDescription: "pending gives nothing, whatever it states",
            facts: [.play("PENDING", 3, from: 0, .item(to: 30, order: nil))],
            expected: [.off(1), .off(4)],
            coins: 0
        ),
        Story(
            testDescription: "at the instant of its end Google still says ACTIVE: the leeway runs",
            facts: [.play("ACTIVE", 30, from: 30, .item(to: 30))],
            expected: [.on(30.5, .renewal), .off(31)]
        ),
        Story(
            testDescription: "a downgrade that waited, and is canceled, has no leeway",
            facts: [.play("CANCELED", 0, .item(to: 30, renews: false, then: "premium_basic"))],
            expected: [.on(29, .payment), .off(30)]
        ),
        Story(
            testDescription: "a hold from the first instant, and the payment that ends it",
            facts: [
                .play("ON_HOLD", 30, from: 30, .item(to: 30)),
                .play("ACTIVE", 40, from: 30, .item(to: 70, order: "GPA.1..0")),
            ],
            expected: [.off(30), .off(39), .on(40, .payment), .on(69, .payment)]
        ),
        Story(
            testDescription: "two reads of one second disagree about a hold: the next read decides",
            facts: [
                month, .play("ON_HOLD", 30, .item(to: 30)), .play("ACTIVE", 30, .item(to: 60)),
            ],
            expected: [.on(29, .payment), .off(30), .off(45)]
        ),
        Story(
            testDescription: "and the next read says that it was paid",
            facts: [
                month, .play("ON_HOLD", 30, .item(to: 30)), .play("ACTIVE", 30, .item(to: 60)),
                .play("ACTIVE", 31, .item(to: 60)),
            ],
            expected: [.off(30.5), .on(31, .payment), .on(59, .payment)]
        ),
        Story(
            testDescription:
                "a base plan that one read of an order leaves out is known from another",
            facts: [
                .play("ACTIVE", 0, .item(to: 30, "premium", nil)),
                .play("ACTIVE", 1, .item(to: 30)),
            ],
            expected: [.on(29, .payment)],
            coins: 10
        ),
        Story(
            testDescription: "and in the other order",
            facts: [
                month, .play("ACTIVE", 30, .item(to: 60, order: "GPA.1..0")),
                .play("ACTIVE", 1, .item(to: 30, "premium", nil)),
            ],
            coins: 20
        ),
        Story(
            testDescription: "of two passes in one order one is voided: the other lasts its month",
            facts: [
                .bought("PURCHASED", 0, .init(product: "pass", quantity: 2)),
                .void("GPA.P", 1, quantity: 1, token: "P"),
            ],
            expected: [.on(29, .payment), .off(31)]
        ),
        Story(
            testDescription: "and the other one is voided later: they end with it",
            facts: [
                .bought("PURCHASED", 0, .init(product: "pass", quantity: 2)),
                .void("GPA.P", 1, quantity: 1, token: "P"),
                .void("GPA.P", 5, quantity: 1, token: "P"),
            ],
            expected: [.on(4, .payment), .off(6)]
        ),
        Story(
            testDescription: "the payment of a pass is as old as the oldest read of it says",
            facts: [
                .bought("PURCHASED", 0, .init(product: "pass")),
                .bought("PURCHASED", 5, at: nil, .init(product: "pass")),
            ],
            expected: [.on(1, .payment), .off(31)]
        ),
        Story(
            testDescription: "and may be known only from the read that says it is cancelled",
            facts: [
                .bought("PURCHASED", 5, at: nil, .init(product: "pass")),
                .bought("CANCELLED", 8, .init(product: "pass")),
            ],
            expected: [.on(1, .payment), .off(9)]
        ),
        Story(
            testDescription: "a purchase that names itself is replaced by nothing",
            facts: [.play("ACTIVE", 0, .item(to: 30), linked: "A")],
            expected: [.on(1, .payment)]
        ),
        Story(
            testDescription: "a hold begins where the last item ends",
            facts: [
                .play("ACTIVE", 0, .item(to: 30), .item(to: 20, "club", nil)),
                .play("ON_HOLD", 31, .item(to: 30), .item(to: 20, "club", nil)),
                .play("ACTIVE", 40, .item(to: 70, order: "GPA.1..0")),
            ],
            expected: [.on(25, .payment), .off(35), .on(41, .payment)]
        ),
        Story(
            testDescription: "a read that is behind says hold again: what was paid stays paid",
            facts: [
                month, .play("ON_HOLD", 31, .item(to: 30)),
                .play("ACTIVE", 34, .item(to: 64, order: "GPA.1..0")),
                .play("ON_HOLD", 35, .item(to: 30)),
                .play("ACTIVE", 36, .item(to: 64, order: "GPA.1..0")),
            ],
            expected: [.off(33), .on(34.5, .payment), .on(40, .payment)]
        ),
        Story(
            testDescription: "an order that no read of the subscription names has its coins",
            facts: [
                .play("ACTIVE", 31, .item(to: 60, order: "GPA.1..0")),
                .order("GPA.1", 31, from: 0, to: 30, charged: 5),
            ],
            coins: 20
        ),
        Story(
            testDescription: "a change to a plan without a price credits nothing for it",
            facts: [
                .play("ACTIVE", 0, .item(to: 30, "club", nil, phase: "prorationPeriod")),
                .order("GPA.1", 1, from: 0, to: 30, club: 0),
            ],
            coins: 10
        ),
        Story(
            testDescription:
                "an order is voided a second time after it was read: all is taken back",
            facts: [
                month, .void("GPA.1", 4),
                .order("GPA.1", 5, from: 0, to: 30, refunded: 4, share: 5),
                .void("GPA.1", 8),
            ],
            coins: 0
        ),
        Story(
            testDescription: "a read of the same instant says what share was refunded",
            facts: [
                month, .void("GPA.1", 4),
                .order("GPA.1", 4, from: 0, to: 30, refunded: 4, share: 5),
            ],
            coins: 5
        ),
    ]

    @Test("a story has its end", arguments: stories)
    func ends(_ story: Story) { expect(story) }

    @Test("a story has its end in every order, with repetitions", arguments: stories)
    func inEveryOrder(_ story: Story) throws { try expectOrderDoesNotMatter(story) }

    @Test("what brings no coins has no lot")
    func noLots() {
        func lots(_ fact: Fact) -> Int { World([fact]).evaluations().flatMap(\.lots).count }
        #expect(lots(Self.month) == 1)
        #expect(lots(.play("ACTIVE", 0, .item(to: 365, "premium", "yearly"))) == 0)
        #expect(lots(.bought("PURCHASED", 0, .init(product: "coins"))) == 1)
        #expect(lots(.bought("PURCHASED", 0, .init(product: "lifetime"))) == 0)
    }

    @Test("a purchase of which only a void is known asks nothing by itself")
    func onlyVoid() {
        #expect(World([.void("GPA.1", 2)]).evaluations().flatMap(\.wanted).isEmpty)
    }

    @Test("a purchase knows those that replace it by token, and takes over voids of its own orders")
    func successors() throws {
        let replacements: [Fact] = ["C", "B"].map {
            .play(
                "ACTIVE",
                10,
                from: 10,
                .item(to: 40, order: "GPA.\($0)"),
                token: $0,
                linked: "A"
            )
        }
        for facts in permutations(
            replacements + [
                Self.month, .void("GPA.B", 12, token: "B"), .void("GPA.1", 12, token: "B"),
            ]
        ) {
            let replaced = World(facts).records.first { $0.key == .play("A") }
            let record = try #require(replaced?.googlePlay)
            #expect(record.successors?.map(\.id) == ["B", "C"])
            #expect(record.voids.map(\.value.order) == ["GPA.1"])
        }
    }

    @Test("products that the catalog lacks are named, and only those")
    func unknownProducts() {
        func unknown(_ fact: Fact) -> [StoreProduct] {
            World([fact]).evaluations().flatMap(\.unknownProducts)
        }
        #expect(unknown(Self.month).isEmpty)
        #expect(
            unknown(.play("ACTIVE", 0, .item(to: 30, "gold", "weekly")))
                == [StoreProduct(googlePlay: "gold", plan: "weekly")]
        )
        #expect(unknown(.bought("PURCHASED", 0, .init(product: "coins"))).isEmpty)
        #expect(
            unknown(.bought("PURCHASED", 0, .init(product: "gems")))
                == [StoreProduct(googlePlay: "gems", plan: nil)]
        )
    }
}
