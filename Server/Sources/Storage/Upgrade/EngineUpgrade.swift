public import TollgateCore

/// Derives everything again after a change of the engine, before the server serves (RULES §10).
///
/// The journal is replayed into a database of its own; what comes of it is brought into side tables,
/// and in one transaction these take the place of what was derived before. Customers whose answer or
/// coins are another then are told so in the feed. Stop all servers of the earlier version first.
///
/// Of several servers that begin on one database, the side tables are the last one's: whoever had
/// them before notices at its next write and gives up, so that nobody takes half of another's for
/// the whole.
public struct EngineUpgrade: Sendable {
    /// What an upgrade needs from outside.
    public struct Means: Sendable {
        /// Opens an empty database that may be thrown away afterwards.
        public var openScratch: @Sendable () async throws -> any StorageDriver
        /// Throws it away, closed, however far it came.
        public var discardScratch: @Sendable () -> Void
        /// The stores' time, for messages.
        public var now: @Sendable () async -> Instant
        /// Bytes by chance, so many: they tell this upgrade from every other.
        public var randomBytes: @Sendable (Int) -> [UInt8]
        /// Told how many journal rows were replayed so far, and of how many.
        public var progress: @Sendable (Int64, Int64) -> Void
        /// Told what it came to.
        public var report: @Sendable (Report) -> Void

        public init(
            openScratch: @escaping @Sendable () async throws -> any StorageDriver,
            discardScratch: @escaping @Sendable () -> Void = {},
            now: @escaping @Sendable () async -> Instant,
            randomBytes: @escaping @Sendable (Int) -> [UInt8],
            progress: @escaping @Sendable (Int64, Int64) -> Void = { _, _ in },
            report: @escaping @Sendable (Report) -> Void = { _ in }
        ) {
            self.openScratch = openScratch
            self.discardScratch = discardScratch
            self.now = now
            self.randomBytes = randomBytes
            self.progress = progress
            self.report = report
        }
    }

    /// What an upgrade came to.
    public struct Report: Hashable, Sendable {
        /// The engine that had derived the rows.
        public var from: Int64
        public var to: Int64
        /// Journal rows replayed.
        public var replayed: Int64
        /// Customers, in one environment, whose answer or balance is another now.
        public var changed = 0
        /// Coins that they have more than before, less those that they have fewer.
        public var coins: Int64 = 0
    }

    let driver: any StorageDriver
    let means: Means
    /// Names this upgrade in the note of whose the side tables are.
    let token: [UInt8]

    // MARK: - Which engine

    private static let metaName = "engine"

    /// The engine that derived the rows; `nil` where there are none.
    static func recorded(_ connection: any StorageConnection) throws -> Int64? {
        let rows = try connection.query("SELECT value FROM meta WHERE name = $1", [.text(metaName)])
        if let value = try rows.first?.bytes(0),
            let version = Int64(String(decoding: value, as: UTF8.self))
        {
            return version
        }
        // Of a database that is older than this note of it, the rows themselves tell.
        let oldest = try connection.query(
            "SELECT min(version) FROM purchase WHERE posted IS NOT NULL"
        )
        guard let value = oldest.first?.values.first, case .integer(let version) = value else {
            return nil
        }
        return version
    }

    private static func record(_ connection: any StorageConnection) throws {
        try connection.execute(
            """
            INSERT INTO meta (name, value) VALUES ($1, $2)
            ON CONFLICT (name) DO UPDATE SET value = $2
            """,
            [.text(metaName), .blob(Array("\(engineVersion)".utf8))]
        )
    }

    /// Sees to it that all derived rows are this program's engine's.
    ///
    /// - Parameter means: `nil`: it is refused where the rows are an earlier engine's.
    /// - Throws: `StorageError` of the kind `schema`, also where the rows are a later engine's; of
    ///   the kind `contention` where another server is about to do it.
    static func require(_ driver: any StorageDriver, _ means: Means?) async throws {
        let found = try await driver.read { try recorded($0) }
        if let found, found != engineVersion {
            guard let means, found < engineVersion else { throw mismatch(found) }
            let upgrade = EngineUpgrade(driver: driver, means: means, token: means.randomBytes(16))
            do {
                means.report(try await upgrade.run(from: found))
            } catch is Overtaken {
                try await lookAgain(driver)
            }
            return
        }
        try await driver.write { connection in
            let noted = try connection.query(
                "SELECT 1 FROM meta WHERE name = $1",
                [.text(metaName)]
            )
            if noted.isEmpty { try record(connection) }
        }
    }

