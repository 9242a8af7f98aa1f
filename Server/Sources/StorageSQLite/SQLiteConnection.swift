internal import CSQLite
internal import Storage

/// One SQLite connection with its prepared statements.
///
/// Used by one thread at a time; its owners see to that.
final class SQLiteConnection: StorageConnection {
    /// For how many milliseconds another process' lock is waited for.
    private static let patience: Int32 = 5_000
    /// The pages that the log takes in before they are moved to the main file: 256 MB.
    ///
    /// A page that many commits changed is moved once, and fewer messages meet the pause. With
    /// 8,000 pages an ingest cost a twentieth more, and one in a hundred waited for a checkpoint.
    private static let pagesBetweenCheckpoints = 64_000

    let dialect = Dialect.sqlite
    let database: OpaquePointer
    private var statements: [String: OpaquePointer] = [:]
    /// The first error inside the open transaction: PostgreSQL refuses to go on after one, so do we.
    private var failure: StorageError?
    private var isInTransaction = false
    /// Whether the log may hold what was erased: also what a process left that ended before it was cut
    /// off.
    private(set) var hasErased = true

    /// Opens the file at `path` for writing, and makes it if it is missing.
    ///
    /// Only this connection writes checkpoints. Throws `.corrupt` if the file is not a database,
    /// `.unavailable` if it cannot be opened.
    init(writingTo path: String, cacheKiB: Int) throws(StorageError) {
        database = try Self.open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
        for statement in [
            // `FULL` flushes the log at each commit; with less the last commits may be lost.
            "PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA foreign_keys = ON",
            // Erased content is overwritten, not only released.
            "PRAGMA secure_delete = ON", "PRAGMA cache_size = -\(cacheKiB)",
            "PRAGMA wal_autocheckpoint = \(Self.pagesBetweenCheckpoints)",
            // A first read opens the log, which the write buffer then finds.
            "SELECT count(*) FROM sqlite_schema",
        ] {
            do {
                _ = try query(statement, [])
            } catch {
                throw Self.cannotOpen(path, error)
            }
        }
    }

    /// Opens the file at `path` for reading.
    ///
    /// Such a connection never writes a checkpoint.
    init(readingFrom path: String, cacheKiB: Int) throws(StorageError) {
        database = try Self.open(path, SQLITE_OPEN_READONLY)
        guard addInSandbox(to: database) == SQLITE_OK else { throw Self.lastError(database) }
        _ = try query("PRAGMA cache_size = -\(cacheKiB)", [])
        _ = try query("PRAGMA query_only = 1", [])
    }

    /// Opens the file at `path`, which must be there, to copy another database into it.
    init(copyingTo path: String) throws(StorageError) {
        database = try Self.open(path, SQLITE_OPEN_READWRITE)
    }

    /// Opens one connection, to be used by one thread at a time.
    private static func open(_ path: String, _ flags: Int32) throws(StorageError) -> OpaquePointer {
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let opened else {
            let error = opened.map(lastError) ?? StorageError(.unavailable, "out of memory")
            sqlite3_close_v2(opened)
            throw cannotOpen(path, error)
        }
        sqlite3_extended_result_codes(opened, 1)
        sqlite3_busy_timeout(opened, patience)
        return opened
    }

    static func cannotOpen(_ path: String, _ error: StorageError) -> StorageError {
        StorageError(error.kind, "cannot open \(path): \(error.message)", code: error.code)
    }

    deinit {
        finalizeStatements()
        sqlite3_close_v2(database)
    }

    /// Lets go of all prepared statements, which must precede closing the connection.
    func finalizeStatements() {
        for statement in statements.values { sqlite3_finalize(statement) }
        statements = [:]
    }

    /// Runs `body` between `begin` and COMMIT; ROLLBACK if it throws.
    func transaction<R>(_ begin: String, _ body: (any StorageConnection) throws -> R) throws -> R {
        failure = nil
        try execute(begin)
        isInTransaction = true
        defer {
            isInTransaction = false
            failure = nil
        }
        do {
            let result = try body(self)
            if let failure { throw failure }
            try execute("COMMIT")
            return result
        } catch {
            failure = nil
            // Some errors have ended the transaction already.
            if sqlite3_get_autocommit(database) == 0 { try execute("ROLLBACK") }
            throw error
        }
    }

