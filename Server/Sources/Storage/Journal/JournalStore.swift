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

/// Rows of the journal as they are read.
public struct JournalStore: Sendable {
    let driver: any StorageDriver

    /// A page of the journal, newest first.
    ///
    /// - Parameters:
    ///   - before: the id of the last row of the page before.
    ///   - subject: only what was stated about it.
    public func rows(
        before: Int64? = nil,
        about subject: RowKey? = nil,
        limit: Int64
    ) async throws -> [JournalRow] {
        try await driver.read { connection in
            try Self.rows(before: before, about: subject, limit: limit, connection)
        }
    }

    private static func rows(
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
    public func rows(
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
                rows += try Self.rows(before: before, about: subject, limit: limit, connection)
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
            let body = try row.optionalBytes(5).map { compact in
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
            return JournalEvidence(row: try JournalRow(row), body: body, digest: try row.bytes(6))
        }
    }

    /// The row that was journalled under this key.
    public func row(dedupeKey: RowKey) async throws -> Int64? {
        let rows = try await driver.readNow(BrowsingSQL.journalByDedupeKey, [dedupeKey.value])
        return try rows.first?.int64(0)
    }

    /// Those of `keys` under which a message is durable, journalled or parked.
    ///
    /// - Parameter keys: dedupe keys.
    public func known(_ keys: [RowKey]) async throws -> Set<RowKey> {
        try await driver.read { connection in
            let found = try connection.queryMany(
                """
                SELECT 1 FROM journal WHERE dedupe_key = $1
                UNION ALL SELECT 1 FROM parked WHERE key = $1
                """,
                keys.map { [$0.value] }
            )
            return Set(zip(keys, found).filter { !$0.1.isEmpty }.map(\.0))
        }
    }

    /// The latest instant of which the newest rows of the journal speak, by their senders' clocks;
    /// `nil` where there are none.
    public func newestStatement() async throws -> Instant? {
        try await driver.read { connection in
            try connection.query(
                """
                SELECT max(stated) FROM (
                    SELECT stated FROM journal ORDER BY id DESC LIMIT 1000
                ) AS newest
                """
            ).first?.optionalInt64(0).map { Instant(milliseconds: $0) }
        }
    }

    /// What `customer` has said that is kept in the journal and nowhere else, oldest first: the exact
    /// bytes, and when.
    ///
    /// What was erased is left out.
    public func said(by customer: Customer.ID) async throws -> [(body: [UInt8], stated: Instant)] {
        let rows = try await driver.read { connection in
            try connection.query(
                """
                SELECT body, stated, facts FROM journal
                WHERE subject = $1 AND body IS NOT NULL ORDER BY id
                """,
                [RowKey(Holder.customer(customer)).value]
            )
        }
        return try rows.compactMap { row in
            // The reason of a spend is a body too, and no statement.
            guard case .facts = try JournalContent(kept: row.bytes(2)),
                let body = try? SignedBody.expand(try row.bytes(0), segment: { _ in nil })
            else {
                return nil
            }
            return (body, Instant(milliseconds: try row.int64(1)))
        }
    }
}
