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

    @Test("Once something is sold for real money, the instant of the move stays")
    func stays() async throws {
        var setup = AppStoreWorld.Setup()
        setup.environment = .production
        try await AppStoreWorld.run(setup) { world in
            await world.pass(days: 2)
            let store = world.tollgate.store
            let now = Instant(milliseconds: await world.clock.now)
            var catalog = store.history.current
            catalog.coinsSince = now.advanced(by: 1)
            await #expect(throws: CoinsSinceRefused.future) {
                try await store.adopt(catalog, at: now)
            }
            for instant in [now, Self.moved] {
                catalog.coinsSince = instant
                try await store.adopt(catalog, at: now)
                #expect(store.history.coinsSince == instant)
            }

            let customer = try await world.customer("user")
            _ = try await world.appStore.buy(AppStoreWorld.coins, customer: customer.buyer)
            #expect(try await world.balance(customer.id) == 100)
            catalog.coinsSince = now
            await #expect(throws: CoinsSinceRefused.fixed(Self.moved)) {
                try await store.adopt(catalog, at: now)
            }
            // Without the line it is as it was.
            catalog.coinsSince = nil
            try await store.adopt(catalog, at: now)
            #expect(store.history.coinsSince == Self.moved)
            #expect(try await world.balance(customer.id) == 100)
        }
    }
}
