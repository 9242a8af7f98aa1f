public import TollgateCore

/// A question to a store that was queued in the transaction that raised it.
public struct WantedRow: Sendable {
    public let key: RowKey
    public var object: String
    public var purchase: Purchase.Key?
    /// The clock of the message that raised it.
    public var raised: Instant
}

/// Questions to stores that wait, and what stores answered beside.
public struct QuestionStore: Sendable {
    let driver: any StorageDriver

    /// Whether any question waits.
    public func hasAny() async throws -> Bool {
        try await !driver.readNow("SELECT 1 FROM wanted LIMIT 1", []).isEmpty
    }

    /// Questions that wait, with the clock of the message that raised each.
    public func waiting(limit: Int64) async throws -> [(key: RowKey, raised: Instant)] {
        try await driver.readNow("SELECT key, created FROM wanted LIMIT $1", [.integer(limit)])
            .map { (try RowKey(bytes: $0.bytes(0)), Instant(milliseconds: try $0.int64(1))) }
    }

    /// The oldest questions of one kind.
    ///
    /// - Parameter last: the last one of the page before; `nil` begins with the oldest.
    public func wanted(
        _ kind: Wanted.Kind,
        after last: WantedRow? = nil,
        limit: Int64
    ) async throws -> [WantedRow] {
        try await driver.read { connection in
            try connection.query(
                """
                SELECT key, object, body, created FROM wanted
                WHERE kind = $1 AND (created, key) > ($2, $3)
                ORDER BY created, key LIMIT $4
                """,
                [
                    .text(kind.rawValue), .integer(last?.raised.milliseconds ?? .min),
                    last?.key.value ?? .blob([]), .integer(limit),
                ]
            ).map { row in
                WantedRow(
                    key: try RowKey(bytes: row.bytes(0)),
                    object: try row.text(1),
                    purchase: Purchase.Key(
                        canonical: String(decoding: try row.bytes(2), as: UTF8.self)
                    ),
                    raised: Instant(milliseconds: try row.int64(3))
                )
            }
        }
    }

    /// Drops questions that were answered, in one transaction.
    ///
    /// A question that was raised anew since stays.
    public func settle(_ wanted: [WantedRow]) async throws {
        guard !wanted.isEmpty else { return }
        let keys = wanted.map { [$0.key.value, .integer($0.raised.milliseconds)] }
        try await driver.write { connection in
            try connection.executeMany(
                "DELETE FROM wanted WHERE key = $1 AND created = $2",
                keys
            )
        }
    }

    /// Queues a question to a store, unless it is queued already.
    public func want(_ wanted: Wanted, about key: Purchase.Key, at instant: Instant) async throws {
        try await driver.execute(
            """
            INSERT INTO wanted (key, kind, object, body, created) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (key) DO UPDATE SET created = excluded.created
            WHERE wanted.created < excluded.created
            """,
            [
                RowKey("wanted", wanted.kind.rawValue, wanted.object, key.canonical).value,
                .text(wanted.kind.rawValue), .text(wanted.object),
                .blob(Array(key.canonical.utf8)), .integer(instant.milliseconds),
            ]
        )
    }
}
