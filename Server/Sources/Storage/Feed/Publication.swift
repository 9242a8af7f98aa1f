internal import TollgateCore

/// One transaction's work of giving waiting messages their places in the feed.
///
/// Nobody is told an older answer than the one they know (RULES §13). A store's word may come late,
/// and what was true by its clock would look like news after what has been told since. Such a
/// message tells the answer as of now instead.
struct Publication {
    /// A message that waits for its place.
    private struct Waiting {
        var id: Int64
        var customer: RowKey
        var environment: StoreEnvironment
        var created: Instant

        /// Reads the columns id, customer, environment, created.
        init(_ row: Row) throws {
            id = try row.int64(0)
            customer = try RowKey(bytes: row.bytes(1))
            environment = StoreEnvironment(number: try row.int64(2))
            created = Instant(milliseconds: try row.int64(3))
        }
    }

    /// What a customer was told last.
    private struct Told {
        var message: Int64
        /// As of when they know their answer.
        var asOf: Instant
    }

    private let connection: any StorageConnection
    private var now: Instant?
    private let catalog: Catalog
    private var told: [RowKey: Told] = [:]

    /// - Parameters:
    ///   - now: by the stores' time; `nil`: the instant of the last sweep.
    ///   - catalog: today's.
    init(_ connection: any StorageConnection, at now: Instant?, catalog: Catalog) {
        self.connection = connection
        self.now = now
        self.catalog = catalog
    }

    /// Does all of it.
    ///
    /// The transaction is the caller's.
    ///
    /// - Returns: how many were waiting.
    /// - Throws: also a `StorageError` of the kind `contention` where another server was faster.
    mutating func run(limit: Int64) throws -> Int {
        var number = try lastPlace()
        let waiting = try waiting(limit)
        guard !waiting.isEmpty else { return 0 }
        let messages = try dropUnregistered(waiting)
        try loadTold(messages)
        let swept = try FeedStore.swept(connection)
        now = now ?? swept
        var numbered: [[SQLValue]] = []
        for message in messages {
            number += 1
            numbered.append([
                .integer(number), SQLValue(told[message.customer]?.message), .integer(message.id),
                message.customer.value,
            ])
            try tell(message)
        }
        try write(numbered, last: number)
        if let swept {
            for (customer, last) in told.sorted(by: { $0.key < $1.key }) {
                try FeedStore.look(
                    again: customer,
                    told: last.asOf,
                    swept: swept,
                    catalog,
                    connection
                )
            }
        }
        return waiting.count
    }

    /// Names the row of the last place that was given, which whoever gives out places has locked.
    private static let place = SQLValue.text("feed")

    /// The last place that was given, locked: where a lease has ended while its holder was held up, the
    /// next one waits for it, and neither numbers what the other has numbered.
    ///
    /// It is one row, on whatever machines the messages lie.
    private func lastPlace() throws -> Int64 {
        let select = "SELECT value FROM meta WHERE name = $1 \(connection.dialect.rowLock)"
        var kept = try connection.query(select, [Self.place])
        if kept.isEmpty {
            try connection.execute(
                "INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
                [Self.place, .blob([])]
            )
            kept = try connection.query(select, [Self.place])
        }
        let last = try kept.first.flatMap {
            Int64(String(decoding: try $0.bytes(0), as: UTF8.self))
        }
        let found = try connection.query("SELECT coalesce(max(number), 0) FROM message")
        return max(last ?? 0, try found.first?.int64(0) ?? 0)
    }

    /// The oldest ones.
    private func waiting(_ limit: Int64) throws -> [Waiting] {
        try connection.query(
            """
            SELECT id, customer, environment, created FROM message WHERE number IS NULL
            ORDER BY id LIMIT $1
            """,
            [.integer(limit)]
        ).map { try Waiting($0) }
    }

    /// Drops what was said of a name that nobody registered.
    ///
    /// - Returns: the others.
    private func dropUnregistered(_ waiting: [Waiting]) throws -> [Waiting] {
        let profiles = try connection.find(
            "1",
            in: "profile",
            by: ["customer"],
            waiting.map { [$0.customer.inEnvironment($0.environment).value] }
        )
        var messages: [Waiting] = []
        var dropped: [[SQLValue]] = []
        for (message, profile) in zip(waiting, profiles) {
            if profile.isEmpty {
                dropped.append([.integer(message.id), message.customer.value])
            } else {
                messages.append(message)
            }
        }
        try connection.executeMany(
            "DELETE FROM message WHERE id = $1 AND customer = $2 AND number IS NULL",
            dropped
        )
        return messages
    }

