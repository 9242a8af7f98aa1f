import Reports
import Testing
import TollgateAssembly
import TollgateCore
import TollgateService

@Suite("Rows of what was sold")
struct RowTests {
    @Test("a trial, two months and a refund are three charges and one refund")
    func appStoreStory() throws {
        let rows = Shop.rows(
            Purchase(
                key: .appStore("1"),
                joining: [
                    .period("a", of: "1", from: 0, to: 7, trial: true),
                    .period("b", of: "1", from: 7, to: 38),
                    .period("c", of: "1", from: 38, to: 66, revoked: 50),
                ]
            )
        )
        #expect(rows.sales.map(\.kind) == [.charge, .charge, .charge, .refund])
        #expect(rows.sales.map(\.amount) == [0, 9_990, 9_990, 9_990])
        #expect(rows.sales.map(\.offer) == [.trial, .none, .none, .none])
        #expect(rows.sales.map(\.isRenewal) == [false, true, true, true])
        #expect(Set(rows.sales.map(\.country)) == ["JP"])
        #expect(Set(rows.sales.map(\.product)) == ["monthly"])
        let refund = try #require(rows.sales.last)
        #expect(refund.at == .day(50) && refund.purchased == .day(38) && refund.isFirstRefund)
        #expect(rows.periods.map(\.isPaid) == [false, true, true])
        #expect(rows.periods.map(\.effectiveEnd) == [.day(7), .day(38), .day(50)])
        #expect(rows.periods.map(\.refunded) == [nil, nil, .day(50)])
        #expect(rows.coins.map(\.kind) == [.sold, .sold, .sold, .refunded])
        #expect(rows.coins.last?.at == .day(50))
    }

    // https://developer.apple.com/documentation/appstoreserverapi/transactionreason
    @Test("an upgrade is bought, a downgrade is renewed", arguments: [20.0, 31.0])
    func upgrade(_ day: Double) {
        let rows = Shop.rows(
            Purchase(
                key: .appStore("1"),
                joining: [
                    .period("a", of: "1", from: 0, to: 31),
                    .period("b", of: "1", from: day, to: day + 365, product: "app.yearly"),
                    .period("c", of: "1", from: day + 365, to: day + 730, product: "app.yearly"),
                ]
            )
        )
        #expect(rows.sales.map(\.isRenewal) == [false, day == 31, true])
    }

    @Test("a part of a price that is given back is a part of the amount, and ends nothing whole")
    func partialRefund() {
        var facts = [Fact.period("a", of: "1", from: 0, to: 31)]
        if case .period(var period) = facts[0].statement {
            period.revoked = .day(10)
            period.revokedShare = 25_000
            facts[0].statement = .period(period)
        }
        let rows = Shop.rows(Purchase(key: .appStore("1"), joining: facts))
        #expect(rows.sales.map(\.amount) == [9_990, 2_497])
        #expect(rows.periods.map(\.refunded) == [nil])
    }

    @Test("what the family shares is no sale")
    func familySharing() {
        var fact = Fact.period("a", of: "1", from: 0, to: 31)
        if case .period(var period) = fact.statement {
            period.isFamilyShared = true
            fact.statement = .period(period)
        }
        let rows = Shop.rows(Purchase(key: .appStore("1"), joining: [fact]))
        #expect(rows.periods.allSatisfy { !$0.isPaid })
        #expect(rows.entries.sums.isEmpty)
    }

