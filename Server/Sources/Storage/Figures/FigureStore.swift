public import TollgateCore

/// What is to be changed of figures, all in one transaction.
public struct FigureChange: Sendable {
    public var removed: [Figure.Place] = []
    /// New rows, and rows that take the place of others.
    public var written: [Figure] = []
    /// What is added to sums.
    public var added: [Rollup] = []

    public init() {}
}

/// Figures and their sums, and what changed in the journal since they were derived.
public struct FigureStore: Sendable {
    let driver: any StorageDriver
    let writer: any JournalWriter

    /// How far figures follow the journal, in the words of whoever derives them.
    private static let placeName = "figures"

    /// Where the figures stand; `nil` before there are any.
    public func place() async throws -> [UInt8]? {
        guard let body = try await CursorStore(driver: driver).read(Self.placeName)?.body,
            !body.isEmpty
        else { return nil }
        return body
    }

    /// Changes figures and says how far they are now, if they stand where the caller believes.
    ///
    /// Whoever moves figures holds the row of their place until the commit. So of two that began
    /// at the same place, on whatever servers and with whatever leases, one counts.
    ///
    /// - Returns: whether they did; if not, another server has moved them and nothing is done.
    public func apply(
        _ change: FigureChange,
        from place: [UInt8]?,
        to next: [UInt8],
        now: Instant
    ) async throws -> Bool {
        try await driver.write { connection in
            guard try Self.lockPlace(connection) == place ?? [] else { return false }
            try Self.write(change, connection)
            try connection.execute(
                "UPDATE cursor SET body = $2, updated = $3 WHERE name = $1",
                [.text(Self.placeName), .blob(next), .integer(now.milliseconds)]
            )
            return true
        }
    }

    /// Drops all figures, to be derived again from the beginning.
    ///
    /// - Parameter place: what is kept as the figures' place then.
    public func dropAll(leaving place: [UInt8] = []) async throws {
        try await driver.write { connection in
            try Self.dropAll(leaving: place, connection)
        }
    }

    /// The same in a transaction of the caller's.
    static func dropAll(leaving place: [UInt8] = [], _ connection: any StorageConnection) throws {
        _ = try lockPlace(connection)
        try connection.execute("DELETE FROM figure")
        try connection.execute("DELETE FROM rollup")
        // The row stays: who waits for its lock must find it.
        try connection.execute(
            "UPDATE cursor SET body = $2 WHERE name = $1",
            [.text(Self.placeName), .blob(place)]
        )
    }

    /// Holds the figures' place until the transaction ends.
    ///
    /// The row is made where there is none: a lock needs something to hold.
    ///
    /// - Returns: the place; empty before there is one.
    private static func lockPlace(_ connection: any StorageConnection) throws -> [UInt8] {
        try connection.execute(
            """
            INSERT INTO cursor (name, body, updated) VALUES ($1, $2, 0)
            ON CONFLICT (name) DO NOTHING
            """,
            [.text(placeName), .blob([])]
        )
        let rows = try connection.query(
            "SELECT body FROM cursor WHERE name = $1 \(connection.dialect.rowLock)",
            [.text(placeName)]
        )
        return try rows.first?.bytes(0) ?? []
    }

    private static func write(_ change: FigureChange, _ connection: any StorageConnection) throws {
        try connection.executeMany(
            "DELETE FROM figure WHERE subject = $1 AND kind = $2 AND number = $3",
            change.removed.map { [$0.subject.value, .integer($0.kind), .integer($0.number)] }
        )
        try connection.executeMany(
            """
            INSERT INTO figure (subject, kind, number, environment, day, customer, body)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            ON CONFLICT (subject, kind, number) DO UPDATE
            SET environment = $4, day = $5, customer = $6, body = $7
            """,
            change.written.map {
                [
                    $0.place.subject.value, .integer($0.place.kind), .integer($0.place.number),
                    .integer($0.environment.number), .integer($0.day), $0.customer.value,
                    .blob($0.body),
                ]
            }
        )
        let added = change.added.sorted { $0.key < $1.key }
        try connection.executeMany(
            """
            INSERT INTO rollup (
                environment, measure, grain, day, store, product, country, currency, offer,
                app, detail, extra, items, units, amount
            ) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
            ON CONFLICT (
                environment, measure, grain, day, store, product, country, currency, offer,
                app, detail, extra
            ) DO UPDATE SET
                items = rollup.items + $13, units = rollup.units + $14,
                amount = rollup.amount + $15
            """,
            added.map {
                $0.key.values + [.integer($0.items), .integer($0.units), .integer($0.amount)]
            }
        )
        // A sum that comes to nothing is no row, as if nothing had ever been added.
        try connection.executeMany(
            """
            DELETE FROM rollup WHERE environment = $1 AND measure = $2 AND grain = $3
            AND day = $4 AND store = $5 AND product = $6 AND country = $7 AND currency = $8
            AND offer = $9 AND app = $10 AND detail = $11 AND extra = $12
            AND items = 0 AND units = 0 AND amount = 0
            """,
            added.map(\.key.values)
        )
    }

