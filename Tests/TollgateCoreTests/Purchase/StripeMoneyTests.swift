import Testing
import TollgateCore

/// What is paid, owed and given back at Stripe, where several things happen within one period.
@Suite("What Stripe is paid for")
struct StripeMoneyTests {
    static let stories = pastDue + ends + once + coins

    /// S18, S19: what paid invoices cover.
    static let pastDue = [
        Story(
            testDescription: "S18: more seats are not paid for: the month that is paid stays",
            facts: [
                .plan("active", 0, .item(0, 30)), .bill("in_1", 0, [.full(0, 30)]),
                .plan("past_due", 10, .item(0, 30, quantity: 3)),
            ],
            expected: [.on(11, .payment), .on(29, .payment), .on(32, .grace), .off(33)]
        ),
        Story(
            testDescription: "S18: a monthly item's renewal fails: the year beside it stays",
            facts: [
                .plan("active", 0, .item(0, 365, "price_yearly", "si_2"), .item(0, 30)),
                .bill("in_1", 0, [.full(0, 365, "price_yearly", "si_2"), .full(0, 30)]),
                .plan("active", 30, .item(0, 365, "price_yearly", "si_2"), .item(30, 60)),
                .plan("past_due", 30.05, .item(0, 365, "price_yearly", "si_2"), .item(30, 60)),
            ],
            expected: [
                .on(32, .grace), .off(33), .archive(33, .payment), .archive(364, .payment),
                .archive(367, .grace), .archive(368, nil),
            ]
        ),
        Story(
            testDescription: "S18: an item added in mid-period is paid by its proration",
            facts: [
                .plan("active", 10, .item(0, 30, "price_yearly", "si_2"), .item(10, 30)),
                .bill("in_2", 10, [.charge(10, 30)]),
                .plan("past_due", 20, .item(0, 30, "price_yearly", "si_2"), .item(10, 30)),
            ],
            expected: [.on(21, .payment), .on(31, .grace), .off(33)]
        ),
        Story(
            testDescription: "S18: an invoice that was sent is not paid until it is due",
            facts: [
                .plan("active", 0, .item(0, 30), days: 14),
                .plan("past_due", 14, .item(0, 30), days: 14),
            ],
            expected: [.on(15, .grace), .on(17, plus: -1, .grace), .off(17)]
        ),
        Story(
            testDescription: "S18: invoices that are sent and never paid have one due date",
            facts: [
                .plan("active", 0, .item(0, 30), days: 14),
                .plan("past_due", 30, .item(30, 60), days: 14),
            ],
            expected: [.off(31), .off(45)]
        ),
        Story(
            testDescription: "S18: without any invoice a renewal that fails has its grace, once",
            facts: [
                .plan("active", 0, .item(0, 30)), .plan("past_due", 60, .item(60, 90)),
            ],
            expected: [.on(32, .grace), .off(33), .off(61)]
        ),
        Story(
            testDescription: "S18: of two sent invoices the first is paid",
            facts: [
                .plan("active", 0, .item(0, 30), days: 14), .bill("in_1", 12, [.full(0, 30)]),
                .plan("active", 30, .item(30, 60), days: 14),
                .plan("past_due", 44, .item(30, 60), days: 14),
            ],
            expected: [.on(45, .grace), .on(47, plus: -1, .grace), .off(47)]
        ),
        Story(
            testDescription: "S18: the first sent invoice is due after the next period began",
            facts: [
                .plan("active", 0, .item(0, 30, created: 0), days: 45),
                .plan("active", 30, .item(30, 60, created: 0), days: 45),
                .plan("past_due", 45, .item(30, 60, created: 0), days: 45),
            ],
            expected: [.on(46, .grace), .on(48, plus: -1, .grace), .off(48)]
        ),
        Story(
            testDescription: "S18: a later sent invoice is due after the next period began",
            facts: [
                .plan("active", 0, .item(0, 30, created: 0), days: 45),
                .bill("in_1", 12, [.full(0, 30)]),
                .plan("active", 60, .item(60, 90, created: 0), days: 45),
                .plan("past_due", 75, .item(60, 90, created: 0), days: 45),
            ],
            expected: [.on(76, .grace), .on(78, plus: -1, .grace), .off(78)]
        ),
        Story(
            testDescription: "S18: nobody owes a sent invoice that was voided",
            facts: [
                .plan("active", 0, .item(0, 30, created: 0), days: 14),
                .bill("in_1", nil, [.full(0, 30), .credit(30, 60)], voided: 20),
                .plan("past_due", 44, .item(30, 60, created: 0), days: 14),
            ],
            expected: [.on(45, .grace), .on(47, plus: -1, .grace), .off(47)]
        ),
        Story(
            testDescription: "S18: an item is owed since it was added, for what is sent, too",
            facts: [
                .plan("active", 0, .item(0, 30, created: 20), days: 14),
                .bill("in_1", 12, [.full(0, 10)]),
                .plan("past_due", 34, .item(30, 60, created: 20), days: 14),
            ],
            expected: [.on(35, .grace), .on(37, plus: -1, .grace), .off(37)]
        ),
        Story(
            testDescription: "S18: usage of the present month is not billed yet",
            facts: [
                .plan("active", 30, .item(30, 60, metered: true)),
                .bill("in_2", 30, [.full(0, 30)]),
                .plan("past_due", 40, .item(30, 60, metered: true)),
            ],
            expected: [.on(41, .payment), .on(62, .grace), .off(63)]
        ),
        Story(
            testDescription: "S18: what is metered is billed for about half a period",
            facts: [
                .bill("in_1", 45, [.full(15, 45)]),
                .plan("past_due", 60.05, .item(60, 90, metered: true)),
            ],
            expected: [.on(89, .payment), .on(92, .grace), .off(93)]
        ),
        Story(
            testDescription: "S18: or for about one and a half",
            facts: [
                .bill("in_1", 45, [.full(-15, 15)]),
                .plan("past_due", 60.05, .item(60, 90, metered: true)),
            ],
            expected: [.on(61, .grace), .on(63, plus: -1, .grace), .off(63)]
        ),
        Story(
            testDescription: "S18: past_due for ever has one grace",
            facts: [
                .plan("active", 0, .item(0, 30)), .bill("in_1", 0, [.full(0, 30)]),
                .plan("active", 30, .item(30, 60)), .plan("past_due", 30.05, .item(30, 60)),
                .plan("past_due", 60, .item(60, 90)),
            ],
            expected: [.on(32, .grace), .off(33), .off(61)]
        ),
        Story(
            testDescription: "S18: after an invoice that was voided the next renewal has its grace",
            facts: [
                .plan("active", 0, .item(0, 30)), .bill("in_1", 0, [.full(0, 30)]),
                .plan("past_due", 30.05, .item(30, 60)), .plan("active", 40, .item(30, 60)),
                .plan("active", 60, .item(60, 90)), .plan("past_due", 60.05, .item(60, 90)),
            ],
            expected: [.on(61, .grace), .off(63)]
        ),
        Story(
            testDescription: "S18: what was read as active counts, whatever comes late",
            facts: [
                .bill("in_1", 0, [.full(0, 30)]), .plan("past_due", 60.05, .item(60, 90)),
                .plan("trialing", 60, .item(60, 90)), .plan("active", 30, .item(30, 60)),
                .plan("incomplete", 0, .item(0, 30)),
            ],
            expected: [.on(61, .grace), .off(63)]
        ),
        Story(
            testDescription: "S18: a trial that cost nothing covers its time",
            facts: [
                .bill("in_1", 0, [.full(0, 14, amount: 0)]),
                .plan("past_due", 44, .item(44, 74)),
            ],
            expected: [.on(16, .grace), .off(17), .off(45)]
        ),
        Story(
            testDescription: "S19: two months of another plan and back: all of it is paid",
            facts: [
                .bill("in_1", 0, [.full(0, 30)]),
                .bill(
                    "in_2",
                    30,
                    [.credit(20, 30), .charge(20, 30, "price_club"), .full(30, 60, "price_club")]
                ),
                .bill("in_3", 60, [.full(60, 90, "price_club")]),
                .plan("past_due", 90.05, .item(90, 120)),
            ],
            expected: [.on(91, .grace), .on(93, plus: -1, .grace), .off(93)]
        ),
        Story(
            testDescription: "S19: an item beside the one that is paid is not paid by it",
            facts: [
                .bill("in_1", 0, [.full(0, 30)]),
                .plan("active", 10, .item(0, 30), .item(10, 30, "price_yearly", "si_2")),
                .plan("past_due", 10.1, .item(0, 30), .item(10, 30, "price_yearly", "si_2")),
            ],
            expected: [.on(29, .payment), .archive(12, .grace), .archive(13, nil)]
        ),
        Story(
            testDescription: "S19: a year that was given back covers nothing",
            facts: [
                .bill("in_1", 0, [.full(0, 365, "price_yearly")]),
                .bill("in_2", 10, [.credit(10, 365, "price_yearly"), .full(10, 40)]),
                .plan("active", 40, .item(40, 70)), .plan("past_due", 40.05, .item(40, 70)),
            ],
            expected: [.on(42, .grace), .off(43)]
        ),
        Story(
            testDescription: "S19: the year that is not paid yet leaves the month as it is",
            facts: [
                .bill("in_1", 0, [.full(0, 30)]),
                .plan("past_due", 10, .item(10, 375, "price_yearly")),
            ],
            expected: [
                .archive(11, .payment), .archive(29, .payment), .archive(32, .grace),
                .archive(33, nil),
            ]
        ),
    ]

