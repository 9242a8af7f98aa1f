import Testing
import TollgateCore

@Suite("What Stripe tells")
struct StripeStoryTests {
    static let stories = [
        Story(
            testDescription: "S1: updated before created",
            facts: [
                .subscription("active", 0.001, from: 0, to: 30),
                .subscription("incomplete", 0, from: 0, to: 30),
            ],
            expected: [.on(1, .payment), .on(30, .renewal), .off(31)]
        ),
        Story(
            testDescription: "S1: created and paid for within one second, in any order",
            facts: [
                .subscription("incomplete", 0, from: 0, to: 30),
                .subscription("active", 0, from: 0, to: 30),
            ],
            expected: [.on(1, .payment), .on(30, .renewal), .off(31)]
        ),
        Story(
            testDescription: "S2: deleted, then a later update: it stays ended",
            facts: [
                .subscription("active", 0, from: 0, to: 30),
                .subscription("canceled", 10, from: 0, to: 30, ended: 10),
                .subscription("active", 11, from: 0, to: 30),
                .subscription("active", 12, from: 0, to: 30, read: true),
            ],
            expected: [.on(9, .payment), .off(10), .off(30)]
        ),
        Story(
            testDescription: "S3: completed twice and read by the landing page: one credit",
            facts: [
                .checkout("complete", paid: true, 0, price: nil, source: "evt_1"),
                .checkout("complete", paid: true, 0, price: nil, source: "evt_2"),
                .checkout("complete", paid: true, 0, read: true, source: "read:cs_1"),
                .checkout("complete", paid: true, 0.1, read: true, source: "read:cs_1"),
            ],
            coins: 100
        ),
        Story(
            testDescription: "S4: completed unpaid gives nothing yet",
            facts: [.checkout("complete", paid: false, 0)],
            coins: 0
        ),
        Story(
            testDescription: "S4: completed unpaid, then the payment succeeded",
            facts: [
                .checkout("complete", paid: false, 0), .checkout("complete", paid: true, 3),
            ],
            coins: 100
        ),
        Story(
            testDescription: "S4: completed unpaid, then the payment failed",
            facts: [
                .checkout("complete", paid: false, 0), .checkout("complete", paid: false, 3),
            ],
            coins: 0
        ),
        Story(
            testDescription: "S5: an open dispute freezes the coins",
            facts: [
                .checkout("complete", paid: true, 0), .dispute("dp_1", 1000, "needs_response", 5),
            ],
            coins: 0
        ),
        Story(
            testDescription: "S5: a dispute that was won gives them back",
            facts: [
                .checkout("complete", paid: true, 0), .dispute("dp_1", 1000, "needs_response", 5),
                .dispute("dp_1", 1000, "won", 9), .dispute("dp_1", 1000, "under_review", 10),
            ],
            coins: 100
        ),
        Story(
            testDescription: "S5: a dispute that was lost debits once",
            facts: [
                .checkout("complete", paid: true, 0), .dispute("dp_1", 1000, "needs_response", 5),
                .dispute("dp_1", 1000, "lost", 9),
            ],
            coins: 0
        ),
        Story(
            testDescription: "S5: an inquiry takes nothing",
            facts: [
                .checkout("complete", paid: true, 0),
                .dispute("dp_1", 1000, "warning_needs_response", 5),
            ],
            coins: 100
        ),
        Story(
            testDescription: "S5: refund and dispute of one payment debit once",
            facts: [
                .checkout("complete", paid: true, 0), .refund("re_1", 1000, "succeeded", 4),
                .dispute("dp_1", 1000, "lost", 9),
            ],
            coins: 0
        ),
        Story(
            testDescription: "S6: the share of partial refunds is rounded down once, for their sum",
            facts: [
                .checkout("complete", paid: true, 0, amount: 999),
                .refund("re_1", 333, "succeeded", 1), .refund("re_2", 333, "succeeded", 2),
            ],
            coins: 34
        ),  // 100 − floor(100 × 666 / 999)
        Story(
            testDescription: "S6: the last partial refund takes the rest",
            facts: [
                .checkout("complete", paid: true, 0, amount: 999),
                .refund("re_1", 333, "succeeded", 1), .refund("re_2", 333, "succeeded", 2),
                .refund("re_3", 333, "pending", 3),
            ],
            coins: 0
        ),
        Story(
            testDescription: "S7: a refund that fails later gives the coins back",
            facts: [
                .checkout("complete", paid: true, 0), .refund("re_1", 1000, "pending", 1),
                .refund("re_1", 1000, "succeeded", 2), .refund("re_1", 1000, "failed", 9),
            ],
            coins: 100
        ),
        Story(
            testDescription: "S8: up and down within one second: what was read counts",
            facts: [
                .subscription("active", 5, from: 0, to: 30, price: "price_yearly", source: "evt_1"),
                .subscription("active", 5, from: 0, to: 30, source: "evt_2"),
                .subscription(
                    "active",
                    5,
                    from: 0,
                    to: 30,
                    price: "price_yearly",
                    read: true,
                    source: "read"
                ),
            ],
            expected: [.off(6), .archive(6, .payment)]
        ),
        Story(
            testDescription: "S9: incomplete_expired never entitles, whatever comes later",
            facts: [
                .subscription("incomplete", 0, from: 0, to: 30),
                .subscription("incomplete_expired", 1, from: 0, to: 30),
                .subscription("active", 2, from: 0, to: 30),
            ],
            expected: [.off(0.5), .off(5)]
        ),
        Story(
            testDescription: "S9: past_due has grace from the start of the unpaid period",
            facts: [
                .subscription("active", 0, from: 0, to: 30),
                .subscription("past_due", 30.05, from: 30, to: 60),
            ],
            expected: [.on(31, .grace), .on(33, plus: -1, .grace), .off(33)]
        ),
        Story(
            testDescription: "S9: what is metered is billed late, and its grace begins no earlier",
            facts: [
                .subscription("active", 0, from: 0, to: 30, metered: true),
                .invoice("in_2", 0), .subscription("active", 30, from: 30, to: 60, metered: true),
                .subscription("past_due", 60.05, from: 60, to: 90, metered: true),
            ],
            expected: [.on(61, .grace), .on(63, plus: -1, .grace), .off(63)]
        ),
        Story(
            testDescription: "S9: months of any length make no difference to what is metered",
            facts: [
                .invoice("in_2", 0),
                .subscription("past_due", 61.05, from: 61, to: 89, metered: true),
            ],
            expected: [.on(62, .grace), .on(64, plus: -1, .grace), .off(64)]
        ),
        Story(
            testDescription: "S9: metered periods that go on rolling unpaid bring one grace",
            facts: [
                .invoice("in_2", 0),
                .subscription("past_due", 90.05, from: 90, to: 120, metered: true),
            ],
            expected: [.off(91), .off(93)]
        ),
        Story(
            testDescription: "S9: unpaid gives nothing",
            facts: [.subscription("unpaid", 5, from: 0, to: 30)],
            expected: [.off(6)]
        ),
        Story(
            testDescription: "S9: paused gives nothing",
            facts: [.subscription("paused", 5, from: 0, to: 30)],
            expected: [.off(6)]
        ),
        Story(
            testDescription: "a status of tomorrow gives nothing",
            facts: [.subscription("hibernating", 5, from: 0, to: 30)],
            expected: [.off(6)]
        ),
        Story(
            testDescription: "S10: a trial that stops ends without a window",
            facts: [.subscription("trialing", 0, from: 0, to: 14, cancels: true)],
            expected: [.on(13, .payment), .off(14)]
        ),
        Story(
            testDescription:
                "S9: a subscription in past_due that was never active has grace from its start",
            facts: [.subscription("past_due", 1, from: 0, to: 30)],
            expected: [.on(2, .grace), .off(3)]
        ),
        Story(
            testDescription: "a stated end is exact",
            facts: [.subscription("active", 0, from: 0, to: 30, cancelAt: 12)],
            expected: [.on(12, plus: -1, .payment), .off(12), .off(12.5)]
        ),
        Story(
            testDescription: "S15: a burst of the test clock, in any order",
            facts: [
                .subscription("active", 0, from: 0, to: 30), .invoice("in_1", 0),
                .subscription("past_due", 30, from: 30, to: 60),
                .subscription("active", 30.01, from: 30, to: 60), .invoice("in_2", 30),
                .subscription("active", 60, from: 60, to: 90), .invoice("in_3", 60),
            ],
            expected: [.on(89, .payment), .on(90, .renewal), .off(91)],
            coins: 30
        ),
        Story(
            testDescription: "S16: the session expires while its payment finishes",
            facts: [
                .checkout("open", paid: false, 0), .checkout("expired", paid: false, 1),
                .checkout("complete", paid: true, 1),
            ],
            coins: 100
        ),
        Story(
            testDescription: "S17: an open session gives nothing",
            facts: [.checkout("open", paid: false, 0)],
            coins: 0
        ),
        Story(
            testDescription: "a proration credits the coins of its part of the period",
            facts: [
                .subscription("active", 0, from: 0, to: 30), .invoice("in_1", 0),
                .invoice("in_2", 10, isProration: true),
            ],
            coins: 19
        ),  // 10, and of a month of 31 days 30: floor(10 × 30 / 31)
        Story(
            testDescription:
                "a refunded plan goes on to its end, unless the catalog says otherwise",
            facts: [
                .plan("active", 0, .item(0, 30)), .bill("in_1", 0, amount: 1000, [.full(0, 30)]),
                .refunded("re_1", 1000, of: "in_1", 11),
            ],
            expected: [.on(12, .payment), .on(29, .payment)],
            coins: 0
        ),
        Story(
            testDescription: "a refunded lifetime ends when all of it was given back",
            facts: [
                .checkout("complete", paid: true, 0, price: "price_lifetime"),
                .refund("re_1", 400, "succeeded", 5), .refund("re_2", 600, "succeeded", 8),
            ],
            expected: [.on(7, .payment), .off(8)]
        ),
        Story(
            testDescription: "what was all given back ended then, whatever is disputed later",
            facts: [
                .checkout("complete", paid: true, 0, price: "price_lifetime"),
                .refund("re_1", 1000, "succeeded", 5), .dispute("dp_1", 1000, "lost", 9),
            ],
            expected: [.on(4, .payment), .off(6)]
        ),
        Story(
            testDescription: "two passes in one checkout last one after the other",
            facts: [.checkout("complete", paid: true, 0, price: "price_pass", quantity: 2)],
            expected: [.on(59, .payment), .off(60)]
        ),
    ]

