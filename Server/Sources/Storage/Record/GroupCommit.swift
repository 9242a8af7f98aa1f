internal import Synchronization

/// Lets arrivals share a commit: while one batch is flushed to disk, the next one gathers.
///
/// Nobody waits for a batch to fill. With one caller a batch holds one item; under load it grows
/// by itself, which on a busy machine is worth a factor of 30 to 60.
final class GroupCommit: Sendable {
    private struct Queue {
        var waiting: [Entry] = []
        var isCommitting = false

        /// The next batch: the oldest items, none of them twice.
        mutating func next(_ limit: Int) -> [Entry]? {
            guard !waiting.isEmpty else {
                isCommitting = false
                return nil
            }
            var batch: [Entry] = []
            var later: [Entry] = []
            var keys: Set<RowKey> = []
            for (index, entry) in waiting.enumerated() {
                guard batch.count < limit else {
                    later += waiting[index...]
                    break
                }
                if keys.insert(entry.item.dedupeKey).inserted {
                    batch.append(entry)
                } else {
                    later.append(entry)
                }
            }
            waiting = later
            return batch
        }
    }

    /// No call is made while it is locked.
    private let queue = Mutex(Queue())
    private let limit: Int
    private let commit: Commit

    /// Makes a batch durable, or fails as a whole, and tells on the thread that wrote.
    typealias Commit =
        @Sendable (
            [JournalItem], @escaping @Sendable (Result<[JournalOutcome], any Error>) -> Void
        ) -> Void

    /// A database that has stalled must not fill the memory with what waits for it.
    private static let maximalWaiting = 8_192

    private struct Entry: Sendable {
        let item: JournalItem
        let continuation: CheckedContinuation<JournalOutcome, any Error>
    }

    /// - Parameters:
    ///   - limit: how many items a batch holds at most.
    ///   - commit: makes a batch durable.
    init(limit: Int, commit: @escaping Commit) {
        self.limit = limit
        self.commit = commit
    }

    /// Returns once `item` is durable.
    func submit(_ item: JournalItem) async throws -> JournalOutcome {
        try await withCheckedThrowingContinuation { continuation in
            // Whether to hand over at once; `nil` where too much waits.
            let starts: Bool? = queue.withLock { queue in
                guard queue.waiting.count < Self.maximalWaiting else { return nil }
                queue.waiting.append(Entry(item: item, continuation: continuation))
                defer { queue.isCommitting = true }
                return !queue.isCommitting
            }
            guard let starts else {
                let error = StorageError(.unavailable, "too much is waiting to be written")
                return continuation.resume(throwing: error)
            }
            if starts { commitNext() }
        }
    }

    /// How many items wait for the next batch.
    var waitingCount: Int {
        queue.withLock { $0.waiting.count }
    }

    /// Hands over what waits.
    ///
    /// The next batch is handed over by the thread that wrote this one, before anybody is told: on a
    /// busy machine the database would otherwise stand still until some other thread had its turn.
    private func commitNext() {
        guard let batch = queue.withLock({ $0.next(limit) }) else { return }
        commit(batch.map(\.item)) { [self] result in
            switch result {
            case .success(let outcomes):
                commitNext()
                for (entry, outcome) in zip(batch, outcomes) {
                    entry.continuation.resume(returning: outcome)
                }
            case .failure(let error):
                Task {
                    await retry(batch[...], after: error)
                    commitNext()
                }
            }
        }
    }

    /// One bad item must not fail its neighbours: a failed batch is tried in halves.
    ///
    /// Where the database itself is the trouble, all fail at once, so that stores are told to come
    /// back instead of waiting.
    private func retry(_ batch: ArraySlice<Entry>, after error: any Error) async {
        guard batch.count > 1, !Self.isHopeless(error) else {
            for entry in batch { entry.continuation.resume(throwing: error) }
            return
        }
        let middle = batch.startIndex + batch.count / 2
        var down: (any Error)?
        for half in [batch[..<middle], batch[middle...]] {
            if let down {
                for entry in half { entry.continuation.resume(throwing: down) }
                continue
            }
            do {
                let outcomes = try await withCheckedThrowingContinuation { continuation in
                    commit(half.map(\.item)) { continuation.resume(with: $0) }
                }
                for (entry, outcome) in zip(half, outcomes) {
                    entry.continuation.resume(returning: outcome)
                }
            } catch {
                if Self.isHopeless(error) { down = error }
                await retry(half, after: error)
            }
        }
    }

    private static func isHopeless(_ error: any Error) -> Bool {
        switch (error as? StorageError)?.kind {
        case .unavailable, .closed, .diskFull, .readOnly, .inUse, .schema: true
        default: false
        }
    }
}