    /// S20, S21: where access ends.
    static let ends = [
        Story(
            testDescription: "S20: an end far away: the month renews before it",
            facts: [.subscription("active", 5, from: 0, to: 30, cancelAt: 75)],
            expected: [.on(29, .payment), .on(30, .renewal), .off(31)]
        ),
        Story(
            testDescription: "S20: the period in which the end lies has no window",
            facts: [.subscription("active", 60, from: 60, to: 90, cancelAt: 75)],
            expected: [.on(75, plus: -1, .payment), .off(75)]
        ),
        Story(
            testDescription: "S20: an end on the boundary is that of the period before",
            facts: [.subscription("active", 60, from: 60, to: 90, cancelAt: 90)],
            expected: [.on(90, plus: -1, .payment), .off(90)]
        ),
        Story(
            testDescription: "S20: in past_due, a stated end within what is paid is the end",
            facts: [
                .bill("in_1", 0, [.full(0, 30)]), .plan("past_due", 10, .item(0, 30), cancelAt: 20),
            ],
            expected: [.on(20, plus: -1, .payment), .off(20)]
        ),
        Story(
            testDescription: "S20: in past_due, the end of the period that is paid has no grace",
            facts: [
                .bill("in_1", 0, [.full(0, 30)]),
                .plan("past_due", 10, .item(0, 30), cancels: true),
            ],
            expected: [.on(30, plus: -1, .payment), .off(30)]
        ),
        Story(
            testDescription: "S20: in past_due, an end to come leaves the grace before it",
            facts: [
                .bill("in_1", 0, [.full(0, 30)]),
                .plan("past_due", 30.1, .item(30, 60), cancels: true),
            ],
            expected: [.on(32, .grace), .off(33)]
        ),
        Story(
            testDescription: "S20: the shorter item ends first, the longer one with it",
            facts: [
                .plan(
                    "active",
                    5,
                    .item(0, 365, "price_yearly", "si_2"),
                    .item(0, 30),
                    cancels: true
                )
            ],
            expected: [.on(30, plus: -1, .payment), .off(30), .archive(30, nil)]
        ),
        Story(
            testDescription: "S21: a dispute that is lost later moves no pass",
            facts: [
                .checkout("complete", paid: true, 0, price: "price_pass"),
                .dispute("dp_1", 1000, "needs_response", 10, created: 10),
                .dispute("dp_1", 1000, "lost", 70, created: 10),
                .pass("pi_2", 12),
            ],
            expected: [.on(9, .payment), .off(11), .on(12, .payment), .on(41, .payment), .off(42)]
        ),
        Story(
            testDescription: "S21: an imported refund cuts when it was made",
            facts: [
                .checkout("complete", paid: true, 0, price: "price_lifetime"),
                .refund("re_1", 1000, "succeeded", 400, created: 10),
            ],
            expected: [.on(9, .payment), .off(10)]
        ),
        Story(
            testDescription: "S21: an inquiry cuts when it becomes a dispute",
            facts: [
                .checkout("complete", paid: true, 0, price: "price_lifetime"),
                .dispute("dp_1", 1000, "warning_needs_response", 10, created: 10),
                .dispute("dp_1", 1000, "needs_response", 20, created: 10, withdrawn: 20),
                .dispute("dp_1", 1000, "lost", 60, created: 10, withdrawn: 20),
            ],
            expected: [.on(19, .payment), .off(20)]
        ),
        Story(
            testDescription: "S21: of two partial refunds the one that completes it cuts",
            facts: [
                .checkout("complete", paid: true, 0, price: "price_lifetime"),
                .refund("re_1", 600, "succeeded", 40, created: 10),
                .refund("re_2", 400, "succeeded", 30, created: 20),
            ],
            expected: [.on(19, .payment), .off(20)]
        ),
    ]

