public import TollgateCore

/// A question to a store that was queued in the transaction that raised it.
public struct WantedRow: Sendable {
    public let key: RowKey
    public var object: String
    public var purchase: Purchase.Key?
    /// The clock of the message that raised it.
    public var raised: Instant
}

extension RecordStore {
    /// The key under which a purchase's journal rows are found.
    public static func subject(of key: Purchase.Key) -> RowKey { RowKey(key) }

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

    /// Drops a question that was answered.
    public func settle(_ wanted: WantedRow) async throws {
        try await driver.write { connection in
            _ = try connection.execute(
                "DELETE FROM wanted WHERE key = $1 AND created = $2",
                [wanted.key.value, .integer(wanted.raised.milliseconds)]
            )
        }
    }

    /// Whether `customer` holds a part of `purchase`.
    public func holds(_ customer: Customer.ID, _ purchase: Purchase.Key) async throws -> Bool {
        let row = RowKey(Holder.customer(customer)).inEnvironment(purchase.environment)
        let rows = try await driver.readNow(
            "SELECT 1 FROM holding WHERE holder = $1 AND purchase = $2",
            [row.value, RowKey(purchase).value]
        )
        return !rows.isEmpty
    }
}

extension RecordStore {
    /// The key under which a customer's commands are found in the journal.
    public static func subject(of customer: Customer.ID) -> RowKey {
        RowKey(Holder.customer(customer))
    }
}