    /// The rows of each subject, by kind and number.
    public func rows(ofEach subjects: [RowKey]) async throws -> [[Figure]] {
        try await driver.read { connection in
            let rows = try connection.queryMany(
                """
                SELECT subject, kind, number, environment, day, customer, body FROM figure
                WHERE subject = $1 ORDER BY kind, number
                """,
                subjects.map { [$0.value] }
            )
            return try rows.map { try $0.map { try Figure($0) } }
        }
    }

    /// The rows of one kind that are about each customer, in any order.
    public func rows(aboutEach customers: [RowKey], kind: Int64) async throws -> [[Figure]] {
        try await driver.read { connection in
            let rows = try connection.queryMany(
                """
                SELECT subject, kind, number, environment, day, customer, body FROM figure
                WHERE customer = $1 AND kind = $2
                """,
                customers.map { [$0.value, .integer(kind)] }
            )
            return try rows.map { try $0.map { try Figure($0) } }
        }
    }

    /// Rows of one kind by their days, oldest first.
    ///
    /// - Parameters:
    ///   - days: both included.
    ///   - last: of the page before; `nil` begins.
    public func rows(
        kind: Int64,
        in environment: StoreEnvironment,
        days: ClosedRange<Int64>,
        after last: (day: Int64, place: Figure.Place)? = nil,
        limit: Int64
    ) async throws -> [Figure] {
        let place = last?.place
        let from = last?.day ?? days.lowerBound
        return try await driver.read { connection in
            try connection.query(
                """
                SELECT subject, kind, number, environment, day, customer, body FROM figure
                WHERE environment = $1 AND kind = $2 AND day <= $3
                AND (day, subject, number) > ($4, $5, $6)
                ORDER BY day, subject, number LIMIT $7
                """,
                [
                    .integer(environment.number), .integer(kind), .integer(days.upperBound),
                    .integer(from), .blob(place?.subject.bytes ?? []),
                    .integer(place?.number ?? -1), .integer(limit),
                ]
            ).map { try Figure($0) }
        }
    }

    /// The rows of one kind and of some days, newest first.
    ///
    /// - Parameter days: both included.
    public func newest(
        kind: Int64,
        in environment: StoreEnvironment,
        days: ClosedRange<Int64>,
        limit: Int64
    ) async throws -> [Figure] {
        try await driver.read { connection in
            try connection.query(
                """
                SELECT subject, kind, number, environment, day, customer, body FROM figure
                WHERE environment = $1 AND kind = $2 AND day >= $3 AND day <= $4
                ORDER BY day DESC, subject DESC, number DESC LIMIT $5
                """,
                [
                    .integer(environment.number), .integer(kind), .integer(days.lowerBound),
                    .integer(days.upperBound), .integer(limit),
                ]
            ).map { try Figure($0) }
        }
    }

    /// The sums of each selection, added up over what it does not keep apart, in any order.
    public func rollups(
        _ selections: [RollupSelection],
        in environment: StoreEnvironment
    ) async throws -> [[Rollup]] {
        try await driver.read { connection in
            var rollups = [[Rollup]](repeating: [], count: selections.count)
            // What differs in its values only is asked for at once.
            let alike = Dictionary(grouping: selections.indices) { selections[$0].sql }
            for (sql, places) in alike.sorted(by: { $0.key < $1.key }) {
                try connection.queryMany(
                    sql,
                    places.map { selections[$0].values(in: environment) }
                ) { index, row throws(StorageError) in
                    let place = places[index]
                    rollups[place].append(try Rollup(row, of: selections[place], in: environment))
                }
            }
            return rollups
        }
    }
}

extension Figure {
    init(_ row: Row) throws {
        self.init(
            place: Place(
                subject: try RowKey(bytes: row.bytes(0)),
                kind: try row.int64(1),
                number: try row.int64(2)
            ),
            environment: StoreEnvironment(number: try row.int64(3)),
            day: try row.int64(4),
            customer: try RowKey(bytes: row.bytes(5)),
            body: try row.bytes(6)
        )
    }
}
