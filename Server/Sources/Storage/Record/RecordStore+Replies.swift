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
}

// Replies are operational: dropping one makes a late retry a new request.
extension RecordStore {
    /// Reserves `key` for a request, or tells who had it before.
    ///
    /// - Parameters:
    ///   - now: real time; replies older than two days are dropped.
    ///   - patience: after how many milliseconds a reservation without an answer is taken over, since
    ///     its process must have died.
    public func claimReply(
        _ key: RowKey,
        bodyHash: RowKey,
        now: Instant,
        patience: Int64 = 60_000
    ) async throws -> ReplyClaim {
        try await driver.write { connection in
            _ = try connection.execute(
                "DELETE FROM idempotency WHERE created < $1 OR (status = 0 AND created < $2)",
                [
                    .integer(now.milliseconds - 2 * 86_400_000),
                    .integer(now.milliseconds - patience),
                ]
            )
            let isFirst = try connection.execute(
                """
                INSERT INTO idempotency (key, body_hash, status, reply, created)
                VALUES ($1, $2, 0, $3, $4) ON CONFLICT (key) DO NOTHING
                """,
                [key.value, bodyHash.value, .blob([]), .integer(now.milliseconds)]
            )
            if isFirst > 0 { return .first }
            let rows = try connection.query(
                "SELECT body_hash, status, reply FROM idempotency WHERE key = $1",
                [key.value]
            )
            guard let row = rows.first else { return .first }
            let status = try row.int64(1)
            return .known(
                StoredReply(
                    bodyHash: try RowKey(bytes: row.bytes(0)),
                    status: status == 0 ? nil : status,
                    reply: try row.bytes(2)
                )
            )
        }
    }

    /// Keeps the answer to the request that reserved `key`.
    public func keepReply(_ key: RowKey, status: Int64, reply: [UInt8]) async throws {
        try await driver.write { connection in
            _ = try connection.execute(
                "UPDATE idempotency SET status = $2, reply = $3 WHERE key = $1",
                [key.value, .integer(status), .blob(reply)]
            )
        }
    }

    /// Gives `key` back: the request was refused before anything was done.
    public func dropReply(_ key: RowKey) async throws {
        try await driver.write { connection in
            _ = try connection.execute(
                "DELETE FROM idempotency WHERE key = $1 AND status = 0",
                [key.value]
            )
        }
    }
}
