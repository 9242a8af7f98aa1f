public import TollgateCore

// Ingest appends messages in its own transaction; their places in the feed are given after commit
// by one publisher, so that a reader who goes by them never misses one (RULES §12).
extension RecordStore {
    /// Whether messages wait for their place, or a lapse for being announced.
    ///
    /// Only reads, so that a server with nothing to say writes nothing.
    public func hasNews(at now: Instant) async throws -> Bool {
        try await driver.read { connection in
            guard let swept = try Self.swept(connection) else { return true }
            let span: [SQLValue] = [
                .integer(swept.milliseconds), .integer(now.milliseconds),
            ]
            let waiting = try connection.query(
                "SELECT 1 FROM message WHERE number IS NULL LIMIT 1"
            )
            if !waiting.isEmpty { return true }
            let lapsed = try connection.query(
                "SELECT 1 FROM customer WHERE next_change > $1 AND next_change <= $2 LIMIT 1",
                span
            )
            if !lapsed.isEmpty { return true }
            let again = try connection.query(
                "SELECT 1 FROM sweep WHERE due <= $1 LIMIT 1",
                [span[1]]
            )
            return !again.isEmpty
        }
    }

    /// Gives the oldest waiting messages their places.
    ///
    /// The caller holds the lease of the feed. What was said of a name that nobody registered is
    /// dropped: whoever registers it gets a message then.
    ///
    /// - Returns: how many were waiting.
    public func publishMessages(limit: Int64 = 500) async throws -> Int {
        try await driver.write { connection in
            let rows = try connection.query(
                """
                SELECT id, customer, environment, created FROM message WHERE number IS NULL
                ORDER BY id LIMIT $1
                """,
                [.integer(limit)]
            )
            guard !rows.isEmpty else { return 0 }
            var number =
                try connection.query("SELECT coalesce(max(number), 0) FROM message").first?
                .int64(0) ?? 0
            let swept = try Self.swept(connection)
            for row in rows {
                let key = try RowKey(bytes: row.bytes(1))
                let environment = StoreEnvironment(number: try row.int64(2))
                let isKnown = try !connection.query(
                    "SELECT 1 FROM profile WHERE customer = $1",
                    [key.inEnvironment(environment).value]
                ).isEmpty
                guard isKnown else {
                    try connection.execute(
                        "DELETE FROM message WHERE id = $1",
                        [.integer(try row.int64(0))]
                    )
                    continue
                }
                number += 1
                try connection.execute(
                    "UPDATE message SET number = $1 WHERE id = $2",
                    [.integer(number), .integer(try row.int64(0))]
                )
                if let swept {
                    let told = Instant(milliseconds: try row.int64(3))
                    try Self.look(again: key, told: told, swept: swept, connection)
                }
            }
            return rows.count
        }
    }

    /// The feed after a place, oldest first.
    public func messages(after number: Int64, limit: Int64) async throws -> [FeedMessage] {
        try await driver.read { connection in
            let rows = try connection.query(
                """
                SELECT number, customer, environment, sequence, kind, created, body FROM message
                WHERE number > $1 ORDER BY number LIMIT $2
                """,
                [.integer(number), .integer(limit)]
            )
            return try rows.compactMap { row in
                let key = try RowKey(bytes: row.bytes(1))
                let environment = StoreEnvironment(number: try row.int64(2))
                let profiles = try connection.query(
                    "SELECT id FROM profile WHERE customer = $1",
                    [key.inEnvironment(environment).value]
                )
                guard let profile = profiles.first,
                    let kind = FeedMessage.Kind(rawValue: try row.text(4))
                else { return nil }
                let body = try RecordDecoder.decode(FeedMessage.Body.self, from: row.bytes(6))
                let sequence = try row.int64(3)
                let created = Instant(milliseconds: try row.int64(5))
                return FeedMessage(
                    number: try row.int64(0),
                    cause: RowKey(
                        "message",
                        key.hex,
                        kind.rawValue,
                        "\(sequence)",
                        "\(created.milliseconds)"
                    ),
                    customer: Customer.ID(try profile.text(0)),
                    environment: environment,
                    sequence: sequence,
                    kind: kind,
                    created: created,
                    entitlements: body.entitlements,
                    balance: body.balance
                )
            }
        }
    }
}

extension StoreEnvironment {
    /// As rows have it: 1 is production.
    init(number: Int64) {
        self = number == 1 ? .production : .sandbox
    }

    var number: Int64 { self == .production ? 1 : 0 }
}
