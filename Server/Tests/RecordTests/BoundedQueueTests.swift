import Dispatch
import Storage
import Synchronization
import Testing
import TollgateCore
import TollgateSimulation

/// I13: what waits is bounded, and all of it ends.
@Suite("Bounded queues")
struct BoundedQueueTests {
    /// How many were told to come back.
    private final class Refusals: Sendable {
        private let number = Mutex(0)
        var count: Int { number.withLock { $0 } }
        func add() { number.withLock { $0 += 1 } }
    }

    @Test(
        "I13: while the database stands still a bounded number waits; the rest is told to come back"
    )
    func waitingForACommit() async throws {
        let store = try await RecordStore.open(.sqlite)
        let gate = DispatchSemaphore(value: 0)
        let standstill = Task {
            try await store.driver.write { _ in gate.wait() }
        }
        let refused = Refusals()
        let total = 10_000
        let taken = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<total {
                group.addTask {
                    do {
                        _ = try await store.submit(.message("\(number)"))
                        return true
                    } catch let error as StorageError {
                        // 503 for a store, which then sends it again.
                        #expect(error.kind == .unavailable)
                        refused.add()
                        return false
                    }
                }
            }
            var waiting = 0
            while waiting + refused.count < total - 256 {
                waiting = try await store.queueLengths().commits
                #expect(waiting <= 8192)
            }
            gate.signal()
            try await standstill.value
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(refused.count > 0)
        #expect(taken + refused.count == total)
        #expect(try await store.queueLengths().commits == 0)
        // Sent again, all of it is taken, once.
        let again = try await withThrowingTaskGroup(of: JournalOutcome.self) { group in
            var outcomes: [JournalOutcome] = []
            for number in 0..<total {
                if number >= 4_000, let outcome = try await group.next() {
                    outcomes.append(outcome)
                }
                group.addTask { try await store.submit(.message("\(number)")) }
            }
            for try await outcome in group { outcomes.append(outcome) }
            return outcomes
        }
        let fresh = again.filter { if case .recorded = $0 { true } else { false } }.count
        #expect(again.count == total && fresh == total - taken)
        await store.driver.close()
    }
}
