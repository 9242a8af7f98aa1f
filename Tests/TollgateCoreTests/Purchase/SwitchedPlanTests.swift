import Testing
import TollgateCore

/// The coins of plans that are switched to and fro.
@Suite("Coins of plans that are switched")
struct SwitchedPlanTests {
    /// S24: where a credit's price is no line's, where a price has tiers, and where a
    /// coupon pays all.
    static let stories = [
        Story(
            testDescription: "S24: another price without proration, and back with it",
            facts: [
                .plan("active", 15, .item(0, 30)), .bill("in_1", 0, [.full(0, 30)]),
                .bill("in_2", 15, [.credit(15, 30, "price_club"), .charge(15, 30)]),
            ],
            coins: 10
        ),
        Story(
            testDescription: "S24: a change that was not paid is taken back",
            facts: [
                .plan("active", 15, .item(0, 30)), .bill("in_1", 0, [.full(0, 30)]),
                .bill("in_2", nil, [.credit(10, 30), .charge(10, 30, "price_club")]),
                .bill("in_3", 15, [.credit(15, 30, "price_club"), .charge(15, 30)]),
            ],
            coins: 10
        ),
        Story(
            testDescription: "S24: the change is paid after all",
            facts: [
                .plan("active", 15, .item(0, 30)), .bill("in_1", 0, [.full(0, 30)]),
                .bill("in_2", 20, [.credit(10, 30), .charge(10, 30, "price_club")]),
                .bill("in_3", 15, [.credit(15, 30, "price_club"), .charge(15, 30)]),
            ],
            coins: 11
        ),  // ⌊10 × 10/30⌋, of ⌊20 × 20/30⌋ a quarter, ⌊10 × 15/30⌋
        Story(
            testDescription: "S24: a credit of another price that names no item takes nothing",
            facts: [
                .plan("active", 15, .item(0, 30)), .bill("in_1", 0, [.full(0, 30)]),
                .bill("in_2", 15, [.credit(15, 30, "price_club", nil)]),
            ],
            coins: 10
        ),
        Story(
            testDescription: "S24: a credit for a graduated price is for all of its tiers",
            facts: [
                .plan("active", 15, .item(0, 30, quantity: 7)),
                .bill("in_1", 0, [.tier(0, 30, 5), .tier(0, 30, 2)]),
                .bill("in_2", 15, [.credit(15, 30, quantity: 7)]),
            ],
            coins: 35
        ),
        Story(
            testDescription: "S24: to a year and back under a coupon that pays all",
            facts: [
                .plan("active", 3, .item(2, 367, "price_yearly")),
                .bill("in_1", 0, [.full(0, 30)]),
                .bill("in_2", 1, [.free(1, 30), .full(1, 366, "price_yearly")]),
                .bill("in_3", 2, [.free(2, 366, "price_yearly"), .full(2, 32)]),
                .bill("in_4", 3, [.free(3, 32), .full(3, 368, "price_yearly")]),
            ],
            coins: 0
        ),
        Story(
            testDescription: "S24: to another plan and back on one invoice that a coupon pays",
            facts: [
                .plan("active", 30, .item(30, 60)), .bill("in_1", 0, [.full(0, 30)]),
                .bill(
                    "in_2",
                    30,
                    [
                        .free(10, 30), .free(10, 30, "price_club"), .free(20, 30, "price_club"),
                        .free(20, 30), .full(30, 60),
                    ]
                ),
            ],
            coins: 22
        ),  // ⌊10 × 10/30⌋, of ⌊20 × 20/30⌋ a half, ⌊10 × 10/30⌋, 10
        Story(
            testDescription: "S24: more seats under a coupon that pays all",
            facts: [
                .plan("active", 15, .item(0, 30, quantity: 3)), .bill("in_1", 0, [.full(0, 30)]),
                .bill("in_2", 15, [.free(15, 30), .free(15, 30, quantity: 3)]),
                .bill("in_3", 20, [.free(20, 30, quantity: 3), .free(20, 30)]),
            ],
            coins: 13
        ),  // ⌊10 × 15/30⌋, of ⌊30 × 15/30⌋ a third, ⌊10 × 10/30⌋
        Story(
            testDescription:
                "S24: more seats and fewer again in a second under a coupon that pays all",
            facts: [
                .plan("active", 15, .item(0, 30)), .bill("in_1", 0, [.full(0, 30)]),
                .bill(
                    "in_2",
                    15,
                    [
                        .free(15, 30), .free(15, 30, quantity: 3),
                        .free(15, 30, quantity: 3, undone: true), .free(15, 30, undone: true),
                    ]
                ),
            ],
            coins: 10
        ),
        Story(
            testDescription: "S24: three changes of seats in a second under a coupon that pays all",
            facts: [
                .plan("active", 15, .item(0, 30, quantity: 2)), .bill("in_1", 0, [.full(0, 30)]),
                .bill(
                    "in_2",
                    15,
                    [
                        .free(15, 30), .free(15, 30, quantity: 3),
                        .free(15, 30, quantity: 3, undone: true), .free(15, 30, quantity: 2),
                    ]
                ),
            ],
            coins: 15
        ),  // ⌊10 × 15/30⌋, ⌊20 × 15/30⌋
        Story(
            testDescription:
                "S24: to another plan and removed in a second under a coupon that pays all",
            facts: [
                .plan("active", 15, .item(0, 30, "price_yearly", "si_2")),
                .bill("in_1", 0, [.full(0, 30)]),
                .bill(
                    "in_2",
                    15,
                    [
                        .free(15, 30), .free(15, 30, "price_club"),
                        .free(15, 30, "price_club", undone: true),
                    ]
                ),
            ],
            coins: 5
        ),
        Story(
            testDescription: "S24: two items that were never paid are removed for nothing",
            facts: [
                .plan("active", 15, .item(0, 30, "price_yearly", "si_3")),
                .bill("in_1", nil, [.full(0, 30), .full(0, 30, "price_club", "si_2")]),
                .bill("in_2", 15, [.free(15, 30), .free(15, 30, "price_club", "si_2")]),
            ],
            coins: 0
        ),
    ]

    @Test("no coins come twice", arguments: stories)
    func coins(_ story: Story) {
        expect(story)
    }

    @Test("order and repetition of arrival do not matter", arguments: stories)
    func convergence(_ story: Story) throws {
        try expectOrderDoesNotMatter(story)
    }
}
