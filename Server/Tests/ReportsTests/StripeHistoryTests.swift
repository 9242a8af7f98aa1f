import Reports
import Testing
import TollgateCore

/// Figures about the past that must stay what they were, worked out by hand from Stripe's
/// documentation: 10.00 USD a month, 120.00 USD a year, three days of grace (`past_due_grace`).
@Suite("Stripe's past in figures")
struct StripeHistoryTests {
    typealias Line = StripeInvoice.Line

    static func rows(_ facts: [Fact], _ id: String = "sub_1") -> Reports.PurchaseRows {
        Shop.rows(Purchase(key: .stripe(id), joining: facts))
    }

    /// MRR in milliunits and active subscriptions at the end of a day of the story.
    static func state(_ rows: Reports.PurchaseRows, _ day: Double) -> [Int64] {
        let at = Instant.day(day + 1).advanced(by: -1)
        let active = rows.periods.filter { $0.isPaid && $0.start <= at && at < $0.effectiveEnd }
        let value = active.reduce(Reports.Fraction.zero) { $0 + $1.monthlyValue }
        return [Int64(value.numerator / value.denominator), Int64(active.count)]
    }

    /// How many were in grace at the end of a day, by the sums that reports read.
    static func grace(_ rows: Reports.PurchaseRows, _ day: Int64) -> Int64 {
        rows.entries.sums.filter { $0.key.measure == .grace && $0.key.day <= .story(day) }
            .reduce(0) { $0 + $1.value.items }
    }

    static let month = Fact.invoice(
        "in_1",
        of: "sub_1",
        paid: 0,
        amount: 1000,
        [.line("il_1", 1000, from: 0, to: 31, item: "si_sub_1", discount: 0)]
    )
    static let next = Line.line("il_2", 1000, from: 31, to: 59, item: "si_sub_1", discount: 0)

    // MARK: - Items

    @Test("an item that is removed leaves the past as it was, whether or not it is credited")
    func removedItem() {
        // A month of one item; from day 15 a year of another; the second month of the first.
        let before: [Fact] = [
            Self.month,
            .invoice(
                "in_2",
                of: "sub_1",
                paid: 15,
                amount: 12_000,
                [.line("il_3", 12_000, from: 15, to: 380, price: "price_yearly", item: "si_b")]
            ),
            .invoice("in_3", of: "sub_1", paid: 31, amount: 1000, [Self.next]),
        ]
        let both = Fact.subscription(
            "sub_1",
            "active",
            items: [("si_sub_1", "price_monthly", 31, 59), ("si_b", "price_yearly", 15, 380)],
            said: 31
        )
        let one = Fact.subscription("sub_1", "active", from: 31, to: 59, said: 40)
        let credit = Fact.invoice(
            "in_4",
            of: "sub_1",
            paid: 40,
            amount: 0,
            [
                .line(
                    "il_4",
                    -11_178,
                    from: 40,
                    to: 380,
                    price: "price_yearly",
                    proration: true,
                    item: "si_b"
                )
            ]
        )
        for (name, facts) in [
            ("two", before + [both]), ("one", before + [both, one]),
            ("credited", before + [both, one, credit]),
        ] {
            let rows = Self.rows(facts)
            #expect(Self.state(rows, 10) == [10_000, 1], "\(name)")
            #expect(Self.state(rows, 20) == [20_000, 2], "\(name)")
            #expect(Self.state(rows, 35) == [20_000, 2], "\(name)")
            let later: [Int64] = name == "credited" ? [10_000, 1] : [20_000, 2]
            #expect(Self.state(rows, 45) == later, "\(name)")
        }
    }