    @Test("access and coins follow the facts", arguments: stories)
    func access(_ story: Story) {
        expect(story)
    }

    @Test("order and repetition of arrival do not matter", arguments: stories)
    func convergence(_ story: Story) throws {
        try expectOrderDoesNotMatter(story)
    }

    /// Refunds of 1000 at day 11, of the invoice named, of a subscription with two items; what of it
    /// is over on day 12 where the catalog ends refunded plans.
    static let refunds: [(String, invoice: String, monthly: Ground?, yearly: Ground?)] = [
        ("the invoice of the present period", "in_2", nil, .payment),
        ("that of another item", "in_3", .payment, nil),
        ("that of an earlier period", "in_1", .payment, .payment),
        ("that of more seats since the period began", "in_4", .payment, .payment),
    ]

    @Test("where refunded plans end, a refund ends the period that its invoice paid for")
    func refundedPeriods() {
        var catalog = Shop.catalog
        catalog.refundedPlan = .end
        let history = Shop.history(catalog)
        for (name, invoice, monthly, yearly) in Self.refunds {
            let timeline = World([
                .plan("active", 5, .item(5, 35), .item(5, 370, "price_yearly", "si_2")),
                .bill("in_1", -25, amount: 1000, [.full(-25, 5)]),
                .bill("in_2", 5, amount: 1000, [.full(5, 35)]),
                .bill("in_3", 5, amount: 1000, [.full(5, 370, "price_yearly", "si_2")]),
                .bill("in_4", 5, amount: 1000, [.charge(5, 35)]),
                .refunded("re_1", 1000, of: invoice, 11),
            ])
            .timeline(history)
            #expect(timeline.ground("pro", at: .day(12)) == monthly, "\(name)")
            #expect(timeline.ground("archive", at: .day(12)) == yearly, "\(name)")
        }
    }

