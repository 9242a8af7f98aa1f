import Testing
import TollgateCore

@Suite("Lots of coins")
struct CoinLotTests {
    /// A lot as a table writes it.
    struct Lot: Hashable, Sendable {
        var id: String
        var credit: Int64
        var clawed: Int64 = 0
        var day = 0.0
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let facts: [Fact]
        let lots: [Lot]
    }

    /// The shop, with a pack of as many coins as a catalog allows, under both stores.
    static let history: CatalogHistory = {
        var catalog = Shop.catalog
        catalog.products.append(
            .init(
                id: "hoard",
                name: "Hoard",
                kind: .consumable,
                appStoreProductID: "com.example.app.hoard",
                stripePriceIDs: ["price_hoard"],
                coins: 1_000_000_000
            )
        )
        return Shop.history(catalog)
    }()

    static func pack(
        _ quantity: Int64,
        _ product: String = "coins",
        revoked: Double? = nil,
        share: Int64? = nil
    ) -> [Fact] {
        [
            .bought(
                "c1",
                .consumable,
                product,
                on: 3,
                quantity: quantity,
                revoked: revoked,
                share: share
            )
        ]
    }

    static func invoice(paid: Bool = true, _ lines: [StripeInvoice.Line]) -> [Fact] {
        let invoice = StripeInvoice(
            id: "in_1",
            isPaid: paid,
            amount: 999,
            currency: "usd",
            lines: lines
        )
        return [
            .subscription("active", 0, from: 0, to: 30),
            .said(.invoice(invoice), on: 0, about: .stripe("sub_1")),
        ]
    }

    /// `in_1` of `Fact.invoice`, called unpaid.
    static func unpaid(on day: Double) -> Fact {
        let invoice = StripeInvoice(
            id: "in_1",
            isPaid: false,
            amount: 0,
            currency: "usd",
            lines: []
        )
        return .said(.invoice(invoice), on: day, about: .stripe("sub_1"))
    }

    static func line(
        _ id: String,
        _ price: String = "price_monthly",
        quantity: Int64 = 1,
        proration: Bool = false
    ) -> StripeInvoice.Line {
        .init(
            id: id,
            price: price,
            quantity: quantity,
            amount: 999,
            start: .day(proration ? 20 : 5),
            end: .day(35),
            isProration: proration
        )
    }

    /// A plan that was refunded on day 5, and another one from day 15 on.
    private static func changed(
        _ testDescription: String,
        _ facts: [Fact],
        clawed: Int64 = 0
    ) -> Case {
        Case(
            testDescription: "A20: \(testDescription)",
            facts: [.paid("p2", 15, 380, Shop.yearly)] + facts,
            lots: [Lot(id: "p1", credit: 10, clawed: clawed)]
        )
    }

    private static let refunded = Fact.paid("p1", 0, 30, said: 6, revoked: 5)

    static let changedAfterRefund = [
        changed("a change after a reversal is one", [refunded, .reversed("p1", 8)], clawed: 5),
        changed("also in its millisecond", [refunded, .reversed("p1", 15)], clawed: 5),
        changed(
            "a reversal in the millisecond of its refund",
            [refunded, .reversed("p1", 5)],
            clawed: 5
        ),
        changed(
            "a reversal that is seen in the transaction alone",
            [refunded, .paid("p1", 0, 30, said: 9)],
            clawed: 5
        ),
        changed(
            "but not if it is seen after the change",
            [refunded, .paid("p1", 0, 30, said: 16)]
        ),
        changed(
            "a reversal that is told after the change, and seen before it",
            [refunded, .paid("p1", 0, 30, said: 12), .reversed("p1", 16)],
            clawed: 5
        ),
        changed(
            "a reversal after the change, that leaves the fields of the refund",
            [refunded, .paid("p1", 0, 30, said: 12, revoked: 5), .reversed("p1", 16)]
        ),
        changed(
            "the reversal of an earlier refund is not that of this one",
            [
                .paid("p1", 0, 30, said: 4, revoked: 3), .reversed("p1", 4.5), refunded,
                .paid("p1", 0, 30, said: 16),
            ]
        ),
        changed(
            "a refund in the millisecond of the change comes before it",
            [.paid("p1", 0, 30, said: 16, revoked: 15), .reversed("p1", 20)]
        ),
        changed(
            "a refund after the change, that was taken back, leaves the change",
            [.paid("p1", 0, 30, said: 21, revoked: 20), .reversed("p1", 22)],
            clawed: 5
        ),
        changed(
            "a reversal of what a newer word dates before it leaves the refund of after it",
            [
                .paid("p1", 0, 30, said: 11, revoked: 10), .paid("p1", 0, 30, said: 12, revoked: 5),
                .reversed("p1", 7),
            ]
        ),
        changed(
            "a refund that a receipt alone knows takes all",
            [
                .paid("p1", 0, 30),
                .paid("p1", 0, 30, said: 20, revoked: 5, source: "receipt:t"),
            ],
            clawed: 10
        ),
    ]