    /// S22, S23: what is bought once.
    static let once = [
        Story(
            testDescription: "S22: a pass by bank debit runs from when the money came",
            facts: [
                .checkout("complete", paid: false, 0, price: "price_pass"),
                .checkout("complete", paid: true, 4, price: "price_pass"),
            ],
            expected: [.off(3), .on(4, .payment), .on(33, .payment), .off(34)]
        ),
        Story(
            testDescription: "S22: a read of the same debit changes nothing",
            facts: [
                .checkout("complete", paid: false, 0, price: "price_pass"),
                .checkout("complete", paid: true, 4, price: "price_pass"),
                .checkout("complete", paid: true, 9, price: "price_pass", paidBy: 9, read: true),
            ],
            expected: [.off(3), .on(4, .payment), .off(34)]
        ),
        Story(
            testDescription: "S22: without an event the read says when it was paid",
            facts: [
                .checkout("complete", paid: true, 300, price: "price_pass", paidBy: 1, read: true)
            ],
            expected: [.off(0.5), .on(1, .payment), .on(30, .payment), .off(31)]
        ),
        Story(
            testDescription: "S22: a read that is older than this begins with the page",
            facts: [.checkout("complete", paid: true, 300, price: "price_pass", read: true)],
            expected: [.on(0, .payment), .off(30)]
        ),
        Story(
            testDescription: "S22: an unlock begins when it is paid",
            facts: [.checkout("complete", paid: true, 0.5, price: "price_lifetime")],
            expected: [.off(0.4), .on(0.5, .payment), .on(900, .payment)]
        ),
        Story(
            testDescription: "S23: an unlock bought with a month outlives it",
            facts: [
                .plan("active", 0, .item(0, 30)),
                .bill("in_1", 0.5, [.full(0, 30), .once("price_lifetime", 0)]),
                .plan("canceled", 10, .item(0, 30), ended: 10),
            ],
            expected: [.on(0, .payment), .on(20, .payment), .on(900, .payment)],
            coins: 10
        ),
        Story(
            testDescription: "S23: passes and coins bought with a year run from the payment",
            facts: [
                .plan("active", 0, .item(0, 365, "price_yearly")),
                .bill(
                    "in_1",
                    2,
                    [
                        .full(0, 365, "price_yearly"), .once("price_pass", 0, quantity: 2),
                        .once("price_coins", 0, quantity: 3),
                    ]
                ),
            ],
            expected: [.off(1), .on(2, .payment), .on(61, .payment), .off(62)],
            coins: 300
        ),
        Story(
            testDescription: "S23: it ends when all of the invoice was given back",
            facts: [
                .plan("active", 0, .item(0, 365, "price_yearly")),
                .bill(
                    "in_1",
                    0,
                    amount: 1000,
                    [.full(0, 365, "price_yearly"), .once("price_lifetime", 0)]
                ),
                .refunded("re_1", 400, of: "in_1", 5), .refunded("re_2", 600, of: "in_1", 8),
            ],
            expected: [.on(7, .payment), .off(8)]
        ),
        Story(
            testDescription: "S23: what renews is a plan, whatever the catalog calls it",
            facts: [
                .plan("active", 0, .item(0, 10, "price_pass")),
                .bill("in_1", 0, [.full(0, 10, "price_pass")]),
            ],
            expected: [.on(9, .payment), .on(10, .renewal), .off(12)]
        ),
        Story(
            testDescription: "S23: a credit by hand grants nothing",
            facts: [
                .plan("active", 0, .item(0, 365, "price_yearly")),
                .bill("in_1", 0, [.once("price_lifetime", 0, amount: -500)]),
            ],
            expected: [.off(1)]
        ),
    ]

