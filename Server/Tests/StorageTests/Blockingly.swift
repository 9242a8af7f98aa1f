import Foundation

/// Runs `body` to its end while the calling thread waits: for what happens during a synchronous read.
func blockingly(_ body: @escaping @Sendable () async throws -> Void) {
    let done = DispatchSemaphore(value: 0)
    Task {
        defer { done.signal() }
        try await body()
    }
    done.wait()
}
