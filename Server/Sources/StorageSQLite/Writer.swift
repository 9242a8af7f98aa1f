internal import CSQLiteWriteBuffer
internal import Dispatch
internal import GRDB
internal import GRDBSQLite
internal import Storage

/// The one connection that writes and checkpoints, opened and owned by GRDB, on its own queue.
///
/// Unchecked because `connection`, `writes` and `isWatched` are only touched in blocks on that queue.
final class Writer: @unchecked Sendable {
    /// How many pages the log takes in before what is in it goes to the main file: 256 MB.
    ///
    /// A page that many commits changed goes there once, and fewer messages meet the pause. With
    /// 8,000 an ingest cost a twentieth more, and the slowest of a hundred waited for a checkpoint.
    private static let pagesBetweenCheckpoints = 64_000

    private let queue: DatabaseQueue
    private var connection: SQLiteConnection?
    private let quiet: DispatchTimeInterval
    /// How many blocks have run.
    private var writes = 0
    /// Whether somebody will look if it is quiet now.
    private var isWatched = false

    /// Opens or makes the file at `path`.
    ///
    /// - Parameter quiet: how long nothing must have been written for the log to be emptied.
    init(
        path: String,
        cacheKiB: Int,
        quiet: DispatchTimeInterval = .seconds(1)
    ) throws(StorageError) {
        self.quiet = quiet
        var configuration = Configuration()
        configuration.journalMode = .wal
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(Double(SQLiteConnection.patience) / 1000)
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = -\(cacheKiB)") }
        try Self.check(writebuffer_install(), path)
        do {
            queue = try DatabaseQueue(path: path, configuration: configuration)
            connection = try queue.writeWithoutTransaction { database in
                // Only now: GRDB sets NORMAL, which may lose commits, when it sets up the WAL.
                try database.execute(sql: "PRAGMA synchronous = FULL")
                // What is erased is overwritten, not only let go of.
                try database.execute(sql: "PRAGMA secure_delete = ON")
                try database.execute(
                    sql: "PRAGMA wal_autocheckpoint = \(Self.pagesBetweenCheckpoints)"
                )
                guard let pointer = database.sqliteConnection else { return nil }
                try Self.check(writebuffer_begin(pointer), path)
                return SQLiteConnection(borrowing: pointer)
            }
        } catch let error as DatabaseError {
            let reason = storageError(error.extendedResultCode.rawValue, error.message ?? "")
            throw StorageError(
                reason.kind,
                "cannot open \(path): \(reason.message)",
                code: reason.code
            )
        } catch let error as StorageError {
            throw error
        } catch {
            throw StorageError(.other, "cannot open \(path)")
        }
    }

    private static func check(_ code: Int32, _ path: String) throws(StorageError) {
        guard code != SQLITE_OK else { return }
        throw storageError(code, "cannot open \(path): \(String(cString: sqlite3_errstr(code)))")
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
            writes += 1
            if !isWatched { watch() }
        }
    }

    /// Looks again after a while whether anything was written meanwhile.
    private func watch() {
        isWatched = true
        let seen = writes
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + quiet) { [weak self] in
            self?.queue.asyncWriteWithoutTransaction { [weak self] _ in
                self?.rest(unlessWrittenSince: seen)
            }
        }
    }

    /// Uses a quiet moment to empty the log: the pause meets hardly anybody.
    ///
    /// What was erased does not wait for one.
    private func rest(unlessWrittenSince seen: Int) {
        guard let connection else { return }
        let isTime = writes == seen || connection.hasErased
        if !isTime || connection.emptyLog() || writes != seen {
            watch()
        } else {
            isWatched = false
        }
    }

    /// What its files are written through, such as `tollgate/unix`.
    func fileSystem() async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            queue.asyncWriteWithoutTransaction { database in
                var name: UnsafeMutablePointer<CChar>?
                sqlite3_file_control(
                    database.sqliteConnection,
                    "main",
                    SQLITE_FCNTL_VFSNAME,
                    &name
                )
                continuation.resume(returning: name.map { String(cString: $0) } ?? "")
                sqlite3_free(name)
            }
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
