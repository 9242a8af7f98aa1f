import Storage
import Synchronization
import Testing
import TollgateCore
import TollgateSimulation
import TollgateTesting

@Suite("A new engine")
struct EngineUpgradeTests {
    static let means = EngineUpgrade.Means(
        openScratch: { try Backend.sqlite.makeDatabase().open() },
        now: { .day(60) },
        randomBytes: { Array(repeating: 1, count: $0) }
    )

    /// Makes the derived tables what an earlier engine might have left: with other bytes, another
    /// balance, an entitlement that nobody has, and sequences of its own.
    private static func age(_ driver: any StorageDriver, meta: Bool) async throws {
        try await driver.write { connection in
            try connection.execute("UPDATE purchase SET version = version - 1")
            try connection.execute("UPDATE customer SET balance = balance + 7 WHERE sequence > 1")
            try connection.execute(
                "UPDATE customer SET sequence = sequence + 40 WHERE sequence > 0"
            )
            try connection.execute("UPDATE transfer SET amount = amount + 7")
            try connection.execute("DELETE FROM holding")
            if meta {
                try connection.execute(
                    "UPDATE meta SET value = $1 WHERE name = 'engine'",
                    [.blob(Array("1".utf8))]
                )
            } else {
                try connection.execute("DELETE FROM meta WHERE name = 'engine'")
            }
        }
    }

    /// A database as an earlier engine might have left it, with what Ann bought.
    private static func agedDatabase(_ backend: Backend) async throws -> TestDatabase {
        let database = try backend.makeDatabase()
        let store = try await RecordStore.open(database)
        _ = try await store.submit(.register("ann", .token("a")))
        _ = try await store.submit(.message("m1", .month(40, of: "1", token: "a")))
        try await age(store.driver, meta: true)
        await store.driver.close()
        return database
    }

    /// Expects that Ann has what she bought, and that all rows are what follows from the journal.
    private static func expectRight(
        _ store: RecordStore,
        _ comment: Comment? = nil
    ) async throws {
        #expect(try await store.balance("ann") == 10, comment)
        #expect(try await store.active("ann", at: 50) == ["pro"], comment)
        let report = try await store.rebuilt()
        #expect(report.isIdentical, comment)
    }

    private static func sequences(_ driver: any StorageDriver) async throws -> [[SQLValue]] {
        try await driver.read { connection in
            try connection.query(
                "SELECT key, sequence FROM customer WHERE sequence > 0 ORDER BY key"
            )
            .map(\.values)
        }
    }

    @Test(
        "a server that starts on rows of an earlier one derives them again",
        arguments: Backend.allCases,
        [true, false]
    )
    func upgrade(_ backend: Backend, meta: Bool) async throws {
        let database = try backend.makeDatabase()
        let first = try await RecordStore.open(database)
        _ = try await first.submit(.register("ann", .token("a")))
        _ = try await first.submit(.message("m1", .month(0, of: "1", token: "a")))
        _ = try await first.submit(.message("m2", .month(30, of: "1", token: "a")))
        _ = try await first.submit(
            .message("m3", .bought("coins", .consumable, "2", on: 3, token: "a"))
        )
        _ = try await first.submit(.spend("ann", 30, key: "k1"))
        let balance = try await first.balance("ann")
        #expect(balance == 90)
        let journal = try await first.driver.readNow("SELECT count(*) FROM journal", [])
        try await Self.age(first.driver, meta: meta)
        let before = try await Self.sequences(first.driver)
        await first.driver.close()

        // Who only reads, or has no means, says what to do instead of answering wrongly.
        let driver = try database.open()
        await #expect(throws: StorageError.self) { try await RecordStore(driver) }
        let reports = Mutex<[EngineUpgrade.Report]>([])
        var means = Self.means
        means.report = { report in reports.withLock { $0.append(report) } }
        let store = try await RecordStore(driver, upgrade: means)
        let report = try #require(reports.withLock { $0.first })
        #expect(report.to == report.from + 1 || meta && report.from == 1)
        #expect(report.changed == 1 && report.coins == -7)
        #expect(try await store.balance("ann") == balance)
        #expect(try await store.active("ann", at: 40) == ["pro"])
        #expect(try await store.rebuilt().isIdentical)
        #expect(try await store.driver.readNow("SELECT count(*) FROM journal", []) == journal)
        // What was said of a customer before is never newer than what is said from now on.
        let after = try await Self.sequences(store.driver)
        for (old, new) in zip(before, after) {
            guard case (.integer(let old), .integer(let new)) = (old[1], new[1]) else { continue }
            #expect(new >= old)
        }
        let told = try await store.driver.readNow(
            "SELECT count(*) FROM message WHERE created = $1",
            [.integer(Instant.day(60).milliseconds)]
        )
        #expect(try told.first?.int64(0) == 1)
        // It goes on as if nothing had been.
        _ = try await store.submit(.message("m4", .month(60, of: "1", token: "a")))
        #expect(try await store.balance("ann") == balance + 10)
        #expect(try await store.rebuilt().isIdentical)
        await store.driver.close()

        // The next start has nothing to do.
        let again = try await RecordStore(database.open(), upgrade: means)
        #expect(reports.withLock { $0.count } == 1)
        #expect(try await again.rebuilt().isIdentical)
        await again.driver.close()
    }

