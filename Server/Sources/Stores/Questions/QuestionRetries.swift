internal import Storage
internal import Synchronization
internal import TollgateCore

/// When each question to a store is asked again whose answer failed or could not be read.
///
/// Such an answer may stay as it is for ever, and may say nothing about other questions: so each waits
/// for itself. It is kept in memory, by each server for itself; forgetting one costs one more
/// request, never the question.
final class QuestionRetries: Sendable {
    /// More than one server asks within ten minutes: where there is no room, the one to be forgotten
    /// has waited long enough.
    private let capacity: Int
    private let times = Mutex<[RowKey: Wait]>([:])

    private struct Wait {
        var kind: Wanted.Kind
        var time = RetryTime()
        /// When the question was raised that was asked last.
        var raised: Instant
    }

    init(capacity: Int = 50_000) {
        precondition(capacity > 0)
        self.capacity = capacity
    }

    /// How many are remembered.
    var count: Int { times.withLock { $0.count } }

    /// When it may be asked; long ago where it never failed.
    ///
    /// - Parameter raised: when the question was raised; what was raised since it was asked is due.
    func turn(of question: RowKey, raised: Instant) -> Instant {
        let wait = times.withLock { $0[question] }
        guard let wait, raised <= wait.raised else { return RetryTime().notBefore }
        return wait.time.notBefore
    }

    func isDue(_ question: RowKey, raised: Instant, at wall: Instant) -> Bool {
        turn(of: question, raised: raised) <= wall
    }

    /// Whether its last answer failed, and nobody raised it anew since.
    func hasFailed(_ question: RowKey, raised: Instant) -> Bool {
        times.withLock { $0[question].map { raised <= $0.raised } ?? false }
    }

    /// Whether the turn of any of a kind has come that failed.
    func hasDue(_ kind: Wanted.Kind, at wall: Instant) -> Bool {
        times.withLock { times in
            times.values.contains { $0.kind == kind && $0.time.isDue(at: wall) }
        }
    }

    /// Those first whose turn came first.
    func inOrder(_ questions: [WantedRow]) -> [WantedRow] {
        times.withLock { times in
            questions.map { ($0, times[$0.key]?.time.notBefore ?? $0.raised) }
                .sorted { $0.1 < $1.1 }
                .map(\.0)
        }
    }

    func failed(_ question: RowKey, _ kind: Wanted.Kind, raised: Instant, at wall: Instant) {
        times.withLock { times in
            if times.count >= capacity, times[question] == nil,
                let next = times.min(by: { $0.value.time.notBefore < $1.value.time.notBefore })
            {
                times[next.key] = nil
            }
            var wait = times[question] ?? Wait(kind: kind, raised: raised)
            wait.time.failed(at: wall)
            wait.raised = raised
            times[question] = wait
        }
    }

    /// Its answer was read.
    func forget(_ question: RowKey) {
        times.withLock { $0[question] = nil }
    }

    /// Forgets those of a kind that are questions no more: another server has the answer.
    func keepOnly(_ questions: Set<RowKey>, of kind: Wanted.Kind) {
        times.withLock { times in
            times = times.filter { $0.value.kind != kind || questions.contains($0.key) }
        }
    }
}