    static let cases = [
        Case(
            testDescription: "a period credits once, when it begins",
            facts: [.paid("p1", 2, 32), .paid("p1", 2, 32, said: 9, transaction: "restored")],
            lots: [Lot(id: "p1", credit: 10, day: 2)]
        ),
        Case(
            testDescription: "a plan without coins, and a family member, credit none",
            facts: [
                .paid("p1", 0, 30, Shop.yearly), .paid("p2", 30, 60, family: true),
                .checkout("complete", paid: true, 0, price: "price_lifetime"),
            ],
            lots: []
        ),
        Case(
            testDescription: "A20: an upgrade leaves the coins of the time that was used",
            facts: [
                .paid("p1", 0, 30), .paid("p1", 0, 30, said: 10, upgraded: true),
                .paid("p2", 10, 375, Shop.yearly),
            ],
            lots: [Lot(id: "p1", credit: 10, clawed: 7)]
        ),
        Case(
            testDescription:
                "A20: until the new plan is known, up to the first word of the upgrade",
            facts: [.paid("p1", 0, 30), .paid("p1", 0, 30, said: 16, upgraded: true)],
            lots: [Lot(id: "p1", credit: 10, clawed: 5)]
        ),
        Case(
            testDescription: "A20: the word of the upgrade is lost, and the new plan is known",
            facts: [.paid("p1", 0, 30), .paid("p2", 21, 386, Shop.yearly)],
            lots: [Lot(id: "p1", credit: 10, clawed: 3)]
        ),
        Case(
            testDescription: "A20: the word of the upgrade comes after the new plan's start",
            facts: [
                .paid("p1", 0, 30, said: 24, upgraded: true), .paid("p2", 15, 380, Shop.yearly),
            ],
            lots: [Lot(id: "p1", credit: 10, clawed: 5)]
        ),
        Case(
            testDescription: "A20: or before that of the next plan that is known",
            facts: [
                .paid("p1", 0, 30, said: 12, upgraded: true), .paid("p2", 24, 389, Shop.yearly),
            ],
            lots: [Lot(id: "p1", credit: 10, clawed: 6)]
        ),
        Case(
            testDescription: "A20: of several later plans the next one replaces it",
            facts: [
                .paid("p1", 0, 30), .paid("p2", 15, 380, Shop.yearly), .paid("p3", 24, 54),
            ],
            lots: [
                Lot(id: "p1", credit: 10, clawed: 5), Lot(id: "p3", credit: 10, day: 24),
            ]
        ),
        Case(
            testDescription: "a refund seconds after the end, and another plan since the end",
            facts: [
                .paid("p1", 0, 30, said: 31, revoked: 30 + 20.0 / 86_400),
                .paid("p2", 30, 395, Shop.yearly),
            ],
            lots: [Lot(id: "p1", credit: 10, clawed: 10)]
        ),
        Case(
            testDescription: "A20: a plan is changed after its renewal was charged ahead",
            facts: [
                .paid("p1", 0, 30), .paid("p2", 30, 60, said: 29),
                .paid("p3", 29.5, 394.5, Shop.yearly),
            ],
            lots: [
                Lot(id: "p1", credit: 10, clawed: 1),
                Lot(id: "p2", credit: 10, clawed: 10, day: 30),
            ]
        ),
        Case(
            testDescription: "A20: to and fro within a day",
            facts: [
                .paid("p1", 0, 30, said: 15, upgraded: true),
                .paid("p2", 15, 45, said: 15.5, upgraded: true),
                .paid("p3", 15.5, 45.5),
            ],
            lots: [
                Lot(id: "p1", credit: 10, clawed: 5),
                Lot(id: "p2", credit: 10, clawed: 10, day: 15),
                Lot(id: "p3", credit: 10, day: 15),
            ]
        ),
        Case(
            testDescription:
                "A20: a change at the renewal leaves all, and so does one after the end",
            facts: [
                .paid("p1", 0, 30), .paid("p2", 30, 395, Shop.yearly),
                .paid("p3", 395, 425), .paid("p3", 395, 425, said: 431, upgraded: true),
                .paid("p4", 430, 795, Shop.yearly),
            ],
            lots: [Lot(id: "p1", credit: 10, day: 0), Lot(id: "p3", credit: 10, day: 395)]
        ),
        Case(
            testDescription: "A20: the proration's refund, where one is told, takes nothing twice",
            facts: [
                .paid("p1", 0, 30, said: 10, revoked: 10, upgraded: true),
                .paid("p2", 10, 375, Shop.yearly),
            ],
            lots: [Lot(id: "p1", credit: 10, clawed: 7)]
        ),
        Case(
            testDescription: "A20: a refund by share after the upgrade takes that of what was left",
            facts: [
                .paid("p1", 0, 30, said: 20, revoked: 20, share: 50_000, upgraded: true),
                .paid("p2", 15, 380, Shop.yearly),
            ],
            lots: [Lot(id: "p1", credit: 10, clawed: 8)]
        ),
        Case(
            testDescription:
                "A20: another plan after a refund, and the same plan again, replace nothing",
            facts: [
                .paid("p1", 0, 30, said: 9, revoked: 8), .paid("p2", 10, 375, Shop.yearly),
                .reversed("p1", 12), .paid("p3", 400, 430), .paid("p4", 420, 450),
            ],
            lots: [
                Lot(id: "p1", credit: 10), Lot(id: "p3", credit: 10, day: 400),
                Lot(id: "p4", credit: 10, day: 420),
            ]
        ),
        Case(testDescription: "units", facts: pack(3), lots: [Lot(id: "c1", credit: 300, day: 3)]),
        Case(testDescription: "no units", facts: pack(0), lots: []),
        Case(testDescription: "less than no units", facts: pack(-1), lots: []),
        Case(
            testDescription: "a trillion coins are still a number",
            facts: pack(1000, "hoard"),
            lots: [Lot(id: "c1", credit: 1_000_000_000_000, day: 3)]
        ),
        Case(testDescription: "more are nonsense", facts: pack(1001, "hoard"), lots: []),
        Case(
            testDescription: "so many that a product of them would be a small number",
            // Times 100 it is 2⁶⁴ + 84.
            facts: pack(184_467_440_737_095_517),
            lots: []
        ),
        Case(
            testDescription: "a refund without a share takes all",
            facts: pack(1, revoked: 4),
            lots: [Lot(id: "c1", credit: 100, clawed: 100, day: 3)]
        ),
        Case(
            testDescription: "a refunded share is rounded down",
            facts: pack(1, revoked: 4, share: 33_999),
            lots: [Lot(id: "c1", credit: 100, clawed: 33, day: 3)]
        ),
        Case(
            testDescription: "a share of more than all takes all",
            facts: pack(1, revoked: 4, share: 200_000),
            lots: [Lot(id: "c1", credit: 100, clawed: 100, day: 3)]
        ),
        Case(
            testDescription: "a share of less than nothing takes nothing",
            facts: pack(1, revoked: 4, share: -1),
            lots: [Lot(id: "c1", credit: 100, day: 3)]
        ),
        Case(
            testDescription: "a payment's lines are named by their prices, when it is paid",
            facts: [
                .said(
                    .payment(
                        StripePayment(
                            session: "cs_1",
                            status: "complete",
                            isPaid: true,
                            customer: "cus_1",
                            reference: nil,
                            lines: [
                                .init(price: "price_coins", quantity: 2),
                                .init(price: "price_monthly", quantity: 1),
                                .init(price: "price_coins", quantity: 3),
                            ],
                            amount: 1000,
                            currency: "usd",
                            created: .day(1)
                        )
                    ),
                    on: 2,
                    about: .stripe("pi_1")
                ), .refund("re_1", 333, "succeeded", 2),
            ],
            lots: [
                Lot(id: "price_coins", credit: 500, clawed: 166, day: 2),
                Lot(id: "price_monthly", credit: 10, clawed: 3, day: 2),
            ]
        ),
        Case(
            testDescription: "no units of a price",
            facts: [.checkout("complete", paid: true, 0, quantity: 0)],
            lots: []
        ),
        Case(
            testDescription: "of what cost nothing nothing is taken back",
            facts: [
                .checkout("complete", paid: true, 0, amount: 0),
                .refund("re_1", 500, "succeeded", 1),
            ],
            lots: [Lot(id: "price_coins", credit: 100)]
        ),
        Case(
            testDescription: "refunds of more than the payment take all of it",
            facts: [
                .checkout("complete", paid: true, 0), .refund("re_1", 900, "succeeded", 1),
                .dispute("dp_1", 900, "lost", 2),
            ],
            lots: [Lot(id: "price_coins", credit: 100, clawed: 100)]
        ),
        Case(
            testDescription:
                "a plan's paid lines, prorations by their share, no plan without coins",
            facts: invoice([
                line("il_1"), line("il_2", quantity: 3), line("il_3", proration: true),
                line("il_4", "price_yearly"), line("il_5", "price_unknown"),
                line("il_6", quantity: 0),
            ]),
            lots: [
                Lot(id: "il_1", credit: 10, day: 5), Lot(id: "il_2", credit: 30, day: 5),
                Lot(id: "il_3", credit: 5, day: 20),
            ]
        ),
        Case(
            testDescription:
                "a plan's are credited when its time begins, what is bought once when it is paid",
            facts: [
                .plan("active", 2, .item(0, 30)),
                .bill("in_1", 2, [.full(0, 30), .once("price_coins", 0)]),
            ],
            lots: [
                Lot(id: "il_full_price_monthly_si_1_1_0.0", credit: 10, day: 0),
                Lot(id: "il_once_price_coins__1_0.0", credit: 100, day: 2),
            ]
        ),
        Case(
            testDescription: "a charge for the whole of a period credits the whole",
            facts: [
                .plan("active", 0, .item(0, 30, quantity: 2)),
                .bill("in_1", 0, [.full(0, 30), .charge(0, 30)]),
            ],
            lots: [
                Lot(id: "il_charge_price_monthly_si_1_1_0.0", credit: 10),
                Lot(id: "il_full_price_monthly_si_1_1_0.0", credit: 10),
            ]
        ),
        Case(
            testDescription: "more seats and fewer within one second, and the end soon after",
            facts: [
                .plan("active", 20, .item(20, 385, "price_yearly")),
                .bill("in_1", 0, [.full(0, 30)]),
                .bill(
                    "in_2",
                    15,
                    [
                        .credit(15, 30), .charge(15, 30, quantity: 5),
                        .credit(15, 30, quantity: 5), .charge(15, 30),
                    ]
                ),
                .bill("in_3", 20, [.credit(20, 30)]),
            ],
            // The first credit of one seat takes back the latest charge for one, which begins with it;
            // the second one the rest of the month. What stays is of 20 days of 10 coins.
            lots: [
                Lot(id: "il_full_price_monthly_si_1_1_0.0", credit: 10, clawed: 4),
                Lot(id: "il_charge_price_monthly_si_1_1_15.0", credit: 5, clawed: 5, day: 15),
                Lot(id: "il_charge_price_monthly_si_1_5_15.0", credit: 25, clawed: 25, day: 15),
            ]
        ),
        Case(
            testDescription: "an invoice that is not paid credits nothing",
            facts: invoice(paid: false, [line("il_1")]),
            lots: []
        ),
    ]

