import Reports
import StripeConnector
import Testing
import TollgateCore

@Suite("Matching with Stripe's balance")
struct StripeMatchingTests {
    static let june = Finance.Day(utc: Instant(milliseconds: 1_780_272_000_000))
    static let covered = Set((-60...60).map { june.advanced(by: $0) })

    static func payment(
        _ id: String = "in_1",
        kind: Finance.Movement.Kind = .charge,
        day: Int64 = 0,
        cents: Int64 = 999,
        environment: StoreEnvironment = .production
    ) -> Finance.Movement {
        Finance.Movement(
            store: .stripe,
            environment: environment,
            kind: kind,
            id: id,
            payment: "in_1",
            product: "price_pro_monthly",
            at: june.advanced(by: day).start.advanced(by: 43_200_000),
            amount: Finance.Money(minorUnits: cents, currency: "usd")
        )
    }

    /// A charge of 9.99 costs 2.9 % and thirty cents: 0.59.
    static func booked(
        _ id: String = "txn_1",
        kind: Finance.BalanceLine.Kind = .charge,
        invoice: String? = "in_1",
        source: String = "ch_1",
        day: Int64 = 0,
        cents: Int64 = 999,
        currency: String = "usd",
        fee: Int64 = 59,
        feeTax: Int64 = 0,
        rate: String? = nil,
        payout: String? = nil
    ) -> Finance.BalanceLine {
        let at = june.advanced(by: day).start.advanced(by: 43_201_000)
        func money(_ cents: Int64) -> Finance.Money {
            Finance.Money(minorUnits: cents, currency: currency)
        }
        return Finance.BalanceLine(
            id: id,
            kind: kind,
            category: kind.rawValue,
            source: source,
            payment: "pi_1",
            invoice: invoice,
            payout: payout,
            created: at,
            available: at.advanced(by: 2 * 86_400_000),
            amount: money(cents),
            fee: money(fee),
            feeTax: money(feeTax),
            net: money(cents - fee),
            exchangeRate: rate.flatMap { Finance.Ratio(decimal: $0) }
        )
    }

