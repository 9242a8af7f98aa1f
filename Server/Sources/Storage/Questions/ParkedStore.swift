public import TollgateCore

/// A genuine message that could not be used (RULES §11).
public struct ParkedMessage: Sendable {
    public var key: RowKey
    public var store: Store
    /// The store's own id of it.
    public var source: String
    /// Why, in our words; nothing of the message itself.
    public var reason: String
    /// The exact bytes, so that it can be tried again.
    public var body: [UInt8]
    public var received: Instant

    public init(
        key: RowKey,
        store: Store,
        source: String,
        reason: String,
        body: [UInt8],
        received: Instant
    ) {
        self.key = key
        self.store = store
        self.source = source
        self.reason = reason
        self.body = body
        self.received = received
    }
}

/// Genuine messages that could not be used.
public struct ParkedStore: Sendable {
    let driver: any StorageDriver

    /// Keeps a message aside; without its body if it names a customer who was erased.
    ///
    /// Durable when this returns.
    ///
    /// - Returns: whether it was new.
    @discardableResult
    public func park(_ message: ParkedMessage) async throws -> Bool {
        try await driver.write { connection in
            let isOfErased = try NamesInText.hasErased(in: message.body, connection)
            return try connection.execute(
                """
                INSERT INTO parked (key, store, source, reason, body, received)
                VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (key) DO NOTHING
                """,
                [
                    message.key.value, .text(message.store.rawValue), .text(message.source),
                    .text(message.reason), .blob(isOfErased ? [] : message.body),
                    .integer(message.received.milliseconds),
                ]
            ) > 0
        }
    }

    /// What is parked, the oldest first.
    ///
    /// - Parameter after: the last one of the page before.
    public func page(
        after last: ParkedMessage? = nil,
        limit: Int64 = 100
    ) async throws -> [ParkedMessage] {
        try await driver.read { connection in
            try connection.query(
                """
                SELECT key, store, source, reason, body, received FROM parked
                WHERE received > $1 OR (received = $1 AND key > $2)
                ORDER BY received, key LIMIT $3
                """,
                [
                    .integer(last?.received.milliseconds ?? Int64.min),
                    .blob(last?.key.bytes ?? []), .integer(limit),
                ]
            ).map { row in
                guard let message = try ParkedMessage(row) else {
                    throw StorageError(.corrupt, "a parked message of an unknown store")
                }
                return message
            }
        }
    }

    /// How many messages of each store are parked.
    public func counts() async throws(StorageError) -> [(store: String, count: Int64)] {
        let rows = try await driver.readNow(
            "SELECT store, count(*) FROM parked GROUP BY store ORDER BY store",
            []
        )
        var counts: [(store: String, count: Int64)] = []
        for row in rows { counts.append((try row.text(0), try row.int64(1))) }
        return counts
    }

    /// Drops a message that could be used after all.
    public func unpark(_ message: ParkedMessage) async throws {
        try await driver.execute("DELETE FROM parked WHERE key = $1", [message.key.value])
    }
}

extension ParkedMessage {
    /// `nil` for one of a store that this program does not know.
    fileprivate init?(_ row: Row) throws {
        guard let store = Store(rawValue: try row.text(1)) else { return nil }
        self.init(
            key: try RowKey(bytes: row.bytes(0)),
            store: store,
            source: try row.text(2),
            reason: try row.text(3),
            body: try row.bytes(4),
            received: Instant(milliseconds: try row.int64(5))
        )
    }
}
