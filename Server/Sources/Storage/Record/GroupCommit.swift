internal import Foundation

/// Lets arrivals share a commit: while one batch is flushed to disk, the next one gathers.
///
/// Nobody waits for a batch to fill. With one caller a batch holds one item; under load it grows
/// by itself, which on a busy machine is worth a factor of 30 to 60.
final class GroupCommit: @unchecked Sendable {
    // `lock` guards everything below; no call is made while it is held.
    private let lock = NSLock()
    private var waiting: [Entry] = []
    private var running = 0
    private let lanes: Int
    private let limit: Int
    private let commit: @Sendable ([JournalItem]) async throws -> [JournalOutcome]

    /// A database that has stalled must not fill the memory with what waits for it.
    private static let maximalWaiting = 8_192

    private struct Entry: Sendable {
        let item: JournalItem
        let continuation: CheckedContinuation<JournalOutcome, any Error>
    }

    /// - Parameters:
    ///   - lanes: how many batches may be under way at once.
    ///   - limit: how many items a batch holds at most.
    ///   - commit: makes a batch durable, or fails as a whole.
    init(
        lanes: Int,
        limit: Int,
        commit: @escaping @Sendable ([JournalItem]) async throws -> [JournalOutcome]
    ) {
        self.lanes = lanes
        self.limit = limit
        self.commit = commit
    }

    /// Returns once `item` is durable.
    func submit(_ item: JournalItem) async throws -> JournalOutcome {
        try await withCheckedThrowingContinuation { continuation in
            lock.lock()
            guard waiting.count < Self.maximalWaiting else {
                lock.unlock()
                let error = StorageError(.unavailable, "too much is waiting to be written")
                return continuation.resume(throwing: error)
            }
            waiting.append(Entry(item: item, continuation: continuation))
            let starts = running < lanes
            if starts { running += 1 }
            lock.unlock()
            if starts { Task { await self.run() } }
        }
    }

    /// How many items wait for the next batch.
    var waitingCount: Int {
        lock.lock()
        defer { lock.unlock() }
        return waiting.count
    }

    private func run() async {
        while let batch = next() {
            do {
                let outcomes = try await commit(batch.map(\.item))
                for (entry, outcome) in zip(batch, outcomes) {
                    entry.continuation.resume(returning: outcome)
                }
            } catch {
                await retry(batch[...], after: error)
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
                let outcomes = try await commit(half.map(\.item))
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
        case .unavailable, .closed, .diskFull, .readOnly, .inUse: true
        default: false
        }
    }

    /// The next batch: the oldest items, none of them twice.
    private func next() -> [Entry]? {
        lock.lock()
        defer { lock.unlock() }
        guard !waiting.isEmpty else {
            running -= 1
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
