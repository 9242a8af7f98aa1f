internal import Foundation
internal import Storage

extension PostgresSession {
    /// How often a transaction that lost against another is tried.
    ///
    /// With locks taken in order (RULES.md §12) one retry is rare already.
    private static let attempts = 8

    /// Runs `body` between `begin` and COMMIT; again if it got in another's way, and once more if
    /// the connection turns out to have died while it was idle.
    func transaction<R>(_ begin: String, _ body: (any StorageConnection) throws -> R) throws -> R {
        var lastContention: StorageError?
        var mayReconnect = true
        for attempt in 0..<Self.attempts {
            if attempt > 1 { Thread.sleep(forTimeInterval: 0.001 * Double(1 << attempt)) }
            if try connect() { mayReconnect = false }
            let transaction = PostgresTransaction(self, begin: begin)
            do {
                let result = try body(
                    isDistributed ? DistributedTransaction(inner: transaction) : transaction
                )
                try transaction.commit()
                return result
            } catch {
                transaction.rollback()
                let cause = transaction.failure ?? error as? StorageError
                if cause?.kind == .contention {
                    lastContention = cause
                } else if cause?.kind == .unavailable, !isConnected, mayReconnect {
                    mayReconnect = false
                } else {
                    throw error
                }
            }
        }
        throw lastContention ?? StorageError(.unavailable, "the connection to PostgreSQL was lost")
    }
}

/// One open transaction on a session.
///
/// BEGIN travels with the first statement.
final class PostgresTransaction: StorageConnection {
    let dialect = Dialect.postgres
    /// The first error: the server refuses every statement after it.
    private(set) var failure: StorageError?

    private let session: PostgresSession
    private var begin: String?

    init(_ session: PostgresSession, begin: String) {
        self.session = session
        self.begin = begin
    }

    func query(_ sql: String, _ parameters: [SQLValue]) throws(StorageError) -> [Row] {
        try run(sql, [parameters]).first?.rows ?? []
    }

    @discardableResult
    func execute(_ sql: String, _ parameters: [SQLValue]) throws(StorageError) -> Int {
        try run(sql, [parameters]).first?.affected ?? 0
    }

    func queryMany(_ sql: String, _ rows: [[SQLValue]]) throws(StorageError) -> [[Row]] {
        try run(sql, rows).map(\.rows)
    }

    @discardableResult
    func executeMany(_ sql: String, _ rows: [[SQLValue]]) throws(StorageError) -> [Int] {
        try run(sql, rows).map(\.affected)
    }

    /// Runs one statement that is not kept prepared.
    func runOnce(
        _ sql: String,
        _ parameters: [SQLValue]
    ) throws(StorageError) -> (rows: [Row], affected: Int) {
        try noting { () throws(StorageError) in try send([.once(sql, parameters)]) }.first
            ?? ([], 0)
    }

    func define(_ statement: String) throws(StorageError) {
        _ = try noting { () throws(StorageError) in try send([.plain(statement)]) }
    }

    /// Ends the transaction so that it lasts.
    ///
    /// Throws `.outcomeUnknown` if the answer is lost.
    func commit() throws(StorageError) {
        if let failure { throw failure }
        // Nothing was sent yet.
        if begin != nil { return }
        let outcome: PostgresSession.Outcome?
        do {
            outcome = try session.roundTrip([.plain("COMMIT")]).first
        } catch {
            throw StorageError(
                .outcomeUnknown,
                "the connection was lost during COMMIT: \(error.message)"
            )
        }
        switch outcome {
        case .done(_, _, tag: "COMMIT"): return
        case .failed(let error):
            failure = error
            throw error
        default: throw StorageError(.other, "PostgreSQL rolled the transaction back")
        }
    }

    /// Ends the transaction without a trace.
    ///
    /// A lost connection does the same.
    func rollback() {
        guard begin == nil, session.isConnected else { return }
        _ = try? session.roundTrip([.plain("ROLLBACK")])
    }

    private func run(
        _ sql: String,
        _ rows: [[SQLValue]]
    ) throws(StorageError) -> [(rows: [Row], affected: Int)] {
        if rows.isEmpty { return [] }
        return try noting { () throws(StorageError) in
            let statement = try session.prepared(sql)
            return try send(rows.map { .run(statement, $0) })
        }
    }

    private func send(
        _ commands: [PostgresSession.Command]
    ) throws(StorageError) -> [(rows: [Row], affected: Int)] {
        let first = begin.map { [PostgresSession.Command.plain($0)] } ?? []
        begin = nil
        var results: [(rows: [Row], affected: Int)] = []
        results.reserveCapacity(commands.count)
        for outcome in try session.roundTrip(first + commands).dropFirst(first.count) {
            switch outcome {
            case .done(let rows, let affected, _): results.append((rows, affected))
            case .failed(let error): throw error
            case .described, .skipped: throw StorageError(.other, "the transaction did not begin")
            }
        }
        return results
    }

    private func noting<R>(_ step: () throws(StorageError) -> R) throws(StorageError) -> R {
        if let failure { throw failure }
        do {
            return try step()
        } catch {
            failure = error
            throw error
        }
    }
}
