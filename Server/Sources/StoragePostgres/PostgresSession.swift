internal import CLibPQ
internal import Foundation
internal import Storage

/// One connection, used by one thread at a time, always in pipeline mode: any number of commands go
/// out together and their results come back together.
final class PostgresSession {
    /// A statement that the server has parsed, and the types it wants.
    struct Prepared {
        let name: String
        let parameterTypes: [Oid]
    }

    enum Command {
        /// Parsed, run and forgotten.
        case plain(String)
        case prepare(name: String, String)
        case describe(name: String)
        case run(Prepared, [SQLValue])
        /// The same with parameters, each of the type of its value.
        case once(String, [SQLValue])
    }

    enum Outcome {
        /// The rows, how many were touched, and the server's word for what it did.
        case done([Row], affected: Int, tag: String)
        case described([Oid])
        case failed(StorageError)
        /// A command before it in the same trip failed.
        case skipped
    }

    private let url: String
    private let distribution: FoundDistribution
    private var connection: OpaquePointer?
    private var statements: [String: Prepared] = [:]
    private var statementsMade = 0
    private let parameters = PostgresParameters()

    init(_ url: String, _ distribution: FoundDistribution) {
        self.url = url
        self.distribution = distribution
    }

    deinit {
        PQfinish(connection)
    }

    /// Whether the last use left the connection usable.
    var isConnected: Bool { connection != nil }

    // MARK: - Connecting

    /// Makes sure that there is a connection; true if it is a new one.
    ///
    /// Throws `.unavailable`.
    func connect() throws(StorageError) -> Bool {
        guard connection == nil else { return false }
        guard let opened = Self.open(url) else {
            throw StorageError(.unavailable, "out of memory for a connection to PostgreSQL")
        }
        guard PQstatus(opened) == CONNECTION_OK, PQsetnonblocking(opened, 1) == 0,
            PQenterPipelineMode(opened) == 1
        else {
            let reason = String(cString: PQerrorMessage(opened))
                .trimmingCharacters(in: .whitespacesAndNewlines)
            PQfinish(opened)
            throw StorageError(.unavailable, "no connection to PostgreSQL: \(reason)")
        }
        PQsetNoticeProcessor(opened, { _, _ in }, nil)
        connection = opened
        let found = try roundTrip([
            .plain(
                "SELECT current_setting('synchronous_commit'), to_regclass('pg_dist_partition')::text"
            )
        ])
        if case .done(let rows, _, _) = found.first, let row = rows.first {
            // Acknowledged means on disk, also where someone has made the server's default looser.
            if row[0] == .text("off") {
                _ = try roundTrip([.plain("SET synchronous_commit = on")])
            }
            if row[1] != .null { try lookForDistribution() }
        }
        return true
    }

    /// On a server that has Citus.
    private func lookForDistribution() throws(StorageError) {
        let found = try roundTrip([
            .plain("SELECT 1 FROM pg_dist_partition WHERE logicalrelid = to_regclass('journal')")
        ])
        guard case .done(let rows, _, _) = found.first else { return }
        distribution.isFound = !rows.isEmpty
    }

    /// Whether the tables lie on several machines.
    var isDistributed: Bool { distribution.isFound }

    private static func open(_ url: String) -> OpaquePointer? {
        // What the URL says wins. Keepalives: a server that vanished is noticed within a minute.
        let settings = [
            ("connect_timeout", "10"), ("application_name", "tollgate"),
            ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"),
            ("tcp_user_timeout", "60000"), ("dbname", url), ("client_encoding", "UTF8"),
        ]
        let names = settings.map { strdup($0.0) }
        let values = settings.map { strdup($0.1) }
        defer { for text in names + values { free(text) } }
        return PQconnectdbParams(
            names.map { UnsafePointer($0) } + [nil],
            values.map { UnsafePointer($0) } + [nil],
            1
        )
    }

    private func lose(_ reason: String) -> StorageError {
        PQfinish(connection)
        connection = nil
        statements = [:]
        let reason = reason.trimmingCharacters(in: .whitespacesAndNewlines)
        return StorageError(
            .unavailable,
            "the connection to PostgreSQL was lost" + (reason.isEmpty ? "" : ": \(reason)")
        )
    }

