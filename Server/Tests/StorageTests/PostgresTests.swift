import Storage
import StoragePostgres
import Synchronization
import Testing
import TollgateSimulation

/// What holds for PostgreSQL alone.
@Suite struct PostgresTests {
    @Test func aConnectionLostWhileIdleIsReplacedUnnoticed() async throws {
        let database = try Backend.postgres.makeDatabase()
        let driver = try database.open()
        try await driver.migrate()
        let name = database.location.split(separator: "/").last.map(String.init) ?? ""
        let select = "SELECT count(*) FROM meta"
        for _ in 0..<3 {
            #expect(try await driver.readNow(select, []) == [Row([.integer(0)])])
            #expect(try await driver.read { try $0.query(select) } == [Row([.integer(0)])])
            try await driver.write { try $0.execute("DELETE FROM meta") }
            try EmbeddedPostgres.shared().administrate(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                    + "WHERE datname = '\(name)'"
            )
        }
        await driver.close()
    }

    @Test func aConnectionLostInTheMiddleIsAnErrorAndWritesNothing() async throws {
        let database = try Backend.postgres.makeDatabase()
        let driver = try database.open()
        try await driver.migrate()
        let other = try database.open()
        let tries = Atomic(0)
        let error = await #expect(throws: StorageError.self) {
            try await driver.write { connection in
                tries.add(1, ordering: .relaxed)
                let rows = try connection.query(
                    """
                    INSERT INTO meta (name, value) VALUES ('a', '')
                    RETURNING pg_backend_pid()
                    """
                )
                let process = try rows[0].int64(0)
                blockingly {
                    _ = try await other.readNow(
                        "SELECT pg_terminate_backend(CAST($1 AS integer), 5000)",
                        [.integer(process)]
                    )
                }
                try connection.execute("DELETE FROM lease")
            }
        }
        #expect(error?.kind == .unavailable)
        // Once more, where the connection was one that had been idle.
        #expect((1...2).contains(tries.load(ordering: .relaxed)))
        #expect(try await driver.readNow("SELECT name FROM meta", []) == [])
        await driver.close()
        await other.close()
    }

    @Test func aConnectionLostDuringCommitLeavesTheOutcomeUnknown() async throws {
        let driver = try await Backend.postgres.open()
        try await driver.write { connection in
            try connection.define(
                """
                CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END'
                """
            )
            try connection.define(
                """
                CREATE CONSTRAINT TRIGGER die AFTER INSERT ON meta DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW EXECUTE FUNCTION die()
                """
            )
        }
        let tries = Atomic(0)
        let error = await #expect(throws: StorageError.self) {
            try await driver.write { connection in
                tries.add(1, ordering: .relaxed)
                try connection.execute("INSERT INTO meta (name, value) VALUES ('a', '')")
            }
        }
        #expect(error?.kind == .outcomeUnknown)
        #expect(error?.isRetryable == true)
        // What may have been written is not done again by the driver; its caller knows better.
        #expect(tries.load(ordering: .relaxed) == 1)
        try await driver.write { try $0.execute("DELETE FROM meta") }
        await driver.close()
    }

    @Test func aDeadlockIsTriedAgain() async throws {
        let driver = try await Backend.postgres.open()
        try await driver.write { connection in
            try connection.executeMany(
                "INSERT INTO lease (name, holder, until) VALUES ($1, '', 0)",
                [[.text("a")], [.text("b")]]
            )
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<20 {
                let order = index.isMultiple(of: 2) ? ["a", "b"] : ["b", "a"]
                group.addTask {
                    try await driver.write { connection in
                        for name in order {
                            try connection.execute(
                                "UPDATE lease SET until = until + 1 WHERE name = $1",
                                [.text(name)]
                            )
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(
            try await driver.readNow("SELECT until FROM lease", [])
                == [Row([.integer(20)]), Row([.integer(20)])]
        )
        await driver.close()
    }

    @Test func aServerThatIsNotThereIsUnavailable() async throws {
        let driver = try StoragePostgres(url: "postgres://postgres@127.0.0.1:1/none")
        let onWrite = await #expect(throws: StorageError.self) { try await driver.write { _ in } }
        let onRead = await #expect(throws: StorageError.self) {
            try await driver.readNow("SELECT 1", [])
        }
        #expect([onWrite?.kind, onRead?.kind] == [.unavailable, .unavailable])
        await driver.close()
        #expect(throws: StorageError.self) { _ = try StoragePostgres(url: "mysql://x") }
    }

    @Test func aLooserServerIsTightened() async throws {
        let database = try Backend.postgres.makeDatabase()
        let name = database.location.split(separator: "/").last.map(String.init) ?? ""
        try EmbeddedPostgres.shared().administrate(
            "ALTER DATABASE \(name) SET synchronous_commit = off"
        )
        let driver = try StoragePostgres(url: database.location)
        #expect(
            try await driver.write { try $0.query("SHOW synchronous_commit") }
                == [Row([.text("on")])]
        )
        await driver.close()
    }

    @Test func aLargeBatchGoesThroughInOneTrip() async throws {
        let driver = try await Backend.postgres.open()
        let body = SQLValue.blob([UInt8](repeating: 7, count: 20_000))
        let rows = (0..<1000).map { [SQLValue.text("\($0)"), body] }
        let back = try await driver.write { connection in
            try connection.queryMany(
                "INSERT INTO meta (name, value) VALUES ($1, $2) RETURNING value",
                rows
            )
        }
        #expect(back.count == 1000 && back.allSatisfy { $0 == [Row([body])] })
        await driver.close()
    }
}