    /// After another server has taken the side tables: it may be through by now.
    private static func lookAgain(_ driver: any StorageDriver) async throws {
        let found = try await driver.read { try recorded($0) }
        if let found, found > engineVersion { throw mismatch(found) }
        guard found == engineVersion else {
            throw StorageError(
                .contention,
                "another server has begun to derive everything again on this database; "
                    + "start this one again when that one serves or has ended"
            )
        }
    }

    /// The same for who only reads.
    static func requireCurrent(_ driver: any StorageDriver) async throws {
        let found = try await driver.read { try recorded($0) }
        if let found, found != engineVersion { throw mismatch(found) }
    }

    /// For a server that has not noticed: rows of its own would lie among those of another engine.
    ///
    /// - Parameter noted: what `noteSQL` finds; `nil`: nothing is noted yet.
    /// - Throws: `StorageError` of the kind `schema` where another engine has derived the rows since.
    static func requireOurs(_ noted: [UInt8]?) throws {
        guard let noted, let found = Int64(String(decoding: noted, as: UTF8.self)),
            found != engineVersion
        else { return }
        throw mismatch(found)
    }

    /// A value of `requireOurs` within another statement.
    static let noteSQL = "(SELECT value FROM meta WHERE name = '\(metaName)')"

    private static func mismatch(_ found: Int64) -> StorageError {
        StorageError(
            .schema,
            "what is derived here was derived by engine \(found), this program has engine "
                + "\(engineVersion); "
                + (found > engineVersion
                    ? "use a newer program"
                    : "tollgate serve of this program's version derives it again when it starts")
        )
    }

    // MARK: - Whose the side tables are

    /// The side tables are another's by now, or what was derived before is no longer there.
    private struct Overtaken: Error {}

    /// The note of whose they are: made with them, and gone with them.
    private static let ownerName = "engine_upgrade"

    /// Whether the side tables are still this upgrade's.
    ///
    /// If so, nobody takes them before the transaction ends.
    private func isOwner(_ connection: any StorageConnection) throws -> Bool {
        let rows = try connection.query(
            "SELECT value FROM meta WHERE name = $1 \(connection.dialect.rowLock)",
            [.text(Self.ownerName)]
        )
        return try rows.first?.bytes(0) == token
    }

    // MARK: - The upgrade

    private func run(from: Int64) async throws -> Report {
        defer { means.discardScratch() }
        let scratch = try await means.openScratch()
        return try await scratch.closing { try await run(from: from, scratch) }
    }

    private func run(from: Int64, _ scratch: any StorageDriver) async throws -> Report {
        try await scratch.migrate()
        var replay = JournalReplay(of: driver, into: scratch)
        for _ in 0..<5 {
            let end = try await replay.end()
            let progress = means.progress
            try await replay.run(upTo: end.last) { progress($0, end.count) }
            try await prepare(from)
            for table in Self.tables { try await copy(table, from: scratch) }
            let before = Report(from: from, to: engineVersion, replayed: replay.replayed)
            let last = replay.reached
            let now = await means.now()
            let done = try await driver.write { connection -> Report? in
                var report = before
                let isDone = try exchange(upTo: last, at: now, &report, connection)
                if isDone { try drop(connection) }
                return isDone ? report : nil
            }
            if let done { return done }
        }
        try await driver.write { try drop($0) }
        throw StorageError(
            .contention,
            "other servers go on writing while everything is derived again; stop them first"
        )
    }

    /// One derived table: its columns as they are copied, and its key.
    private struct Table {
        var name: String
        var definition: String
        var read: String
        var write: String
        /// How many columns at the beginning are the key.
        var keys: Int
        /// Whether the last column is a row of the journal, read by its key and written by its number.
        var endsWithJournal = false
    }

