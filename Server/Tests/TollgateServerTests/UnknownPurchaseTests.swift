import AppStoreAPI
import AppStoreSimulator
import Stores
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

    @Test("of too many all are forgotten, and each after a day")
    func bounded() {
        func at(_ seconds: Int64) -> Instant { Instant(milliseconds: seconds * 1000) }
        let unknown = RecentlyUnknown<String>(capacity: 2)
        unknown.insert("1", at: at(0))
        unknown.insert("2", at: at(1))
        #expect(unknown.contains("1", at: at(86_399)) && !unknown.contains("1", at: at(86_400)))
        unknown.insert("3", at: at(2))
        #expect(["1", "2", "3"].map { unknown.contains($0, at: at(3)) } == [false, false, true])
    }

    @Test("ten over which Apple fails do not hold up lost notifications and other purchases")
    func faults() async throws {
        try await AppStoreWorld.run { world in
            for number in 0..<11 {
                let customer = try await world.customer("user-\(number)")
                _ = try await world.appStore.buy(AppStoreWorld.weekly, customer: customer.buyer)
            }
            func pass() async throws -> AppStoreReconciliation.Report? {
                await world.pass(days: 0.01)
                return try await world.tollgate.appStore.reconcile(in: .sandbox)
            }
            _ = try await pass()
            world.listens.set(false)
            await world.pass(days: 8)
            world.calls.refuse(["/history/", "/subscriptions/"], with: 5_000_000)
            await #expect(throws: AppStore.ServerAPIError.self) { _ = try await pass() }
            let late = try await world.customer("late")
            _ = try await world.appStore.buy(AppStoreWorld.lifetime, customer: late.buyer)
            world.listens.set(true)
            // What is left of the first pass, and a whole one.
            for _ in 0..<2 { _ = try? await pass() }
            #expect(try await world.isEntitled(late.id, "archive"))
        }
    }
}
