import Storage
import Testing
import TollgateCore
import TollgateSimulation

@Suite("Record")
struct RecordTests {
    @Test("facts become an answer", arguments: Backend.allCases)
    func reading(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        _ = try await store.submit(.register("ann", .token("a")))
        let outcome = try await store.submit(.message("m1", .month(0, of: "1", token: "a")))
        guard case .recorded = outcome else { return #expect(Bool(false), "\(outcome)") }
        #expect(try await store.active("ann", at: 10) == ["pro"])
        #expect(try await store.active("ann", at: 30) == [])
        #expect(try await store.balance("ann") == 10)
        #expect(try await store.active("bob", at: 10) == [])
        #expect(try await store.holds(Customer.ID("ann"), .appStore("1")))
        #expect(try await !store.holds(Customer.ID("bob"), .appStore("1")))
        let purchases = try await store.purchases(of: Customer.ID("ann"), in: .production)
        #expect(purchases.map(\.record.key) == [.appStore("1")])
        #expect(purchases.first?.access.intervals.count == 1)
    }

    @Test("the second of two equal messages changes nothing", arguments: Backend.allCases)
    func duplicates(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        let item = JournalItem.message("m1", .checkout("pi_1", customer: "cus_1"))
        _ = try await store.submit(.register("ann", .stripeCustomer("cus_1")))
        _ = try await store.submit(item)
        let before = try await store.reading(of: Customer.ID("ann"), in: .production)
        guard case .duplicate = try await store.submit(item) else {
            return #expect(Bool(false), "it was recorded twice")
        }
        let after = try await store.reading(of: Customer.ID("ann"), in: .production)
        #expect(after.balance == 100 && after.sequence == before.sequence)
    }

    @Test("a thousand messages at once credit exactly once", arguments: Backend.allCases)
    func concurrency(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        _ = try await store.submit(.register("ann", .stripeCustomer("cus_1")))
        var items: [JournalItem] = []
        for payment in 0..<200 {
            let fact = Fact.checkout("pi_\(payment)", customer: "cus_1")
            for copy in [0, 0, 1, 2, 2] { items.append(.message("\(payment)/\(copy)", fact)) }
        }
        var random = SplitMix64(seed: 1)
        let outcomes = try await store.submitTogether(items.shuffled(using: &random))
        let recorded = outcomes.filter { if case .recorded = $0 { true } else { false } }
        #expect(recorded.count == 600)
        #expect(try await store.balance("ann") == 20_000)
        #expect(try await store.transfers(of: Customer.ID("ann"), in: .production).count == 200)
        #expect(try await store.rebuilt().differences.map(\.table) == [])
    }

    @Test("who registers later gets what was bought before", arguments: Backend.allCases)
    func registrationAfterPurchase(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        _ = try await store.submit(.message("m1", .month(0, of: "1", token: "a")))
        _ = try await store.submit(
            .message("m2", .checkout("pi_1", customer: "cus_1", reference: "user_1"))
        )
        #expect(try await store.balance("ann") == 0)
        _ = try await store.submit(.register("ann", .token("a")))
        #expect(try await store.balance("ann") == 10)
        #expect(try await store.active("ann", at: 10) == ["pro"])
        // The reference is the second name of a buyer whose first is not registered either.
        _ = try await store.submit(.register("ann", .reference("user_1")))
        #expect(try await store.balance("ann") == 110)
        // And stays, whoever registers the first name.
        _ = try await store.submit(.register("bob", .stripeCustomer("cus_1")))
        #expect(try await store.balance("ann") == 110)
        #expect(try await store.balance("bob") == 0)
        // A name once registered is not given away.
        _ = try await store.submit(.register("bob", .token("a")))
        #expect(try await store.active("ann", at: 10) == ["pro"])
        #expect(try await store.active("bob", at: 10) == [])
        #expect(try await store.rebuilt().differences.map(\.table) == [])
    }

    @Test("a claim attaches what nobody owned, with its coins", arguments: Backend.allCases)
    func claim(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        let key = Purchase.Key.appStore("1")
        _ = try await store.submit(.message("m1", .month(0, of: "1")))
        _ = try await store.submit(.message("c1", .claimed("ann", .purchased, 1, key)))
        _ = try await store.submit(.message("c2", .claimed("bob", .restored, 2, key)))
        #expect(try await store.balance("ann") == 10)
        #expect(try await store.balance("bob") == 0)
        #expect(try await store.rebuilt().differences.map(\.table) == [])
    }

    @Test("a restore moves access by policy, and never coins", arguments: Backend.allCases)
    func transfer(_ backend: Backend) async throws {
        var catalog = Shop.catalog
        catalog.ownership = .transfer
        let store = try await RecordStore.open(backend, selling: catalog)
        let key = Purchase.Key.appStore("1")
        _ = try await store.submit(
            .message("m1", .month(0, of: "1"), .claimed("ann", .purchased, 0, key))
        )
        _ = try await store.submit(.message("c2", .claimed("bob", .restored, 2, key)))
        #expect(try await store.active("ann", at: 10) == [])
        #expect(try await store.active("bob", at: 10) == ["pro"])
        #expect(try await store.balance("ann") == 10)
        #expect(try await store.balance("bob") == 0)
        // Staff moves both.
        _ = try await store.submit(
            .message(
                "s1",
                .said(.assignment(Assignment(customer: Customer.ID("cyd"))), on: 3, about: key)
            )
        )
        #expect(try await store.active("cyd", at: 10) == ["pro"])
        #expect(try await store.balance("ann") == 0)
        #expect(try await store.balance("cyd") == 10)
        #expect(try await store.rebuilt().differences.map(\.table) == [])
    }

    @Test(
        "coins wait for whoever registers the buyer's name, though another has restored the rest",
        arguments: Backend.allCases
    )
    func lateBuyer(_ backend: Backend) async throws {
        var catalog = Shop.catalog
        catalog.ownership = .transfer
        let store = try await RecordStore.open(backend, selling: catalog)
        _ = try await store.submit(.message("m1", .month(0, of: "1", token: "t")))
        _ = try await store.submit(
            .message("c1", .claimed("bob", .restored, 2, .appStore("1")))
        )
        #expect(try await store.active("bob", at: 10) == ["pro"])
        #expect(try await store.balance("bob") == 0)
        _ = try await store.submit(.register("cyd", .token("t")))
        #expect(try await store.balance("cyd") == 10)
        #expect(try await store.balance("bob") == 0)
        #expect(try await store.active("cyd", at: 10) == [])
        #expect(try await store.active("bob", at: 10) == ["pro"])
        // The next period's go to the same customer.
        _ = try await store.submit(.message("m2", .month(30, of: "1", token: "t")))
        #expect(try await store.balance("cyd") == 20)
        // So do those of a name that is registered in the very same batch.
        _ = try await store.submitTogether([
            .message("m3", .month(0, of: "2", token: "u")),
            .message("c3", .claimed("bob", .restored, 2, .appStore("2"))),
            .register("dan", .token("u")),
        ])
        #expect(try await store.balance("dan") == 10)
        #expect(try await store.balance("bob") == 0)
        #expect(try await store.rebuilt().differences.map(\.table) == [])
    }

    @Test(
        "a pass lasts once for a customer who holds it under two names",
        arguments: Backend.allCases
    )
    func twoNames(_ backend: Backend) async throws {
        var catalog = Shop.catalog
        catalog.ownership = .share
        let store = try await RecordStore.open(backend, selling: catalog)
        _ = try await store.submit(.register("ann", .token("a")))
        _ = try await store.submit(
            .message(
                "m1",
                .bought("pass", .nonRenewing, "1", token: "a"),
                .claimed("ann", .purchased, 0, .appStore("1"))
            )
        )
        #expect(try await store.active("ann", at: 29) == ["pro"])
        #expect(try await store.active("ann", at: 30) == [])
        let purchases = try await store.purchases(of: Customer.ID("ann"), in: .production)
        #expect(purchases.first?.access.passes.count == 1)
    }

    @Test(
        "what a refund takes may leave a debt, and its failure gives it back",
        arguments: Backend.allCases
    )
    func refunds(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        _ = try await store.submit(.register("ann", .stripeCustomer("cus_1")))
        _ = try await store.submit(.message("m1", .checkout("pi_1", customer: "cus_1")))
        _ = try await store.submit(.spend("ann", 80, key: "k"))
        _ = try await store.submit(.message("m2", .refund(500, of: "pi_1", "pending", on: 1)))
        #expect(try await store.balance("ann") == -30)
        _ = try await store.submit(.message("m3", .refund(500, of: "pi_1", "failed", on: 2)))
        #expect(try await store.balance("ann") == 20)
        #expect(try await store.rebuilt().differences.map(\.table) == [])
    }

    @Test(
        "coins of a lot that the record no longer has are taken back",
        arguments: Backend.allCases
    )
    func vanishedLot(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        _ = try await store.submit(.register("ann", .token("a")))
        _ = try await store.submit(
            .message("m1", .bought("coins", .consumable, "1", token: "a"))
        )
        #expect(try await store.balance("ann") == 100)
        _ = try await store.submit(
            .message("m2", .bought("coins", .consumable, "1", token: "a", family: true))
        )
        #expect(try await store.balance("ann") == 0)
        #expect(try await store.rebuilt().differences.map(\.table) == [])
    }

    @Test(
        "a purchase of an unknown product is granted once the catalog knows it",
        arguments: Backend.allCases
    )
    func adoption(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        _ = try await store.submit(.register("ann", .token("a")))
        _ = try await store.submit(
            .message("m1", .bought("novelty", .consumable, "1", token: "a"))
        )
        #expect(try await store.balance("ann") == 0)
        try await store.adopt(Shop.nextCatalog, at: .day(40))
        #expect(try await store.balance("ann") == 7)
        try await store.adopt(Shop.nextCatalog, at: .day(41))
        #expect(store.history.versions.count == 2)
        #expect(try await store.rebuilt().differences.map(\.table) == [])
    }

    @Test(
        "the last catalog adopted is today's, even if the clock was set back",
        arguments: Backend.allCases
    )
    func adoptionBackwards(_ backend: Backend) async throws {
        let database = try backend.makeDatabase()
        let store = try await RecordStore.open(database)
        try await store.adopt(Shop.nextCatalog, at: .day(-200))
        #expect(store.history.current == Shop.nextCatalog)
        await store.driver.close()
        let again = try await RecordStore(database.open())
        #expect(again.history.current == Shop.nextCatalog)
    }

    @Test("two environments never mix", arguments: Backend.allCases)
    func environments(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        _ = try await store.submit(.register("ann", .token("a")))
        _ = try await store.submit(
            .message("m1", .bought("coins", .consumable, "1", token: "a", in: .sandbox))
        )
        _ = try await store.submit(
            .message("m2", .month(0, of: "1", token: "a", in: .sandbox))
        )
        #expect(try await store.balance("ann") == 0)
        #expect(try await store.active("ann", at: 10) == [])
        #expect(try await store.balance("ann", .sandbox) == 110)
        #expect(try await store.active("ann", at: 10, .sandbox) == ["pro"])
        _ = try await store.submit(.spend("ann", 10, key: "k", in: .sandbox))
        #expect(try await store.balance("ann", .sandbox) == 100)
        let refused = try await store.submit(.spend("ann", 10, key: "l"))
        guard case .decided(let decision, _) = refused else { return #expect(Bool(false)) }
        #expect(!decision.isAccepted)
        #expect(try await store.rebuilt().differences.map(\.table) == [])
    }
}