    private static let tables = [
        Table(
            name: "purchase",
            definition: """
                key {blob} PRIMARY KEY NOT NULL, version {integer} NOT NULL, record {blob} NOT NULL,
                posted {blob}
                """,
            read: """
                SELECT key, version, record, posted FROM purchase
                WHERE posted IS NOT NULL AND key > $1 ORDER BY key LIMIT 500
                """,
            write: "(key, version, record, posted) VALUES ($1, $2, $3, $4)",
            keys: 1
        ),
        Table(
            name: "holding",
            definition:
                "holder {blob} NOT NULL, purchase {blob} NOT NULL, PRIMARY KEY (holder, purchase)",
            read: """
                SELECT holder, purchase FROM holding WHERE (holder, purchase) > ($1, $2)
                ORDER BY holder, purchase LIMIT 500
                """,
            write: "(holder, purchase) VALUES ($1, $2)",
            keys: 2
        ),
        Table(
            name: "customer",
            definition: """
                key {blob} PRIMARY KEY NOT NULL, environment {integer} NOT NULL,
                sequence {integer} NOT NULL, balance {integer} NOT NULL, next_change {integer},
                answer {blob} NOT NULL
                """,
            read: """
                SELECT key, environment, sequence, balance, next_change, answer FROM customer
                WHERE sequence > 0 AND key > $1 ORDER BY key LIMIT 500
                """,
            write: """
                (key, environment, sequence, balance, next_change, answer)
                VALUES ($1, $2, $3, $4, $5, $6)
                """,
            keys: 1
        ),
        // The journal's numbers are the source's own.
        Table(
            name: "transfer",
            definition: """
                id {blob} PRIMARY KEY NOT NULL, lot {blob} NOT NULL, customer {blob} NOT NULL,
                amount {integer} NOT NULL, journal {integer} NOT NULL
                """,
            read: """
                SELECT transfer.id, lot, customer, amount, dedupe_key
                FROM transfer JOIN journal ON journal.id = transfer.journal
                WHERE transfer.id > $1 ORDER BY transfer.id LIMIT 500
                """,
            write: "(id, lot, customer, amount, journal) VALUES ($1, $2, $3, $4, $5)",
            keys: 1,
            endsWithJournal: true
        ),
        Table(
            name: "alias",
            definition: "key {blob} PRIMARY KEY NOT NULL, customer {blob} NOT NULL",
            read: "SELECT key, customer FROM alias WHERE key > $1 ORDER BY key LIMIT 500",
            write: "(key, customer) VALUES ($1, $2)",
            keys: 1
        ),
    ]

    /// Makes the side tables anew and takes them: whoever had them before has lost them.
    private func prepare(_ from: Int64) async throws {
        let dialect = driver.dialect
        try await driver.write { connection in
            try connection.execute(
                """
                INSERT INTO meta (name, value) VALUES ($1, $2)
                ON CONFLICT (name) DO UPDATE SET value = $2
                """,
                [.text(Self.ownerName), .blob(token)]
            )
            // Now that nobody else can exchange them: somebody may have just done so.
            guard try Self.recorded(connection) == from else { throw Overtaken() }
            for table in Self.tables {
                try connection.define("DROP TABLE IF EXISTS next_\(table.name)")
                try connection.define(
                    dialect.spell("CREATE TABLE next_\(table.name) (\(table.definition)) {table}")
                )
            }
        }
    }

    /// Drops the side tables, unless they are another's.
    private func drop(_ connection: any StorageConnection) throws {
        guard try isOwner(connection) else { return }
        for table in Self.tables {
            try connection.define("DROP TABLE IF EXISTS next_\(table.name)")
        }
        try connection.execute("DELETE FROM meta WHERE name = $1", [.text(Self.ownerName)])
    }

    private func copy(_ table: Table, from scratch: any StorageDriver) async throws {
        var after = Array(repeating: SQLValue.blob([]), count: table.keys)
        while true {
            let key = after
            let rows = try await scratch.read { try $0.query(table.read, key) }
            guard let last = rows.last else { return }
            after = Array(last.values.prefix(table.keys))
            try await driver.write { connection in
                guard try isOwner(connection) else { throw Overtaken() }
                let values = rows.map(\.values)
                try connection.executeMany(
                    "INSERT INTO next_\(table.name) \(table.write)",
                    table.endsWithJournal ? try Self.numbered(values, connection) : values
                )
            }
        }
    }

    /// Rows with the number of a row of the journal in the place of its key, at the end.
    private static func numbered(
        _ rows: [[SQLValue]],
        _ connection: any StorageConnection
    ) throws -> [[SQLValue]] {
        let keys = rows.map { Array($0.suffix(1)) }
        let found = try connection.find("id", in: "journal", by: ["dedupe_key"], keys)
        return try zip(rows, found).map { row, found in
            guard let number = found.first?[0] else {
                throw StorageError(.corrupt, "a transfer of coins without a row of the journal")
            }
            return Array(row.dropLast()) + [number]
        }
    }

