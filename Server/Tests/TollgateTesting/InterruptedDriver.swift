public import Storage
internal import Synchronization

/// A database that fails once, at a step that the test chooses: every statement of every write is a
/// step, and so are the moments before and after each commit.
public final class InterruptedDriver: StorageDriver {
    /// What happens at the step.
    public enum Fault: Sendable {
        /// The statement fails, as on a full disk or a lost connection; nothing of it is written.
        case unavailable
        /// The same, said of the disk.
        case diskFull
    }

    private struct State {
        var steps = 0
        var failing: Int?
        var fault = Fault.unavailable
    }

    private let driver: any StorageDriver
    private let state = Mutex(State())

    public init(_ driver: any StorageDriver) {
        self.driver = driver
    }

    /// How many steps there were since `fail` was called last.
    public var steps: Int { state.withLock { $0.steps } }

    /// Counts from 1 again, and fails at `step`; never for nil.
    public func fail(at step: Int?, _ fault: Fault = .unavailable) {
        state.withLock { $0 = State(failing: step, fault: fault) }
    }

    /// - Throws: at the chosen step.
    fileprivate func step() throws(StorageError) {
        let error: StorageError? = state.withLock { state in
            state.steps += 1
            guard state.steps == state.failing else { return nil }
            return switch state.fault {
            case .unavailable: StorageError(.unavailable, "a fault of the test")
            case .diskFull: StorageError(.diskFull, "a fault of the test")
            }
        }
        if let error { throw error }
    }

    public var dialect: Dialect { driver.dialect }
    public var commits: CommitSignal { driver.commits }

    @discardableResult
    public func write<R: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> R
    ) async throws -> R {
        let result = try await driver.write { connection in
            let result = try body(InterruptedConnection(connection, self))
            // Before the commit: all is undone.
            try self.step()
            return result
        }
        do {
            try step()
        } catch {
            // After it: done, and nobody knows.
            throw StorageError(.outcomeUnknown, "a fault of the test, after the commit")
        }
        return result
    }

    public func read<R: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> R
    ) async throws -> R {
        try await driver.read(body)
    }

    public func readNow(
        _ sql: String,
        _ parameters: [SQLValue]
    ) async throws(StorageError) -> [Row] {
        try await driver.readNow(sql, parameters)
    }

    public func close() async {
        await driver.close()
    }
}

/// Asks the driver before every statement.
private struct InterruptedConnection: StorageConnection {
    private let connection: any StorageConnection
    private let driver: InterruptedDriver

    init(_ connection: any StorageConnection, _ driver: InterruptedDriver) {
        self.connection = connection
        self.driver = driver
    }

    var dialect: Dialect { connection.dialect }

    func query(_ sql: String, _ parameters: [SQLValue]) throws(StorageError) -> [Row] {
        try driver.step()
        return try connection.query(sql, parameters)
    }

    @discardableResult
    func execute(_ sql: String, _ parameters: [SQLValue]) throws(StorageError) -> Int {
        try driver.step()
        return try connection.execute(sql, parameters)
    }

    func queryMany(_ sql: String, _ rows: [[SQLValue]]) throws(StorageError) -> [[Row]] {
        try driver.step()
        return try connection.queryMany(sql, rows)
    }

    @discardableResult
    func executeMany(_ sql: String, _ rows: [[SQLValue]]) throws(StorageError) -> [Int] {
        try driver.step()
        return try connection.executeMany(sql, rows)
    }

    func define(_ statement: String) throws(StorageError) {
        try driver.step()
        try connection.define(statement)
    }
}
