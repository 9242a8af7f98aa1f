import Testing
import TollgateCore

@Suite("The catalog over time")
struct CatalogOverTimeTests {
    static func selling(coins: Int64, entitlements: [String] = []) -> Catalog {
        Catalog(
            entitlements: [
                .init(lookupKey: "pro", name: "Pro"), .init(lookupKey: "new", name: "New"),
            ],
            products: [
                .init(
                    id: "monthly",
                    name: "Monthly",
                    kind: .autoRenewable,
                    appStoreProductID: Shop.monthly,
                    entitlements: entitlements,
                    coins: coins
                )
            ]
        )
    }

    static func history(_ versions: (Double, Catalog)...) -> CatalogHistory {
        CatalogHistory(
            versions.map { .init(id: "\($0.0)", adopted: .day($0.0), catalog: $0.1) }
        )
    }

    @Test(
        "coins are those of the version in force at the purchase",
        arguments: [
            (-1.0, 5), (0, 5), (9.9, 5), (10, 7), (100, 7),
        ]
    )
    func coinsOfTheDay(day: Double, coins: Int64) {
        let history = Self.history((0, Self.selling(coins: 5)), (10, Self.selling(coins: 7)))
        #expect(World([.paid("p1", day, day + 30)]).coins(history) == coins)
    }

    @Test(
        "a version that does not list an app says nothing of its purchases",
        arguments: [
            ("reader", -1, "coins", 1), ("reader", 5, "coins", 1), ("reader", 15, "coins", 10),
            ("reader", 25, "coins", 20), ("mac", 5, "mac_coins", 10), ("mac", 15, "mac_coins", 10),
            ("mac", 25, "mac_coins", 20), ("watch", 5, "watch_coins", 20),
            ("watch", 15, "watch_coins", 20), ("watch", 25, "watch_coins", 20),
            // Nobody has ever listed it: nobody loses what they bought.
            ("gone", 5, "coins", 1),
        ] as [(String, Double, String, Int64)]
    )
    func severalApps(app: String, day: Double, product: String, coins: Int64) {
        func catalog(_ apps: [String], coins: Int64) -> Catalog {
            Catalog(
                products: [
                    .init(
                        id: "coins",
                        name: "Coins",
                        kind: .consumable,
                        appStoreProductID: apps.isEmpty ? "coins" : nil,
                        appStoreProductIDs: apps.isEmpty ? nil : ["reader": "coins"],
                        coins: coins
                    )
                ]
                    + apps.dropFirst().map { app in
                        .init(
                            id: "\(app)_coins",
                            name: "Coins",
                            kind: .consumable,
                            appStoreProductIDs: [app: "coins"],
                            coins: coins
                        )
                    },
                apps: apps.map { .init(id: $0, name: $0, bundleID: "com.example.\($0)") }
            )
        }
        let history = Self.history(
            (0, catalog([], coins: 1)),
            (10, catalog(["reader", "mac"], coins: 10)),
            (20, catalog(["reader", "mac", "watch"], coins: 20))
        )
        let found = history.product(
            StoreProduct(.appStore, "coins"),
            in: "com.example.\(app)",
            at: .day(day)
        )
        #expect(found?.id == product)
        #expect(found?.coins == coins)
    }

    @Test("before the first catalog was adopted its policies hold, not those of later ones")
    func policiesBeforeTheFirst() {
        var (first, second) = (Catalog(), Catalog())
        (first.ownership, first.refundedPlan) = (.transfer, .end)
        (second.ownership, second.refundedPlan) = (.share, .keep)
        let history = Self.history((0, first), (10, second))
        for (day, catalog) in [(-1.0, first), (0, first), (9.9, first), (10, second)] {
            #expect(history.ownership(at: .day(day)) == catalog.ownership)
            #expect(history.refundedPlan(at: .day(day)) == catalog.refundedPlan)
        }
    }

