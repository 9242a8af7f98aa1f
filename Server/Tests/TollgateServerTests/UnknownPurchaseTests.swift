import AppStoreSimulator
import Testing
import TollgateAssembly
import TollgateCore

@testable import AppStoreConnector

@Suite("Overdue purchases that the App Store does not know")
struct UnknownPurchaseTests {
    @Test(
        "one is asked about once a day, not in each pass",
        // Account not found, original transaction id not found, transaction id not found.
        arguments: [4_040_001, 4_040_005, 4_040_010]
    )
    func rests(_ code: Int) async throws {
        try await AppStoreWorld.run { world in
            let customer = try await world.customer("user")
            _ = try await world.appStore.buy(AppStoreWorld.weekly, customer: customer.buyer)
            func pass() async throws -> AppStoreReconciliation.Report {
                await world.pass(days: 0.01)
                return try #require(try await world.tollgate.appStore.reconcile(in: .sandbox))
            }
            _ = try await pass()
            await world.appStore.setNotificationURL(nil)
            await world.pass(days: 8)
            world.calls.refuse(["/history/"], with: code)
            let first = try await pass()
            #expect(first.overdue == 1 && first.unknown == 1)
            world.wall.advance(seconds: 86_399)
            let second = try await pass()
            #expect(second.overdue == 0 && second.unknown == 0)
            world.wall.advance(seconds: 1)
            let third = try await pass()
            #expect(third.overdue == 1 && third.unknown == 1)

            world.calls.refuse([], with: 0)
            world.wall.advance(seconds: 86_400)
            #expect(try await pass().changed == 1)
            #expect(try await world.isEntitled(customer.id))
        }
    }

    @Test("of too many the one that has waited longest is forgotten")
    func bounded() {
        func key(_ id: String) -> Purchase.Key {
            Purchase.Key(store: .appStore, environment: .sandbox, application: "app", id: id)
        }
        func at(_ seconds: Int64) -> Instant { Instant(milliseconds: seconds * 1000) }
        let unknown = UnknownPurchases(capacity: 2)
        for (number, id) in ["1", "2", "3"].enumerated() {
            unknown.insert(key(id), at: at(Int64(number)))
        }
        #expect(
            ["1", "2", "3"].map { unknown.contains(key($0), at: at(3)) } == [false, true, true]
        )
        #expect(unknown.contains(key("2"), at: at(86_400)))
        #expect(!unknown.contains(key("2"), at: at(86_401)))
    }
}