    /// Puts the side tables in the place of what was derived before.
    ///
    /// - Returns: whether the journal is still the one that was replayed.
    /// - Throws: `Overtaken`; then nothing was changed.
    private func exchange(
        upTo last: Int64,
        at now: Instant,
        _ report: inout Report,
        _ connection: any StorageConnection
    ) throws -> Bool {
        guard try isOwner(connection), try Self.recorded(connection) == report.from else {
            throw Overtaken()
        }
        if let lock = connection.dialect.catalogLock { try connection.execute(lock.alone) }
        let end = try connection.query("SELECT coalesce(max(id), 0) FROM journal").first?.int64(0)
        guard end == last else { return false }
        try Self.compare(at: now, &report, connection)
        for table in Self.tables {
            try connection.execute("DELETE FROM \(table.name)")
            try connection.execute("INSERT INTO \(table.name) SELECT * FROM next_\(table.name)")
        }
        // Operational: found again from the journal.
        try connection.execute("DELETE FROM cursor WHERE name = $1", [.text("awaited")])
        // They follow from records and holders, and are derived again beside serving.
        try FigureStore.dropAll(connection)
        try Self.record(connection)
        return true
    }

    /// Lets every customer's sequence go on, and tells those whose answer is another.
    ///
    /// Who has no row, before or now, has nothing.
    private static func compare(
        at now: Instant,
        _ report: inout Report,
        _ connection: any StorageConnection
    ) throws {
        let catalog = try CatalogHistory(reading: connection).current
        let nothing = CustomerAnswer().bytes
        // Nothing is derived for them any more, yet what they were told must not stand for ever,
        // and what they are told next must not count as older.
        try connection.execute(
            """
            INSERT INTO next_customer (key, environment, sequence, balance, answer)
            SELECT key, environment, 0, 0, $1 FROM customer WHERE sequence > 0
            ON CONFLICT (key) DO NOTHING
            """,
            [.blob(nothing)]
        )
        var after: [UInt8] = []
        while true {
            let rows = try connection.query(
                """
                SELECT next_customer.key, next_customer.environment, next_customer.sequence,
                    next_customer.balance, next_customer.answer,
                    customer.sequence, customer.balance, customer.answer
                FROM next_customer LEFT JOIN customer ON customer.key = next_customer.key
                WHERE next_customer.key > $1 ORDER BY next_customer.key LIMIT 500
                """,
                [.blob(after)]
            )
            guard let last = rows.last else { return }
            after = try last.bytes(0)
            for row in rows { try compare(row, at: now, in: catalog, &report, connection) }
        }
    }

    private static func compare(
        _ row: Row,
        at now: Instant,
        in catalog: Catalog,
        _ report: inout Report,
        _ connection: any StorageConnection
    ) throws {
        let (fresh, old) = (try row.int64(2), try row.optionalInt64(5) ?? 0)
        let (answer, balance) = (try row.bytes(4), try row.int64(3))
        // A row that was only made to be locked has no bytes at all.
        let said = try row.optionalBytes(7) ?? []
        let coins = try balance - (row.optionalInt64(6) ?? 0)
        let nothing = CustomerAnswer().bytes
        let isOther =
            !CustomerAnswer.giveSameAccess(answer, said.isEmpty ? nothing : said) || coins != 0
        let sequence = max(fresh, isOther ? old + 1 : old)
        if isOther {
            report.changed += 1
            report.coins += coins
        }
        try connection.execute(
            "UPDATE next_customer SET sequence = $2 WHERE key = $1",
            [row.values[0], .integer(sequence)]
        )
        try connection.execute(
            """
            INSERT INTO resequenced (customer, added) VALUES ($1, $2)
            ON CONFLICT (customer) DO UPDATE SET added = $2
            """,
            [row.values[0], .integer(sequence - fresh)]
        )
        guard isOther, answer != CustomerAnswer.erasedBytes else { return }
        let timeline =
            answer.isEmpty
            ? CustomerAnswer().timeline(in: catalog)
            : try CustomerAnswer(reading: answer).timeline(in: catalog)
        try connection.execute(
            Batch.messageSQL,
            try Batch.message(
                .entitlementsChanged,
                of: RowKey(bytes: row.bytes(0)),
                in: StoreEnvironment(number: row.int64(1)),
                sequence: sequence,
                at: now,
                timeline.active(at: now),
                balance: balance
            )
        )
    }
}
