import Storage
import Testing
import TollgateCore
import TollgateSimulation

/// Tokens of Google Play that replace one another, in the rows (RULES §18.3).
@Suite("Linked tokens of Google Play")
struct GooglePlayChainTests {
    private static let chain: [JournalItem] = [
        .message("a", .play("A", from: 0, account: "a")),
        .message("b", .play("B", from: 10, linked: "A")),
        .message("c", .play("C", from: 20, order: "GPA.B", linked: "B")),
        .register("ann", .token("a")),
    ]

    private static func orders(of items: [JournalItem]) -> [[JournalItem]] {
        guard items.count > 1 else { return [items] }
        return items.indices.flatMap { index in
            var rest = items
            let first = rest.remove(at: index)
            return orders(of: rest).map { [first] + $0 }
        }
    }

    @Test("G7: in every order only the last gives access, and orders credit once")
    func orders() async throws {
        for order in Self.orders(of: Self.chain) {
            let store = try await RecordStore.open(.sqlite)
            for item in order { _ = try await store.submit(item) }
            let reading = try await store.reading(of: Customer.ID("ann"), in: .production)
            let active = reading.timeline.active(at: .day(25))
            #expect(active.map(\.purchase) == [.play("C")])
            #expect(active.map(\.until) == [.day(50)])
            #expect(reading.balance == 20)
            await store.driver.close()
        }
    }

    @Test("G7: in one batch they come to the same", arguments: Backend.allCases)
    func together(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        try await store.submitTogether(Self.chain.reversed())
        #expect(try await store.active("ann", at: 25) == ["pro"])
        #expect(try await store.balance("ann") == 20)
        #expect(try await store.rebuilt().isIdentical)
        await store.driver.close()
    }

    @Test(
        "G7: the middle of a chain that nobody has read is asked for",
        arguments: Backend.allCases
    )
    func gap(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        for item in [Self.chain[0], Self.chain[2]] { _ = try await store.submit(item) }
        let asked = try await store.questions.wanted(.googlePlaySubscription, limit: 10)
        #expect(asked.map(\.object) == ["B"])
        await store.driver.close()
    }

    @Test("G28: a test purchase leaves production alone", arguments: Backend.allCases)
    func environments(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        _ = try await store.submit(.register("ann", .token("a")))
        _ = try await store.submit(
            .message("t", .play("A", from: 0, account: "a", in: .sandbox))
        )
        #expect(try await store.active("ann", at: 5) == [])
        #expect(try await store.active("ann", at: 5, .sandbox) == ["pro"])
        #expect(try await store.balance("ann") == 0)
        await store.driver.close()
    }

    @Test(
        "a product that waits for the catalog is found with and without its plan",
        arguments: Backend.allCases,
        ["monthly", nil]
    )
    func lateCatalog(_ backend: Backend, plan: String?) async throws {
        let store = try await RecordStore.open(backend)
        _ = try await store.submit(.register("ann", .token("a")))
        _ = try await store.submit(
            .message("n", .play("A", from: 0, account: "a", product: "novelty"))
        )
        #expect(try await store.balance("ann") == 0)
        var catalog = Shop.nextCatalog
        for index in catalog.products.indices where catalog.products[index].id == "novelty" {
            catalog.products[index].googlePlayBasePlans = plan.map { [$0] }
        }
        try await store.adopt(catalog, at: .day(5))
        #expect(try await store.balance("ann") == 7)
        #expect(try await store.rebuilt().isIdentical)
        await store.driver.close()
    }
}