    struct Story: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var movements: [Finance.Movement]
        var lines: [Finance.BalanceLine]
        var expected: [Finance.Reason]
    }

    static let stories: [Story] = [
        Story(
            testDescription: "both sides agree",
            movements: [payment()],
            lines: [booked()],
            expected: []
        ),
        Story(
            testDescription: "a payment of its own is known by its payment intent",
            movements: [payment("pi_1")],
            lines: [booked(invoice: nil)],
            expected: []
        ),
        Story(
            testDescription: "a bank debit comes four days later",
            movements: [payment()],
            lines: [booked(day: 4)],
            expected: [.settlementDate]
        ),
        Story(
            testDescription: "converted at 0.9234: 9.99 USD are 9.22 EUR",
            movements: [payment()],
            lines: [booked(cents: 922, currency: "eur", rate: "0.9234")],
            expected: [.exchangeRate]
        ),
        Story(
            testDescription: "converted, but not at the rate that is stated",
            movements: [payment()],
            lines: [booked(cents: 822, currency: "eur", rate: "0.9234")],
            expected: [.amountDiffers]
        ),
        Story(
            testDescription: "a card from abroad costs more",
            movements: [payment()],
            lines: [booked(fee: 74)],
            expected: [.commissionRate]
        ),
        Story(
            testDescription: "tax on the fee",
            movements: [payment()],
            lines: [booked(fee: 70, feeTax: 11)],
            expected: [.tax]
        ),
        Story(
            testDescription: "the refund is booked three days later",
            movements: [payment(), payment("re_1", kind: .refund, day: 1)],
            lines: [
                booked(),
                booked(
                    "txn_2",
                    kind: .refund,
                    invoice: nil,
                    source: "re_1",
                    day: 4,
                    cents: -999,
                    fee: 0
                ),
            ],
            expected: [.refundTiming]
        ),
        Story(
            testDescription: "a refund that failed has left nothing",
            movements: [payment()],
            lines: [
                booked(),
                booked("txn_2", kind: .refund, source: "re_1", cents: -999, fee: 0),
                booked("txn_3", kind: .refund, source: "re_1", day: 1, fee: 0),
            ],
            expected: []
        ),
        Story(
            testDescription: "Stripe corrects something",
            movements: [],
            lines: [booked(kind: .correction, invoice: nil, cents: -100, fee: 0)],
            expected: [.lateCorrection]
        ),
        Story(
            testDescription: "Stripe's monthly fee",
            movements: [],
            lines: [booked(kind: .fee, invoice: nil, cents: -500, fee: 0)],
            expected: [.commissionRate]
        ),
        Story(
            testDescription: "payouts are no sales",
            movements: [],
            lines: [booked(kind: .payout, invoice: nil, source: "po_1", cents: -940, fee: 0)],
            expected: []
        ),
        Story(
            testDescription: "a charge that nobody here knows",
            movements: [],
            lines: [booked()],
            expected: [.missingHere]
        ),
        Story(
            testDescription: "a payment without a transaction",
            movements: [payment()],
            lines: [],
            expected: [.missingThere]
        ),
        Story(
            testDescription: "a payment of a day that was not fetched",
            movements: [payment(day: 100)],
            lines: [],
            expected: []
        ),
        Story(
            testDescription: "another amount",
            movements: [payment()],
            lines: [booked(cents: 899, fee: 56)],
            expected: [.amountDiffers]
        ),
        Story(
            testDescription: "test mode beside real money",
            movements: [payment(), payment("in_2", environment: .sandbox)],
            lines: [booked()],
            expected: [.sandbox]
        ),
    ]

    @Test("Every difference has its reason", arguments: stories)
    func reasons(_ story: Story) {
        let result = Finance.StripeMatching.match(
            story.movements,
            with: story.lines,
            covering: Self.covered
        )
        #expect(result.differences.map(\.reason).sorted() == story.expected.sorted())
    }

    @Test("A payout of which only some transactions are here is compared with none")
    func payoutAtTheEdge() {
        let payout = Finance.Payout(
            store: .stripe,
            id: "po_1",
            arrival: Self.june.advanced(by: 4),
            status: "paid",
            amount: Finance.Money(minorUnits: 1880, currency: "usd")
        )
        for (ids, expected) in [
            (["txn_0", "txn_1"], []), (["txn_1"], [Finance.Reason.amountDiffers]),
        ] {
            let result = Finance.StripeMatching.match(
                [Self.payment()],
                with: [Self.booked(payout: "po_1")],
                payouts: [payout],
                of: ["po_1": ids],
                covering: Self.covered
            )
            #expect(result.differences.map(\.reason) == expected, "\(ids)")
        }
    }

    @Test("A dispute that was won after two months matches, wherever one looks")
    func wonLate() {
        func dispute(_ id: String, day: Int64, cents: Int64) -> Finance.BalanceLine {
            Self.booked(id, kind: .dispute, source: "dp_1", day: day, cents: cents, fee: 0)
        }
        let gone = dispute("txn_2", day: -50, cents: -999)
        let back = dispute("txn_3", day: 20, cents: 999)
        let june = Self.june
        let won = Finance.StripeMatching.Undone(
            id: "dp_1",
            created: june.advanced(by: -50).start,
            ended: june.advanced(by: 20).start
        )
        func reasons(
            _ lines: [Finance.BalanceLine],
            _ undone: [Finance.StripeMatching.Undone],
            beside: [Finance.BalanceLine] = [],
            covering last: Int64 = 60
        ) -> [Finance.Reason] {
            Finance.StripeMatching.match(
                [],
                with: lines,
                undone: undone,
                beside: beside,
                covering: Set((-60...last).map { june.advanced(by: $0) })
            ).differences.map(\.reason)
        }
        // The window of a reconciliation has one of the two.
        #expect(reasons([gone], [won], beside: [gone, back]) == [])
        #expect(reasons([back], [won], beside: [gone, back]) == [])
        // Won two weeks ago at most: the money may be on its way.
        #expect(reasons([gone], [won], beside: [gone], covering: 30) == [])
        #expect(reasons([gone], [won], beside: [gone]) == [.missingThere])
        #expect(reasons([gone], []) == [.missingHere])
    }

    @Test("Of two disputes of one payment each is matched by itself")
    func twoDisputes() {
        func line(_ id: String, _ source: String, _ cents: Int64, day: Int64) -> Finance.BalanceLine
        {
            Self.booked(id, kind: .dispute, source: source, day: day, cents: cents, fee: 0)
        }
        let result = Finance.StripeMatching.match(
            [Self.payment(), Self.payment("dp_2", kind: .dispute, day: 3, cents: 600)],
            with: [
                Self.booked(), line("txn_2", "dp_1", -399, day: 2),
                line("txn_3", "dp_1", 399, day: 9),
                line("txn_4", "dp_2", -600, day: 3),
            ],
            covering: Self.covered
        )
        #expect(result.differences == [])
        #expect(result.pairs.map(\.movement.id) == ["in_1", "dp_2"])
    }

    @Test("A payout is the sum of its transactions, or it is a difference")
    func payouts() {
        func payout(_ cents: Int64) -> Finance.Payout {
            Finance.Payout(
                store: .stripe,
                id: "po_1",
                arrival: Self.june.advanced(by: 4),
                status: "paid",
                amount: Finance.Money(minorUnits: cents, currency: "usd")
            )
        }
        for (cents, expected) in [(940, []), (900, [Finance.Reason.amountDiffers])] {
            let result = Finance.StripeMatching.match(
                [Self.payment()],
                with: [Self.booked(payout: "po_1")],
                payouts: [payout(Int64(cents))],
                covering: Self.covered
            )
            #expect(result.differences.map(\.reason) == expected)
        }
    }
}
