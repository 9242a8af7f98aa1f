public import TollgateCore

/// The feed of messages to the app's backend.
///
/// Ingest appends messages in its own transaction; their places in the feed are given after commit
/// by one publisher, so that a reader who goes by them never misses one (RULES §12).
public struct FeedStore: Sendable {
    let driver: any StorageDriver
    let writer: any JournalWriter

    /// Whether messages wait for their place, or a lapse for being announced.
    public func hasNews(at now: Instant) async throws -> Bool {
        try await nextNews(at: now).map { $0 <= now } ?? false
    }

    /// The next instant with something to say: `now` where messages wait for their place, else that of the
    /// next lapse; `nil`: none until something is written.
    ///
    /// Makes only two short reads. If a sweep runs between them, there may be nothing to say then.
    public func nextNews(at now: Instant) async throws -> Instant? {
        let place = try await driver.readNow(Self.sweptSQL, [.text(Self.cursor)])
        guard let swept = try Self.swept(place) else { return now }
        let rows = try await driver.readNow(
            """
            SELECT (SELECT min(id) FROM message WHERE number IS NULL),
                (SELECT min(next_change) FROM customer WHERE next_change > $1),
                (SELECT min(due) FROM sweep WHERE due IS NOT NULL)
            """,
            [.integer(swept.milliseconds)]
        )
        guard let row = rows.first, try row.optionalInt64(0) == nil else { return now }
        return try [row.optionalInt64(1), row.optionalInt64(2)].compactMap(\.self).min()
            .map { Instant(milliseconds: $0) }
    }

    /// Gives the oldest waiting messages their places.
    ///
    /// The caller holds the lease of the feed; one who has lost it meanwhile does no harm. What was
    /// said of a name that nobody registered is dropped: whoever registers it gets a message then.
    ///
    /// - Parameter now: by the stores' time: what comes late is told as of then; `nil`: as of the last
    ///   sweep.
    /// - Returns: how many were waiting.
    /// - Throws: also a `StorageError` of the kind `contention` where another server was faster.
    public func publish(at now: Instant? = nil, limit: Int64) async throws -> Int {
        let catalog = writer.history.current
        return try await driver.write { connection in
            var publication = Publication(connection, at: now, catalog: catalog)
            return try publication.run(limit: limit)
        }
    }

    /// The feed after a place, oldest first.
    public func messages(after number: Int64, limit: Int64) async throws -> [FeedMessage] {
        try await driver.read { connection in
            try connection.query(
                Self.messagesSQL + " WHERE m.number > $1 ORDER BY m.number LIMIT $2",
                [.integer(number), .integer(limit)]
            ).compactMap { try Self.message(in: $0, connection) }
        }
    }

    /// The messages at these places, as far as there are any.
    public func messages(at numbers: [Int64]) async throws -> [FeedMessage] {
        try await driver.read { connection in
            try connection.queryMany(
                Self.messagesSQL + " WHERE m.number = $1",
                numbers.map { [.integer($0)] }
            ).compactMap { try $0.first.flatMap { try Self.message(in: $0, connection) } }
        }
    }

    /// The place of the newest message; 0 where there is none.
    public func newestMessage() async throws -> Int64 {
        try await driver.readNow("SELECT coalesce(max(number), 0) FROM message", [])
            .first?.int64(0) ?? 0
    }

    /// The feed, newest first.
    public func latest(before number: Int64? = nil, limit: Int64) async throws -> [FeedMessage] {
        try await driver.read { connection in
            try connection.query(
                BrowsingSQL.messages,
                [.integer(number ?? .max), .integer(limit)]
            ).compactMap { try FeedMessage($0, connection) }
        }
    }

    private static let messagesSQL = """
        SELECT m.number, m.customer, m.environment, m.sequence, m.kind, m.created, m.body, p.body
        FROM message m LEFT JOIN message p ON p.id = m.previous AND p.customer = m.customer
        """

    private static func message(
        in row: Row,
        _ connection: any StorageConnection
    ) throws -> FeedMessage? {
        let previous = try row.optionalBytes(7).map {
            try RecordDecoder.decode(FeedMessage.Body.self, from: $0)
        }
        return try FeedMessage(row, since: previous, connection)
    }
}

extension FeedMessage {
    /// Reads the columns number, customer, environment, sequence, kind, created, body; `nil` where
    /// nobody has that name any more.
    ///
    /// - Parameter previous: what the customer was told before.
    init?(
        _ row: Row,
        since previous: FeedMessage.Body? = nil,
        _ connection: any StorageConnection
    ) throws {
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
        self.init(
            number: try row.int64(0),
            cause: RowKey(
                "message",
                key.hex,
                kind.rawValue,
                "\(sequence)",
                "\(created.milliseconds)"
            ),
            customer: Customer.ID(try profile.text(0)),
            row: key,
            environment: environment,
            sequence: sequence,
            kind: kind,
            created: created,
            entitlements: body.entitlements,
            balance: body.balance,
            changes: body.changes(since: previous),
            purchases: body.purchases ?? []
        )
    }
}

extension StoreEnvironment {
    /// As rows have it: 1 is production.
    init(number: Int64) {
        self = number == 1 ? .production : .sandbox
    }

    var number: Int64 { self == .production ? 1 : 0 }
}
