import AppStoreConnector
import AppStoreSimulator
import SandboxClock
import Storage
import Stores
import Testing
import TollgateAssembly
import TollgateCore
import TollgateService
import TollgateSimulation

@Suite("Coming from a system that has credited coins")
struct CoinsSinceTests {
    private static let moved = Instant(milliseconds: AppStoreWorld.start + AppStoreWorld.day)

    @Test(
        "Coins of purchases before the move are not credited again, whoever tells of them",
        arguments: Backend.allCases
    )
    func notAgain(_ backend: Backend) async throws {
        var setup = AppStoreWorld.Setup()
        setup.coinsSince = Self.moved
        try await AppStoreWorld.run(on: backend, setup) { world in
            let customer = try await world.customer("user")
            world.listens.set(false)
            // Both give coins: 100 of the pack, 50 for each year.
            let pack = try await world.appStore.buy(AppStoreWorld.coins, customer: customer.buyer)
            _ = try await world.appStore.buy(AppStoreWorld.yearly, customer: customer.buyer)
            await world.pass(days: 2)
            world.listens.set(true)
            _ = try await world.tollgate.appStore.reconcile(in: .sandbox, reach: .everything)
            #expect(try await world.isEntitled(customer.id, "archive"))
            #expect(try await world.balance(customer.id) == 0)

            // The request names the pack, and so does its refund.
            try await world.appStore.requestRefund(pack.transactionID)
            #expect(try await world.balance(customer.id) == 0)
            try await world.appStore.refund(pack.transactionID)
            #expect(try await world.balance(customer.id) == 0)

            _ = try await world.appStore.buy(AppStoreWorld.coins, customer: customer.buyer)
            #expect(try await world.balance(customer.id) == 100)
            await world.pass(days: 366)
            #expect(try await world.balance(customer.id) == 150)
            #expect(try await world.isRebuilt())
        }
    }

    @Test("Once a purchase is recorded, the instant of the move stays")
    func stays() async throws {
        var setup = AppStoreWorld.Setup()
        setup.coinsSince = Self.moved
        try await AppStoreWorld.run(setup) { world in
            var catalog = world.tollgate.store.history.current
            let now = Instant(milliseconds: await world.clock.now)
            // Nothing is bought yet.
            catalog.coinsSince = now
            try await world.tollgate.store.adopt(catalog, at: now)
            #expect(world.tollgate.store.history.coinsSince == now)

            let customer = try await world.customer("user")
            _ = try await world.appStore.buy(AppStoreWorld.coins, customer: customer.buyer)
            catalog.coinsSince = Self.moved
            await #expect(throws: CoinsSinceIsFixed.self) {
                try await world.tollgate.store.adopt(catalog, at: now)
            }
            // Without the line it is as it was.
            catalog.coinsSince = nil
            try await world.tollgate.store.adopt(catalog, at: now)
            #expect(world.tollgate.store.history.coinsSince == now)
            #expect(try await world.balance(customer.id) == 100)
        }
    }
}
