public import TollgateCore

/// When a store should have said something of a purchase, if it says nothing until then.
public struct Awaited: Hashable, Sendable {
    /// Who asks about it: one pass asks about all of a scope.
    public var scope: RowKey
    /// From when on it is overdue, by the stores' time.
    public var since: Instant
    /// When it is no longer worth asking.
    public var until: Instant

    public init(scope: RowKey, since: Instant, until: Instant) {
        self.scope = scope
        self.since = since
        self.until = until
    }
}

/// Where a pass over what is awaited goes on.
public struct AwaitedPlace: Hashable, Sendable {
    public var since: Instant
    public var purchase: RowKey

    public init(since: Instant, purchase: RowKey) {
        self.since = since
        self.purchase = purchase
    }
}

/// Purchases of which a store should have said something by now.
///
/// Ingest writes none of this (RULES §12): whoever asks about overdue purchases first reads what was
/// journalled since it last did. So a pass costs what happened, never what was ever bought.
public struct AwaitedStore: Sendable {
    let driver: any StorageDriver
    private var cursors: CursorStore { CursorStore(driver: driver) }

    /// On PostgreSQL journal ids become visible out of order: what is younger is read once more.
    private static let settling: Int64 = 600_000

    /// How far the journal was followed.
    private struct Followed {
        /// Nothing up to here will ever appear again.
        var final: Int64 = 0
        /// What was the last row at `seenAt`.
        var seen: Int64 = 0
        var seenAt: Int64

        init(at wall: Instant) { seenAt = wall.milliseconds }

        init?(_ bytes: [UInt8]) {
            let numbers = String(decoding: bytes, as: UTF8.self).split(separator: " ")
                .map { Int64($0) }
            guard numbers.count == 3, let final = numbers[0], let seen = numbers[1],
                let seenAt = numbers[2]
            else { return nil }
            (self.final, self.seen, self.seenAt) = (final, seen, seenAt)
        }

        var bytes: [UInt8] { Array("\(final) \(seen) \(seenAt)".utf8) }
    }

    /// Brings the list of what is awaited up to the journal.
    ///
    /// - Parameters:
    ///   - store: whose purchases are looked at.
    ///   - cursor: the name under which the store follows the journal by itself. Under a new name it is
    ///     followed from its beginning, once: for what is awaited since of purchases that are there
    ///     already.
    ///   - wall: real time.
    ///   - prolong: called after each page.
    ///   - awaited: when something should have been said of a purchase; `nil`: nothing is awaited.
    /// - Returns: how many journal rows were read.
    @discardableResult
    public func follow(
        of store: Store,
        cursor: String,
        wall: Instant,
        prolong: @Sendable () async throws -> Void = {},
        _ awaited: @escaping @Sendable (Purchase) -> Awaited?
    ) async throws -> Int {
        var place =
            try await cursors.read(cursor).flatMap { Followed($0.body) }
            ?? Followed(at: wall)
        var position = place.final
        var read = 0
        // One writer at a time: what is there is all there is.
        let isInOrder = driver.dialect.rowLock.isEmpty
        while true {
            let from = position
            let page = try await driver.write { connection in
                try Self.follow(from, store, awaited, connection)
            }
            guard let last = page.last else { break }
            position = last
            read += page.rows
            if isInOrder {
                place.final = last
                try await cursors.keep(cursor, place.bytes, now: wall)
            }
            try await prolong()
        }
        if !isInOrder {
            let age = wall.milliseconds - place.seenAt
            if age >= Self.settling || age < 0 || place.seen == 0 {
                if age >= Self.settling { place.final = max(place.final, place.seen) }
                place.seen = position
                place.seenAt = wall.milliseconds
                try await cursors.keep(cursor, place.bytes, now: wall)
            }
        }
        return read
    }

    private static func follow(
        _ from: Int64,
        _ store: Store,
        _ awaited: (Purchase) -> Awaited?,
        _ connection: any StorageConnection
    ) throws -> (last: Int64?, rows: Int) {
        let rows = try connection.query(
            "SELECT id, subject FROM journal WHERE id > $1 ORDER BY id LIMIT 250",
            [.integer(from)]
        )
        let keys = Set(try rows.map { try RowKey(bytes: $0.bytes(1)) }).sorted()
        let records = try connection.find(
            "record",
            in: "purchase",
            by: ["key"],
            keys.map { [$0.value] }
        )
        var known: [[SQLValue]] = []
        var over: [[SQLValue]] = []
        for (key, row) in zip(keys, records) {
            guard let bytes = try row.first?.bytes(0), !bytes.isEmpty else { continue }
            let record = try RecordDecoder.decode(Purchase.self, from: bytes)
            guard record.key.store == store else { continue }
            if let awaited = awaited(record) {
                known.append([
                    key.value, awaited.scope.value, .integer(awaited.since.milliseconds),
                    .integer(awaited.until.milliseconds),
                ])
            } else {
                over.append([key.value])
            }
        }
        try connection.executeMany(
            """
            INSERT INTO awaited (purchase, scope, since, until) VALUES ($1, $2, $3, $4)
            ON CONFLICT (purchase) DO UPDATE
            SET scope = excluded.scope, since = excluded.since, until = excluded.until
            WHERE awaited.since <> excluded.since OR awaited.until <> excluded.until
                OR awaited.scope <> excluded.scope
            """,
            known
        )
        try connection.executeMany("DELETE FROM awaited WHERE purchase = $1", over)
        return (try rows.last?.int64(0), rows.count)
    }

    /// The statement that finds what is overdue: by index, whatever else was ever bought.
    package static let overdueSQL = """
        SELECT awaited.purchase, awaited.since, awaited.until, purchase.record
        FROM awaited JOIN purchase ON purchase.key = awaited.purchase
        WHERE awaited.scope = $1 AND awaited.since <= $2
        AND (awaited.since, awaited.purchase) > ($3, $4)
        ORDER BY awaited.since, awaited.purchase LIMIT $5
        """

    /// A page of the purchases of which a store should have said something by `now`.
    ///
    /// What is no longer worth asking about is forgotten.
    ///
    /// - Parameters:
    ///   - now: by the stores' time.
    ///   - place: where the page before ended.
    /// - Returns: the records, and where to go on, `nil` at the end.
    public func overdue(
        in scope: RowKey,
        at now: Instant,
        after place: AwaitedPlace?,
        limit: Int64 = 500
    ) async throws -> (records: [Purchase], next: AwaitedPlace?) {
        try await driver.write { connection in
            let rows = try connection.query(
                Self.overdueSQL,
                [
                    scope.value, .integer(now.milliseconds),
                    .integer(place?.since.milliseconds ?? .min),
                    .blob(place?.purchase.bytes ?? []), .integer(limit),
                ]
            )
            var records: [Purchase] = []
            var over: [[SQLValue]] = []
            for row in rows {
                if try row.int64(2) < now.milliseconds {
                    over.append([.blob(try row.bytes(0))])
                } else {
                    records.append(try RecordDecoder.decode(Purchase.self, from: row.bytes(3)))
                }
            }
            try connection.executeMany("DELETE FROM awaited WHERE purchase = $1", over)
            guard Int64(rows.count) == limit, let last = rows.last else { return (records, nil) }
            let next = AwaitedPlace(
                since: Instant(milliseconds: try last.int64(1)),
                purchase: try RowKey(bytes: last.bytes(0))
            )
            return (records, next)
        }
    }
}
