import Storage
import Synchronization
import Testing
import TollgateCore
import TollgateTesting

@Suite("A new engine")
struct EngineUpgradeTests {
    static let means = EngineUpgrade.Means(
        openScratch: { try Backend.sqlite.makeDatabase().open() },
        now: { .day(60) }
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
}
