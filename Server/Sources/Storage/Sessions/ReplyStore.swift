public import TollgateCore

/// The answer to a write, kept so that a retry under the same idempotency key gets it again.
public struct StoredReply: Hashable, Sendable {
    /// Of the request.
    public var bodyHash: RowKey
    /// The HTTP status; `nil` while the first request is still being answered.
    public var status: Int64?
    /// Sealed by whoever keeps it: an answer may hold a secret.
    public var reply: [UInt8]
}

/// What became of an attempt to be the first under an idempotency key.
public enum ReplyClaim: Hashable, Sendable {
    /// Nobody was here before: answer the request and keep the answer.
    case first
    /// Somebody was.
    case known(StoredReply)
    /// The customer's own requests have as many replies as are kept for anybody.
    case tooMany
}

/// Answers to writes, kept for retries under the same idempotency key.
///
/// Replies are operational: dropping one makes a late retry a new request.
public struct ReplyStore: Sendable {
    let driver: any StorageDriver

    /// The time that a reply is kept, in milliseconds: two days.
    public static let lifetime: Int64 = 2 * 86_400_000
    /// How long a reservation without an answer stands, in milliseconds; after that its process must
    /// have died.
    private static let patience: Int64 = 60_000

    /// Reserves `key` for a request, or tells who had it before.
    ///
    /// - Parameters:
    ///   - customer: whose request it is, where a customer's session makes it.
    ///   - limit: the most replies that are kept for one customer's own requests.
    ///   - now: real time.
    public func claim(
        _ key: RowKey,
        bodyHash: RowKey,
        customer: Customer.ID?,
        limit: Int64,
        now: Instant
    ) async throws -> ReplyClaim {
        let owner = customer.map { RowKey(Holder.customer($0)) }
        return try await driver.write { connection in
            _ = try connection.execute(
                """
                DELETE FROM idempotency
                WHERE key = $1 AND (created < $2 OR (status = 0 AND created < $3))
                """,
                [
                    key.value, .integer(now.milliseconds - Self.lifetime),
                    .integer(now.milliseconds - Self.patience),
                ]
            )
            if let known = try Self.reply(key, connection) { return .known(known) }
            if let owner, try Self.hasReplies(owner, limit, connection) { return .tooMany }
            let isFirst = try connection.execute(
                """
                INSERT INTO idempotency (
                    key, body_hash, customer, is_session, status, reply, created
                ) VALUES ($1, $2, $3, $4, 0, $5, $6) ON CONFLICT (key) DO NOTHING
                """,
                [
                    key.value, bodyHash.value, owner?.value ?? .null,
                    .integer(owner == nil ? 0 : 1), .blob([]), .integer(now.milliseconds),
                ]
            )
            if isFirst > 0 { return .first }
            // Another server came in between.
            return try Self.reply(key, connection).map { .known($0) } ?? .first
        }
    }

    private static func reply(
        _ key: RowKey,
        _ connection: any StorageConnection
    ) throws -> StoredReply? {
        let rows = try connection.query(
            "SELECT body_hash, status, reply FROM idempotency WHERE key = $1",
            [key.value]
        )
        return try rows.first.map { row in
            let status = try row.int64(1)
            return StoredReply(
                bodyHash: try RowKey(bytes: row.bytes(0)),
                status: status == 0 ? nil : status,
                reply: try row.bytes(2)
            )
        }
    }

    private static func hasReplies(
        _ owner: RowKey,
        _ limit: Int64,
        _ connection: any StorageConnection
    ) throws -> Bool {
        try !connection.query(
            """
            SELECT 1 FROM idempotency WHERE customer = $1 AND is_session = 1 LIMIT 1 OFFSET $2
            """,
            [owner.value, .integer(limit - 1)]
        ).isEmpty
    }

    /// Keeps the answer to the request that reserved `key`; none about a customer who was erased
    /// meanwhile.
    ///
    /// - Parameter customer: whom the answer is about; it goes with their erasure.
    public func keep(
        _ key: RowKey,
        status: Int64,
        reply: [UInt8],
        customer: Customer.ID?
    ) async throws {
        try await driver.write { connection in
            if let customer, try connection.isErased(customer) {
                try connection.execute("DELETE FROM idempotency WHERE key = $1", [key.value])
                return
            }
            _ = try connection.execute(
                """
                UPDATE idempotency SET status = $2, reply = $3, customer = $4 WHERE key = $1
                """,
                [
                    key.value, .integer(status), .blob(reply),
                    customer.map { RowKey(Holder.customer($0)).value } ?? .null,
                ]
            )
        }
    }

    /// Gives `key` back: the request was refused before anything was done.
    public func drop(_ key: RowKey) async throws {
        try await driver.execute(
            "DELETE FROM idempotency WHERE key = $1 AND status = 0",
            [key.value]
        )
    }

    /// Drops replies and sessions whose time is over, and reservations that nobody will answer.
    ///
    /// - Parameter now: real time. An expired session is kept for a week, so that an app that
    ///   shows it is told that it expired.
    public func dropExpired(now: Instant) async throws {
        try await driver.write { connection in
            try connection.execute(
                "DELETE FROM idempotency WHERE created < $1",
                [.integer(now.milliseconds - Self.lifetime)]
            )
            try connection.execute(
                "DELETE FROM idempotency WHERE status = 0 AND created < $1",
                [.integer(now.milliseconds - Self.patience)]
            )
            _ = try connection.execute(
                "DELETE FROM session WHERE expires < $1",
                [.integer(now.milliseconds / 1000 - 7 * 86_400)]
            )
        }
    }
}

extension StorageConnection {
    /// True once `customer` was erased.
    ///
    /// Their profile stays locked until the transaction ends, so an erasure comes before or after
    /// it, and never in between.
    func isErased(_ customer: Customer.ID) throws -> Bool {
        let profile = try query(
            "SELECT body FROM profile WHERE customer = $1 \(dialect.rowLock)",
            [RowKey(Holder.customer(customer)).value]
        )
        return try profile.first?.bytes(0).isEmpty ?? false
    }
}
