import Storage
import Synchronization

/// A database whose server can be killed between any two durable steps, and which fails now and
/// then.
///
/// Once killed it answers nothing: what the server held in memory is gone, what was committed is
/// not.
final class KillableStorage: StorageDriver {
    private let inner: any StorageDriver
    private let fate: Fate
    /// Whether a killed transaction leaves half of itself behind: a planted bug.
    private let tears: Bool
    private let killed = Mutex(false)

    init(_ inner: any StorageDriver, fate: Fate, tears: Bool) {
        (self.inner, self.fate, self.tears) = (inner, fate, tears)
    }

    var dialect: Dialect { inner.dialect }
    var commits: CommitSignal { inner.commits }

    var isKilled: Bool { killed.withLock { $0 } }

    private struct Killed: Error {}

    @discardableResult
    func write<R: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> R
    ) async throws -> R {
        try requireAlive()
        if fate.strikes(fate.trouble.killed) {
            if fate.below(2) == 0 {
                await undo(body)
                die()
                throw StorageError(.unavailable, "killed before the commit")
            }
            _ = try await inner.write(body)
            die()
            throw StorageError(.outcomeUnknown, "killed after the commit")
        }
        if fate.strikes(fate.trouble.refused) {
            switch fate.below(3) {
            case 0: throw StorageError(.diskFull, "the disk is full")
            case 1:
                await undo(body)
                throw StorageError(.outcomeUnknown, "the connection broke before the commit")
            default:
                _ = try await inner.write(body)
                throw StorageError(.outcomeUnknown, "the connection broke after the commit")
            }
        }
        return try await inner.write(body)
    }

    /// Does it and takes it back, as a database does that is cut off before the commit.
    private func undo<R: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> R
    ) async {
        let tears = tears
        _ = try? await inner.write { connection in
            if tears {
                _ = try body(TornConnection(connection))
                return
            }
            _ = try body(connection)
            throw Killed()
        }
    }

    private func die() {
        killed.withLock { $0 = true }
    }

    private func requireAlive() throws(StorageError) {
        if isKilled { throw StorageError(.closed, "the server was killed") }
    }

    func read<R: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> R
    ) async throws -> R {
        try requireAlive()
        return try await inner.read(body)
    }

    func readNow(_ sql: String, _ parameters: [SQLValue]) async throws(StorageError) -> [Row] {
        try requireAlive()
        return try await inner.readNow(sql, parameters)
    }

    func readAtOnce(
        _ sql: String,
        _ parameters: [SQLValue]
    ) throws(StorageError) -> [Row]? {
        try requireAlive()
        return try inner.readAtOnce(sql, parameters)
    }

    func close() async {
        await inner.close()
    }
}

/// A transaction that loses its ledger and its answers, as if they were written in a second one.
private struct TornConnection: StorageConnection {
    let inner: any StorageConnection

    init(_ inner: any StorageConnection) {
        self.inner = inner
    }

    var dialect: Dialect { inner.dialect }

    private static func isLost(_ sql: String) -> Bool {
        sql.contains("INSERT INTO transfer") || sql.contains("INSERT INTO customer")
    }

    func query(_ sql: String, _ parameters: [SQLValue]) throws(StorageError) -> [Row] {
        try inner.query(sql, parameters)
    }

    func execute(_ sql: String, _ parameters: [SQLValue]) throws(StorageError) -> Int {
        try inner.execute(sql, parameters)
    }

    func queryMany(_ sql: String, _ rows: [[SQLValue]]) throws(StorageError) -> [[Row]] {
        try inner.queryMany(sql, rows)
    }

    func executeMany(_ sql: String, _ rows: [[SQLValue]]) throws(StorageError) -> [Int] {
        guard !Self.isLost(sql) else { return rows.map { _ in 0 } }
        return try inner.executeMany(sql, rows)
    }

    func define(_ statement: String) throws(StorageError) {
        try inner.define(statement)
    }
}
