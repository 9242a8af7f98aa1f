public import TollgateCore

/// Coins that were spent, as the journal has it.
public struct StoredSpend: Sendable {
    /// Names the spend; hashes its idempotency key.
    public var key: RowKey
    /// The row of the customer who spent.
    public var customer: RowKey
    public var environment: StoreEnvironment
    public var amount: Int64
    public var at: Instant
}

/// A row of the journal that a customer caused and that has no fact about a purchase, such as a showing.
public struct StoredStatement: Sendable {
    /// Of its row in the journal.
    public var key: RowKey
    /// The customer's row in production.
    public var customer: RowKey
    public var at: Instant
    /// The bytes as they were said.
    public var body: [UInt8]
}

/// A purchase with what is needed to derive its figures.
public struct ChangedPurchase: Sendable {
    public var key: RowKey
    public var record: Purchase
    /// The rows of whoever stands behind its names, by the canonical form of the first name.
    public var holders: [String: RowKey]

    /// The row of whoever is known under one of these names.
    public func customer(_ names: HolderNames) -> RowKey {
        names.first.flatMap { holders[$0.canonical] } ?? RowKey("nobody")
    }
}

/// What happened in a stretch of the journal, as far as figures depend on it.
public struct JournalChanges: Sendable {
    /// The last row of the stretch.
    public var last: Int64
    /// Purchases that facts were stated of, or whose owner or buyer became known; keys of other
    /// subjects may be among them.
    public var purchases: [RowKey]
    /// Spends that were accepted.
    public var spends: [StoredSpend]
    /// The customers' rows without facts whose bodies no erasure removed.
    public var statements: [StoredStatement]
    /// The rows in production of customers who were erased.
    public var erased: [RowKey]
    /// Whether a catalog was adopted: then any purchase may have changed.
    public var hasNewCatalog: Bool
}

extension FigureStore {
    /// Up to where the journal is complete: no row at or below will still be committed.
    ///
    /// Ids are drawn before the commit, so with several writers a higher one may be seen first. The
    /// lock that adoptions take waits for every batch that is under way.
    ///
    /// - Parameter known: where nothing is newer than that, nothing is locked or written.
    public func journalHorizon(after known: Int64) async throws -> Int64 {
        let newest = try await driver.readNow("SELECT coalesce(max(id), 0) FROM journal", [])
        guard let last = try newest.first?.int64(0), last > known else { return known }
        guard let lock = driver.dialect.catalogLock else { return last }
        return try await driver.write { connection in
            try connection.execute(lock.alone)
            let rows = try connection.query("SELECT coalesce(max(id), 0) FROM journal")
            return try rows.first?.int64(0) ?? known
        }
    }

    /// The catalog over time as of now, whichever server adopted its versions.
    public func currentHistory() async throws -> CatalogHistory {
        let history = writer.history
        return try await driver.read { connection in
            let rows = try connection.query("SELECT count(*) FROM catalog_version")
            let count = try rows.first?.int64(0) ?? 0
            return count == Int64(history.versions.count)
                ? history : try CatalogHistory(reading: connection)
        }
    }

    /// The newest row of the journal that anybody sees.
    public func journalEnd() async throws -> Int64 {
        let rows = try await driver.readNow("SELECT coalesce(max(id), 0) FROM journal", [])
        return try rows.first?.int64(0) ?? 0
    }

    /// What changed in the rows after `first` up to `last`, at most `limit` of them.
    public func changes(
        after first: Int64,
        upTo last: Int64,
        limit: Int64
    ) async throws -> JournalChanges {
        try await driver.read { connection in
            let rows = try connection.query(
                """
                SELECT id, dedupe_key, subject, kind, stated, facts,
                    CASE WHEN kind = 3 THEN body END
                FROM journal WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3
                """,
                [.integer(first), .integer(last), .integer(limit)]
            )
            var changes = JournalChanges(
                last: Int64(rows.count) < limit ? last : first,
                purchases: [],
                spends: [],
                statements: [],
                erased: [],
                hasNewCatalog: false
            )
            var purchases: Set<RowKey> = []
            for row in rows {
                changes.last = max(changes.last, try row.int64(0))
                let subject = try RowKey(bytes: row.bytes(2))
                // Messages of stores hold facts of their subject, and need not be read.
                guard try row.int64(3) == JournalItem.Kind.command.rawValue else {
                    purchases.insert(subject)
                    continue
                }
                let content = try JournalContent(kept: row.bytes(5))
                switch content {
                case .facts(let facts):
                    purchases.insert(subject)
                    guard facts.isEmpty, let said = try Self.statement(row) else { continue }
                    changes.statements.append(said)
                case .registered(let customer, let aliases):
                    purchases.formUnion(
                        try Self.purchases(of: customer, knownAs: aliases, connection)
                    )
                case .spent(let decision) where decision.isAccepted:
                    changes.spends.append(
                        try Self.spend(decision, by: row.bytes(1), at: row.int64(4), connection)
                    )
                case .adopted: changes.hasNewCatalog = true
                case .erased: changes.erased.append(subject)
                case .spent: break
                }
            }
            changes.purchases = purchases.sorted()
            return changes
        }
    }

