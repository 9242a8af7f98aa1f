public import Storage

/// The database on a PostgreSQL server; any number of our processes may share it.
///
/// Connections are opened when first needed and again after a loss. Committed means what the server
/// means by it with its defaults: flushed to its disk.
public final class StoragePostgres: StorageDriver {
    /// Known once a connection was made, as every record makes one when it is opened.
    public var dialect: Dialect { distribution.isFound ? .citus : .postgres }
    public let commits = CommitSignal()

    private let distribution = FoundDistribution()
    private let writers: WorkerThreads<PostgresSession>
    private let readers: WorkerThreads<PostgresSession>
    private let pointReads: PostgresPointReads

    /// A database at `url`, such as `postgres://user@host:5432/database`.
    ///
    /// Connects at the first use, not here. `writers` transactions write at the same time, `readers`
    /// snapshots are read at the same time, and `pointReaders` connections carry the reads by key.
    /// Throws `.other` if `url` is no PostgreSQL URL.
    public init(url: String, writers: Int = 4, readers: Int = 4, pointReaders: Int = 2) throws {
        guard url.hasPrefix("postgres://") || url.hasPrefix("postgresql://") else {
            throw StorageError(
                .other,
                "a PostgreSQL database is named by postgres://user@host:port/database"
            )
        }
        let open: @Sendable () -> PostgresSession = { [distribution] in
            PostgresSession(url, distribution)
        }
        self.writers = WorkerThreads("postgres-writer", count: writers, makeContext: open)
        self.readers = WorkerThreads("postgres-reader", count: readers, makeContext: open)
        pointReads = PostgresPointReads(connections: pointReaders, open: open)
    }

    @discardableResult
    public func write<R: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> R
    ) async throws -> R {
        defer { commits.raise() }
        // Every write of ours takes its locks itself (RULES.md §12), whatever the server's default.
        return try await writers.run {
            try $0.transaction("BEGIN ISOLATION LEVEL READ COMMITTED", body)
        }
    }

    public func read<R: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> R
    ) async throws -> R {
        try await readers.run {
            try $0.transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", body)
        }
    }

    public func readNow(
        _ sql: String,
        _ parameters: [SQLValue]
    ) async throws(StorageError) -> [Row] {
        try await pointReads.read(sql, parameters)
    }

    public func close() async {
        await pointReads.close()
        await readers.close()
        await writers.close()
    }
}