    // MARK: - Statements

    /// `sql` as a prepared statement of this connection, made at its first use.
    func prepared(_ sql: String) throws(StorageError) -> Prepared {
        if let statement = statements[sql] { return statement }
        statementsMade += 1
        let name = "s\(statementsMade)"
        let outcomes = try roundTrip([.prepare(name: name, sql), .describe(name: name)])
        for outcome in outcomes {
            if case .failed(let error) = outcome { throw error }
        }
        guard case .described(let types) = outcomes.last else {
            throw StorageError(.other, "PostgreSQL did not describe a statement")
        }
        let statement = Prepared(name: name, parameterTypes: types)
        statements[sql] = statement
        return statement
    }

    /// Sends `commands` together and returns what became of each.
    ///
    /// Throws only if the connection is lost, and is then no longer connected.
    func roundTrip(_ commands: [Command]) throws(StorageError) -> [Outcome] {
        guard let connection else { throw StorageError(.unavailable, "not connected") }
        if commands.isEmpty { return [] }
        var outcomes = [Outcome](repeating: .skipped, count: commands.count)
        var sent: [Int] = []
        sent.reserveCapacity(commands.count)
        for (index, command) in commands.enumerated() {
            do throws(StorageError) {
                try send(command, connection)
                sent.append(index)
            } catch {
                guard error.kind == .typeMismatch else { throw lose(error.message) }
                outcomes[index] = .failed(error)
            }
        }
        guard PQpipelineSync(connection) == 1 else {
            throw lose(String(cString: PQerrorMessage(connection)))
        }
        try receive(sent, connection, &outcomes)
        return outcomes
    }

    private func send(_ command: Command, _ connection: OpaquePointer) throws(StorageError) {
        let code: Int32 =
            switch command {
            case .plain(let sql):
                PQsendQueryParams(connection, sql, 0, nil, nil, nil, nil, 1)
            case .prepare(let name, let sql): PQsendPrepare(connection, name, sql, 0, nil)
            case .describe(let name): PQsendDescribePrepared(connection, name)
            case .run(let statement, let values):
                try parameters.send(values, to: statement, connection)
            case .once(let sql, let values): try parameters.send(values, with: sql, connection)
            }
        guard code == 1 else {
            throw StorageError(.unavailable, String(cString: PQerrorMessage(connection)))
        }
    }

    /// Takes in results until the end of the trip.
    ///
    /// Each command has one or more, closed by a null.
    private func receive(
        _ sent: [Int],
        _ connection: OpaquePointer,
        _ outcomes: inout [Outcome]
    ) throws(StorageError) {
        var current = 0
        var reason = ""
        while true {
            while PQisBusy(connection) == 0 {
                guard let result = PQgetResult(connection) else {
                    current += 1
                    guard PQstatus(connection) == CONNECTION_OK, current <= sent.count else {
                        throw lose(reason)
                    }
                    continue
                }
                defer { PQclear(result) }
                if PQresultStatus(result) == PGRES_PIPELINE_SYNC { return }
                let outcome = postgresOutcome(result)
                if case .failed(let error) = outcome { reason = error.message }
                if sent.indices.contains(current) { outcomes[sent[current]] = outcome }
            }
            let unsent = PQflush(connection)
            guard unsent >= 0, Self.wait(for: PQsocket(connection), toWrite: unsent == 1),
                PQconsumeInput(connection) == 1
            else {
                throw lose(reason.isEmpty ? String(cString: PQerrorMessage(connection)) : reason)
            }
        }
    }

    /// Blocks until the socket can be read (or written); false if it is broken.
    private static func wait(for socket: Int32, toWrite: Bool) -> Bool {
        let events = toWrite ? POLLIN | POLLOUT : POLLIN
        var descriptor = pollfd(fd: socket, events: Int16(events), revents: 0)
        while true {
            if poll(&descriptor, 1, -1) >= 0 { return true }
            if errno != EINTR { return false }
        }
    }
}