    @Test(
        "whoever is no server leaves an older schema to the server that may be using it",
        arguments: Backend.allCases
    )
    func olderSchema(_ backend: Backend) async throws {
        let driver = try backend.makeDatabase().open()
        let former = Array(Schema.migrations.dropLast())
        try await driver.migrate(former)
        let error = await #expect(throws: StorageError.self) { try await RecordStore(driver) }
        #expect(error?.kind == .schema)
        #expect(error?.message.contains("tollgate serve") == true)
        try await driver.requireSchema(former)
        // The start of a server brings it up to date, and then others take it.
        _ = try await RecordStore(driver, upgrade: Self.means)
        try await driver.requireSchema()
        _ = try await RecordStore(driver)
        await driver.close()
    }

    @Test("rows of a later engine are left alone", arguments: Backend.allCases)
    func later(_ backend: Backend) async throws {
        let database = try backend.makeDatabase()
        let first = try await RecordStore.open(database)
        try await first.driver.write { connection in
            _ = try connection.execute(
                "UPDATE meta SET value = $1 WHERE name = 'engine'",
                [.blob(Array("9999".utf8))]
            )
        }
        await first.driver.close()
        let driver = try database.open()
        let error = await #expect(throws: StorageError.self) {
            try await RecordStore(driver, upgrade: Self.means)
        }
        #expect(error?.kind == .schema)
        #expect(error?.message.contains("newer program") == true)
        await driver.close()
    }

    @Test(
        "of two servers that start on them at once one derives them, and both serve",
        arguments: [true, false]
    )
    func twoServers(isLate: Bool) async throws {
        let database = try await Self.agedDatabase(.postgres)
        let driver = try database.open()
        let other = try database.open()
        let reports = Mutex<[EngineUpgrade.Report]>([])
        var means = Self.means
        means.report = { report in reports.withLock { $0.append(report) } }
        var slow = means
        slow.randomBytes = { Array(repeating: 2, count: $0) }
        let discarded = Mutex(0)
        slow.discardScratch = { discarded.withLock { $0 += 1 } }
        // What another server does meanwhile, from beginning to end.
        let meanwhile: @Sendable () async throws -> Void = { [means] in
            try await Self.expectRight(try await RecordStore(other, upgrade: means))
        }
        if isLate {
            slow.now = {
                do {
                    try await meanwhile()
                } catch {
                    Issue.record(error)
                }
                return .day(60)
            }
        } else {
            slow.openScratch = {
                try await meanwhile()
                return try Backend.sqlite.makeDatabase().open()
            }
        }
        let store = try await RecordStore(driver, upgrade: slow)
        try await Self.expectRight(store)
        #expect(reports.withLock { $0.count } == 1)
        let told = try await driver.readNow(
            "SELECT count(*) FROM message WHERE created = $1",
            [.integer(Instant.day(60).milliseconds)]
        )
        #expect(try told.first?.int64(0) == 1)
        // Nothing is left of either.
        #expect(discarded.withLock { $0 } == 1)
        let notes = try await driver.readNow("SELECT name FROM meta ORDER BY name", [])
        #expect(notes == [Row([.text("engine")]), Row([.text("erasures_complete_3")])])
        await #expect(throws: StorageError.self) {
            try await driver.readNow("SELECT count(*) FROM next_customer", [])
        }
        await other.close()
        await driver.close()
    }

    @Test("a server that was overtaken says so, however far the other one comes")
    func overtaken() async throws {
        var lost = 0
        for step in stride(from: 1, through: 81, by: 8) {
            let database = try await Self.agedDatabase(.postgres)
            let driver = try database.open()
            let other = InterruptedDriver(try database.open())
            var second = Self.means
            second.randomBytes = { Array(repeating: 2, count: $0) }
            second.openScratch = {
                other.fail(at: step)
                return try Backend.sqlite.makeDatabase().open()
            }
            var first = Self.means
            first.now = { [second] in
                // All is copied; now another begins and breaks off.
                _ = try? await RecordStore(other, upgrade: second)
                return .day(60)
            }
            do {
                _ = try await RecordStore(driver, upgrade: first)
            } catch let error as StorageError {
                lost += 1
                #expect(error.kind == .contention && error.isRetryable, "step \(step)")
                #expect(error.message.contains("another server"), "step \(step)")
            }
            // Whoever starts next finds everything as it should be, or makes it so.
            let store = try await RecordStore(driver, upgrade: Self.means)
            try await Self.expectRight(store, "step \(step)")
            await other.close()
            await driver.close()
        }
        #expect(lost > 0)
    }

    @Test(
        "whoever a new engine takes a purchase from is told, and so is whoever has it now",
        arguments: Backend.allCases
    )
    func moved(_ backend: Backend) async throws {
        let database = try await Self.agedDatabase(backend)
        let driver = try database.open()
        let ann = RecordStore.subject(of: Customer.ID("ann"))
        let bob = RecordStore.subject(of: Customer.ID("bob"))
        let reports = Mutex<[EngineUpgrade.Report]>([])
        var means = Self.means
        means.report = { report in reports.withLock { $0.append(report) } }
        // The earlier engine thought that all was Bob's.
        try await driver.write { connection in
            _ = try connection.execute(
                "UPDATE customer SET key = $2 WHERE key = $1",
                [ann.value, bob.value]
            )
        }
        let before = try await Self.sequences(driver)
        let sequence = try #require(before.first { $0[0] == bob.value }?[1])
        guard case .integer(let old) = sequence else { return #expect(Bool(false)) }

        let store = try await RecordStore(driver, upgrade: means)
        try await Self.expectRight(store)
        let report = try #require(reports.withLock { $0.last })
        #expect(report.changed == 2 && report.coins == -7)
        let his = try await store.reading(of: Customer.ID("bob"), in: .production)
        #expect(his.sequence == old + 1 && his.balance == 0)
        #expect(try await store.active("bob", at: 50) == [])
        // Another engine that thinks the same has nothing to tell.
        try await driver.write { connection in
            _ = try connection.execute(
                "UPDATE meta SET value = $1 WHERE name = 'engine'",
                [.blob(Array("1".utf8))]
            )
        }
        _ = try await RecordStore(driver, upgrade: means)
        #expect(reports.withLock { $0.last?.changed } == 0)
        // What comes next is newer than what he was told.
        _ = try await store.submit(.register("bob", .token("b")))
        _ = try await store.submit(
            .message("m2", .bought("coins", .consumable, "2", on: 61, token: "b"))
        )
        let next = try await store.reading(of: Customer.ID("bob"), in: .production)
        #expect(next.sequence == old + 2 && next.balance == 100)
        try await Self.expectRight(store)

        _ = try await store.feed.publish(limit: 100)
        let feed = try await store.feed.messages(after: 0, limit: 100)
        let lastOfBob = feed.last { $0.row == bob }
        #expect(lastOfBob?.sequence == old + 2)
        let told = feed.filter { $0.created == .day(60) }
        #expect(told.count == 2)
        let toldBob = told.first { $0.row == bob }
        #expect(toldBob?.sequence == old + 1 && toldBob?.balance == 0)
        #expect(toldBob?.entitlements.isEmpty == true)
        let toldAnn = told.first { $0.row == ann }
        #expect(toldAnn?.entitlements.map(\.lookupKey) == ["pro"])
        #expect(toldAnn?.balance == 10)
        await driver.close()
    }

    @Test("the figures of reports begin anew", arguments: Backend.allCases)
    func figures(_ backend: Backend) async throws {
        let database = try await Self.agedDatabase(backend)
        let driver = try database.open()
        let subject = RowKey("a sale")
        let sale = Figure(
            place: .init(subject: subject, kind: 1, number: 0),
            environment: .production,
            day: 0,
            customer: RecordStore.subject(of: Customer.ID("ann")),
            body: [1]
        )
        try await driver.write { connection in
            try connection.execute(
                "INSERT INTO cursor (name, body, updated) VALUES ('figures', $1, 0)",
                [.blob([7])]
            )
            try connection.execute(
                """
                INSERT INTO figure (subject, kind, number, environment, day, customer, body)
                VALUES ($1, 1, 0, 1, 0, $2, $3)
                """,
                [sale.place.subject.value, sale.customer.value, .blob(sale.body)]
            )
        }
        let store = try await RecordStore(driver, upgrade: Self.means)
        #expect(try await store.figures.place() == nil)
        #expect(try await store.figures.rows(ofEach: [subject]) == [[]])
        await driver.close()
    }
}
