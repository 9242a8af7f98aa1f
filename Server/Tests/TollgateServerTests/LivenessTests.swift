import AppStoreSimulator
import Storage
import Testing
import TollgateService
import TollgateSimulation

/// I13: attempts are bounded while a store is down, and when it is back all is done within a quarter
/// of an hour.
@Suite("After an outage")
struct LivenessTests {
    @Test(
        "I13: after a day without the App Store every question is answered within fifteen minutes",
        arguments: Backend.allCases
    )
    func appStoreIsBack(_ backend: Backend) async throws {
        var setup = AppStoreWorld.Setup()
        setup.hasSharedSecret = true
        try await AppStoreWorld.run(on: backend, setup) { world in
            // Notifications of version 1 are hints: each raises a question.
            await world.appStore.setNotificationVersion(1)
            world.calls.fail(Set(0..<100_000))
            var customers: [String] = []
            for number in 0..<12 {
                let customer = try await world.customer("user-\(number)")
                customers.append(customer.id)
                _ = try await world.appStore.buy(AppStoreWorld.weekly, customer: customer.buyer)
            }
            #expect(try await world.count("wanted") == 12)
            // A server asks twice a second; a question every half minute shows the same.
            for _ in 0..<(24 * 120) {
                await world.tollgate.fetchWanted()
                world.wall.advance(seconds: 30)
            }
            // Six times an hour at most, each with the client's own few repetitions.
            let asked = world.calls.all.count
            #expect((24..<1000).contains(asked), "\(asked)")
            #expect(try await world.count("wanted") == 12)

            world.calls.fail([])
            var seconds: Int64 = 0
            while try await world.count("wanted") > 0, seconds <= 900 {
                world.wall.advance(seconds: 10)
                seconds += 10
                await world.tollgate.fetchWanted()
            }
            #expect(seconds <= 900)
            for customer in customers { #expect(try await world.isEntitled(customer)) }
            #expect(try await world.isRebuilt())
        }
    }
}
