import Foundation
import Reports
import Testing
import TollgateCore

@Suite("The monthly statement")
struct StatementTests {
    /// One German sale of 9.99 EUR with a line, one American of 9.99 USD without, and a Stripe
    /// payment that was given back.
    private static func payments() -> [Finance.Payment] {
        let german = AppStoreMatchingTests.sale("de", currency: "EUR")
        let american = AppStoreMatchingTests.sale("us")
        let web = StripeMatchingTests.payment()
        let refund = StripeMatchingTests.payment("re_1", kind: .refund, day: 1)
        return Finance.payments(
            [german, american, web, refund],
            appStore: [
                .init(
                    movement: german,
                    line: AppStoreMatchingTests.line(
                        proceeds: 5_880,
                        currency: "EUR",
                        country: "DE"
                    ),
                    isSamePrice: true
                )
            ],
            stripe: [
                .init(movement: web, lines: [StripeMatchingTests.booked()]),
                .init(
                    movement: refund,
                    lines: [
                        StripeMatchingTests.booked(
                            "txn_2",
                            kind: .refund,
                            source: "re_1",
                            day: 1,
                            cents: -999,
                            fee: 0
                        )
                    ]
                ),
            ]
        )
    }

    @Test("A price is tax, commission and what is paid out")
    func breakdown() throws {
        let payments = Self.payments()
        let german = try #require(payments.first { $0.id == "de" })
        // 9.99 holds 19 % of tax: 1.60. Apple keeps 30 % of the 8.39 that are left.
        #expect(german.tax?.description == "1.60 EUR")
        #expect(german.net.description == "5.88 EUR")
        #expect(german.commission?.description == "2.51 EUR")
        #expect(german.basis == .reported)
        let american = try #require(payments.first { $0.id == "us" })
        #expect(american.net.description == "6.99 USD")
        #expect(american.commission?.description == "3.00 USD")
        #expect(american.basis == .estimated)
        let web = try #require(payments.first { $0.id == "in_1" })
        #expect(web.net.description == "9.40 USD" && web.commission?.description == "0.59 USD")
        #expect(web.refunded?.description == "9.99 USD")
    }

    @Test("Sums are by store and currency, and the balance closes with what moved it")
    func totals() throws {
        let transfer = Finance.Money(minorUnits: -940, currency: "usd")
        let payout = Finance.BalanceLine(
            id: "txn_3",
            kind: .payout,
            category: "payout",
            source: "po_1",
            created: AppStoreMatchingTests.june.advanced(by: 3).start,
            available: AppStoreMatchingTests.june.advanced(by: 4).start,
            amount: transfer,
            fee: .zero("USD"),
            net: transfer
        )
        let statement = Finance.Statement(
            month: AppStoreMatchingTests.june,
            environment: .production,
            payments: Self.payments(),
            payouts: [
                Finance.Payout(
                    store: .stripe,
                    id: "po_1",
                    arrival: AppStoreMatchingTests.june.advanced(by: 4),
                    status: "paid",
                    amount: -transfer
                )
            ],
            lines: [
                StripeMatchingTests.booked(day: -5), StripeMatchingTests.booked("txn_9"), payout,
            ]
        )
        #expect(statement.month == "2026-06")
        #expect(
            statement.totals.map { "\($0.store.rawValue) \($0.currency) \($0.net)" } == [
                "app_store EUR 5.88 EUR", "app_store USD 6.99 USD", "stripe USD -0.59 USD",
            ]
        )
        let web = try #require(statement.totals.last)
        #expect(web.charges == 1 && web.refunds == 1 && web.estimated == 0)
        #expect(statement.totals[1].estimated == 1)
        let balance = try #require(statement.balances.first)
        #expect(balance.opening.decimal == "9.40")
        #expect(balance.charges.decimal == "9.99" && balance.fees.decimal == "-0.59")
        #expect(balance.payouts.decimal == "-9.40" && balance.closing.decimal == "9.40")
        #expect(statement.stripe.count == 1)
        let csv = statement.sheet.csv
        #expect(csv.contains("balance,stripe,USD,closing,2026-06,,9.40\r\n"))
        #expect(csv.contains("payments,app_store,EUR,net,2026-06,,5.88\r\n"))
    }
}