    @Test("an unknown product waits, and grants once a catalog knows it")
    func unknownThenKnown() {
        let world = World([.paid("p1", 0, 30)])
        let empty = Self.history((-10, Catalog()))
        let evaluation = world.evaluations(empty)[0]
        #expect(evaluation.unknownProducts == [StoreProduct(.appStore, Shop.monthly)])
        #expect(evaluation.lots.isEmpty)
        #expect(world.timeline(empty).entries.isEmpty)

        let known = Self.history(
            (-10, Catalog()),
            (20, Self.selling(coins: 5, entitlements: ["pro"]))
        )
        #expect(world.evaluations(known)[0].unknownProducts.isEmpty)
        #expect(world.coins(known) == 5)
        #expect(world.timeline(known).ground(at: .day(1)) == .payment)
    }

    @Test("what a product grants is today's word")
    func entitlementsOfToday() {
        let history = Self.history(
            (-10, Self.selling(coins: 0, entitlements: ["pro"])),
            (20, Self.selling(coins: 0, entitlements: ["new"]))
        )
        let timeline = World([.paid("p1", 0, 30)]).timeline(history)
        #expect(timeline.ground("pro", at: .day(1)) == nil)
        #expect(timeline.ground("new", at: .day(1)) == .payment)
    }

    @Test("a pass lasts as long as it did when it was bought")
    func durationOfTheDay() {
        func pass(_ days: Int) -> Catalog {
            Catalog(
                entitlements: [.init(lookupKey: "pro", name: "Pro")],
                products: [
                    .init(
                        id: "pass",
                        name: "Pass",
                        kind: .nonRenewing,
                        appStoreProductID: "com.example.app.pass",
                        entitlements: ["pro"],
                        duration: CalendarDuration(days: days)
                    )
                ]
            )
        }
        let history = Self.history((-10, pass(30)), (5, pass(7)))
        let world = World([.bought("n1", .nonRenewing, "pass", on: 0)])
        #expect(world.timeline(history).ground(at: .day(29)) == .payment)
        #expect(world.timeline(history).ground(at: .day(30)) == nil)
    }

    @Test("the house rules are those of the version in force, before the first one the first's")
    func houseRules() {
        let history = Self.history(
            (0, Catalog(refundedPlan: .end, ownership: .share)),
            (10, Catalog(refundedPlan: .keep, ownership: .transfer)),
            (20, Catalog()),
            (30, Catalog(refundedPlan: .end, ownership: .transfer))
        )
        typealias Rules = (day: Double, plan: Catalog.RefundedPlan, ownership: Catalog.Ownership)
        let expected: [Rules] = [
            (-5, .end, .share), (0, .end, .share), (9.9, .end, .share), (10, .keep, .transfer),
            (20, .keep, .keep), (29.9, .keep, .keep), (30, .end, .transfer), (99, .end, .transfer),
        ]
        for (day, plan, ownership) in expected {
            #expect(history.refundedPlan(at: .day(day)) == plan, "day \(day)")
            #expect(history.ownership(at: .day(day)) == ownership, "day \(day)")
        }
        #expect(CatalogHistory().refundedPlan(at: .day(0)) == .keep)
        #expect(CatalogHistory().ownership(at: .day(0)) == .keep)
        #expect(history.current == history.versions[3].catalog)
    }

    @Test("what was bought before its catalog has the coins of the first that knows it")
    func firstThatKnows() {
        let product = StoreProduct(.appStore, Shop.monthly)
        var history = Self.history(
            (0, Catalog()),
            (10, Self.selling(coins: 5)),
            (20, Self.selling(coins: 7))
        )
        history.adopt(.init(id: "last", adopted: .day(30), catalog: Catalog()))
        let coins = [-5.0, 0, 9.9, 10, 19.9, 20, 30].map { day in
            history.product(product, at: .day(day))?.coins
        }
        #expect(coins == [5, 5, 5, 5, 5, 7, nil])
    }

    @Test("without any catalog nothing is granted, and nothing fails")
    func noCatalog() {
        let world = World([.paid("p1", 0, 30), .bought("n1", .nonRenewing, "pass", on: 0)])
        #expect(world.timeline(CatalogHistory()).entries.isEmpty)
        #expect(world.coins(CatalogHistory()) == 0)
    }
}