    /// Moves what the log holds to the main file, so that it is used again from its beginning; if
    /// something was erased, cuts it off.
    ///
    /// - Returns: whether it is to be tried again in a while: somebody reads from the log, who is not
    ///   waited for. Where it fails for another reason, the next write is time enough.
    func emptyLog() -> Bool {
        let mode = hasErased ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
        sqlite3_busy_timeout(database, 0)
        defer { sqlite3_busy_timeout(database, Self.patience) }
        var pages: (inLog: Int32, moved: Int32) = (0, 0)
        let code = sqlite3_wal_checkpoint_v2(database, "main", mode, &pages.inLog, &pages.moved)
        guard code == SQLITE_OK else { return code & 0xff == SQLITE_BUSY }
        guard pages.inLog == pages.moved else { return true }
        hasErased = false
        return false
    }

    func erases() {
        hasErased = true
    }

    // MARK: - Statements

    func query(_ sql: String, _ parameters: [SQLValue]) throws(StorageError) -> [Row] {
        try noting { () throws(StorageError) in try rows(of: try prepared(sql), parameters) }
    }

    @discardableResult
    func execute(_ sql: String, _ parameters: [SQLValue]) throws(StorageError) -> Int {
        try noting { () throws(StorageError) in try changes(by: try prepared(sql), parameters) }
    }

    func queryMany(_ sql: String, _ rows: [[SQLValue]]) throws(StorageError) -> [[Row]] {
        try noting { () throws(StorageError) in
            let statement = try prepared(sql)
            var results: [[Row]] = []
            results.reserveCapacity(rows.count)
            for parameters in rows { results.append(try self.rows(of: statement, parameters)) }
            return results
        }
    }

    func queryMany(
        _ sql: String,
        _ rows: [[SQLValue]],
        each body: (Int, Row) throws(StorageError) -> Void
    ) throws(StorageError) {
        try noting { () throws(StorageError) in
            let statement = try prepared(sql)
            for (index, parameters) in rows.enumerated() {
                try self.rows(of: statement, parameters) { row throws(StorageError) in
                    try body(index, row)
                }
            }
        }
    }

    @discardableResult
    func executeMany(_ sql: String, _ rows: [[SQLValue]]) throws(StorageError) -> [Int] {
        try noting { () throws(StorageError) in
            let statement = try prepared(sql)
            var results: [Int] = []
            results.reserveCapacity(rows.count)
            for parameters in rows { results.append(try changes(by: statement, parameters)) }
            return results
        }
    }

    /// Without RETURNING, for which SQLite makes and drops a table of its own for each row.
    func insertMany(_ sql: String, _ rows: [[SQLValue]]) throws(StorageError) -> [Int64] {
        try noting { () throws(StorageError) in
            let statement = try prepared(sql)
            var ids: [Int64] = []
            ids.reserveCapacity(rows.count)
            for parameters in rows {
                guard try changes(by: statement, parameters) == 1 else {
                    throw StorageError(.other, "the statement did not insert one row")
                }
                ids.append(sqlite3_last_insert_rowid(database))
            }
            return ids
        }
    }

    func define(_ statement: String) throws(StorageError) {
        try noting { () throws(StorageError) in
            let prepared = try prepare(statement, flags: 0)
            defer { sqlite3_finalize(prepared) }
            _ = try changes(by: prepared, [])
        }
    }

    /// Runs one step of a transaction and remembers that it failed.
    private func noting<R>(_ step: () throws(StorageError) -> R) throws(StorageError) -> R {
        if let failure { throw failure }
        do {
            return try step()
        } catch {
            if isInTransaction { failure = error }
            throw error
        }
    }

    private func prepared(_ sql: String) throws(StorageError) -> OpaquePointer {
        if let statement = statements[sql] { return statement }
        let statement = try prepare(sql, flags: UInt32(SQLITE_PREPARE_PERSISTENT))
        // Constant statements never come near this; it bounds what a mistake can cost.
        if statements.count >= 512 { finalizeStatements() }
        statements[sql] = statement
        return statement
    }

    private func prepare(_ sql: String, flags: UInt32) throws(StorageError) -> OpaquePointer {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(database, numberedParameters(sql), -1, flags, &statement, nil)
        guard code == SQLITE_OK, let statement else {
            throw code == SQLITE_OK
                ? StorageError(.other, "an empty statement") : Self.lastError(database)
        }
        return statement
    }

    private func rows(
        of statement: OpaquePointer,
        _ parameters: [SQLValue]
    ) throws(StorageError) -> [Row] {
        var rows: [Row] = []
        try self.rows(of: statement, parameters) { row throws(StorageError) in rows.append(row) }
        return rows
    }

