import Reports
import Testing
import TollgateAssembly
import TollgateCore
import TollgateService

/// What was charged for which line of Stripe's, on which day, from which country.
@Suite("Sales of Stripe's")
struct StripeSaleTests {
    typealias Line = StripeInvoice.Line

    struct Story: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var paid: Int64
        var lines: [Line]
        /// Of the lines that are charged: what was paid, and the price, in cents.
        var sales: [Int64]
        var prices: [Int64]
        var offers: [Reports.Offer] = [.none, .none]
    }

    /// Line A is 10.00 a month, line B 20.00; VAT is 20 %.
    static func a(_ amount: Int64, off: Int64 = 0, tax: Int64? = nil) -> Line {
        .line("il_a", amount, from: 15, to: 46, item: "si_a", discount: off, tax: tax)
    }

    static func b(_ amount: Int64, off: Int64 = 0, tax: Int64? = nil) -> Line {
        .line(
            "il_b",
            amount,
            from: 15,
            to: 46,
            price: "price_b",
            item: "si_b",
            discount: off,
            tax: tax
        )
    }

    static func credit(_ amount: Int64, item: String?) -> Line {
        .line("il_c", -amount, from: 15, to: 31, proration: true, item: item, discount: 0)
    }

    static let stories: [Story] = [
        Story(
            testDescription: "a coupon for one of two products",
            paid: 2900,
            lines: [a(1000, off: 100), b(2000)],
            sales: [900, 2000],
            prices: [900, 2000],
            offers: [.discount, .none]
        ),
        Story(
            testDescription: "tax on top: 9.00 and 20.00, and 20 % of each",
            paid: 3480,
            lines: [a(1000, off: 100, tax: 180), b(2000, tax: 400)],
            sales: [1080, 2400],
            prices: [900, 2000],
            offers: [.discount, .none]
        ),
        Story(
            testDescription: "tax on top makes up for the discount: 9.00 and 1.00",
            paid: 3500,
            lines: [a(1000, off: 100, tax: 100), b(2000, tax: 500)],
            sales: [1000, 2500],
            prices: [900, 2000],
            offers: [.discount, .none]
        ),
        Story(
            testDescription: "tax in the price: 9.00 and 20.00, of which 1.50 and 3.33 are tax",
            paid: 2900,
            lines: [a(1000, off: 100), b(2000)],
            sales: [900, 2000],
            prices: [900, 2000],
            offers: [.discount, .none]
        ),
        Story(
            testDescription: "the credit of a change of plan lowers what its own item was charged",
            paid: 2300,
            lines: [a(2000, off: 200), b(1000), credit(500, item: "si_a")],
            sales: [1300, 1000],
            prices: [1800, 1000],
            offers: [.discount, .none]
        ),
        Story(
            testDescription: "a credit larger than its item's charge lowers the others too",
            paid: 500,
            lines: [a(500), b(1000), credit(1000, item: "si_a")],
            sales: [0, 500],
            prices: [500, 1000]
        ),
        Story(
            testDescription: "the credit of an item that was removed lowers all in proportion",
            paid: 1500,
            lines: [a(1000), b(2000), credit(1500, item: "si_gone")],
            sales: [500, 1000],
            prices: [1000, 2000]
        ),
        Story(
            testDescription: "credits for more than is charged: nothing was paid",
            paid: 0,
            lines: [a(1000), b(2000), credit(9000, item: "si_a")],
            sales: [0, 0],
            prices: [1000, 2000]
        ),
        Story(
            testDescription: "the customer's balance pays half of it",
            paid: 1500,
            lines: [a(1000), b(2000)],
            sales: [500, 1000],
            prices: [1000, 2000]
        ),
        Story(
            testDescription: "a coupon for all of one product",
            paid: 2000,
            lines: [a(1000, off: 1000), b(2000)],
            sales: [0, 2000],
            prices: [0, 2000],
            offers: [.discount, .none]
        ),
    ]

    @Test("each line has its own discount, tax and credit", arguments: stories)
    func lines(_ story: Story) {
        let fact = Fact.invoice("in_1", of: "sub_1", paid: 15, amount: story.paid, story.lines)
        let rows = Shop.rows(Purchase(key: .stripe("sub_1"), joining: [fact]))
        #expect(rows.sales.map { $0.amount / 10 } == story.sales)
        #expect(rows.sales.map(\.offer) == story.offers)
        #expect(rows.periods.map { $0.amount / 10 } == story.prices)
        // What was given for nothing is not active.
        #expect(rows.periods.map(\.isPaid) == story.prices.map { $0 > 0 })
    }

    // MARK: - Day and country

    static func payment(
        _ session: String,
        created: Double,
        said day: Double,
        country: String? = nil,
        paidBy: Double? = nil
    ) -> Fact {
        Fact(
            purchase: .stripe("pi_1"),
            source: session,
            stated: Stated(.day(day), isRead: paidBy != nil),
            statement: .payment(
                StripePayment(
                    session: session,
                    status: "complete",
                    isPaid: true,
                    customer: "cus_1",
                    reference: nil,
                    lines: [.init(price: "price_coins", quantity: 1)],
                    amount: 1000,
                    currency: "usd",
                    created: .day(created),
                    country: country,
                    paidBy: paidBy.map { .day($0) }
                )
            )
        )
    }

    @Test(
        "a sale's day is that of its charge and its country the payer's, whatever came in one second",
        arguments: [
            // The page was opened on day 0 and paid on day 1; the payment intent was made then.
            [payment("cs_1", created: 0.9, said: 1.1, country: "DE")],
            [
                payment("cs_1", created: 0.9, said: 1.1, country: "DE"),
                payment("pi_1", created: 1, said: 1.1),
            ],
            // A read knows the charge's own second.
            [
                payment("cs_1", created: 0.9, said: 2.00001, country: "DE"),
                payment("cs_1", created: 0.9, said: 2.1, country: "DE", paidBy: 1.99999),
            ],
        ]
    )
    func dayAndCountry(_ facts: [Fact]) {
        for facts in [facts, facts.reversed()] {
            let sales = Shop.rows(Purchase(key: .stripe("pi_1"), joining: facts)).sales
            #expect(sales.map(\.day) == [.story(1)])
            #expect(sales.map(\.country) == ["DE"])
        }
    }

    @Test("where an invoice has no address, the country is that of the page on which it was bought")
    func countryOfAPlan() {
        var invoice = Fact.invoice(
            "in_1",
            of: "sub_1",
            paid: 0,
            amount: 1000,
            [.line("il_1", 1000, from: 0, to: 31)]
        )
        if case .invoice(var statement) = invoice.statement {
            statement.country = nil
            invoice.statement = .invoice(statement)
        }
        let buyer = Fact.said(
            .buyer(StripeBuyer(reference: "user_1", country: "DE")),
            on: 0,
            about: .stripe("sub_1")
        )
        let rows = Shop.rows(Purchase(key: .stripe("sub_1"), joining: [invoice, buyer]))
        #expect(rows.sales.map(\.country) == ["DE"])
        #expect(rows.periods.map(\.country) == ["DE"])
    }

    // MARK: - What went back

    @Test("two disputes of one payment are both gone; a refund and a dispute are gone twice")
    func disputes() {
        func dispute(_ id: String, _ amount: Int64, _ status: String, on day: Double) -> Fact {
            .said(
                .dispute(
                    StripeDispute(id: id, amount: amount, status: status, created: .day(day))
                ),
                on: day,
                about: .stripe("pi_1")
            )
        }
        func back(_ facts: [Fact]) -> [Int64] {
            let purchase = Purchase(
                key: .stripe("pi_1"),
                joining: [.checkout("pi_1", amount: 1000, on: 0)] + facts
            )
            return Shop.rows(purchase).sales.filter { $0.kind != .charge }.map { $0.amount / 10 }
        }
        let (first, second) = (
            dispute("dp_1", 400, "lost", on: 1), dispute("dp_2", 600, "needs_response", on: 2)
        )
        #expect(back([first, second]) == [400, 600])
        #expect(back([dispute("dp_1", 1000, "won", on: 1), second]) == [600])
        let refund = Fact.refund("re_1", of: "pi_1", amount: 1000, on: 1)
        #expect(back([refund, dispute("dp_1", 1000, "lost", on: 2)]) == [1000, 1000])
    }

    @Test("a disputed inquiry is gone on the day on which its money was withdrawn")
    func inquiry() {
        let dispute = StripeDispute(
            id: "dp_1",
            amount: 1000,
            status: "needs_response",
            created: .day(2),
            withdrawn: .day(9)
        )
        let purchase = Purchase(
            key: .stripe("pi_1"),
            joining: [
                .checkout("pi_1", amount: 1000, on: 0),
                .said(.dispute(dispute), on: 9, about: .stripe("pi_1")),
            ]
        )
        let back = Shop.rows(purchase).sales.filter { $0.kind == .chargeback }
        #expect(back.map(\.at) == [.day(9)])
    }

    // MARK: - Coming back

    static func month(_ subscription: String, from day: Double, to end: Double) -> [Fact] {
        [
            .invoice(
                "in_\(subscription)",
                of: subscription,
                paid: day,
                amount: 1000,
                [.line("il_\(subscription)", 1000, from: day, to: day + 31)]
            ),
            .subscription(
                subscription,
                "canceled",
                from: day,
                to: day + 31,
                said: end,
                ended: end
            ),
        ]
    }

    /// Entries of all of one customer's subscriptions, as they are added up.
    static func entries(_ subscriptions: [String: [Fact]]) -> Reports.Entries {
        var entries = Reports.Entries()
        var periods: [Reports.PaidPeriod] = []
        for (id, facts) in subscriptions {
            let rows = Reports.rows(
                of: Purchase(key: .stripe(id), joining: facts),
                by: Tollgate.storeRows,
                in: Shop.history
            ) { _ in "ann" }
            entries += rows.entries
            periods += rows.periods
        }
        entries += Reports.returnEntries(periods)
        return entries
    }

    static func count(_ entries: Reports.Entries, _ measure: Reports.Measure) -> [Int64: Int64] {
        var counts: [Int64: Int64] = [:]
        for (key, sum) in entries.sums where key.measure == measure && sum.items != 0 {
            counts[key.day.number - Reports.Day.story(0).number, default: 0] += sum.items
        }
        return counts
    }

    @Test("who subscribes again after the end has returned, and is no new subscriber")
    func returning() {
        let entries = Self.entries([
            "sub_1": Self.month("sub_1", from: 0, to: 31),
            "sub_2": Self.month("sub_2", from: 60, to: 91),
            "sub_3": Self.month("sub_3", from: 91, to: 122),
        ])
        #expect(Self.count(entries, .newSubscriptions) == [0: 1])
        #expect(Self.count(entries, .churned) == [31: -1, 91: -1, 122: -1])
        #expect(Self.count(entries, .returned) == [60: 1, 91: 1])
        let values = entries.sums.filter { $0.key.measure == .returned }.map {
            $0.value.amount / $0.key.detail
        }
        #expect(values == [10_000, 10_000])
        let events = entries.sums.filter { $0.key.measure == .event }
        func number(_ event: Reports.SubscriptionEvent) -> Int64 {
            events.filter { $0.key.detail == event.rawValue }.reduce(0) { $0 + $1.value.items }
        }
        #expect(number(.subscribe) == 1 && number(.reactivate) == 2 && number(.cancel) == 3)
    }

    @Test("a second subscription beside the first is new; each that ended is followed once")
    func beside() {
        let beside = Self.entries([
            "sub_1": Self.month("sub_1", from: 0, to: 31),
            "sub_2": Self.month("sub_2", from: 20, to: 51),
        ])
        #expect(Self.count(beside, .newSubscriptions) == [0: 1, 20: 1])
        #expect(Self.count(beside, .returned).isEmpty)
        let two = Self.entries([
            "sub_1": Self.month("sub_1", from: 0, to: 31),
            "sub_2": Self.month("sub_2", from: 60, to: 91),
            "sub_3": Self.month("sub_3", from: 61, to: 92),
        ])
        #expect(Self.count(two, .newSubscriptions) == [0: 1, 61: 1])
        #expect(Self.count(two, .returned) == [60: 1])
    }

    @Test(
        "who pays after a trial that followed an ended subscription has returned with the payment"
    )
    func returningWithATrial() {
        let trial: [Fact] = [
            .invoice(
                "in_2",
                of: "sub_2",
                paid: 60,
                amount: 0,
                [.line("il_2", 0, from: 60, to: 67)]
            ),
            .invoice(
                "in_3",
                of: "sub_2",
                paid: 67,
                amount: 1000,
                [.line("il_3", 1000, from: 67, to: 98)]
            ),
        ]
        let entries = Self.entries([
            "sub_1": Self.month("sub_1", from: 0, to: 31), "sub_2": trial,
        ])
        #expect(Self.count(entries, .returned) == [67: 1])
        #expect(Self.count(entries, .newSubscriptions) == [0: 1])
    }
}
