public import TollgateCore

/// A customer's answer, as of the newest commit.
public struct CustomerReading: Sendable {
    /// Grows with every change of the answer or of the balance.
    public var sequence: Int64
    /// Coins; may be negative after a refund of coins already spent.
    public var balance: Int64
    public var timeline: Timeline
    /// Whether the customer was erased.
    public var isErased = false
}

/// A customer as the app's backend made them known.
public struct StoredProfile: Sendable {
    public var customer: Customer.ID
    public var body: [UInt8]
}

extension RecordStore {
    /// What `customer` holds in `environment`; empty for one who has bought nothing.
    public func reading(
        of customer: Customer.ID,
        in environment: StoreEnvironment
    ) async throws(StorageError) -> CustomerReading {
        try reading(await driver.readNow(Self.readingSQL, [Self.readingKey(customer, environment)]))
    }

    /// The same without suspension; `nil` where the database cannot do that.
    public func readingAtOnce(
        of customer: Customer.ID,
        in environment: StoreEnvironment
    ) throws(StorageError) -> CustomerReading? {
        guard
            let rows = try driver.readAtOnce(
                Self.readingSQL,
                [Self.readingKey(customer, environment)]
            )
        else { return nil }
        return try reading(rows)
    }

    /// What the customer with this `app_user_id` holds in `environment`, without suspension and in one
    /// statement.
    ///
    /// Returns `nil` if the customer is erased, the name is a customer's id, no customer has this name, or
    /// the database cannot read at once.
    public func readingAtOnce(
        ofAppUser name: String,
        in environment: StoreEnvironment
    ) throws(StorageError) -> (customer: Customer.ID, reading: CustomerReading)? {
        let rows = try driver.readAtOnce(
            environment == .production ? Self.appUserSQL : Self.appUserInSandboxSQL,
            [RowKey(Holder(appUserID: name)).value, .text(name)]
        )
        guard let rows, let row = rows.first else { return nil }
        let reading = try reading(rows)
        return reading.isErased ? nil : (Customer.ID(try row.text(3)), reading)
    }

    private static let appUserSQL = appUserSQL(key: "alias.customer")
    private static let appUserInSandboxSQL = appUserSQL(key: "in_sandbox(alias.customer)")

    /// - Parameter key: the row of the customer's answer.
    private static func appUserSQL(key: String) -> String {
        """
        SELECT coalesce(sequence, 0), coalesce(balance, 0), coalesce(answer, x''), profile.id
        FROM alias JOIN profile ON profile.customer = alias.customer
        LEFT JOIN customer ON customer.key = \(key)
        WHERE alias.key = $1 AND profile.body <> x''
        AND NOT EXISTS (SELECT 1 FROM profile WHERE id = $2)
        """
    }

    private static let readingSQL = "SELECT sequence, balance, answer FROM customer WHERE key = $1"

    private static func readingKey(
        _ customer: Customer.ID,
        _ environment: StoreEnvironment
    ) -> SQLValue {
        RowKey(Holder.customer(customer)).inEnvironment(environment).value
    }

    private func reading(_ rows: [Row]) throws(StorageError) -> CustomerReading {
        guard let row = rows.first, case let bytes = try row.bytes(2), !bytes.isEmpty else {
            let empty = Timeline([], in: Catalog())
            return CustomerReading(sequence: 0, balance: 0, timeline: empty)
        }
        guard bytes != CustomerAnswer.erasedBytes else {
            return CustomerReading(
                sequence: try row.int64(0),
                balance: try row.int64(1),
                timeline: Timeline([], in: Catalog()),
                isErased: true
            )
        }
        return CustomerReading(
            sequence: try row.int64(0),
            balance: try row.int64(1),
            timeline: try CustomerAnswer(reading: bytes).timeline(in: history.current)
        )
    }

    /// The customer with this id.
    public func profile(_ id: Customer.ID) async throws -> StoredProfile? {
        let rows = try await driver.readNow(
            "SELECT body FROM profile WHERE customer = $1",
            [RowKey(Holder.customer(id)).value]
        )
        return try rows.first.map { StoredProfile(customer: id, body: try $0.bytes(0)) }
    }

    /// The customer with this id, else the one who registered `alias`, in one read.
    public func profile(
        _ id: Customer.ID,
        orAlias alias: Holder
    ) async throws -> StoredProfile? {
        if driver.dialect.isDistributed {
            if let known = try await profile(id) { return known }
            return try await profile(alias: alias)
        }
        let rows = try await driver.readNow(Self.namedSQL, Self.named(id, alias))
        return try Self.profile(id, rows)
    }

