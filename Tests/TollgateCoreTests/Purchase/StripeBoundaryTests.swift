import Testing
import TollgateCore

/// Amounts and instants on the edges of Stripe's rules (RULES §5).
@Suite("The edges of what Stripe tells")
struct StripeBoundaryTests {
    static let stories = switched + prorations + ends

    /// Credits of a price for which no line was paid: the item had changed to it without proration.
    static let switched = [
        Story(
            testDescription:
                "it takes from what the item had paid, not from what the change charges",
            facts: [
                .plan("active", 15, .item(0, 30, "price_club")), .bill("in_1", 0, [.full(0, 30)]),
                .bill(
                    "in_2",
                    15,
                    [.credit(15, 30, "price_yearly"), .charge(15, 30, "price_club")]
                ),
            ],
            coins: 15  // Half of 10, and half of 20.
        ),
        Story(
            testDescription: "so it does where the change counts from the period's beginning",
            facts: [
                .plan("active", 2, .item(0, 30, "price_club")), .bill("in_1", 0, [.full(0, 30)]),
                .bill("in_2", 2, [.credit(0, 30, "price_yearly"), .charge(0, 30, "price_club")]),
            ],
            coins: 20
        ),
        Story(
            testDescription: "an earlier change on the same invoice has been charged before it",
            facts: [
                .plan("active", 30, .item(0, 30)), .bill("in_1", 0, [.full(0, 30)]),
                .bill(
                    "in_2",
                    30,
                    [
                        .credit(10, 30), .charge(10, 30, "price_club"),
                        .credit(20, 30, "price_yearly"), .charge(20, 30),
                    ]
                ),
            ],
            coins: 12
        ),  // ⌊10 × 10/30⌋, of ⌊20 × 20/30⌋ a half, ⌊10 × 10/30⌋
    ]

    static let prorations = [
        Story(
            testDescription:
                "what a coupon pays and is undone in a second loses nothing by rounding",
            facts: [
                .plan("active", 10, .item(0, 30)), .bill("in_1", 0, [.full(0, 30)]),
                .bill(
                    "in_2",
                    10,
                    [
                        .free(10, 30), .free(10, 30, quantity: 3),
                        .free(10, 30, quantity: 3, undone: true), .free(10, 30, undone: true),
                    ]
                ),
            ],
            coins: 10
        ),
        Story(
            testDescription: "a change that gives money back and charges nothing has no coins",
            facts: [
                .plan("active", 15, .item(0, 30, "price_club")), .bill("in_1", 0, [.full(0, 30)]),
                .bill("in_2", 15, [.credit(15, 30), .charge(15, 30, "price_club", amount: 0)]),
            ],
            coins: 5
        ),
        Story(
            testDescription: "a month of 28 days, from 31 January to 28 February, is a whole one",
            facts: [
                .plan("active", 44, .item(30, 58, "price_club")),
                .bill("in_1", 30, [.full(30, 58)]),
                .bill("in_2", 44, [.credit(44, 58), .charge(44, 58, "price_club")]),
            ],
            coins: 15  // Half of 10, and half of 20.
        ),
    ]

    static let ends = [
        Story(
            testDescription: "a plan that is charged by itself is owed since its renewal",
            facts: [
                .plan("active", 0, .item(0, 30, created: -300)),
                .plan("past_due", 30.05, .item(30, 60, created: -300)),
            ],
            expected: [.on(32, .grace), .off(33)]
        ),
        // https://docs.stripe.com/api/subscriptions/object#subscription_object-cancel_at_period_end
        Story(
            testDescription:
                "a plan that ends with its period ends with the one that a change has begun",
            facts: [
                .subscription("active", 10, from: 0, to: 30, cancelAt: 30, cancels: true),
                .subscription("active", 20, from: 20, to: 50, cancelAt: 30, cancels: true),
            ],
            expected: [.on(40, .payment), .off(50)]
        ),
    ]

    @Test("access and coins follow the money", arguments: stories)
    func access(_ story: Story) throws {
        expect(story)
        try expectOrderDoesNotMatter(story)
    }

    @Test("where the catalog says no length, the period that was charged is the whole one")
    func undated() {
        var catalog = Shop.catalog
        for index in catalog.products.indices { catalog.products[index].duration = nil }
        let world = World([
            .plan("active", 15, .item(0, 30, "price_club")), .bill("in_1", 0, [.full(0, 30)]),
            .bill("in_2", 15, [.credit(15, 30), .charge(15, 30, "price_club")]),
        ])
        #expect(world.coins(Shop.history(catalog)) == 15)
    }

    @Test("a purchase is whose session names them, and the Stripe customer's")
    func buyers() {
        let worlds = [
            World([
                .plan("active", 0, .item(0, 30)),
                .said(
                    .buyer(StripeBuyer(reference: "user_1")),
                    on: 0,
                    about: .stripe("sub_1")
                ),
            ]),
            World([.checkout("complete", paid: true, 0, price: "price_lifetime")]),
        ]
        for world in worlds {
            for holder in [Holder.reference("user_1"), .stripeCustomer("cus_1")] {
                #expect(world.timeline(of: holder).ground(at: .day(1)) == .payment)
            }
            #expect(world.timeline(of: .reference("user_2")).ground(at: .day(1)) == nil)
        }
    }

    @Test("the rest of a period is paid by a charge that covers all of it")
    func payingForTheRest() {
        let item = StripeSubscription.Item.item(15, 30)
        func paying(_ lines: StripeInvoice.Line...) -> Bool {
            let invoice = StripeInvoice(
                id: "in_1",
                isPaid: true,
                amount: 500,
                currency: "usd",
                lines: lines
            )
            return [invoice].paying(for: item).map(\.id) == ["in_1"]
        }
        #expect(paying(.full(15, 30)))
        #expect(paying(.charge(15, 30)))
        #expect(paying(.charge(15, 45)))
        #expect(!paying(.charge(15, 29)))
        #expect(!paying(.charge(15, 30, amount: 0)))
        #expect(!paying(.credit(15, 30)))
        #expect(!paying(.charge(10, 30)))
    }
}
