internal import Storage
internal import Synchronization

/// Reads by key: all that wait at the same time go to the server together, while their answers come
/// the next ones gather.
final class PostgresPointReads: Sendable {
    private struct Read: Sendable {
        let sql: String
        let parameters: [SQLValue]
        let answer: @Sendable (Result<[Row], StorageError>) -> Void
    }

    private struct Waiting {
        var reads: [Read] = []
        var threadsAtWork = 0
    }

    /// Reads in one trip: enough to share its cost, few enough that none waits long for the others.
    private static let largestBatch = 128

    private let threads: WorkerThreads<PostgresSession>
    private let connections: Int
    private let waiting = Mutex(Waiting())

    /// Up to `connections` connections, each made by `open`.
    init(connections: Int, open: @escaping @Sendable () -> PostgresSession) {
        threads = WorkerThreads("postgres-point-reader", count: connections, makeContext: open)
        self.connections = connections
    }

    func read(_ sql: String, _ parameters: [SQLValue]) async throws(StorageError) -> [Row] {
        let result = await withCheckedContinuation { continuation in
            let read = Read(sql: sql, parameters: parameters) { continuation.resume(returning: $0) }
            let needsThread = waiting.withLock { waiting in
                waiting.reads.append(read)
                guard waiting.threadsAtWork < connections else { return false }
                waiting.threadsAtWork += 1
                return true
            }
            guard needsThread else { return }
            let isAccepted = threads.submit { [self] session in
                while let batch = nextBatch() { Self.answer(batch, session) }
            }
            if !isAccepted { refuseAll() }
        }
        return try result.get()
    }

    func close() async {
        await threads.close()
    }

    private func nextBatch() -> [Read]? {
        waiting.withLock { waiting in
            guard !waiting.reads.isEmpty else {
                waiting.threadsAtWork -= 1
                return nil
            }
            let batch = Array(waiting.reads.prefix(Self.largestBatch))
            waiting.reads.removeFirst(batch.count)
            return batch
        }
    }

    private func refuseAll() {
        let reads = waiting.withLock { waiting in
            waiting.threadsAtWork -= 1
            defer { waiting.reads = [] }
            return waiting.reads
        }
        for read in reads {
            read.answer(.failure(StorageError(.closed, "the database was closed")))
        }
    }

    /// Answers all of `batch`.
    ///
    /// What was under way on a connection that died while it was idle, which shows only when it is
    /// used, goes once more over a new one.
    private static func answer(_ batch: [Read], _ session: PostgresSession) {
        var open = batch
        var mayGoAgain = true
        while !open.isEmpty {
            do throws(StorageError) {
                if try session.connect() { mayGoAgain = false }
                open = try answered(open, session)
            } catch {
                if mayGoAgain, !session.isConnected {
                    mayGoAgain = false
                    continue
                }
                for read in open { read.answer(.failure(error)) }
                return
            }
        }
    }

    /// One trip for all of `batch`; returns those that the server skipped because another failed.
    ///
    /// Throws, with nothing answered, if the connection is lost.
    private static func answered(
        _ batch: [Read],
        _ session: PostgresSession
    ) throws(StorageError) -> [Read] {
        var unprepared: [String: StorageError] = [:]
        var commands: [PostgresSession.Command] = []
        for read in batch where unprepared[read.sql] == nil {
            do throws(StorageError) {
                commands.append(.run(try session.prepared(read.sql), read.parameters))
            } catch {
                guard session.isConnected else { throw error }
                unprepared[read.sql] = error
            }
        }
        var outcomes = try session.roundTrip(commands)[...]
        var skipped: [Read] = []
        for read in batch {
            if let error = unprepared[read.sql] {
                read.answer(.failure(error))
                continue
            }
            switch outcomes.popFirst() {
            case .done(let rows, _, _): read.answer(.success(rows))
            case .failed(let error): read.answer(.failure(error))
            case .described, .skipped, nil: skipped.append(read)
            }
        }
        return skipped
    }
}