    /// The same without suspension; `nil` also where the database cannot do that.
    public func profileAtOnce(_ id: Customer.ID, orAlias alias: Holder) throws -> StoredProfile? {
        guard let rows = try driver.readAtOnce(Self.namedSQL, Self.named(id, alias)) else {
            return nil
        }
        return try Self.profile(id, rows)
    }

    private static let namedSQL = """
        SELECT id, body FROM profile WHERE id = $1
        UNION ALL
        SELECT profile.id, profile.body FROM alias
        JOIN profile ON profile.customer = alias.customer WHERE alias.key = $2
        """

    private static func named(_ id: Customer.ID, _ alias: Holder) -> [SQLValue] {
        [.text(id.rawValue), RowKey(alias).value]
    }

    private static func profile(_ id: Customer.ID, _ rows: [Row]) throws -> StoredProfile? {
        var found: StoredProfile?
        for row in rows {
            let customer = Customer.ID(try row.text(0))
            guard found == nil || customer == id else { continue }
            found = StoredProfile(customer: customer, body: try row.bytes(1))
        }
        return found
    }

    /// The customer who registered `alias`.
    public func profile(alias: Holder) async throws -> StoredProfile? {
        var rows: [Row] = []
        if driver.dialect.isDistributed {
            // A name and its customer lie on different machines.
            let found = try await driver.readNow(
                "SELECT customer FROM alias WHERE key = $1",
                [RowKey(alias).value]
            )
            guard let customer = found.first else { return nil }
            rows = try await driver.readNow(BrowsingSQL.profileOfRow, customer.values)
        } else {
            rows = try await driver.readNow(
                """
                SELECT profile.id, profile.body FROM alias
                JOIN profile ON profile.customer = alias.customer WHERE alias.key = $1
                """,
                [RowKey(alias).value]
            )
        }
        guard let row = rows.first else { return nil }
        return StoredProfile(customer: Customer.ID(try row.text(0)), body: try row.bytes(1))
    }

    /// Every purchase that `customer` holds a part of, with that part.
    ///
    /// - Parameter known: folds only what the journal held up to this row; `nil`: all of it.
    public func purchases(
        of customer: Customer.ID,
        in environment: StoreEnvironment,
        known: Int64? = nil
    ) async throws -> [(record: Purchase, access: PurchaseAccess)] {
        let row = RowKey(Holder.customer(customer)).inEnvironment(environment)
        let history = history
        return try await driver.read { connection in
            let keys = try connection.query(
                "SELECT purchase FROM holding WHERE holder = $1 ORDER BY purchase",
                [row.value]
            )
            return try keys.compactMap { key in
                guard let record = try Self.record(key.bytes(0), known: known, connection) else {
                    return nil
                }
                var access = PurchaseAccess()
                for share in record.evaluate(in: history).shares
                where try connection.row(of: share.owner, in: environment) == row {
                    access.merge(share.access)
                }
                return (record, access)
            }
        }
    }

    private static func record(
        _ key: [UInt8],
        known: Int64?,
        _ connection: any StorageConnection
    ) throws -> Purchase? {
        guard let known else {
            let rows = try connection.query(
                "SELECT record FROM purchase WHERE key = $1",
                [.blob(key)]
            )
            guard let bytes = try rows.first?.bytes(0), !bytes.isEmpty else { return nil }
            return try RecordDecoder.decode(Purchase.self, from: bytes)
        }
        let rows = try connection.query(
            "SELECT facts FROM journal WHERE subject = $1 AND id <= $2 ORDER BY id",
            [.blob(key), .integer(known)]
        )
        var record: Purchase?
        for row in rows {
            guard
                case .facts(let facts) = try JournalContent(kept: row.bytes(0)),
                let first = facts.first
            else { continue }
            if record == nil { record = Purchase(key: first.purchase) }
            for fact in facts { record?.join(fact) }
        }
        return record
    }

    /// Coins credited, less what was taken back and spent, by lot; for people who ask why.
    public func transfers(
        of customer: Customer.ID,
        in environment: StoreEnvironment
    ) async throws -> [(lot: RowKey, amount: Int64)] {
        let row = RowKey(Holder.customer(customer)).inEnvironment(environment)
        return try await driver.read { connection in
            try connection.query(
                "SELECT lot, amount FROM transfer WHERE customer = $1 ORDER BY journal, id",
                [row.value]
            ).map { (try RowKey(bytes: $0.bytes(0)), try $0.int64(1)) }
        }
    }
}
