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
    ]

    @Test("a story has its end", arguments: stories)
    func ends(_ story: Story) { expect(story) }

    @Test("a story has its end in every order, with repetitions", arguments: stories)
    func inEveryOrder(_ story: Story) throws { try expectOrderDoesNotMatter(story) }

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
