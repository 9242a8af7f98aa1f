import Reports
import Testing
import TollgateCore

// Plans that are changed and changed back within a second.
extension StripeHistoryTests {
    @Test("a plan that is changed and changed back within its second counts once")
    func changedBackAtOnce() {
        let facts: [Fact] = [
            Self.month,
            .invoice(
                "in_2",
                of: "sub_1",
                paid: 10,
                amount: 11_323,
                [
                    .line("il_2", -677, from: 10, to: 31, proration: true, item: "si_sub_1"),
                    .line(
                        "il_3",
                        12_000,
                        from: 10,
                        to: 375,
                        price: "price_yearly",
                        item: "si_sub_1"
                    ),
                ]
            ),
            .invoice(
                "in_3",
                of: "sub_1",
                paid: 10,
                amount: 0,
                [
                    .line(
                        "il_4",
                        -12_000,
                        from: 10,
                        to: 375,
                        price: "price_yearly",
                        proration: true,
                        item: "si_sub_1"
                    ),
                    .line("il_5", 1000, from: 10, to: 41, item: "si_sub_1"),
                ]
            ),
            .subscription("sub_1", "active", from: 10, to: 41, said: 10),
        ]
        for day in [5.0, 20, 35] { #expect(Self.state(Self.rows(facts), day) == [10_000, 1]) }
    }

    // https://docs.stripe.com/billing/subscriptions/billing-cycle: flexible billing keeps the anchor.
    @Test(
        "a plan that is changed and changed back within its second goes on where the anchor stays",
        arguments: 1...3
    )
    func changedBackOnTheSameDate(times: Int) {
        var facts: [Fact] = [Self.month]
        for time in 0..<times {
            facts += [
                .invoice(
                    "in_year_\(time)",
                    of: "sub_1",
                    paid: 10,
                    amount: 11_323,
                    [
                        .line(
                            "il_credit_\(time)",
                            -677,
                            from: 10,
                            to: 31,
                            proration: true,
                            item: "si_sub_1"
                        ),
                        .line(
                            "il_year_\(time)",
                            11_671,
                            from: 10,
                            to: 365,
                            price: "price_yearly",
                            proration: true,
                            item: "si_sub_1"
                        ),
                    ]
                ),
                .invoice(
                    "in_month_\(time)",
                    of: "sub_1",
                    paid: 10,
                    amount: 0,
                    [
                        .line(
                            "il_year_credit_\(time)",
                            -11_671,
                            from: 10,
                            to: 365,
                            price: "price_yearly",
                            proration: true,
                            item: "si_sub_1"
                        ),
                        .line(
                            "il_month_\(time)",
                            677,
                            from: 10,
                            to: 31,
                            proration: true,
                            item: "si_sub_1"
                        ),
                    ]
                ),
            ]
        }
        facts.append(.subscription("sub_1", "active", from: 10, to: 31, said: 10))
        let rows = Self.rows(facts)
        for day in [5.0, 20, 30] { #expect(Self.state(rows, day)[1] == 1) }
    }

    // https://docs.stripe.com/billing/subscriptions/prorations: a credit is of what was paid.
    @Test("a plan that was paid with a coupon, changed, changed back and changed again has ended")
    func changedThriceAtOnce() {
        func line(_ id: String, _ amount: Int64, _ isYear: Bool) -> StripeInvoice.Line {
            .line(
                id,
                amount,
                from: 10,
                to: isYear ? 365 : 31,
                price: isYear ? "price_yearly" : "price_monthly",
                proration: true,
                item: "si_sub_1"
            )
        }
        let changes = [
            [line("il_2", -339, false), line("il_3", 11_671, true)],
            [line("il_4", -11_671, true), line("il_5", 677, false)],
            [line("il_6", -677, false), line("il_7", 11_671, true)],
        ]
        var facts: [Fact] = [
            .invoice(
                "in_1",
                of: "sub_1",
                paid: 0,
                amount: 500,
                [.line("il_1", 1000, from: 0, to: 31, item: "si_sub_1", discount: 500)]
            )
        ]
        for (number, lines) in changes.enumerated() {
            let sum = lines.map(\.amount).reduce(0, +)
            facts.append(
                .invoice("in_1\(number)", of: "sub_1", paid: 10, amount: max(0, sum), lines)
            )
        }
        facts.append(.subscription("sub_1", "active", from: 10, to: 365, said: 10))
        let rows = Self.rows(facts)
        for day in [5.0, 20, 40] { #expect(Self.state(rows, day)[1] == 1) }
        let active = rows.periods.filter { $0.isPaid && .day(20) < $0.effectiveEnd }
        #expect(active.map(\.storeProduct) == ["price_yearly"])
    }

    // https://docs.stripe.com/billing/subscriptions/prorations: the credit names the quantity that was paid.
    @Test("one of two licences that were half price is given up: the other one stays active")
    func oneOfTwo() {
        let rows = Self.rows([
            .invoice(
                "in_1",
                of: "sub_1",
                paid: 0,
                amount: 1000,
                [
                    .line(
                        "il_1",
                        2000,
                        from: 0,
                        to: 31,
                        quantity: 2,
                        item: "si_sub_1",
                        discount: 1000
                    )
                ]
            ),
            .invoice(
                "in_2",
                of: "sub_1",
                paid: 10,
                amount: 0,
                [
                    .line(
                        "il_2",
                        -677,
                        from: 10,
                        to: 31,
                        quantity: 2,
                        proration: true,
                        item: "si_sub_1"
                    ),
                    .line("il_3", 677, from: 10, to: 31, proration: true, item: "si_sub_1"),
                ]
            ),
            .subscription("sub_1", "active", from: 0, to: 31, said: 10),
        ])
        for day in [5.0, 20, 30] { #expect(Self.state(rows, day)[1] == 1) }
    }

    @Test(
        "a second licence that is added and given up within its second leaves the first one active"
    )
    func secondAddedAndGivenUp() {
        func line(_ id: String, _ amount: Int64, _ quantity: Int64) -> StripeInvoice.Line {
            .line(
                id,
                amount,
                from: 10,
                to: 31,
                quantity: quantity,
                proration: true,
                item: "si_sub_1"
            )
        }
        let rows = Self.rows([
            Self.month,
            .invoice(
                "in_2",
                of: "sub_1",
                paid: 10,
                amount: 677,
                [line("il_2", -677, 1), line("il_3", 1354, 2)]
            ),
            .invoice(
                "in_3",
                of: "sub_1",
                paid: 10,
                amount: 0,
                [line("il_4", -1354, 2), line("il_5", 677, 1)]
            ),
            .subscription("sub_1", "active", from: 0, to: 31, said: 10),
        ])
        for day in [5.0, 20, 30] { #expect(Self.state(rows, day)[1] == 1) }
    }
}
