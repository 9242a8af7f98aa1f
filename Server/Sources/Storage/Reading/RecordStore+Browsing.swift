public import TollgateCore

/// A movement of coins.
public struct CoinMovement: Hashable, Sendable {
    public var lot: RowKey
    public var amount: Int64
    /// The row of the journal that caused it.
    public var journal: Int64
    /// By that row's clock.
    public var stated: Instant?
}

// What staff browse: pages by key, never a whole table.
extension RecordStore {
    /// Purchases about which something was stated last, newest first.
    ///
    /// - Returns: the records, and the journal's row from which to go on; `nil` at the end.
    public func recentRecords(
        before: Int64? = nil,
        limit: Int
    ) async throws -> (records: [(row: RowKey, record: Purchase)], next: Int64?) {
        try await driver.read { connection in
            var from = before ?? .max
            var seen: Set<RowKey> = []
            var records: [(row: RowKey, record: Purchase)] = []
            // Some rows are about customers; enough is looked at for a page, never more.
            for _ in 0..<8 {
                let rows = try connection.query(
                    BrowsingSQL.subjects,
                    [.integer(from), .integer(200)]
                )
                for row in rows {
                    from = try row.int64(0)
                    let key = try RowKey(bytes: row.bytes(1))
                    guard seen.insert(key).inserted,
                        let bytes = try connection.query(BrowsingSQL.record, [key.value]).first?
                            .bytes(0), !bytes.isEmpty
                    else { continue }
                    records.append((key, try RecordDecoder.decode(Purchase.self, from: bytes)))
                    if records.count == limit { return (records, from) }
                }
                if rows.count < 200 { return (records, nil) }
            }
            return (records, from)
        }
    }

    /// The record in this row.
    public func record(row: RowKey) async throws -> Purchase? {
        let rows = try await driver.readNow(BrowsingSQL.record, [row.value])
        guard let bytes = try rows.first?.bytes(0), !bytes.isEmpty else { return nil }
        return try RecordDecoder.decode(Purchase.self, from: bytes)
    }

    /// The row in which a purchase is kept.
    public static func row(of key: Purchase.Key) -> RowKey { RowKey(key) }

    /// Who is kept under this key, whatever the environment.
    public func profile(row: RowKey) async throws -> StoredProfile? {
        for environment in StoreEnvironment.allCases {
            let rows = try await driver.readNow(
                BrowsingSQL.profileOfRow,
                [row.inEnvironment(environment).value]
            )
            if let found = rows.first {
                return StoredProfile(
                    customer: Customer.ID(try found.text(0)),
                    body: try found.bytes(1)
                )
            }
        }
        return nil
    }

    /// Customers whose email this is.
    public func profiles(email: String, limit: Int64 = 20) async throws -> [StoredProfile] {
        let rows = try await driver.readNow(
            BrowsingSQL.customersOfEmail,
            [RowKey(email: email).value, .integer(limit)]
        )
        return try rows.map {
            StoredProfile(customer: Customer.ID(try $0.text(0)), body: try $0.bytes(1))
        }
    }

    /// The latest movements of a customer's coins, newest first.
    public func coinMovements(
        of customer: Customer.ID,
        in environment: StoreEnvironment,
        limit: Int64
    ) async throws -> [CoinMovement] {
        let row = RowKey(Holder.customer(customer)).inEnvironment(environment)
        return try await driver.read { connection in
            let rows = try connection.query(BrowsingSQL.transfers, [row.value, .integer(limit)])
            let clocks = try connection.queryMany(
                BrowsingSQL.journalClock,
                rows.map { [.integer(try $0.int64(2))] }
            )
            return try zip(rows, clocks).map { row, clock in
                CoinMovement(
                    lot: try RowKey(bytes: row.bytes(0)),
                    amount: try row.int64(1),
                    journal: try row.int64(2),
                    stated: try clock.first.map { Instant(milliseconds: try $0.int64(0)) }
                )
            }
        }
    }
}
