public import TollgateCore

/// One row of the journal as people look at it.
public struct JournalRow: Sendable {
    /// What it says.
    public enum Content: Sendable {
        /// What a store, a device or staff stated; none where it was understood but of no consequence.
        case facts([Fact])
        /// A customer made themselves known.
        case registered(Customer.ID)
        /// Coins were asked for.
        case spent(amount: Int64, isAccepted: Bool, balance: Int64)
        /// A version of the catalog was adopted.
        case adopted(version: String)
        /// A customer was forgotten.
        case erased(Customer.ID)
    }

    public var id: Int64
    /// The purchase or customer that it concerns.
    public var subject: RowKey
    public var kind: JournalItem.Kind
    /// By the sender's clock.
    public var stated: Instant
    public var content: Content
    /// Whether the exact bytes are still there.
    public var hasBody: Bool

    init(_ row: Row) throws {
        id = try row.int64(0)
        subject = try RowKey(bytes: row.bytes(1))
        kind = JournalItem.Kind(rawValue: try row.int64(2)) ?? .command
        stated = Instant(milliseconds: try row.int64(3))
        content =
            switch try JournalContent(kept: row.bytes(4)) {
            case .facts(let facts): .facts(facts)
            case .registered(let customer, _): .registered(customer)
            case .spent(let decision):
                .spent(
                    amount: decision.amount,
                    isAccepted: decision.isAccepted,
                    balance: decision.balance
                )
            case .adopted(let version): .adopted(version: version.id)
            case .erased(let customer): .erased(customer)
            }
        hasBody = try row.int64(5) != 0
    }
}

/// A row of the journal with what was received.
public struct JournalEvidence: Sendable {
    public var row: JournalRow
    /// The exact bytes; `nil` where none were kept or they were erased.
    public var body: [UInt8]?
    /// SHA-256 of them.
    public var digest: [UInt8]
}

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
    /// A page of the journal, newest first.
    ///
    /// - Parameters:
    ///   - before: the id of the last row of the page before.
    ///   - subject: only what was stated about it.
    public func journal(
        before: Int64? = nil,
        about subject: RowKey? = nil,
        limit: Int64
    ) async throws -> [JournalRow] {
        try await driver.read { connection in
            try Self.journal(before: before, about: subject, limit: limit, connection)
        }
    }

    private static func journal(
        before: Int64?,
        about subject: RowKey?,
        limit: Int64,
        _ connection: any StorageConnection
    ) throws -> [JournalRow] {
        let from = SQLValue.integer(before ?? .max)
        let rows =
            if let subject {
                try connection.query(
                    BrowsingSQL.journalOfSubject,
                    [subject.value, from, .integer(limit)]
                )
            } else {
                try connection.query(BrowsingSQL.journal, [from, .integer(limit)])
            }
        return try rows.map { try JournalRow($0) }
    }

    /// What was stated about a customer and all that they hold, newest first.
    public func journal(
        of customer: Customer.ID,
        in environment: StoreEnvironment,
        before: Int64? = nil,
        limit: Int64
    ) async throws -> [JournalRow] {
        let name = RowKey(Holder.customer(customer))
        return try await driver.read { connection in
            let held = try connection.query(
                BrowsingSQL.holdings,
                [name.inEnvironment(environment).value, .integer(Self.mostHoldings)]
            )
            let subjects = try [name] + held.map { try RowKey(bytes: $0.bytes(0)) }
            var rows: [JournalRow] = []
            for subject in subjects {
                rows += try Self.journal(
                    before: before,
                    about: subject,
                    limit: limit,
                    connection
                )
            }
            return Array(rows.sorted { $0.id > $1.id }.prefix(Int(limit)))
        }
    }

    /// Somebody with more purchases than this is looked at by purchase.
    static let mostHoldings: Int64 = 500

    /// One row with its body put together again.
    public func evidence(_ id: Int64) async throws -> JournalEvidence? {
        try await driver.read { connection in
            guard let row = try connection.query(BrowsingSQL.journalRow, [.integer(id)]).first
            else { return nil }
            let body = try row.optionalBytes(6).map { compact in
                do {
                    var segments: [[UInt8]: [UInt8]] = [:]
                    for id in try SignedBody.segmentIDs(in: compact) {
                        segments[id] = try connection.query(BrowsingSQL.segment, [.blob(id)])
                            .first?.bytes(0)
                    }
                    let known = segments
                    return try SignedBody.expand(compact) { known[$0] }
                } catch let error as StorageError
                    where error.kind == .corrupt && compact.first ?? 0 > PackedBytes.marker
                {
                    // Early reasons of spends were kept as they were.
                    return compact
                }
            }
            return JournalEvidence(
                row: try JournalRow(row),
                body: body,
                digest: try row.bytes(7)
            )
        }
    }

    /// The row that was journalled under this key.
    public func journalRow(dedupeKey: RowKey) async throws -> Int64? {
        let rows = try await driver.readNow(BrowsingSQL.journalByDedupeKey, [dedupeKey.value])
        return try rows.first?.int64(0)
    }

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

    /// The feed, newest first.
    public func latestMessages(
        before number: Int64? = nil,
        limit: Int64
    ) async throws -> [FeedMessage] {
        try await driver.read { connection in
            try connection.query(
                BrowsingSQL.messages,
                [.integer(number ?? .max), .integer(limit)]
            ).compactMap { try FeedMessage($0, connection) }
        }
    }

    /// When the sessions of a customer end, the last first: UNIX seconds.
    public func sessions(of customer: Customer.ID, limit: Int64 = 50) async throws -> [Int64] {
        let rows = try await driver.readNow(
            BrowsingSQL.sessions,
            [RowKey(Holder.customer(customer)).value, .integer(limit)]
        )
        return try rows.map { try $0.int64(0) }
    }

    /// The latest movements of a customer's coins, newest first.
    public func coinMovements(
        of customer: Customer.ID,
        in environment: StoreEnvironment,
        limit: Int64
    ) async throws -> [CoinMovement] {
        let row = RowKey(Holder.customer(customer)).inEnvironment(environment)
        let rows = try await driver.readNow(
            BrowsingSQL.transfers,
            [row.value, .integer(limit)]
        )
        return try rows.map {
            CoinMovement(
                lot: try RowKey(bytes: $0.bytes(0)),
                amount: try $0.int64(1),
                journal: try $0.int64(2),
                stated: try $0.optionalInt64(3).map { Instant(milliseconds: $0) }
            )
        }
    }

    /// One parked message, by its key.
    public func parked(_ key: RowKey) async throws -> ParkedMessage? {
        let rows = try await driver.readNow(BrowsingSQL.parkedMessage, [key.value])
        return try rows.first.flatMap { row in
            guard let store = Store(rawValue: try row.text(1)) else { return nil }
            return ParkedMessage(
                key: try RowKey(bytes: row.bytes(0)),
                store: store,
                source: try row.text(2),
                reason: try row.text(3),
                body: try row.bytes(4),
                received: Instant(milliseconds: try row.int64(5))
            )
        }
    }
}