    private func rows(
        of statement: OpaquePointer,
        _ parameters: [SQLValue],
        each body: (Row) throws(StorageError) -> Void
    ) throws(StorageError) {
        defer { sqlite3_reset(statement) }
        try bind(parameters, to: statement)
        let columns = sqlite3_column_count(statement)
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: try body(row(of: statement, columns))
            case SQLITE_DONE: return
            default: throw Self.lastError(database)
            }
        }
    }

    private func changes(
        by statement: OpaquePointer,
        _ parameters: [SQLValue]
    ) throws(StorageError) -> Int {
        defer { sqlite3_reset(statement) }
        try bind(parameters, to: statement)
        let before = sqlite3_total_changes64(database)
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: continue
            case SQLITE_DONE: return Int(sqlite3_total_changes64(database) - before)
            default: throw Self.lastError(database)
            }
        }
    }

    private func row(of statement: OpaquePointer, _ columns: Int32) -> Row {
        Row(
            [SQLValue](unsafeUninitializedCapacity: Int(columns)) { buffer, count in
                for column in 0..<columns {
                    buffer.initializeElement(at: Int(column), to: value(statement, column))
                }
                count = Int(columns)
            }
        )
    }

    private func value(_ statement: OpaquePointer, _ column: Int32) -> SQLValue {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
        case SQLITE_TEXT:
            let text = sqlite3_column_text(statement, column)
            let count = Int(sqlite3_column_bytes(statement, column))
            return .text(
                String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
            )
        case SQLITE_BLOB:
            let bytes = sqlite3_column_blob(statement, column)
            let count = Int(sqlite3_column_bytes(statement, column))
            return .blob([UInt8](UnsafeRawBufferPointer(start: bytes, count: count)))
        case SQLITE_NULL: return .null
        default:
            // A float: no column of ours is one, an expression might be.
            return .text(String(sqlite3_column_double(statement, column)))
        }
    }

    private func bind(_ parameters: [SQLValue], to statement: OpaquePointer) throws(StorageError) {
        guard Int(sqlite3_bind_parameter_count(statement)) == parameters.count else {
            throw StorageError(
                .other,
                "the statement wants \(sqlite3_bind_parameter_count(statement)) parameters, "
                    + "not \(parameters.count)"
            )
        }
        for (index, parameter) in parameters.enumerated() {
            let place = Int32(index + 1)
            let code =
                switch parameter {
                case .null: sqlite3_bind_null(statement, place)
                case .integer(let value): sqlite3_bind_int64(statement, place, value)
                case .text(let value): bind(value, statement, place)
                case .blob(let value): bind(value, statement, place)
                }
            guard code == SQLITE_OK else { throw Self.lastError(database) }
        }
    }

    private func bind(_ text: String, _ statement: OpaquePointer, _ place: Int32) -> Int32 {
        var text = text
        return text.withUTF8 { bytes in
            // An empty string may have no address, and no address would bind null.
            bytes.withMemoryRebound(to: CChar.self) { characters in
                sqlite3_bind_text64(
                    statement,
                    place,
                    characters.baseAddress ?? emptyText,
                    UInt64(characters.count),
                    copied,
                    UInt8(SQLITE_UTF8)
                )
            }
        }
    }

    private func bind(_ blob: [UInt8], _ statement: OpaquePointer, _ place: Int32) -> Int32 {
        if blob.isEmpty { return sqlite3_bind_zeroblob(statement, place, 0) }
        return blob.withUnsafeBytes { bytes in
            sqlite3_bind_blob64(statement, place, bytes.baseAddress, UInt64(bytes.count), copied)
        }
    }

    /// The error of the last call on `database`, as ours.
    static func lastError(_ database: OpaquePointer) -> StorageError {
        storageError(sqlite3_extended_errcode(database), String(cString: sqlite3_errmsg(database)))
    }
}

/// Adds the function `in_sandbox(key)`, the key of a customer's row in the sandbox, with which one
/// statement can find it by a name.
private func addInSandbox(to database: OpaquePointer) -> Int32 {
    let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC
    return sqlite3_create_function_v2(
        database,
        "in_sandbox",
        1,
        flags,
        nil,
        { context, _, values in
            let value = values?[0]
            let bytes = UnsafeRawBufferPointer(
                start: sqlite3_value_blob(value),
                count: Int(sqlite3_value_bytes(value))
            )
            guard let key = try? RowKey(bytes: [UInt8](bytes)) else {
                return sqlite3_result_null(context)
            }
            key.inSandbox.bytes.withUnsafeBytes {
                sqlite3_result_blob(context, $0.baseAddress, Int32($0.count), copied)
            }
        },
        nil,
        nil,
        nil
    )
}

/// SQLITE_TRANSIENT, a cast in C that Swift cannot import: SQLite makes its own copy.
nonisolated(unsafe) private let copied = unsafeBitCast(
    -1,
    to: sqlite3_destructor_type.self
)

/// The address of an empty C string that lives for ever.
nonisolated(unsafe) private let emptyText: UnsafePointer<CChar> = {
    let text = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
    text.initialize(to: 0)
    return UnsafePointer(text)
}()
