internal import CSQLite
internal import CSQLiteWriteBuffer
internal import Dispatch
internal import Storage

/// The one connection that writes and checkpoints, on its own queue.
///
/// Unchecked because `connection`, `writes` and `isWatched` are only touched in blocks on that queue.
final class Writer: @unchecked Sendable {
    let commits = CommitSignal()
    private let queue = DispatchQueue(label: "tollgate.sqlite.writer")
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
        try Self.check(writebuffer_install(), path)
        let connection = try SQLiteConnection(writingTo: path, cacheKiB: cacheKiB)
        try Self.check(writebuffer_begin(connection.database), path)
        self.connection = connection
    }

    private static func check(_ code: Int32, _ path: String) throws(StorageError) {
        guard code != SQLITE_OK else { return }
        let message = String(cString: sqlite3_errstr(code))
        throw SQLiteConnection.cannotOpen(path, storageError(code, message))
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
        queue.async { [self] in
            let result = Result {
                guard let connection else {
                    throw StorageError(.closed, "the database was closed")
                }
                return try body(connection)
            }
            commits.raise()
            completion(result)
            writes += 1
            if !isWatched { watch() }
        }
    }

    /// Looks again after a while whether anything was written meanwhile.
    private func watch() {
        isWatched = true
        let seen = writes
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + quiet) { [weak self] in
            self?.queue.async { [weak self] in
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

    /// The file system that its files are written through, such as `tollgate/unix`.
    func fileSystem() async throws -> String {
        try await run { connection in
            var name: UnsafeMutablePointer<CChar>?
            sqlite3_file_control(connection.database, "main", SQLITE_FCNTL_VFSNAME, &name)
            defer { sqlite3_free(name) }
            return name.map { String(cString: $0) } ?? ""
        }
    }

    /// Finishes what was asked and closes the file.
    func close() async {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                connection = nil
                continuation.resume()
            }
        }
    }
}
