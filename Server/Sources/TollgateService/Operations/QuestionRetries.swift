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
    private var times: [RowKey: RetryTime] = [:]

    init(capacity: Int = 50_000) {
        precondition(capacity > 0)
        self.capacity = capacity
    }

    /// How many are remembered.
    var count: Int { lock.withLock { times.count } }

    func isDue(_ question: RowKey, at wall: Instant) -> Bool {
        lock.withLock { times[question]?.isDue(at: wall) ?? true }
    }

    func failed(_ question: RowKey, at wall: Instant) {
        lock.withLock {
            if times.count >= capacity, times[question] == nil,
                let next = times.min(by: { $0.value.notBefore < $1.value.notBefore })
            {
                times[next.key] = nil
            }
            times[question, default: RetryTime()].failed(at: wall)
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
            times = times.filter { wall < $0.value.notBefore.advanced(by: RetryTime.longest) }
        }
    }
}
