internal import Foundation
internal import Storage
internal import TollgateCore

/// When each question to a store is asked again whose answer could not be read.
///
/// Such an answer may stay as it is for ever, and says nothing about other questions: so each waits
/// for itself. It is kept in memory, by each server for itself; forgetting one costs one more
/// request, never the question.
final class QuestionRetries: @unchecked Sendable {
    /// More than one server asks within ten minutes: where there is no room, the one to be forgotten
    /// has waited long enough.
    private let capacity: Int
    // `lock` guards `times`.
    private let lock = NSLock()
    private var times: [RowKey: Wait] = [:]

    private struct Wait {
        var time = RetryTime()
        /// When the question was raised that was asked last.
        var raised: Instant
    }

    init(capacity: Int = 50_000) {
        precondition(capacity > 0)
        self.capacity = capacity
    }

    /// How many are remembered.
    var count: Int { lock.withLock { times.count } }

    /// - Parameter raised: when the question was raised; what was raised since it was asked is due.
    func isDue(_ question: RowKey, raised: Instant, at wall: Instant) -> Bool {
        lock.withLock {
            times[question].map { $0.time.isDue(at: wall) || $0.raised < raised } ?? true
        }
    }

    func failed(_ question: RowKey, raised: Instant, at wall: Instant) {
        lock.withLock {
            if times.count >= capacity, times[question] == nil,
                let next = times.min(by: { $0.value.time.notBefore < $1.value.time.notBefore })
            {
                times[next.key] = nil
            }
            var wait = times[question] ?? Wait(raised: raised)
            wait.time.failed(at: wall)
            wait.raised = raised
            times[question] = wait
        }
    }

    /// Its answer was read.
    func forget(_ question: RowKey) {
        lock.withLock { times[question] = nil }
    }

    /// Forgets those that were not asked although their turn came long ago: another server has the
    /// answer, so the question is gone.
    func forgetGone(at wall: Instant) {
        lock.withLock {
            guard !times.isEmpty else { return }
            times = times.filter {
                wall < $0.value.time.notBefore.advanced(by: RetryTime.longest)
            }
        }
    }
}
