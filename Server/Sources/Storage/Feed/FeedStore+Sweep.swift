public import TollgateCore

// Access ends without a fact, yet those who follow the feed must hear of it (RULES §13). The
// customer's row is derived and stays as it is; how far the sweep has come is kept beside it.
extension FeedStore {
    static let cursor = "sweep"
    static let sweptSQL = "SELECT value FROM meta WHERE name = $1"

    /// The instant up to which lapses were announced; `nil` before the first sweep.
    ///
    /// - Parameter lock: what the SELECT ends with.
    static func swept(_ connection: any StorageConnection, lock: String = "") throws -> Instant? {
        try swept(connection.query("\(sweptSQL) \(lock)", [.text(cursor)]))
    }

    /// The same of what `sweptSQL` found.
    static func swept(_ rows: [Row]) throws -> Instant? {
        guard let bytes = try rows.first?.bytes(0),
            let milliseconds = Int64(String(decoding: bytes, as: UTF8.self))
        else { return nil }
        return Instant(milliseconds: milliseconds)
    }

    /// Announces every answer that changed by time alone since the last sweep.
    ///
    /// The caller holds the lease of the feed. The first sweep only begins: what lapsed before it is
    /// no news.
    ///
    /// - Returns: how many messages were written, and whether there may be more to do.
    public func sweep(
        until now: Instant,
        limit: Int64 = 500
    ) async throws -> (written: Int, isDone: Bool) {
        let catalog = writer.history.current
        return try await driver.write { connection in
            // Locked: where a lease has ended while its holder was held up, that one must neither
            // announce again what the next has announced, nor put its place back.
            let lock = connection.dialect.rowLock
            guard let from = try Self.swept(connection, lock: lock) else {
                try Self.keep(now, connection)
                return (0, true)
            }
            guard from <= now else { return (0, true) }
            let (due, reached) = try Self.due(from: from, until: now, limit, connection)
            var written = 0
            // In the order of their keys, as ingest locks them.
            for (key, instant) in due.sorted(by: { $0.key < $1.key }) {
                let isNews = try Self.announce(key, due: instant, at: reached, catalog, connection)
                if isNews { written += 1 }
            }
            try Self.keep(reached, connection)
            return (written, reached == now)
        }
    }

    private static func keep(_ instant: Instant, _ connection: any StorageConnection) throws {
        try connection.execute(
            """
            INSERT INTO meta (name, value) VALUES ($1, $2)
            ON CONFLICT (name) DO UPDATE SET value = $2
            """,
            [.text(cursor), .blob(Array("\(instant.milliseconds)".utf8))]
        )
    }

    /// The customers whose answer may have changed, with the instant at which, and how far this
    /// sweep comes.
    private static func due(
        from: Instant,
        until now: Instant,
        _ limit: Int64,
        _ connection: any StorageConnection
    ) throws -> ([RowKey: Instant], Instant) {
        var rows = try connection.query(
            """
            SELECT key, next_change FROM customer WHERE next_change > $1 AND next_change <= $2
            ORDER BY next_change LIMIT $3
            """,
            [.integer(from.milliseconds), .integer(now.milliseconds), .integer(limit)]
        )
        var reached = now
        if Int64(rows.count) == limit, let last = try rows.last?.int64(1) {
            // All of one instant belong to one sweep.
            reached = Instant(milliseconds: last)
            rows += try connection.query(
                "SELECT key, next_change FROM customer WHERE next_change = $1",
                [.integer(last)]
            )
        }
        rows += try connection.query(
            "SELECT customer, due FROM sweep WHERE due IS NOT NULL AND due <= $1",
            [.integer(reached.milliseconds)]
        )
        var due: [RowKey: Instant] = [:]
        for row in rows {
            let key = try RowKey(bytes: row.bytes(0))
            let instant = Instant(milliseconds: try row.int64(1))
            due[key] = min(due[key] ?? instant, instant)
        }
        return (due, reached)
    }

    /// Takes in news of the past: a customer knows their answer as of `told`.
    ///
    /// Where the next change that their row names lies before the last sweep, no sweep would find
    /// what changes from then on. If whoever told them looked ahead as well, that is noted already.
    static func look(
        again key: RowKey,
        told: Instant,
        swept: Instant,
        _ catalog: Catalog,
        _ connection: any StorageConnection
    ) throws {
        let rows = try connection.query(
            """
            SELECT c.next_change, c.answer FROM customer c WHERE c.key = $1 AND c.next_change <= $2
            AND NOT EXISTS (SELECT 1 FROM sweep s
                WHERE s.customer = c.key AND s.sequence = c.sequence AND s.seen = $3)
            """,
            [key.value, .integer(swept.milliseconds), .integer(told.milliseconds)]
        )
        guard let row = rows.first else { return }
        let named = Instant(milliseconds: try row.int64(0))
        let next: Instant? =
            told < named
            ? named
            : try CustomerAnswer(reading: row.bytes(1)).timeline(in: catalog)
                .nextChange(after: told)
        guard let due = next else { return }
        try connection.execute(
            """
            INSERT INTO sweep (customer, sequence, seen, due) VALUES ($1, 0, 0, $2)
            ON CONFLICT (customer) DO UPDATE SET due = $2
            """,
            [key.value, .integer(due.milliseconds)]
        )
    }

    /// Keeps as of when, and for which state of its row, an answer was looked at, and when the next
    /// look is due.
    static func keepLook(
        at key: RowKey,
        sequence: Int64,
        seen: Instant,
        next: Instant?,
        _ connection: any StorageConnection
    ) throws {
        try connection.execute(
            """
            INSERT INTO sweep (customer, sequence, seen, due) VALUES ($1, $2, $3, $4)
            ON CONFLICT (customer) DO UPDATE SET sequence = $2, seen = $3, due = $4
            """,
            [
                key.value, .integer(sequence), .integer(seen.milliseconds),
                SQLValue(next?.milliseconds),
            ]
        )
    }

    private static func announce(
        _ key: RowKey,
        due: Instant,
        at now: Instant,
        _ catalog: Catalog,
        _ connection: any StorageConnection
    ) throws -> Bool {
        let rows = try connection.query(
            "SELECT environment, sequence, balance, answer FROM customer WHERE key = $1 \(connection.dialect.rowLock)",
            [key.value]
        )
        guard let row = rows.first, case let bytes = try row.bytes(3),
            !bytes.isEmpty, bytes != CustomerAnswer.erasedBytes
        else {
            // There is nobody to look at, now or later.
            try connection.execute("UPDATE sweep SET due = NULL WHERE customer = $1", [key.value])
            return false
        }
        let timeline = try CustomerAnswer(reading: bytes)
            .timeline(in: catalog)
        try keepLook(
            at: key,
            sequence: row.int64(1),
            seen: now,
            next: timeline.nextChange(after: now),
            connection
        )
        let active = timeline.active(at: now)
        guard active != timeline.active(at: due.advanced(by: -1)) else { return false }
        try connection.execute(
            Batch.messageSQL,
            try Batch.message(
                .entitlementsChanged,
                of: key,
                in: StoreEnvironment(number: row.int64(0)),
                sequence: row.int64(1),
                at: now,
                active,
                balance: row.int64(2)
            )
        )
        return true
    }
}