    /// Purchases whose owner or buyer may have become known by a registration.
    private static func purchases(
        of customer: Customer.ID,
        knownAs aliases: [RowKey],
        _ connection: any StorageConnection
    ) throws -> [RowKey] {
        var rows: [Row] = []
        for environment in StoreEnvironment.allCases {
            let holder = RowKey(Holder.customer(customer)).inEnvironment(environment)
            rows += try connection.query(
                "SELECT purchase FROM holding WHERE holder = $1",
                [holder.value]
            )
            // What was bought under the name counts for its owner, whoever has the access.
            for alias in aliases {
                rows += try connection.query(
                    "SELECT DISTINCT subject FROM figure WHERE customer = $1",
                    [alias.inEnvironment(environment).value]
                )
            }
        }
        return try rows.map { try RowKey(bytes: $0.bytes(0)) }
    }

    /// The body of a row without facts; `nil` where an erasure removed it, or where it is a signed body
    /// that shares segments, which no customer's own row is.
    private static func statement(_ row: Row) throws -> StoredStatement? {
        guard let kept = try row.optionalBytes(6),
            let body = try? SignedBody.expand(kept, segment: { _ in nil })
        else { return nil }
        return StoredStatement(
            key: try RowKey(bytes: row.bytes(1)),
            customer: try RowKey(bytes: row.bytes(2)),
            at: Instant(milliseconds: try row.int64(4)),
            body: body
        )
    }

    private static func spend(
        _ decision: SpendDecision,
        by key: [UInt8],
        at stated: Int64,
        _ connection: any StorageConnection
    ) throws -> StoredSpend {
        let rows = try connection.query(
            "SELECT environment FROM customer WHERE key = $1",
            [decision.row.value]
        )
        return StoredSpend(
            key: try RowKey(bytes: key),
            customer: decision.row,
            environment: StoreEnvironment(number: try rows.first?.int64(0) ?? 1),
            amount: decision.amount,
            at: Instant(milliseconds: stated)
        )
    }

    /// The keys of the purchases after one, in their order; for going through all of them.
    public func purchaseKeys(after last: RowKey?, limit: Int64) async throws -> [RowKey] {
        let rows = try await driver.read { connection in
            try connection.query(
                "SELECT key FROM purchase WHERE key > $1 ORDER BY key LIMIT $2",
                [.blob(last?.bytes ?? []), .integer(limit)]
            )
        }
        return try rows.map { try RowKey(bytes: $0.bytes(0)) }
    }

    /// These purchases, as far as they are there, with whoever stands behind their names; and those
    /// that they continue or that continue them, however long the chain.
    ///
    /// What is stated of one changes the others: where it ends, and whose it is (RULES §8).
    public func changedPurchases(_ keys: [RowKey]) async throws -> [ChangedPurchase] {
        try await driver.read { connection in
            var (asked, seen) = (keys, Set(keys))
            var changed: [ChangedPurchase] = []
            while !asked.isEmpty {
                let found = try Self.purchases(asked, connection)
                changed += found
                asked = found.flatMap(\.record.linked).map { RowKey($0) }.filter {
                    seen.insert($0).inserted
                }
            }
            return changed
        }
    }

    private static func purchases(
        _ keys: [RowKey],
        _ connection: any StorageConnection
    ) throws -> [ChangedPurchase] {
        let rows = try connection.queryMany(
            "SELECT record FROM purchase WHERE key = $1",
            keys.map { [$0.value] }
        )
        return try zip(keys, rows).compactMap { key, row -> ChangedPurchase? in
            guard let bytes = try row.first?.bytes(0), !bytes.isEmpty else { return nil }
            let record = try RecordDecoder.decode(Purchase.self, from: bytes)
            var holders: [String: RowKey] = [:]
            for names in record.buyers {
                guard let first = names.first else { continue }
                holders[first.canonical] = try connection.row(of: names, in: record.key.environment)
            }
            return ChangedPurchase(key: key, record: record, holders: holders)
        }
    }
}
