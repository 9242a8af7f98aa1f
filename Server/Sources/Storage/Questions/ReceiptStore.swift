public import TollgateCore

/// A legacy receipt by which the App Store is asked about a customer.
public struct StoredReceipt: Sendable {
    /// One per customer and form of receipt.
    public var key: RowKey
    public var customer: Customer.ID
    /// The newest receipt, in Base64 as the store takes it.
    public var body: [UInt8]
    /// When to ask again, by the stores' time.
    public var due: Instant

    public init(key: RowKey, customer: Customer.ID, body: [UInt8], due: Instant) {
        self.key = key
        self.customer = customer
        self.body = body
        self.due = due
    }
}

/// Legacy receipts that are asked about again.
public struct ReceiptStore: Sendable {
    let driver: any StorageDriver

    /// Keeps the newest receipt in place of an older one; none of a customer who was erased.
    public func keep(_ receipt: StoredReceipt) async throws {
        try await driver.write { connection in
            guard try !connection.isErased(receipt.customer) else { return }
            _ = try connection.execute(
                """
                INSERT INTO receipt (key, customer, body, due) VALUES ($1, $2, $3, $4)
                ON CONFLICT (key) DO UPDATE
                SET customer = excluded.customer, body = excluded.body, due = excluded.due
                """,
                [
                    receipt.key.value, .text(receipt.customer.rawValue), .blob(receipt.body),
                    .integer(receipt.due.milliseconds),
                ]
            )
        }
    }

    /// Puts a newer form in the place of a receipt that is still kept: one that was dropped meanwhile,
    /// because its customer was erased, stays dropped.
    public func renew(_ receipt: StoredReceipt) async throws {
        try await driver.execute(
            "UPDATE receipt SET body = $2, due = $3 WHERE key = $1",
            [receipt.key.value, .blob(receipt.body), .integer(receipt.due.milliseconds)]
        )
    }

    /// Receipts to ask with again, the longest due first.
    public func page(due now: Instant, limit: Int64) async throws -> [StoredReceipt] {
        try await driver.read { connection in
            try connection.query(
                """
                SELECT key, customer, body, due FROM receipt WHERE due <= $1
                ORDER BY due, key LIMIT $2
                """,
                [.integer(now.milliseconds), .integer(limit)]
            ).map { row in
                StoredReceipt(
                    key: try RowKey(bytes: row.bytes(0)),
                    customer: Customer.ID(try row.text(1)),
                    body: try row.bytes(2),
                    due: Instant(milliseconds: try row.int64(3))
                )
            }
        }
    }

    /// Asks with a receipt no more.
    public func drop(_ receipt: StoredReceipt) async throws {
        try await driver.execute("DELETE FROM receipt WHERE key = $1", [receipt.key.value])
    }
}
