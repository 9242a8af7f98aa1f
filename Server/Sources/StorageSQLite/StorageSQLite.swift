package import Dispatch
internal import Foundation
public import Storage
internal import Synchronization

/// The database in one SQLite file: one process, one writing connection, any number of readers.
///
/// Committed means on disk (WAL, `synchronous = FULL`).
public final class StorageSQLite: StorageDriver {
    /// What the file is opened for.
    public enum Mode: Sendable {
        /// To write: this process owns the file until it closes the driver or ends.
        case server
        /// To read, also while a server owns the file.
        case readOnly
    }

    /// The file's path as it was given.
    public let path: String
    public let dialect = Dialect.sqlite
    public let commits: CommitSignal

    private let writer: Writer?
    private let lock: Mutex<FileLock?>
    private let readers: SQLiteReaders
    private let longReaders: WorkerThreads<SQLiteReadContext>

    /// The process that serves the database at `path`; `nil`: none does.
    public static func server(of path: String) -> Int32? { FileLock.holder(of: path) }

    /// Opens the file at `path`; in mode `.server` makes it, and the folders above it, if missing.
    ///
    /// Files and folders that it makes are for their owner only, and so are the files that are there.
    ///
    /// `cacheKiB` is the writer's page cache; each reader has a quarter. Throws `.inUse` if another
    /// process, or this one, has it open as a server, `.corrupt` if it is not a database,
    /// `.unavailable` if it cannot be opened.
    public convenience init(path: String, mode: Mode = .server, cacheKiB: Int = 32_000) throws {
        try self.init(path: path, mode: mode, cacheKiB: cacheKiB, quiet: .seconds(1))
    }

    /// - Parameter quiet: how long nothing must have been written for the log to be emptied.
    package init(
        path: String,
        mode: Mode = .server,
        cacheKiB: Int = 32_000,
        quiet: DispatchTimeInterval
    ) throws {
        self.path = path
        switch mode {
        case .server:
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
            do {
                try FileManager.default.createDirectory(
                    at: folder,
                    withIntermediateDirectories: true,
                    attributes: [.posixPermissions: 0o700]
                )
            } catch {
                throw StorageError(
                    .unavailable,
                    "cannot make the folder \(folder.path) for the database"
                )
            }
            let lock = try FileLock(database: path)
            try OwnersFile.protect(database: path)
            let writer = try Writer(path: path, cacheKiB: cacheKiB, quiet: quiet)
            (self.writer, commits) = (writer, writer.commits)
            OwnersFile.closeToOthers(database: path)
            self.lock = Mutex(lock)
        case .readOnly:
            guard FileManager.default.fileExists(atPath: path) else {
                throw StorageError(.unavailable, "there is no database at \(path)")
            }
            (writer, commits) = (nil, CommitSignal())
            lock = Mutex(nil)
        }
        let readerCacheKiB = max(1000, cacheKiB / 4)
        readers = SQLiteReaders(
            path: path,
            count: 2 * max(2, ProcessInfo.processInfo.activeProcessorCount),
            cacheKiB: readerCacheKiB
        )
        longReaders = WorkerThreads("sqlite-reader", count: 4) {
            SQLiteReadContext(path: path, cacheKiB: readerCacheKiB)
        }
        // Now rather than at the first question: is this a database at all?
        _ = try readers.read { reader throws(StorageError) in
            try reader.query("SELECT count(*) FROM sqlite_schema")
        }
    }

    @discardableResult
    public func write<R: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> R
    ) async throws -> R {
        guard let writer else {
            throw StorageError(.readOnly, "\(path) was opened for reading")
        }
        return try await writer.run { try $0.transaction("BEGIN IMMEDIATE", body) }
    }

    public func write<R: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> R,
        completion: @escaping @Sendable (Result<R, any Error>) -> Void
    ) {
        guard let writer else {
            return completion(
                .failure(StorageError(.readOnly, "\(path) was opened for reading"))
            )
        }
        writer.run({ try $0.transaction("BEGIN IMMEDIATE", body) }, completion: completion)
    }

    public func read<R: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> R
    ) async throws -> R {
        try await longReaders.run { try $0.connection().transaction("BEGIN", body) }
    }

    public func readNow(
        _ sql: String,
        _ parameters: [SQLValue]
    ) async throws(StorageError) -> [Row] {
        try readers.read { reader throws(StorageError) in try reader.query(sql, parameters) }
    }

    public func readAtOnce(_ sql: String, _ parameters: [SQLValue]) throws(StorageError) -> [Row]? {
        try readers.read { reader throws(StorageError) in try reader.query(sql, parameters) }
    }

    public func close() async {
        await longReaders.close()
        readers.close()
        await writer?.close()
        lock.withLock { $0 = nil }
    }

    /// The value of a PRAGMA on the writing connection, for tests of what is really in effect.
    package func writerPragma(_ name: String) async throws -> SQLValue {
        guard let writer else { return .null }
        return try await writer.run { try $0.query("PRAGMA \(name)").first?[0] ?? .null }
    }

    /// What the writing connection's files are written through, for tests: `tollgate/unix`.
    package func writerFileSystem() async throws -> String {
        try await writer?.fileSystem() ?? ""
    }
}

/// The connection of a thread for long reads, opened at its first.
final class SQLiteReadContext {
    private let path: String
    private let cacheKiB: Int
    private var open: SQLiteConnection?

    init(path: String, cacheKiB: Int) {
        self.path = path
        self.cacheKiB = cacheKiB
    }

    func connection() throws(StorageError) -> SQLiteConnection {
        if let open { return open }
        let connection = try SQLiteConnection(readingFrom: path, cacheKiB: cacheKiB)
        open = connection
        return connection
    }
}