    /// S24: the coins of a plan.
    static let coins = [
        Story(
            testDescription: "S24: to a year and back and to the year credits no month twice",
            facts: [
                .plan("active", 0.3, .item(0.3, 365.3, "price_yearly")),
                .bill("in_1", 0, [.full(0, 30)]),
                .bill("in_2", 0.1, [.credit(0.1, 30), .full(0.1, 365.1, "price_yearly")]),
                .bill("in_3", 0.2, [.credit(0.2, 365.1, "price_yearly"), .full(0.2, 30.2)]),
                .bill("in_4", 0.3, [.credit(0.3, 30.2), .full(0.3, 365.3, "price_yearly")]),
            ],
            coins: 0
        ),
        Story(
            testDescription: "S24: half a month given back takes half of its coins",
            facts: [
                .plan("active", 15, .item(15, 380, "price_yearly")),
                .bill("in_1", 0, [.full(0, 30)]),
                .bill("in_2", 15, [.credit(15, 30), .full(15, 380, "price_yearly")]),
            ],
            coins: 5
        ),
        Story(
            testDescription: "S24: what stays is rounded down",
            facts: [
                .plan("active", 10, .item(10, 375, "price_yearly")),
                .bill("in_1", 0, [.full(0, 30)]),
                .bill("in_2", 10, [.credit(10, 30), .full(10, 375, "price_yearly")]),
            ],
            coins: 3
        ),
        Story(
            testDescription: "S24: a larger plan for the rest of the month, and back",
            facts: [
                .plan("active", 20, .item(0, 30)), .bill("in_1", 0, [.full(0, 30)]),
                .bill("in_2", 10, [.credit(10, 30), .charge(10, 30, "price_club")]),
                .bill("in_3", 20, [.credit(20, 30, "price_club"), .charge(20, 30)]),
            ],
            coins: 12
        ),  // ⌊10 × 10/30⌋, of ⌊20 × 20/30⌋ a half, ⌊10 × 10/30⌋
        Story(
            testDescription: "S24: a month that ends with the year before it is a share of a month",
            facts: [
                .plan("active", 350, .item(350, 365)),
                .bill("in_1", 0, [.full(0, 365, "price_yearly")]),
                .bill("in_2", 350, [.credit(350, 365, "price_yearly"), .charge(350, 365)]),
            ],
            coins: 4  // ⌊10 × 15/31⌋
        ),
        Story(
            testDescription: "S24: the month that a share is of ends on the anchor's day",
            facts: [
                .plan("active", 31, .item(31, 45)),
                .bill("in_1", 0, [.full(-320, 45, "price_yearly")]),
                .bill("in_2", 31, [.credit(31, 45, "price_yearly"), .charge(31, 45)]),
            ],
            coins: 4  // From 15 January to 15 February: ⌊10 × 14/31⌋.
        ),
        Story(
            testDescription: "S24: a price that no catalog knows tells the length of its month",
            facts: [
                .plan("active", 15, .item(0, 30)),
                .bill("in_1", 0, [.full(0, 30, "price_gone")]),
                .bill("in_2", 15, [.credit(15, 30, "price_gone"), .charge(15, 30)]),
            ],
            coins: 5
        ),
        Story(
            testDescription: "S24: more seats and fewer within one second",
            facts: [
                .plan("active", 15, .item(0, 30, quantity: 2)),
                .bill("in_1", 0, [.full(0, 30)]),
                .bill(
                    "in_2",
                    15,
                    [
                        .credit(15, 30), .charge(15, 30, quantity: 5),
                        .credit(15, 30, quantity: 5), .charge(15, 30, quantity: 2),
                    ]
                ),
            ],
            coins: 15
        ),
        Story(
            testDescription: "S24: a credit that names no item is that of its price",
            facts: [
                .plan("active", 15, .item(0, 30)), .bill("in_1", 0, [.full(0, 30)]),
                .bill("in_2", 15, [.credit(15, 30, "price_monthly", nil)]),
            ],
            coins: 5
        ),
        Story(
            testDescription: "S24: another item's credit takes nothing",
            facts: [
                .plan("active", 15, .item(0, 30)), .bill("in_1", 0, [.full(0, 30)]),
                .bill("in_2", 15, [.credit(15, 30, "price_monthly", "si_2")]),
            ],
            coins: 10
        ),
        Story(
            testDescription: "S24: a credit beyond what was charged takes no more than that",
            facts: [
                .plan("active", 15, .item(0, 30)), .bill("in_1", 0, [.full(0, 30)]),
                .bill("in_2", 15, [.credit(0, 400)]), .bill("in_3", 16, [.credit(0, 400)]),
            ],
            coins: 0
        ),
        Story(
            testDescription: "S24: a credit on an invoice that is not paid takes nothing yet",
            facts: [
                .plan("active", 15, .item(0, 30)), .bill("in_1", 0, [.full(0, 30)]),
                .bill("in_2", nil, [.credit(15, 30)]),
            ],
            coins: 10
        ),
        Story(
            testDescription: "S24: refund and credit take together at most the credit",
            facts: [
                .plan("active", 15, .item(15, 380, "price_yearly")),
                .bill("in_1", 0, amount: 1000, [.full(0, 30)]),
                .bill("in_2", 15, [.credit(15, 30), .full(15, 380, "price_yearly")]),
                .refunded("re_1", 800, of: "in_1", 16),
            ],
            coins: 0
        ),
        Story(
            testDescription: "S24: a proration without money moves no coins",
            facts: [
                .plan("active", 15, .item(0, 30)), .bill("in_1", 0, [.full(0, 30)]),
                .bill("in_2", 15, [.charge(15, 30, "price_club", amount: 0)]),
            ],
            coins: 10
        ),
    ]

