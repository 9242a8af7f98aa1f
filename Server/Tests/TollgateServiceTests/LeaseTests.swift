import Storage
import Stores
import Synchronization
import Testing
import TollgateCore
import TollgateSimulation

@testable import TollgateService

@Suite("Leases of what must happen once")
struct LeaseTests {
    /// A wall clock that the test sets.
    private final class Wall: Sendable {
        private let seconds = Mutex<Double>(0)

        var now: Instant { Instant(milliseconds: Int64(seconds.withLock { $0 } * 1000)) }

        func set(_ seconds: Double) { self.seconds.withLock { $0 = seconds } }
    }

    @Test(
        "One is written anew only when a tenth of it is over, and missed once another has it",
        arguments: Backend.allCases
    )
    func prolonged(_ backend: Backend) async throws {
        let driver = try await backend.open()
        let store = try await RecordStore(driver)
        let wall = Wall()
        let clocks = Clocks(now: { wall.now }, wall: { wall.now })
        let leases = Leases(
            records: store,
            clocks: clocks,
            random: RandomSource { Array(repeating: 0, count: $0) }
        )
        func end() async throws -> Int64? {
            try await driver.readNow("SELECT until FROM lease WHERE name = 'work'", [])
                .first?.int64(0)
        }
        let result = try await leases.holding("work", seconds: 100) { prolong in
            #expect(try await end() == 100_000)
            wall.set(9.9)
            try await prolong()
            #expect(try await end() == 100_000)
            wall.set(10)
            try await prolong()
            #expect(try await end() == 110_000)
            wall.set(200)
            let other = Lease(
                name: "work",
                holder: "other",
                until: Instant(milliseconds: 300_000)
            )
            #expect(try await store.leases.take(other, now: wall.now))
            await #expect(throws: LeaseLost.self) { try await prolong() }
            return "done"
        }
        #expect(result == "done")
        #expect(try await end() == 300_000, "what another holds is not given back")
        await driver.close()
    }
}
