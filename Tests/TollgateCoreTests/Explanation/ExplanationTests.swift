import Testing
import TollgateCore

@Suite("Explanation")
struct ExplanationTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let facts: [Fact]
        let day: Double
        /// The facts that decide: kind and the day on which it was stated.
        let decides: [String]
        var lookupKey = "pro"
    }

    static let cases = [
        Case(
            testDescription: "a paid period",
            facts: [.paid("p1", 0, 30), .terms(0), .status(1, 0)],
            day: 1,
            decides: ["period 0"]
        ),
        Case(
            testDescription: "of two periods the current one",
            facts: [.paid("p1", 0, 30), .paid("p2", 30, 60), .terms(0)],
            day: 31,
            decides: ["period 30"]
        ),
        Case(
            testDescription: "of two periods the earlier one, while it lasts",
            facts: [.paid("p1", 0, 30), .paid("p2", 30, 60, said: 28), .terms(0)],
            day: 29,
            decides: ["period 0"]
        ),
        Case(
            testDescription: "the renewal window rests on the terms, not on the status beside them",
            facts: [.paid("p1", -30, 0), .paid("p2", 0, 30), .terms(1), .status(1, 1)],
            day: 30.05,
            decides: ["period 0", "renewal 1"]
        ),
        Case(
            testDescription: "grace with a date rests on the renewal info",
            facts: [.paid("p1", 0, 30), .terms(30, grace: 46), .status(4, 31)],
            day: 40,
            decides: ["period 0", "renewal 30"]
        ),
        Case(
            testDescription: "grace without a date rests on the status",
            facts: [.paid("p1", 0, 30), .terms(30, renews: false), .status(4, 31)],
            day: 32,
            decides: ["period 0", "status 31"]
        ),
        Case(
            testDescription: "a grace that is over does not make the next one dated",
            facts: [.paid("p1", 0, 30), .terms(31, grace: 20), .status(4, 31)],
            day: 32,
            decides: ["period 0", "status 31"]
        ),
        Case(
            testDescription: "a lost renewal rests on the status",
            facts: [.paid("p1", 0, 30), .terms(29), .status(1, 31, reaching: 60)],
            day: 40,
            decides: ["period 0", "status 31"]
        ),
        Case(
            testDescription: "a subscription of Stripe's",
            facts: [.subscription("active", 0, from: 0, to: 30), .invoice("in_1", 0)],
            day: 1,
            decides: ["subscription 0"]
        ),
        Case(
            testDescription: "an unlock on a plan's invoice outlives the plan",
            facts: [
                .plan("canceled", 10, .item(0, 30), ended: 10),
                .bill("in_1", 0, [.full(0, 30), .once("price_lifetime", 0)]),
                .bill("in_2", 30, [.full(30, 60)]),
            ],
            day: 40,
            decides: ["invoice 0"]
        ),
        Case(
            testDescription: "a payment",
            facts: [
                .checkout("complete", paid: true, 0, price: "price_lifetime"),
                .refund("re_1", 1, "succeeded", 1), .dispute("dp_1", 1, "won", 2),
            ],
            day: 5,
            decides: ["payment 0"]
        ),
        Case(
            testDescription: "of two purchases the one that lasts longer",
            facts: [
                .paid("p1", 0, 30), .checkout("complete", paid: true, 1, price: "price_lifetime"),
            ],
            day: 5,
            decides: ["payment 1"]
        ),
        Case(
            testDescription: "a grant",
            facts: [Self.granted],
            day: 5,
            decides: ["grant 0"]
        ),
        Case(
            testDescription: "of a free subscription the report since when it is there",
            facts: [
                .reader(true, 0), .reader(false, 10), .reader(true, 20), .reader(true, 25),
                .reader(false, 40), .reader(true, 50),
            ],
            day: 20,
            decides: ["free_subscription 20"],
            lookupKey: "archive"
        ),
    ]

    static let granted = Fact.said(
        .grant(
            StaffGrant(
                customer: Customer.ID("ann"),
                lookupKey: "pro",
                since: .day(0),
                until: .day(30)
            )
        ),
        on: 0,
        about: Purchase.Key(
            store: .tollgate,
            environment: .production,
            application: "-",
            id: "grant_1"
        )
    )

    static func explain(
        _ facts: [Fact],
        _ day: Double,
        _ lookupKey: String = "pro",
        _ history: CatalogHistory = Shop.history
    ) -> Explanation {
        let purchases = World(facts).records.map { record in
            (record, record.evaluate(in: history).shares.first?.access ?? PurchaseAccess())
        }
        return Explanation(of: lookupKey, at: .day(day), purchases: purchases, in: history)
    }

    @Test("the fact that decides is marked", arguments: cases)
    func decides(_ story: Case) {
        let explanation = Self.explain(story.facts, story.day, story.lookupKey)
        #expect(explanation.isEntitled)
        let day = Instant.day(1).milliseconds - Instant.day(0).milliseconds
        let decisive = explanation.facts.filter(\.decides).map { fact in
            "\(fact.kind) \((fact.stated.milliseconds - Instant.day(0).milliseconds) / day)"
        }
        #expect(decisive.sorted() == story.decides)
    }

    @Test("facts are told in the order of their clocks")
    func order() {
        let explanation = Self.explain(
            [.status(1, 30), .paid("p2", 30, 60), .paid("p1", 0, 30)],
            31
        )
        #expect(explanation.facts.map(\.kind) == ["period", "period", "status"])
        #expect(explanation.facts.map(\.stated) == [.day(0), .day(30), .day(30)])
    }

    @Test("reports about a free subscription of the App Store are told beside its transaction")
    func free() {
        let key = Purchase.Key.appStore("r1")
        let facts: [Fact] = [.bought("r1", .unstated, "reader", on: 0), .reader(false, 1, key)]
        #expect(
            Self.explain(facts, 2, "archive").facts.map(\.kind) == ["period", "free_subscription"]
        )
    }

    @Test("only purchases that may have to do with it are told, unknown products among them")
    func concerns() {
        let purchases: [Fact] = [
            .bought("a", .autoRenewable, "yearly", on: 0),
            .bought("b", .consumable, "coins", on: 0),
            .bought("c", .nonConsumable, "lifetime", on: 0),
            .bought("d", .nonConsumable, "unknown", on: 0), Self.granted,
        ]
        func ids(_ lookupKey: String) -> [String] {
            Self.explain(purchases, 1, lookupKey).facts.map(\.purchase.id)
        }
        #expect(ids("pro") == ["c", "d", "grant_1"])
        #expect(ids("archive") == ["a", "d"])
        let stripe: [Fact] = [
            .subscription("active", 0, from: 0, to: 30, price: "price_unknown"),
            .checkout("complete", paid: true, 0, price: "price_lifetime"), .reader(true, 0),
        ]
        // What a plan's invoice sold once concerns it; lines of its items speak of the plan.
        let plan = Fact.plan("active", 0, .item(0, 365, "price_yearly"))
        let once: [StripeInvoice.Line] = [
            .full(0, 365, "price_yearly"), .once("price_lifetime", 0),
        ]
        let items: [StripeInvoice.Line] = [
            .full(0, 30), .charge(10, 30), .credit(10, 30, "price_monthly", nil),
        ]
        #expect(Self.explain([plan, .bill("in_1", 0, once)], 1).facts.isEmpty == false)
        #expect(Self.explain([plan, .bill("in_1", 0, items)], 1).facts.isEmpty)
        let apple: [Fact] = [
            .bought("r1", .unstated, "reader", on: 0), .reader(false, 1, .appStore("r1")),
        ]
        #expect(
            World(stripe + apple).records.flatMap(\.storeProducts) == [
                StoreProduct(.appStore, "com.example.app.reader"),
                StoreProduct(.stripe, "price_lifetime"), StoreProduct(.stripe, "price_unknown"),
                StoreProduct(catalogProduct: "reader"),
            ]
        )
        #expect(!Self.explain([Self.granted], 1).wouldChange.contains { $0.contains("no catalog") })
    }

    // MARK: The words

    static let start = "2026-01-01T00:00:00Z"
    static let day10 = "2026-01-11T00:00:00Z"
    static let day30 = "2026-01-31T00:00:00Z"

    static let sentences: [(fact: Fact, kind: String, sentence: String)] = [
        (.paid("p1", 0, 30), "period", "\(Shop.monthly) paid from \(start) to \(day30)"),
        (
            .paid("p1", 0, 30, said: 10, revoked: 10, upgraded: true, family: true), "period",
            "\(Shop.monthly) paid from \(start) to \(day30), revoked at \(day10)"
                + ", superseded by an upgrade, by Family Sharing"
        ),
        (
            .bought("l1", .nonConsumable, "lifetime", on: 0), "period",
            "com.example.app.lifetime paid from \(start)"
        ),
        (
            .paid("p1", 0, 30, seats: 5, returned: 2), "period",
            "\(Shop.monthly) paid from \(start) to \(day30), 5 seats, 2 of them refunded"
        ),
        (
            .paid("p1", 0, 30, seats: 1, returned: 0), "period",
            "\(Shop.monthly) paid from \(start) to \(day30)"
        ),
        (
            .paid("p1", 0, 30, revoked: 10, switched: true), "period",
            "\(Shop.monthly) paid from \(start) to \(day30), switched to a bundle at \(day10)"
        ),
        (
            .paid("p1", 0, 30, previous: "7"), "period",
            "\(Shop.monthly) paid from \(start) to \(day30), continuing 7"
        ),
        (
            .bought("c1", .consumable, "coins", on: 0, quantity: 3), "period",
            "com.example.app.coins paid from \(start)"
        ),
        (.reversed("p1", 0), "refund_reversed", "a refund was reversed"),
        (.terms(0), "renewal", "will renew"),
        (
            .said(
                .renewal(
                    RenewalTerms(
                        willRenew: false,
                        nextProduct: Shop.yearly,
                        graceEnd: .day(30),
                        awaitsConsent: true
                    )
                ),
                on: 0
            ), "renewal",
            "will not renew as \(Shop.yearly), billing grace until \(day30)"
                + ", waits for consent to a price increase"
        ),
        (.status(3, 0), "status", "the App Store says status 3"),
        (
            .subscription("active", 0, from: 0, to: 30), "subscription",
            "subscription is active: price_monthly from \(start) to \(day30)"
        ),
        (
            .subscription("canceled", 0, from: 0, to: 30, cancels: true, ended: 10), "subscription",
            "subscription is canceled: price_monthly from \(start) to \(day30)"
                + ", ended at \(day10), cancels at the end of the period"
        ),
        (.checkout("complete", paid: true, 0), "payment", "checkout complete, paid"),
        (.checkout("open", paid: false, 0), "payment", "checkout open, not paid"),
        (.invoice("in_1", 0), "invoice", "invoice in_1 is paid"),
        (.refund("re_1", 500, "pending", 0), "refund", "refund of 500 is pending"),
        (.dispute("dp_1", 500, "lost", 0), "dispute", "dispute of 500 is lost"),
        (.said(.buyer(StripeBuyer(reference: "user_1")), on: 0), "buyer", "bought by user_1"),
        (.claimed("ann", .restored, 0), "claim", "restored by ann"),
        (
            .said(.assignment(Assignment(customer: Customer.ID("ann"))), on: 0), "assignment",
            "assigned to ann by staff"
        ),
        (granted, "grant", "pro granted until \(day30)"),
        (.reader(true, 0), "free_subscription", "the app reported reader as taken"),
        (.reader(false, 0), "free_subscription", "the app reported reader as removed"),
        (coins(5), "coins", "staff gave 5 coins"),
        (coins(0), "coins", "staff gave 0 coins"),
        (coins(-5), "coins", "staff took 5 coins"),
    ]

    static func coins(_ amount: Int64) -> Fact {
        .said(
            .coins(StaffCoins(customer: Customer.ID("ann"), amount: amount)),
            on: 0,
            about: .free("coins")
        )
    }

    @Test("each fact is a sentence, the same wherever it is told")
    func words() {
        for (fact, kind, sentence) in Self.sentences {
            #expect(fact.kind == kind)
            #expect(fact.summary == sentence)
            let lines = Self.explain([fact, Self.granted], 1).facts.filter { $0.kind == kind }
            #expect(lines.allSatisfy { $0.summary == sentence || $0.kind == "grant" })
        }
    }

    @Test("a reversal names the transaction whose refund it takes back, and decides nothing")
    func reversal() {
        let facts: [Fact] = [
            .paid("p1", 0, 30, said: 5, revoked: 5), .paid("p2", 30, 60), .reversed("p1", 9),
        ]
        let told = Self.explain(facts, 10).facts.filter { $0.kind == "refund_reversed" }
        #expect(told.map(\.summary) == ["the refund of tp1 was reversed"])
        #expect(told.map(\.decides) == [false])
    }

    struct Change: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let facts: [Fact]
        let day: Double
        let wouldChange: [String]
        var lookupKey = "archive"
    }

    static let changes = [
        Change(
            testDescription: "what is for ever",
            facts: [.bought("r1", .unstated, "reader", on: 0)],
            day: 1,
            wouldChange: ["A refund or revocation of r1 would end it."]
        ),
        Change(
            testDescription: "what ends",
            facts: [.paid("p1", 0, 30, Shop.yearly)],
            day: 1,
            wouldChange: [
                "At \(day30) it ends, unless a renewal or another purchase is stated by then.",
                "A refund or revocation of what tp1 paid for would end it earlier.",
            ]
        ),
        Change(
            testDescription: "what goes on, on another ground",
            facts: [.paid("p1", 0, 30, Shop.yearly), .terms(0)],
            day: 1,
            wouldChange: [
                "At \(day30) its ground changes; access goes on.",
                "A refund or revocation of what tp1 paid for would end it earlier.",
            ]
        ),
        Change(
            testDescription: "what goes on for ever",
            facts: [.paid("p1", 0, 30, Shop.yearly), .reader(true, 20)],
            day: 1,
            wouldChange: [
                "At \(day30) its ground changes; access goes on.",
                "A refund or revocation of what tp1 paid for would end it earlier.",
            ]
        ),
        Change(
            testDescription: "what will be, and what was",
            facts: [
                .paid("p1", -60, -30, Shop.yearly), .paid("p2", -20, 0, Shop.yearly),
                .paid("p3", 10, 20, Shop.yearly, said: 0),
                .paid("p4", 30, 60, Shop.yearly, said: 0),
            ],
            day: 0,
            wouldChange: [
                "At \(day10) access begins (payment).",
                "It ended at \(start); a renewal or recovery of that purchase would restore it.",
                "A purchase of yearly, reader would grant it.",
            ]
        ),
        Change(
            testDescription: "what another product gives",
            facts: [.paid("p1", 0, 30)],
            day: 1,
            wouldChange: ["A purchase of yearly, reader would grant it."]
        ),
        Change(
            testDescription: "what nobody sells",
            facts: [],
            day: 1,
            wouldChange: ["The catalog has no entitlement “unheard_of”."],
            lookupKey: "unheard_of"
        ),
        Change(
            testDescription: "a product that no catalog knows is named",
            facts: [.paid("p1", 0, 30), .bought("s1", .nonConsumable, "secret", on: 0)],
            day: 1,
            wouldChange: [
                "At \(day30) it ends, unless a renewal or another purchase is stated by then.",
                "A refund or revocation of what tp1 paid for would end it earlier.",
                "com.example.app.secret was bought but is in no catalog; "
                    + "adding it would grant what it stands for.",
            ],
            lookupKey: "pro"
        ),
    ]

    @Test("an answer says what would change it", arguments: changes)
    func wouldChange(_ story: Change) {
        let explanation = Self.explain(story.facts, story.day, story.lookupKey)
        #expect(explanation.wouldChange == story.wouldChange)
    }

    @Test("what is retired cannot be bought")
    func retired() {
        var catalog = Shop.catalog
        for index in catalog.products.indices where catalog.products[index].id == "reader" {
            catalog.products[index].isRetired = true
        }
        let explanation = Self.explain([], 1, "archive", Shop.history(catalog))
        #expect(explanation.wouldChange == ["A purchase of yearly would grant it."])
    }
}