    @Test(
        "a lot is what was paid for, less the share that was taken back",
        arguments: cases + changedAfterRefund
    )
    func lots(_ story: Case) {
        let lots = World(story.facts).evaluations(Self.history).flatMap(\.lots)
        let day = Instant.day(1).milliseconds - Instant.day(0).milliseconds
        let found = lots.map {
            Lot(
                id: $0.id,
                credit: $0.credit,
                clawed: $0.clawed,
                day: Double(($0.credited.milliseconds - Instant.day(0).milliseconds) / day)
            )
        }
        #expect(found == story.lots)
        #expect(lots.allSatisfy { $0.remainder == $0.credit - $0.clawed })
    }

    /// RULES §5.5: a credit takes from the latest line of the same item, price and quantity that had
    /// begun; each case says how many coins of each line are taken back.
    static let credits: [(String, [StripeInvoice.Line], clawed: [String: Int64])] = [
        (
            "of two lines the one of the same quantity",
            [.full(0, 30), .charge(10, 30, quantity: 2), .credit(20, 30)],
            // Of 10 coins for 30 days 6 stay for 20 days.
            ["full 0": 4, "charge 10": 0]
        ),
        (
            "of two of the same quantity the later one",
            [.charge(10, 30), .charge(15, 30), .credit(20, 30)],
            ["charge 10": 0, "charge 15": 3]
        ),
        (
            "of a quantity that was never charged the latest",
            [.charge(10, 30), .charge(15, 30), .credit(20, 30, quantity: 7)],
            ["charge 10": 0, "charge 15": 3]
        ),
        (
            "not of one that is over when the credit begins",
            [.full(0, 60), .charge(10, 20), .credit(20, 60)],
            ["full 0": 7, "charge 10": 0]
        ),
        (
            "not of one that has not begun",
            [.full(0, 30), .full(30, 60), .credit(20, 30)],
            ["full 0": 4, "full 30": 0]
        ),
        (
            "of one that begins with it",
            [.full(0, 30), .credit(0, 30)],
            ["full 0": 10]
        ),
        (
            "no more than is left of it",
            [.full(0, 30), .credit(20, 365)],
            ["full 0": 4]
        ),
        (
            "a change that costs and returns nothing",
            [.full(0, 30), .charge(10, 30, amount: 0)],
            ["full 0": 0]
        ),
    ]