    @Test("grace prolongs the last period until the payment failed for good")
    func grace() throws {
        let facts: [Fact] = [
            .period("a", of: "1", from: 0, to: 31),
            .said(
                .renewal(RenewalTerms(willRenew: true, graceEnd: .day(47))),
                on: 31,
                about: .appStore("1")
            ),
            .said(.status(SubscriptionStatus(value: 4)), on: 31, about: .appStore("1")),
        ]
        let inGrace = Shop.rows(Purchase(key: .appStore("1"), joining: facts)).periods
        #expect(inGrace.map(\.paidUntil) == [.day(31)])
        #expect(inGrace.map(\.effectiveEnd) == [.day(47)])
        let failed = Fact.said(
            .status(SubscriptionStatus(value: 3)),
            on: 40,
            about: .appStore("1")
        )
        let after = Shop.rows(Purchase(key: .appStore("1"), joining: facts + [failed])).periods
        #expect(after.map(\.effectiveEnd) == [.day(40)])
        #expect(after.map(\.retriedSince) == [.day(40)])
    }

    @Test(
        "grace stays in the past, whatever the newest terms say",
        arguments: [
            // It goes on; it expires; it is cancelled on day 40, and a read says so again later.
            ([], 47.0), ([.status(3, on: 47), .terms(on: 47)], 47),
            ([.status(2, on: 40), .terms(on: 40), .status(2, on: 45)], 40),
            // The payment comes on day 40, and the period is dated so; or at once, as it was.
            ([.status(1, on: 40), .terms(on: 40), .period("b", of: "1", from: 40, to: 62)], 40),
            ([.status(1, on: 40), .terms(on: 40), .period("b", of: "1", from: 31, to: 62)], 31),
            // It comes long after, and another grace follows that period.
            (
                [
                    .status(3, on: 47), .terms(on: 47), .period("b", of: "1", from: 60, to: 91),
                    .terms(graceEnd: 107, on: 91), .status(4, on: 91),
                ], 47
            ),
            // Cancelled in grace, and bought again.
            (
                [
                    .status(2, on: 40), .terms(on: 40), .period("b", of: "1", from: 80, to: 111),
                    .status(1, on: 80),
                ], 40
            ),
        ] as [([Fact], Double)]
    )
    func graceStays(_ later: [Fact], _ end: Double) throws {
        let facts: [Fact] =
            [
                .period("a", of: "1", from: 0, to: 31), .terms(graceEnd: 47, on: 31),
                .status(4, on: 31),
            ] + later
        for facts in [facts, facts.reversed()] {
            let periods = Shop.rows(Purchase(key: .appStore("1"), joining: facts)).periods
            #expect(periods.first?.effectiveEnd == .day(end))
            #expect(periods.first?.paidUntil == .day(31))
        }
    }

    @Test("a year of paid service lowers the App Store's share from then on")
    func afterOneYear() {
        let facts = (0..<15).map { month in
            Fact.period(
                "p\(month + 10)",
                of: "1",
                from: Double(month * 30),
                to: Double(month * 30 + 30)
            )
        }
        let sales = Shop.rows(Purchase(key: .appStore("1"), joining: facts)).sales
        #expect(sales.firstIndex(where: \.isAfterOneYear) == 13)
    }

    @Test(
        "whatever an invoice was paid with, its lines' charges add up to it",
        arguments: [Int64(0), 1, 333, 999, 1000, 1_234_567]
    )
    func invoiceLines(_ amount: Int64) {
        let fact = Fact.invoice(
            "in_1",
            of: "sub_1",
            paid: 0.1,
            amount: amount,
            [
                .line("il_1", 333, from: 0, to: 31),
                .line("il_2", 667, from: 0, to: 31, price: "price_yearly"),
                .line("il_3", 1, from: 0, to: 31, price: "price_coins"),
            ]
        )
        let sales = Shop.rows(Purchase(key: .stripe("sub_1"), joining: [fact])).sales
        #expect(sales.count == 3)
        let charged: Int64 = sales.reduce(0) { $0 + $1.amount }
        #expect(charged == amount * 10)
        #expect(sales.allSatisfy { $0.currency == "USD" && $0.country == "US" })
        #expect(sales.allSatisfy { $0.at == .day(0.1) })
    }

