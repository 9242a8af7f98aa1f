import Dispatch
import Storage
import Testing

@Suite("Threads that may block")
struct WorkerThreadsTests {
    /// Two that cannot go on without each other: each waits for the other to have begun.
    private static func meet(on threads: WorkerThreads<Void>) async throws
        -> [DispatchTimeoutResult]
    {
        let first = DispatchSemaphore(value: 0)
        let second = DispatchSemaphore(value: 0)
        let patience = DispatchTime.now() + 20
        return try await withThrowingTaskGroup { group in
            group.addTask {
                try await threads.run { _ in
                    first.signal()
                    return second.wait(timeout: patience)
                }
            }
            group.addTask {
                try await threads.run { _ in
                    second.signal()
                    return first.wait(timeout: patience)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test("Work that comes while one thread is idle has another if there may be more")
    func anotherThread() async throws {
        for _ in 0..<200 {
            let threads = WorkerThreads<Void>("test", count: 2) {}
            // From now on one of the two is idle; the other has not been started.
            try await threads.run { _ in }
            let met = try await Self.meet(on: threads)
            await threads.close()
            try #require(met == [.success, .success])
        }
    }
}