    @Test("an item that was removed before its renewal has no grace when the subscription ends")
    func removedLongBefore() {
        let facts: [Fact] = [
            .invoice(
                "in_1",
                of: "sub_1",
                paid: 0,
                amount: 2000,
                [
                    .line("il_1", 1000, from: 0, to: 31, item: "si_sub_1"),
                    .line("il_b", 1000, from: 0, to: 31, price: "price_addon", item: "si_b"),
                ]
            ),
            .subscription("sub_1", "active", from: 0, to: 31, said: 20),
            .invoice("in_2", of: "sub_1", paid: 31, amount: 1000, [Self.next]),
            .subscription("sub_1", "active", from: 31, to: 59, said: 31),
        ]
        let canceled = Fact.subscription(
            "sub_1",
            "canceled",
            from: 31,
            to: 59,
            said: 45,
            ended: 45
        )
        for (name, facts) in [("active", facts), ("canceled", facts + [canceled])] {
            #expect(Self.state(Self.rows(facts), 32) == [10_000, 1], "\(name)")
        }
    }

    @Test("facts that name no items tell several by the lines that one invoice has side by side")
    func itemsOfOldFacts() {
        let facts: [Fact] = [
            .invoice(
                "in_1",
                of: "sub_1",
                paid: 0,
                amount: 13_000,
                [
                    .line("il_1", 1000, from: 0, to: 31),
                    .line("il_2", 12_000, from: 0, to: 365, price: "price_yearly"),
                ]
            ),
            .invoice(
                "in_2",
                of: "sub_1",
                paid: 31,
                amount: 1000,
                [.line("il_3", 1000, from: 31, to: 59)]
            ),
            .subscription("sub_1", "active", from: 31, to: 59, said: 40),
        ]
        #expect(Self.state(Self.rows(facts), 20) == [20_000, 2])
        #expect(Self.state(Self.rows(facts), 45) == [20_000, 2])
    }

    @Test("what is sold once on a subscription's invoice is no period, whatever dates it has")
    func soldOnce() {
        let fact = Fact.invoice(
            "in_1",
            of: "sub_1",
            paid: 0,
            amount: 1500,
            [
                .line("il_1", 1000, from: 0, to: 31, item: "si_sub_1"),
                .line("il_2", 500, from: 0, to: 31, price: "price_coins"),
            ]
        )
        let rows = Self.rows([fact])
        #expect(rows.periods.map(\.id) == ["il_1"])
        #expect(rows.sales.map(\.amount) == [10_000, 5_000])
    }

    // MARK: - Dunning

