/// One open transaction or read snapshot, used synchronously on the driver's own thread.
///
/// Statements are written once for both databases, with parameters `$1`, `$2`, …; prepared
/// statements are kept by their text, so pass constants. After a statement has failed inside a
/// `write`, every further one fails too and the transaction is rolled back, on both databases.
public protocol StorageConnection {
    /// The few places where the databases' SQL differs.
    var dialect: Dialect { get }

    /// Runs a statement and returns its rows (also those of `RETURNING`).
    func query(_ sql: String, _ parameters: [SQLValue]) throws(StorageError) -> [Row]

    /// Runs a statement and returns how many rows it inserted, changed or deleted.
    @discardableResult
    func execute(_ sql: String, _ parameters: [SQLValue]) throws(StorageError) -> Int

    /// Runs one statement for each of `rows`, in order, and returns the result for each. On
    /// PostgreSQL it is one round trip for all.
    func queryMany(_ sql: String, _ rows: [[SQLValue]]) throws(StorageError) -> [[Row]]

    /// The same for results of many rows: `body` is given each row with the place of its parameters
    /// in `rows`. SQLite does not keep them in memory.
    func queryMany(
        _ sql: String,
        _ rows: [[SQLValue]],
        each body: (Int, Row) throws(StorageError) -> Void
    ) throws(StorageError)

    /// Runs one statement for each of `rows`, in order, and returns the rows affected for each. On
    /// PostgreSQL it is one round trip for all.
    @discardableResult
    func executeMany(_ sql: String, _ rows: [[SQLValue]]) throws(StorageError) -> [Int]

    /// Runs one INSERT of one row for each of `rows`, in order, into a table whose `id` the database
    /// draws, and returns the ids. On PostgreSQL it is one round trip for all.
    func insertMany(_ sql: String, _ rows: [[SQLValue]]) throws(StorageError) -> [Int64]

    /// The rows of `table` by key: for each of `rows` those with its values in the columns `keys`.
    ///
    /// One round trip where the table lies on one machine, one to each machine else.
    func find(
        _ columns: String,
        in table: String,
        by keys: [String],
        _ rows: [[SQLValue]]
    ) throws(StorageError) -> [[Row]]

    /// The same by the primary key `key`, locked until the transaction ends; what is not there is made
    /// first, where there may be several writers.
    ///
    /// - Parameter rows: what is made, in the order of their keys: values of `made`, of which the first is
    ///   `key`.
    func lock(
        _ columns: String,
        in table: String,
        making made: [String],
        _ rows: [[SQLValue]]
    ) throws(StorageError) -> [[Row]]

    /// Says that what the transaction removes is not to stay in a log for longer than need be.
    func erases()

    /// Runs a statement that changes the schema. It is not kept prepared.
    func define(_ statement: String) throws(StorageError)
}

extension StorageConnection {
    /// Runs a statement without parameters and returns its rows.
    public func query(_ sql: String) throws(StorageError) -> [Row] {
        try query(sql, [])
    }

    public func queryMany(
        _ sql: String,
        _ rows: [[SQLValue]],
        each body: (Int, Row) throws(StorageError) -> Void
    ) throws(StorageError) {
        for (index, result) in try queryMany(sql, rows).enumerated() {
            for row in result { try body(index, row) }
        }
    }

    public func insertMany(_ sql: String, _ rows: [[SQLValue]]) throws(StorageError) -> [Int64] {
        var ids: [Int64] = []
        ids.reserveCapacity(rows.count)
        for result in try queryMany(sql + " RETURNING id", rows) {
            guard let row = result.first else {
                throw StorageError(.other, "an inserted row has no id")
            }
            ids.append(try row.int64(0))
        }
        return ids
    }

    public func find(
        _ columns: String,
        in table: String,
        by keys: [String],
        _ rows: [[SQLValue]]
    ) throws(StorageError) -> [[Row]] {
        let wanted = keys.enumerated().map { "\($1) = $\($0 + 1)" }.joined(separator: " AND ")
        return try queryMany("SELECT \(columns) FROM \(table) WHERE \(wanted)", rows)
    }

    public func lock(
        _ columns: String,
        in table: String,
        making made: [String],
        _ rows: [[SQLValue]]
    ) throws(StorageError) -> [[Row]] {
        if !dialect.rowLock.isEmpty {
            let places = made.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
            try executeMany(
                """
                INSERT INTO \(table) (\(made.joined(separator: ", "))) VALUES (\(places))
                ON CONFLICT (\(made[0])) DO NOTHING
                """,
                rows
            )
        }
        return try queryMany(
            "SELECT \(columns) FROM \(table) WHERE \(made[0]) = $1 \(dialect.rowLock)",
            rows.map { [$0[0]] }
        )
    }

    public func erases() {}

    /// Runs a statement without parameters and returns how many rows it touched.
    @discardableResult
    public func execute(_ sql: String) throws(StorageError) -> Int {
        try execute(sql, [])
    }
}

/// A database: SQLite or PostgreSQL.
///
/// Every error of the database itself is a `StorageError`; an error that `body` throws comes out as
/// it is.
public protocol StorageDriver: Sendable {
    /// The few places where the databases' SQL differs.
    var dialect: Dialect { get }

    /// Raised by every `write` before it returns.
    var commits: CommitSignal { get }

    /// Runs `body` in one transaction, committed and flushed to disk when this returns.
    ///
    /// If `body` throws, nothing is written. `body` may run several times (after a deadlock, a
    /// serialisation failure or a lost connection), so it must have no effect but on the database.
    /// An unknown outcome of the commit is `StorageError.Kind.outcomeUnknown`.
    @discardableResult
    func write<R: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> R
    ) async throws -> R

    /// The same for a caller that goes on at once: `completion` is told how it ended, on the thread
    /// that wrote. It must be quick: the next write waits for it.
    func write<R: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> R,
        completion: @escaping @Sendable (Result<R, any Error>) -> Void
    )

    /// Runs `body` on one snapshot of the database, on a thread where it may take its time.
    func read<R: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> R
    ) async throws -> R

    /// One short statement outside of any transaction: for the hot reads by key.
    ///
    /// SQLite answers at once on the calling thread (a few microseconds, no suspension). PostgreSQL
    /// sends all that wait at the same time together.
    func readNow(_ sql: String, _ parameters: [SQLValue]) async throws(StorageError) -> [Row]

    /// The same on the calling thread without suspension; `nil` where the database cannot do that.
    func readAtOnce(_ sql: String, _ parameters: [SQLValue]) throws(StorageError) -> [Row]?

    /// Finishes what is under way and closes the database; later calls throw `.closed`.
    func close() async
}

extension StorageDriver {
    /// Runs one statement in a transaction of its own and returns how many rows it touched.
    ///
    /// Durable when this returns.
    @discardableResult
    public func execute(_ sql: String, _ parameters: [SQLValue] = []) async throws -> Int {
        try await write { try $0.execute(sql, parameters) }
    }

    /// Does `work`, and closes the database whatever happens.
    package func closing<Result: Sendable>(
        after work: () async throws -> Result
    ) async throws -> Result {
        do {
            let result = try await work()
            await close()
            return result
        } catch {
            await close()
            throw error
        }
    }

    public func write<R: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> R,
        completion: @escaping @Sendable (Result<R, any Error>) -> Void
    ) {
        Task {
            do {
                completion(.success(try await write(body)))
            } catch {
                completion(.failure(error))
            }
        }
    }

    public func readAtOnce(
        _ sql: String,
        _ parameters: [SQLValue]
    ) throws(StorageError) -> [Row]? { nil }
}
