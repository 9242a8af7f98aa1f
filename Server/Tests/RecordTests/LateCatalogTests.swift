import Storage
import Testing
import TollgateCore
import TollgateSimulation

@Suite("A purchase that waited for the catalog")
struct LateCatalogTests {
    private static func messages(_ store: RecordStore) async throws -> [(kind: String, at: Int64)] {
        try await store.driver.read { connection in
            try connection.query("SELECT kind, created FROM message ORDER BY id").map {
                (try $0.text(0), try $0.int64(1))
            }
        }
    }

    @Test("its coins are announced when the catalog comes", arguments: Backend.allCases)
    func coins(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        _ = try await store.submit(.register("ann", .token("a")))
        _ = try await store.submit(
            .message("m1", .bought("novelty", .consumable, "1", on: 3, token: "a"))
        )
        #expect(try await store.balance("ann") == 0)
        let before = try await Self.messages(store).count
        try await store.adopt(Shop.nextCatalog, at: .day(20))
        #expect(try await store.balance("ann") == 7)
        let news = try await Self.messages(store).dropFirst(before)
        #expect(news.map(\.kind) == [FeedMessage.Kind.entitlementsChanged.rawValue])
        #expect(news.first?.at == Instant.day(20).milliseconds)
        // Adopted again, it is no news.
        try await store.adopt(Shop.nextCatalog, at: .day(21))
        #expect(try await Self.messages(store).count == before + 1)
        #expect(try await store.rebuilt().isIdentical)
        await store.driver.close()
    }

    @Test("its access is announced when the catalog comes", arguments: Backend.allCases)
    func access(_ backend: Backend) async throws {
        var poor = Shop.catalog
        poor.products.removeAll { $0.id == "monthly" }
        let store = try await RecordStore.open(backend, selling: poor)
        _ = try await store.submit(.register("ann", .token("a")))
        _ = try await store.submit(.message("m1", .month(0, of: "1", token: "a")))
        #expect(try await store.active("ann", at: 10) == [])
        let before = try await Self.messages(store).count
        try await store.adopt(Shop.catalog, at: .day(10))
        #expect(try await store.active("ann", at: 10) == ["pro"])
        let news = try await Self.messages(store).dropFirst(before)
        #expect(news.map(\.kind) == [FeedMessage.Kind.entitlementsChanged.rawValue])
        #expect(try await store.rebuilt().isIdentical)
        await store.driver.close()
    }
}