    struct Dunning: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// What is known when it is over, beside the month that was paid and the failed renewal.
        var facts: [Fact]
        /// Where the first month ends.
        var end: Double
    }

    static let failed = Fact.subscription("sub_1", "past_due", from: 31, to: 59, said: 31)

    static let dunnings: [Dunning] = [
        Dunning(testDescription: "it goes on", facts: [], end: 34),
        Dunning(
            testDescription: "the month before it is refunded later",
            facts: [.refund("re_1", of: "sub_1", amount: 1000, on: 40, paying: "in_1")],
            end: 34
        ),
        Dunning(
            testDescription: "the month before it is refunded within grace",
            facts: [.refund("re_1", of: "sub_1", amount: 1000, on: 33, paying: "in_1")],
            end: 33
        ),
        Dunning(
            testDescription: "canceled after the last attempt",
            facts: [.subscription("sub_1", "canceled", from: 31, to: 59, said: 45, ended: 45)],
            end: 34
        ),
        Dunning(
            testDescription: "canceled within grace",
            facts: [.subscription("sub_1", "canceled", from: 31, to: 59, said: 32, ended: 32)],
            end: 32
        ),
        Dunning(
            testDescription: "unpaid after the last attempt",
            facts: [.subscription("sub_1", "unpaid", from: 31, to: 59, said: 45)],
            end: 34
        ),
        Dunning(
            testDescription: "unpaid within grace, and told so again",
            facts: [
                .subscription("sub_1", "unpaid", from: 31, to: 59, said: 33),
                .subscription("sub_1", "unpaid", from: 59, to: 90, said: 59),
            ],
            end: 33
        ),
        Dunning(
            testDescription: "the item is removed, and another one goes on",
            facts: [
                .said(
                    .invoice(
                        StripeInvoice(
                            id: "in_2",
                            isPaid: false,
                            amount: 0,
                            currency: "usd",
                            lines: [next]
                        )
                    ),
                    on: 31,
                    about: .stripe("sub_1")
                ),
                .subscription(
                    "sub_1",
                    "active",
                    items: [("si_b", "price_yearly", 31, 396)],
                    said: 40
                ),
            ],
            end: 34
        ),
        Dunning(
            testDescription: "voided, and active again",
            facts: [
                .invoice("in_2", of: "sub_1", voided: 40, [next]),
                .subscription("sub_1", "active", from: 31, to: 59, said: 40),
            ],
            end: 34
        ),
        Dunning(
            testDescription: "voided within grace",
            facts: [
                .invoice("in_2", of: "sub_1", voided: 33, [next]),
                .subscription("sub_1", "active", from: 31, to: 59, said: 33),
            ],
            end: 33
        ),
        Dunning(
            testDescription: "voided, and the month after it is paid",
            facts: [
                .invoice("in_2", of: "sub_1", voided: 40, [next]),
                .invoice(
                    "in_3",
                    of: "sub_1",
                    paid: 59,
                    amount: 1000,
                    [.line("il_3", 1000, from: 59, to: 90, item: "si_sub_1")]
                ),
                .subscription("sub_1", "active", from: 59, to: 90, said: 59),
            ],
            end: 34
        ),
    ]

    @Test("grace stays in the past when dunning has ended", arguments: dunnings)
    func grace(_ dunning: Dunning) throws {
        let rows = Self.rows([Self.month, Self.failed] + dunning.facts)
        let first = try #require(rows.periods.first)
        #expect(first.effectiveEnd == .day(dunning.end))
        #expect(first.paidUntil == .day(31))
        // Active in grace, and neither paid nor active after it.
        #expect(Self.state(rows, dunning.end - 1) == [10_000, 1])
        #expect(Self.grace(rows, Int64(dunning.end) - 1) == 1)
        #expect(Self.state(rows, dunning.end) == [0, 0])
        #expect(Self.grace(rows, Int64(dunning.end)) == 0)
        #expect(rows.periods.allSatisfy { $0.currency == "USD" })
    }

    @Test("a renewal that was paid late was in grace until then, and is one subscription")
    func recovered() {
        let facts: [Fact] = [
            Self.month, Self.failed,
            .invoice("in_2", of: "sub_1", paid: 33, amount: 1000, [Self.next]),
            .subscription("sub_1", "active", from: 31, to: 59, said: 33),
        ]
        for (name, facts) in [("failed", Array(facts.prefix(2))), ("recovered", facts)] {
            let rows = Self.rows(facts)
            for day in [31.0, 32] {
                #expect(Self.state(rows, day) == [10_000, 1], "\(name), day \(day)")
                #expect(Self.grace(rows, Int64(day)) == 1, "\(name), day \(day)")
            }
        }
        let rows = Self.rows(facts)
        #expect(Self.grace(rows, 33) == 0)
        #expect(Self.state(rows, 40) == [10_000, 1])
        // Nothing was lost or won on the way.
        #expect(
            Set(rows.entries.sums.keys.map(\.measure)).isDisjoint(with: [.contraction, .returned])
        )
    }

    @Test(
        "who leaves when the period ends has no grace after it",
        arguments: [(31.0, 31.0), (10, 10)]
    )
    func cancelled(ended: Double, end: Double) {
        let fact = Fact.subscription(
            "sub_1",
            "canceled",
            from: 0,
            to: 31,
            said: ended,
            ended: ended
        )
        #expect(Self.rows([Self.month, fact]).periods.map(\.effectiveEnd) == [.day(end)])
    }

    // MARK: - What is not paid

    @Test("a renewal whose invoice is a draft keeps the MRR in its currency, and moves nothing")
    func draft() {
        let rolled = Fact.subscription("sub_1", "active", from: 31, to: 59, said: 31)
        let rows = Self.rows([Self.month, rolled])
        #expect(Self.state(rows, 31) == [10_000, 1])
        #expect(rows.periods.map(\.currency) == ["USD"])
        let money = rows.entries.sums.keys.filter(\.measure.hasCurrency)
        #expect(money.allSatisfy { $0.currency == "USD" })
        let moved = rows.entries.sums.keys.filter { $0.day == .story(31) }.map(\.measure)
        #expect(Set(moved).isDisjoint(with: Reports.Measure.movements))
        // The invoice is paid an hour later.
        let paid = Self.rows([
            Self.month, rolled,
            .invoice("in_2", of: "sub_1", paid: 31 + 1 / 24, amount: 1000, [Self.next]),
        ])
        #expect(Self.state(paid, 31) == [10_000, 1])
    }

    @Test("a draft of a plan whose price was changed for the next period keeps the old price")
    func changedDraft() {
        let rolled = Fact.subscription(
            "sub_1",
            "active",
            price: "price_big",
            from: 31,
            to: 59,
            said: 31
        )
        #expect(Self.state(Self.rows([Self.month, rolled]), 31) == [10_000, 1])
    }

    @Test(
        "a first period that nobody has paid is none",
        arguments: ["active", "incomplete", "past_due", "unpaid"]
    )
    func neverPaid(_ status: String) {
        let rows = Self.rows([
            .subscription("sub_1", status, from: 0, to: 31, said: 0),
            .invoice(
                "in_1",
                of: "sub_1",
                voided: 1,
                [.line("il_1", 1000, from: 0, to: 31, item: "si_sub_1")]
            ),
        ])
        #expect(rows.periods.isEmpty && rows.sales.isEmpty && rows.entries.sums.isEmpty)
    }

    @Test("collection that is paused voids each invoice: nothing is paid from then on")
    func pausedCollection() {
        let rows = Self.rows([
            Self.month, .invoice("in_2", of: "sub_1", voided: 31, [Self.next]),
            .subscription("sub_1", "active", from: 31, to: 59, said: 31),
        ])
        #expect(rows.periods.map(\.effectiveEnd) == [.day(31)])
    }

    @Test("a trial that Stripe tells before its invoice is a trial")
    func trialWithoutInvoice() {
        let rows = Self.rows([.subscription("sub_1", "trialing", from: 0, to: 7, said: 0)])
        #expect(rows.periods.map(\.offer) == [.trial])
        #expect(rows.periods.map(\.end) == [.day(7)])
    }

    @Test("what is metered is billed when its period is over, and so goes on until then")
    func metered() {
        func subscription(_ start: Double, _ end: Double) -> Fact {
            let item = StripeSubscription.Item(
                id: "si_sub_1",
                price: "price_monthly",
                quantity: 1,
                start: .day(start),
                end: .day(end),
                isBilledInArrears: true
            )
            return .said(
                .subscription(
                    StripeSubscription(status: "active", customer: "cus", items: [item])
                ),
                on: start,
                about: .stripe("sub_1")
            )
        }
        func bill(_ id: String, _ start: Double, _ end: Double, _ amount: Int64) -> Fact {
            .invoice(
                id,
                of: "sub_1",
                paid: end,
                amount: amount,
                [.line("il_\(id)", amount, from: start, to: end, item: "si_sub_1")]
            )
        }
        let first = Self.rows([subscription(31, 59), bill("in_1", 0, 31, 700)])
        #expect(Self.state(first, 10) == [7_000, 1])
        #expect(Self.state(first, 50) == [7_000, 1])
        #expect([40, 60, 62].map { Self.grace(first, $0) } == [0, 1, 0])
        let second = Self.rows([
            subscription(59, 90), bill("in_1", 0, 31, 700), bill("in_2", 31, 59, 900),
        ])
        #expect(Self.state(second, 50) == [9_000, 1])
        #expect(Self.grace(second, 40) == 0)
        #expect(Self.state(second, 70) == [9_000, 1])
    }
}