    /// Finds what the customers of `messages` know.
    private mutating func loadTold(_ messages: [Waiting]) throws {
        let rows = try connection.find(
            "t.message, m.created, s.seen",
            in: """
                told t LEFT JOIN message m ON m.id = t.message AND m.customer = t.customer
                LEFT JOIN sweep s ON s.customer = t.customer
                """,
            by: ["t.customer"],
            messages.map { [$0.customer.value] }
        )
        let clocks = Dictionary(grouping: messages) { $0.customer }
            .mapValues { Set($0.map(\.created)) }
        for (message, found) in zip(messages, rows) {
            guard let row = found.first else { continue }
            var asOf = Instant(milliseconds: try row.optionalInt64(1) ?? 0)
            // A sweep that found nothing to tell has looked all the same. What one found that waits
            // here is told in its turn: what happened before it is still told as it was.
            if let seen = try row.optionalInt64(2).map({ Instant(milliseconds: $0) }), asOf < seen,
                clocks[message.customer]?.contains(seen) != true
            {
                asOf = seen
            }
            told[message.customer] = Told(message: try row.int64(0), asOf: asOf)
        }
    }

    /// Notes that `message` is what its customer is told last, as it stands or made newer.
    private mutating func tell(_ message: Waiting) throws {
        var asOf = message.created
        // As of now, not of what they know: that may be by the clock of a store that runs ahead.
        if let known = told[message.customer]?.asOf, asOf < known {
            asOf = max(asOf, now ?? known)
            try retell(message, asOf: asOf)
        }
        told[message.customer] = Told(message: message.id, asOf: asOf)
    }

    /// Writes what is known of its customer as of `instant` into a message that nobody has seen.
    ///
    /// If more was learned since it was written, that has a message of its own, which follows. When
    /// to look next is noted as by a sweep: the next change that the row names may be over.
    private func retell(_ message: Waiting, asOf instant: Instant) throws {
        let bodies = try connection.query(
            "SELECT body FROM message WHERE id = $1 AND customer = $2",
            [.integer(message.id), message.customer.value]
        )
        let rows = try connection.query(
            "SELECT sequence, answer FROM customer WHERE key = $1",
            [message.customer.value]
        )
        guard let bytes = try bodies.first?.bytes(0), let row = rows.first else { return }
        let answer = try row.bytes(1)
        let isAnswered = !answer.isEmpty && answer != CustomerAnswer.erasedBytes
        let timeline = try (isAnswered ? CustomerAnswer(reading: answer) : CustomerAnswer())
            .timeline(in: catalog)
        var body = try RecordDecoder.decode(FeedMessage.Body.self, from: bytes)
        body.entitlements = timeline.active(at: instant).map { FeedMessage.Entitlement($0) }
        try connection.execute(
            "UPDATE message SET created = $2, body = $3 WHERE id = $1 AND customer = $4",
            [
                .integer(message.id), .integer(instant.milliseconds),
                .blob(try RecordEncoder.encode(body)), message.customer.value,
            ]
        )
        try FeedStore.keepLook(
            at: message.customer,
            sequence: row.int64(0),
            seen: instant,
            next: timeline.nextChange(after: instant),
            connection
        )
    }

    /// Writes the places, the last of them, and what each customer is told last.
    private func write(_ numbered: [[SQLValue]], last: Int64) throws {
        let changed = try connection.executeMany(
            """
            UPDATE message SET number = $1, previous = $2
            WHERE id = $3 AND customer = $4 AND number IS NULL
            """,
            numbered
        )
        guard changed.allSatisfy({ $0 == 1 }) else {
            throw StorageError(.contention, "another server gave messages their places meanwhile")
        }
        try connection.execute(
            "UPDATE meta SET value = $2 WHERE name = $1",
            [Self.place, .blob(Array("\(last)".utf8))]
        )
        try connection.executeMany(
            """
            INSERT INTO told (customer, message) VALUES ($1, $2)
            ON CONFLICT (customer) DO UPDATE SET message = excluded.message
            """,
            told.sorted { $0.key < $1.key }.map { [$0.key.value, .integer($0.value.message)] }
        )
    }
}
