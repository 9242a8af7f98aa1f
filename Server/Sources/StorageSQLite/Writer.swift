internal import GRDB
internal import Storage

/// The one connection that writes and checkpoints, opened and owned by GRDB, on its own queue.
///
/// Unchecked because `connection` is only touched in blocks on that queue.
final class Writer: @unchecked Sendable {
    private let queue: DatabaseQueue
    private var connection: SQLiteConnection?

    /// Opens or makes the file at `path`.
    init(path: String, cacheKiB: Int) throws(StorageError) {
        var configuration = Configuration()
        configuration.journalMode = .wal
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = -\(cacheKiB)") }
        do {
            queue = try DatabaseQueue(path: path, configuration: configuration)
            connection = try queue.writeWithoutTransaction { database in
                // Only now: GRDB sets NORMAL, which may lose commits, when it sets up the WAL.
                try database.execute(sql: "PRAGMA synchronous = FULL")
                // What is erased is overwritten, not only let go of.
                try database.execute(sql: "PRAGMA secure_delete = ON")
                guard let pointer = database.sqliteConnection else { return nil }
                return SQLiteConnection(borrowing: pointer)
            }
        } catch let error as DatabaseError {
            let reason = storageError(error.extendedResultCode.rawValue, error.message ?? "")
            throw StorageError(
                reason.kind,
                "cannot open \(path): \(reason.message)",
                code: reason.code
            )
        } catch {
            throw StorageError(.other, "cannot open \(path)")
        }
    }

    /// Runs `body` with the connection, after all that was asked before.
    func run<R: Sendable>(
        _ body: @escaping @Sendable (SQLiteConnection) throws -> R
    ) async throws -> R {
        try await withCheckedThrowingContinuation { continuation in
            run(body) { continuation.resume(with: $0) }
        }
    }

    /// The same, and tells `completion` on the queue itself, before what was asked later.
    func run<R: Sendable>(
        _ body: @escaping @Sendable (SQLiteConnection) throws -> R,
        completion: @escaping @Sendable (Result<R, any Error>) -> Void
    ) {
        queue.asyncWriteWithoutTransaction { [self] _ in
            completion(
                Result {
                    guard let connection else {
                        throw StorageError(.closed, "the database was closed")
                    }
                    return try body(connection)
                }
            )
        }
    }

    /// Finishes what was asked and closes the file.
    func close() async {
        _ = try? await run { [self] connection in
            connection.finalizeStatements()
            self.connection = nil
        }
        try? queue.close()
    }
}