    @Test("access and coins follow the money", arguments: stories)
    func access(_ story: Story) {
        expect(story)
    }

    @Test("order and repetition of arrival do not matter", arguments: stories)
    func convergence(_ story: Story) throws {
        try expectOrderDoesNotMatter(story)
    }

    @Test("facts that name no items are read by their prices")
    func olderFacts() {
        func older(_ facts: [Fact]) -> [Fact] {
            facts.map { fact in
                guard case .invoice(var invoice) = fact.statement else { return fact }
                for index in invoice.lines.indices { invoice.lines[index].item = nil }
                var fact = fact
                fact.statement = .invoice(invoice)
                return fact
            }
        }
        let seats = World(older(Self.pastDue[0].facts))
        #expect(seats.timeline().ground(at: .day(29)) == .payment)
        let switched = World(older(Self.coins[0].facts))
        #expect(switched.coins() == 0)
    }

    @Test("what was bought once and no catalog knows waits for one")
    func unknownOnce() {
        let world = World([
            .plan("active", 0, .item(0, 30)),
            .bill("in_1", 0, [.full(0, 30), .once("price_of_tomorrow", 0)]),
        ])
        #expect(
            world.evaluations()[0].unknownProducts == [StoreProduct(.stripe, "price_of_tomorrow")]
        )
    }

    @Test("a plan that ends with a refund ends so in past_due too, at whatever price")
    func refundedPlan() {
        var catalog = Shop.catalog
        catalog.refundedPlan = .end
        let history = Shop.history(catalog)
        let world = World([
            .plan("past_due", 12, .item(0, 30, "price_yearly")),
            .bill("in_1", 0, amount: 1000, [.full(0, 30)]),
            .refunded("re_1", 1000, of: "in_1", 11),
        ])
        let timeline = world.timeline(history)
        #expect(timeline.ground("archive", at: .day(10)) == .payment)
        #expect(timeline.ground("archive", at: .day(11)) == nil)
    }

    @Test("the rest of a year that a change began, and a proration paid, ends with its refund too")
    func refundedRest() {
        var catalog = Shop.catalog
        catalog.refundedPlan = .end
        let world = World([
            .plan("active", 15, .item(15, 365, "price_yearly")),
            .bill("in_1", 0, [.full(0, 30)]),
            .bill("in_2", 15, amount: 900, [.credit(15, 30), .charge(15, 365, "price_yearly")]),
            .refunded("re_1", 900, of: "in_2", 20),
        ])
        let timeline = world.timeline(Shop.history(catalog))
        #expect(timeline.ground("archive", at: .day(19)) == .payment)
        #expect(timeline.ground("archive", at: .day(20)) == nil)
        // More seats in mid-period are another matter.
        let seats = World([
            .plan("active", 15, .item(0, 30, quantity: 2)), .bill("in_1", 0, [.full(0, 30)]),
            .bill("in_2", 15, amount: 500, [.charge(15, 30)]),
            .refunded("re_1", 500, of: "in_2", 20),
        ])
        #expect(seats.timeline(Shop.history(catalog)).ground("pro", at: .day(21)) == .payment)
    }
}