    @Test("a change of plan in the middle ends the old period, and what is paid counts")
    func proration() throws {
        let facts: [Fact] = [
            .subscription(
                "sub_1",
                "active",
                price: "price_yearly",
                from: 10,
                to: 375,
                said: 10
            ),
            .invoice(
                "in_1",
                of: "sub_1",
                paid: 0,
                amount: 1000,
                [.line("il_1", 1000, from: 0, to: 31)]
            ),
            .invoice(
                "in_2",
                of: "sub_1",
                paid: 10,
                amount: 9323,
                [
                    .line("il_2", -677, from: 10, to: 31, proration: true),
                    .line("il_3", 10_000, from: 10, to: 375, price: "price_yearly"),
                ]
            ),
        ]
        let rows = Shop.rows(Purchase(key: .stripe("sub_1"), joining: facts))
        #expect(rows.sales.map(\.amount) == [10_000, 93_230])
        #expect(rows.periods.map(\.effectiveEnd) == [.day(10), .day(375)])
        #expect(rows.periods.map(\.product) == ["monthly", "yearly"])
    }

    @Test("a plan is worth its price, however a change of plan was settled")
    func prices() {
        let first = Fact.invoice(
            "in_1",
            of: "sub_1",
            paid: 0,
            amount: 1000,
            [.line("il_1", 1000, from: 0, to: 31)]
        )
        let change: [StripeInvoice.Line] = [
            .line("il_2", -500, from: 15, to: 31, proration: true),
            .line("il_3", 1000, from: 15, to: 31, price: "price_big", proration: true),
        ]
        let subscription = Fact.subscription(
            "sub_1",
            "active",
            price: "price_big",
            from: 31,
            to: 62,
            said: 31
        )
        let next = StripeInvoice.Line.line("il_4", 2000, from: 31, to: 62, price: "price_big")
        let stories: [(String, [Fact])] = [
            (
                "at once",
                [
                    .invoice("in_2", of: "sub_1", paid: 15, amount: 500, change),
                    .invoice("in_3", of: "sub_1", paid: 31, amount: 2000, [next]),
                ]
            ),
            (
                "with the next cycle",
                [.invoice("in_2", of: "sub_1", paid: 31, amount: 2500, change + [next])]
            ),
        ]
        for (name, facts) in stories {
            let rows = Shop.rows(
                Purchase(key: .stripe("sub_1"), joining: [first, subscription] + facts)
            )
            #expect(rows.periods.map(\.amount) == [10_000, 10_000, 20_000], "\(name)")
            #expect(rows.periods.map(\.effectiveEnd) == [.day(15), .day(31), .day(62)], "\(name)")
            let charged: Int64 = rows.sales.reduce(0) { $0 + $1.amount }
            #expect(charged == 35_000, "\(name)")
            // From the change on it is worth more, and nothing was ever worth less.
            let measures = Set(rows.entries.sums.keys.map(\.measure))
            #expect(measures.contains(.expansion) && !measures.contains(.contraction), "\(name)")
        }
    }

    @Test(
        "what the customer's balance pays is a price too; a discount lowers it, and a tax does not",
        arguments: [
            (Int64(0), Int64(1000), Int64(10_000), Reports.Offer.none),
            (300, 600, 6_000, .discount), (0, 0, 0, .discount), (1100, 1100, 10_000, .none),
        ]
    )
    func settled(
        _ paid: Int64,
        _ total: Int64,
        _ price: Int64,
        _ offer: Reports.Offer
    ) throws {
        let fact = Fact.invoice(
            "in_1",
            of: "sub_1",
            paid: 0,
            amount: paid,
            total: total,
            [.line("il_1", 1000, from: 0, to: 31)]
        )
        let rows = Shop.rows(Purchase(key: .stripe("sub_1"), joining: [fact]))
        let period = try #require(rows.periods.first)
        #expect(period.amount == price && period.offer == offer)
        #expect(period.isPaid == (price > 0))
        #expect(rows.sales.map(\.amount) == [paid * 10])
    }