    @Test("what brings no coins has no lot")
    func noLot() {
        func lots(_ fact: Fact) -> Int { World([fact]).evaluations().flatMap(\.lots).count }
        #expect(lots(.paid("p1", 0, 30)) == 1)
        #expect(lots(.paid("y", 0, 365, Shop.yearly)) == 0)
        // Of 10 coins in twelve months none falls on the first one.
        #expect(lots(.paid("p1", 0, 30, installment: Installment(1, of: 12))) == 0)
    }

    @Test("a credit for unused time takes back the coins of the line that it credits")
    func credited() {
        for (name, lines, clawed) in Self.credits {
            let facts: [Fact] = [.plan("active", 20, .item(0, 30)), .bill("in_1", 20, lines)]
            let lots = World(facts).evaluations().flatMap(\.lots)
            let found = Dictionary(
                uniqueKeysWithValues: lots.map { lot in
                    let parts = lot.id.split(separator: "_")
                    let day = parts.last?.split(separator: ".").first ?? ""
                    return ("\(parts[1]) \(day)", lot.clawed)
                }
            )
            #expect(found == clawed, "\(name)")
        }
    }

    @Test("a time that ends before it begins has no length, however far apart the two are")
    func backwards() {
        func line(_ id: String, isProration: Bool) -> StripeInvoice.Line {
            .init(
                id: id,
                price: "price_monthly",
                quantity: 1,
                amount: 999,
                start: Instant(milliseconds: .max),
                end: Instant(milliseconds: .min),
                isProration: isProration
            )
        }
        let lines = [line("il_1", isProration: false), line("il_2", isProration: true)]
        let lots = World(Self.invoice(lines)).evaluations().flatMap(\.lots)
        #expect(lots.map(\.id) == ["il_1"], "a part of no time credits nothing")
    }

    @Test("a correction by staff is a lot of either sign, of whom it names")
    func staff() {
        for amount in [5, -5] as [Int64] {
            let coins = StaffCoins(customer: Customer.ID("ann"), amount: amount)
            let evaluation = World([.said(.coins(coins), on: 7, about: .free("coins"))])
                .evaluations()[0]
            #expect(
                evaluation.lots == [
                    CoinLot(
                        id: "staff",
                        owner: [.customer(Customer.ID("ann"))],
                        credit: amount,
                        clawed: 0,
                        credited: .day(7)
                    )
                ]
            )
            #expect(evaluation.shares.map(\.access) == [PurchaseAccess()])
        }
    }
}
