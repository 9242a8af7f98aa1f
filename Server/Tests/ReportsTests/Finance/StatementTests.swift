import AppStoreConnector
import Foundation
import Reports
import StripeConnector
import Testing
import TollgateCore

@Suite("The monthly statement")
struct StatementTests {
    /// The payments with what reports say of them, or what is usual.
    private static func payments(
        _ movements: [Finance.Movement],
        appStore: [Finance.AppStoreMatching.Pair] = [],
        stripe: [Finance.StripeMatching.Pair] = []
    ) -> [Finance.Payment] {
        Finance.payments(movements) { movement in
            if movement.store == .appStore {
                return AppStoreTerms().settlement(
                    of: movement,
                    reportedBy: appStore.first { $0.movement == movement }?.line
                )
            }
            let pair = stripe.first { $0.movement == movement }
            return StripeTerms().settlement(of: movement, bookedBy: pair?.lines ?? [])
        }
    }

    /// A month of Stripe's.
    private static func month(
        payouts: [Finance.Payout] = [],
        opening: [Finance.Money]? = nil,
        lines: [Finance.BalanceLine] = []
    ) -> Finance.Statement.StoreMonth {
        Finance.Statement.StoreMonth(
            store: .stripe,
            payouts: payouts,
            balances: Finance.Statement.Balance.balances(
                of: AppStoreMatchingTests.june.month,
                opening: opening,
                lines: lines
            )
        )
    }

    /// One German sale of 9.99 EUR with a line, one American of 9.99 USD without, and a Stripe
    /// payment that was given back.
    private static func payments() -> [Finance.Payment] {
        let german = AppStoreMatchingTests.sale("de", currency: "EUR")
        let american = AppStoreMatchingTests.sale("us")
        let web = StripeMatchingTests.payment()
        let refund = StripeMatchingTests.payment("re_1", kind: .refund, day: 1)
        return payments(
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

    @Test("A refund or a currency of which no report is here yet hides no sum")
    func estimates() throws {
        let web = StripeMatchingTests.payment()
        let unreported = [
            StripeMatchingTests.payment("re_1", kind: .refund, day: 1, cents: 500),
            StripeMatchingTests.payment("dp_1", kind: .dispute, day: 1, cents: 499),
        ]
        let payments = Self.payments(
            [web] + unreported,
            stripe: [.init(movement: web, lines: [StripeMatchingTests.booked()])]
        )
        let total = try #require(
            Finance.Statement(
                month: AppStoreMatchingTests.june,
                environment: .production,
                payments: payments,
                stores: []
            ).totals.first
        )
        // 9.99 less a fee of 0.59; 5.00 and 4.99 went back, and the fee did not.
        #expect(total.estimated == 2)
        #expect(total.commission?.description == "0.59 USD")
        #expect(total.tax?.description == "0.00 USD")
        #expect(total.net.description == "-0.59 USD")

        // What Stripe takes in euros nobody has said; what it took once is still told.
        let euros = ["in_2", "in_3"].map { id in
            var movement = StripeMatchingTests.payment(id)
            movement.amount = Finance.Money(minorUnits: 1000, currency: "eur")
            return movement
        }
        let booked = StripeMatchingTests.booked(cents: 1000, currency: "eur", fee: 40)
        let ofEuros = Finance.Statement(
            month: AppStoreMatchingTests.june,
            environment: .production,
            payments: Self.payments(
                euros,
                stripe: [.init(movement: euros[0], lines: [booked])]
            ),
            stores: []
        ).totals
        #expect(ofEuros.map { $0.commission?.description } == ["0.40 EUR"])
        #expect(ofEuros.map(\.net.description) == ["19.60 EUR"])
    }

    @Test("A balance opens with what the account had, whatever transactions are here")
    func opening() throws {
        let lines = [StripeMatchingTests.booked(day: -5), StripeMatchingTests.booked("txn_9")]
        func balances(_ opening: [Finance.Money]?) -> [Finance.Statement.Balance] {
            Finance.Statement(
                month: AppStoreMatchingTests.june,
                environment: .production,
                payments: [],
                stores: [Self.month(opening: opening, lines: lines)]
            ).stores.flatMap { $0.balances ?? [] }
        }
        // 1,000.00 USD were there, and 50.00 EUR that nothing has moved.
        let known = balances([
            Finance.Money(minorUnits: 100_000, currency: "usd"),
            Finance.Money(minorUnits: 5_000, currency: "eur"),
        ])
        #expect(known.map(\.currency) == ["EUR", "USD"])
        #expect(known.map(\.opening.decimal) == ["50.00", "1000.00"])
        #expect(known.map(\.closing.decimal) == ["50.00", "1009.40"])
        #expect(known.allSatisfy { $0.basis == .reported })
        let unknown = balances(nil)
        #expect(unknown.map(\.opening.decimal) == ["9.40"])
        #expect(unknown.map(\.closing.decimal) == ["18.80"])
        #expect(unknown.allSatisfy { $0.basis == .estimated })
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
            stores: [
                Self.month(
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
                        StripeMatchingTests.booked(day: -5), StripeMatchingTests.booked("txn_9"),
                        payout,
                    ]
                )
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
        let balance = try #require(statement.stores.first?.balances?.first)
        #expect(balance.opening.decimal == "9.40")
        #expect(balance.charges.decimal == "9.99" && balance.fees.decimal == "-0.59")
        #expect(balance.payouts.decimal == "-9.40" && balance.closing.decimal == "9.40")
        #expect(statement.stores.first?.payouts.count == 1)
        let csv = statement.sheet.csv
        #expect(csv.contains("balance,stripe,USD,closing,2026-06,,9.40\r\n"))
        #expect(csv.contains("payments,app_store,EUR,net,2026-06,,5.88\r\n"))
    }
}