    @Test("what is bought once grants today's entitlements, a pack of coins none")
    func once() {
        func access(_ price: String) -> PurchaseAccess {
            World([.checkout("complete", paid: true, 0, price: price)])
                .evaluations()[0].shares[0].access
        }
        #expect(access("price_coins") == PurchaseAccess())
        var before = Shop.catalog
        for index in before.products.indices where before.products[index].id == "lifetime" {
            before.products[index].entitlements = []
        }
        let history = CatalogHistory([
            .init(id: "v1", adopted: .day(-10), catalog: before),
            .init(id: "v2", adopted: .day(10), catalog: Shop.catalog),
        ])
        let world = World([.checkout("complete", paid: true, 0, price: "price_lifetime")])
        #expect(world.timeline(history).ground(at: .day(11)) == .payment)
    }

    @Test("a proration is of a plan, though older facts name no item and the catalog no plan")
    func prorationOfNoItem() {
        var charge = StripeInvoice.Line.charge(5, 10, "price_pass")
        charge.item = nil
        let world = World([
            .plan("active", 0, .item(0, 10, "price_pass")), .bill("in_1", 5, [charge]),
        ])
        #expect(world.timeline().ground(at: .day(9)) == .payment)
        #expect(world.timeline().ground(at: .day(20)) == nil)
    }

    @Test("what a session sells is asked for if no message says it")
    func wantedLines() {
        let world = World([.checkout("complete", paid: true, 0, price: nil)])
        #expect(world.coins() == 0)
        #expect(world.evaluations()[0].wanted == [Wanted(kind: .checkoutLines, object: "cs_1")])
    }

    @Test("what may change a price or add a tax is stated only where it is so")
    func mayChange() {
        let plain = StripeSubscription(status: "active", customer: "cus_1", items: [])
        #expect(plain.mayChangePrice == nil && plain.mayAddTax == nil)
        let changing = StripeSubscription(
            status: "active",
            customer: "cus_1",
            items: [],
            mayChangePrice: true,
            mayAddTax: true
        )
        #expect(changing.mayChangePrice == true && changing.mayAddTax == true)
    }
}
