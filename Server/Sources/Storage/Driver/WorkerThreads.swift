internal import Foundation

/// A few threads that may block, each with a context of its own (a connection), fed from one queue.
///
/// Swift's own threads must not wait for a disk or a database server. Threads start when there is
/// work for them, up to `count`.
///
/// Unchecked because the compiler cannot see it: all mutable state is touched only while `condition`
/// is locked, and a context is made, used and dropped by its own thread alone.
package final class WorkerThreads<Context>: @unchecked Sendable {
    package typealias Job = (Context) -> Void

    private let name: String
    private let count: Int
    private let makeContext: @Sendable () -> Context
    private let condition = NSCondition()
    private var jobs: [Job] = []
    private var firstJob = 0
    private var running = 0
    private var idle = 0
    private var isClosed = false
    private var waitingForEnd: [CheckedContinuation<Void, Never>] = []

    /// Up to `count` threads called `name`; `makeContext` runs on each of them before its first work.
    package init(_ name: String, count: Int, makeContext: @escaping @Sendable () -> Context) {
        precondition(count > 0)
        self.name = name
        self.count = count
        self.makeContext = makeContext
    }

    /// Runs `body` on one of the threads.
    ///
    /// Throws `.closed` after `close()`.
    package func run<R: Sendable>(
        _ body: @escaping @Sendable (Context) throws -> R
    ) async throws -> R {
        try await withCheckedThrowingContinuation { continuation in
            let isAccepted = submit { context in
                continuation.resume(with: Result { try body(context) })
            }
            if !isAccepted {
                continuation.resume(throwing: StorageError(.closed, "the database was closed"))
            }
        }
    }

    /// Finishes all work that was accepted, ends the threads and drops their contexts.
    package func close() async {
        await withCheckedContinuation { continuation in
            condition.lock()
            isClosed = true
            if running == 0 {
                condition.unlock()
                return continuation.resume()
            }
            waitingForEnd.append(continuation)
            condition.broadcast()
            condition.unlock()
        }
    }

    /// Queues `job` for one of the threads; false after `close()`.
    package func submit(_ job: @escaping Job) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        guard !isClosed else { return false }
        jobs.append(job)
        if idle > 0 { condition.signal() }
        // A thread counts as idle until it has woken up, also one that an earlier job has called.
        if idle < jobs.count - firstJob, running < count {
            running += 1
            let thread = Thread { [self] in work() }
            thread.name = name
            thread.start()
        }
        return true
    }

    private func work() {
        do {
            let context = makeContext()
            while let job = nextJob() { job(context) }
        }
        condition.lock()
        running -= 1
        let ended = running == 0 ? waitingForEnd : []
        if running == 0 { waitingForEnd = [] }
        condition.unlock()
        for continuation in ended { continuation.resume() }
    }

    private func nextJob() -> Job? {
        condition.lock()
        defer { condition.unlock() }
        while firstJob == jobs.count {
            if isClosed { return nil }
            idle += 1
            condition.wait()
            idle -= 1
        }
        let job = jobs[firstJob]
        firstJob += 1
        if firstJob == jobs.count {
            jobs.removeAll(keepingCapacity: jobs.count < 1024)
            firstJob = 0
        } else if firstJob >= 256 {
            jobs.removeFirst(firstJob)
            firstJob = 0
        }
        return job
    }
}