    @Test("a plan that was changed and is not invoiced yet is one subscription, not two")
    func changedWithoutInvoice() {
        func item(_ id: String, _ price: String) -> StripeSubscription.Item {
            .init(id: id, price: price, quantity: 1, start: .day(0), end: .day(31))
        }
        func periods(
            _ lines: [StripeInvoice.Line],
            _ items: [StripeSubscription.Item]
        ) -> [String] {
            let subscription = StripeSubscription(
                status: "active",
                customer: "cus_1",
                items: items
            )
            let facts: [Fact] = [
                .invoice("in_1", of: "sub_1", paid: 0, amount: 3000, lines),
                .said(.subscription(subscription), on: 15, about: .stripe("sub_1")),
            ]
            return Shop.rows(Purchase(key: .stripe("sub_1"), joining: facts)).periods
                .map(\.storeProduct)
        }
        let base = StripeInvoice.Line.line("il_1", 1000, from: 0, to: 31)
        let addOn = StripeInvoice.Line.line("il_2", 2000, from: 0, to: 31, price: "price_addon")
        #expect(periods([base], [item("si_1", "price_big")]) == ["price_monthly"])
        #expect(
            periods([base, addOn], [item("si_1", "price_big"), item("si_2", "price_addon")])
                == ["price_monthly", "price_addon"]
        )
        // Another item beside one that is covered counts once it is paid.
        #expect(
            periods([base], [item("si_1", "price_monthly"), item("si_2", "price_addon")])
                == ["price_monthly"]
        )
    }

    @Test("a plan that follows another without a credit takes its place")
    func changedWithoutCredit() {
        let subscription = StripeSubscription(
            status: "active",
            customer: "cus_1",
            items: [
                .init(
                    id: "si_1",
                    price: "price_yearly",
                    quantity: 1,
                    start: .day(15),
                    end: .day(380)
                )
            ]
        )
        let facts: [Fact] = [
            .invoice(
                "in_1",
                of: "sub_1",
                paid: 0,
                amount: 1000,
                [.line("il_1", 1000, from: 0, to: 31)]
            ),
            .invoice(
                "in_2",
                of: "sub_1",
                paid: 15,
                amount: 9000,
                [.line("il_2", 9000, from: 15, to: 380, price: "price_yearly")]
            ),
            .said(.subscription(subscription), on: 15, about: .stripe("sub_1")),
        ]
        let rows = Shop.rows(Purchase(key: .stripe("sub_1"), joining: facts))
        #expect(rows.periods.map(\.storeProduct) == ["price_monthly", "price_yearly"])
        #expect(rows.periods.map(\.effectiveEnd) == [.day(15), .day(380)])
    }

    @Test("a month in which nothing was used is no trial, and neither is a plan that is free")
    func nothingUsed() {
        func rows(_ paid: Double) -> Reports.PurchaseRows {
            let facts: [Fact] = [
                .invoice(
                    "in_1",
                    of: "sub_1",
                    paid: paid,
                    amount: 0,
                    [.line("il_1", 0, from: 0, to: 31)]
                ),
                .invoice(
                    "in_2",
                    of: "sub_1",
                    paid: 62,
                    amount: 700,
                    [.line("il_2", 700, from: 31, to: 62)]
                ),
            ]
            return Shop.rows(Purchase(key: .stripe("sub_1"), joining: facts))
        }
        // Invoiced when it is over, as what is metered.
        #expect(rows(31).periods.map(\.offer) == [.none])
        #expect(rows(31).entries.sums.allSatisfy { $0.key.measure != .trialStarted })
        // Invoiced when it begins.
        #expect(rows(0).periods.map(\.offer) == [.trial, .none])

        var catalog = Shop.catalog
        catalog.products[0].price = .init(amount: 0, currency: "USD")
        let free = CatalogHistory([.init(id: "1", adopted: .day(-1000), catalog: catalog)])
        let facts: [Fact] = [
            .invoice("in_1", of: "sub_1", paid: 0, amount: 0, [.line("il_1", 0, from: 0, to: 31)]),
            .subscription("sub_1", "active", from: 0, to: 31, said: 0),
        ]
        let nothing = Reports.rows(
            of: Purchase(key: .stripe("sub_1"), joining: facts),
            by: Tollgate.storeRows,
            in: free
        ) { $0.first?.canonical ?? "" }
        #expect(nothing.entries.sums.isEmpty)
    }

    @Test("refunds of a payment are at most what was paid, and each charge is refunded once")
    func stripeRefunds() {
        let facts: [Fact] = [
            .checkout("pi_1", amount: 1000, on: 0),
            .refund("re_1", of: "pi_1", amount: 400, on: 1),
            .refund("re_2", of: "pi_1", amount: 900, on: 2),
        ]
        let rows = Shop.rows(Purchase(key: .stripe("pi_1"), joining: facts))
        #expect(rows.sales.map(\.amount) == [10_000, 4_000, 6_000])
        #expect(rows.sales.map(\.isFirstRefund) == [false, true, false])
        #expect(rows.coins.map(\.coins) == [100, 100])
    }

    @Test("a trial of Stripe is a line that costs nothing")
    func stripeTrial() {
        let facts: [Fact] = [
            .invoice(
                "in_1",
                of: "sub_1",
                paid: 0,
                amount: 0,
                [.line("il_1", 0, from: 0, to: 14)]
            ),
            .invoice(
                "in_2",
                of: "sub_1",
                paid: 14,
                amount: 1000,
                [.line("il_2", 1000, from: 14, to: 45)]
            ),
        ]
        let rows = Shop.rows(Purchase(key: .stripe("sub_1"), joining: facts))
        #expect(rows.periods.map(\.offer) == [.trial, .none])
        let trials = rows.entries.sums.filter { $0.key.measure == .trialConverted }
        #expect(trials.values.map(\.items) == [1])
    }

    // https://docs.stripe.com/products-prices/pricing-models#tiered-pricing
    @Test("a tier that is free, beside one that costs, is no trial")
    func freeTier() {
        let invoice = Fact.invoice(
            "in_1",
            of: "sub_1",
            paid: 0,
            amount: 700,
            [
                .line("il_1", 0, from: 0, to: 31, item: "si_1"),
                .line("il_2", 700, from: 0, to: 31, item: "si_1"),
            ]
        )
        let rows = Shop.rows(Purchase(key: .stripe("sub_1"), joining: [invoice]))
        #expect(rows.sales.map(\.offer) == [.none])
        #expect(rows.entries.sums.allSatisfy { $0.key.measure != .trialStarted })
    }

    @Test("seats that are added are worth more, and are one subscription with those before")
    func addedSeats() {
        let added = "SEAT_ADDITION"
        let facts: [Fact] = [
            .period("1", of: "1", from: 0, to: 31, price: 30_000, additional: added),
            .period("2", of: "1", from: 10, to: 31, price: 6_000, additional: added),
            .period("3", of: "1", from: 31, to: 59, price: 36_000),
        ]
        let rows = Shop.rows(Purchase(key: .appStore("1"), joining: facts))
        let moved = rows.entries.sums.filter { Reports.Measure.movements.contains($0.key.measure) }
        func active(on day: Int64) -> Int64 {
            moved.filter { $0.key.day <= .story(day) }.reduce(0) { $0 + $1.value.items }
        }
        #expect([5, 15, 40, 70].map(active) == [1, 1, 1, 0])
        let events = rows.entries.sums.filter { $0.key.measure == .event }
        let told = events.flatMap { key, sum in
            Array(repeating: key.detail, count: Int(sum.items))
        }
        let words = told.compactMap { Reports.SubscriptionEvent(rawValue: $0)?.name }
        #expect(words.sorted() == ["Cancel", "Renew", "Subscribe"])
    }
}
