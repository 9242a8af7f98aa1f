import Storage
import Testing
import TollgateSimulation

@Suite struct MigrationTests {
    @Test(arguments: Backend.allCases)
    func migratingAgainChangesNothing(_ backend: Backend) async throws {
        let driver = try await backend.open()
        #expect(try await driver.migrate() == Schema.migrations.count)
        #expect(
            try await driver.readNow("SELECT count(*) FROM schema_version", [])
                == [Row([.integer(Int64(Schema.migrations.count))])]
        )
        try await driver.requireSchema()
        await driver.close()
    }

    static let steps = [
        Migration(1, "one", ["CREATE TABLE one (id {serial} PRIMARY KEY, x {integer}) {table}"]),
        Migration(2, "two", ["ALTER TABLE one ADD COLUMN y {blob}"]),
    ]

    @Test(arguments: Backend.allCases)
    func aDatabaseIsBroughtUpStepByStep(_ backend: Backend) async throws {
        let driver = try await backend.open(migrated: false)
        let missing = await #expect(throws: StorageError.self) {
            try await driver.requireSchema(Self.steps)
        }
        #expect(missing?.kind == .schema)
        #expect(try await driver.migrate([Self.steps[0]]) == 1)
        let older = await #expect(throws: StorageError.self) {
            try await driver.requireSchema(Self.steps)
        }
        #expect(older?.kind == .schema)
        #expect(try await driver.migrate(Self.steps) == 2)
        #expect(try await driver.readNow("SELECT x, y FROM one", []) == [])
        await driver.close()
    }

    @Test(arguments: Backend.allCases)
    func anOlderProgramRefusesANewerSchema(_ backend: Backend) async throws {
        let driver = try await backend.open(migrated: false)
        try await driver.migrate(Self.steps)
        let error = await #expect(throws: StorageError.self) {
            try await driver.migrate([Self.steps[0]])
        }
        #expect(error?.kind == .schema)
        #expect(error?.message.contains("use a newer program") == true)
        await driver.close()
    }

    @Test(arguments: Backend.allCases)
    func aChangedStepIsNoticed(_ backend: Backend) async throws {
        let driver = try await backend.open(migrated: false)
        try await driver.migrate(Self.steps)
        let changed = [Migration(1, "one", ["CREATE TABLE other (x {integer})"]), Self.steps[1]]
        let error = await #expect(throws: StorageError.self) { try await driver.migrate(changed) }
        #expect(error?.kind == .schema)
        await driver.close()
    }

    @Test(arguments: Backend.allCases)
    func aStepThatFailsLeavesNoTrace(_ backend: Backend) async throws {
        let driver = try await backend.open(migrated: false)
        let broken = Migration(2, "two", ["CREATE TABLE two (x {integer})", "CREATE NONSENSE"])
        await #expect(throws: StorageError.self) {
            try await driver.migrate([Self.steps[0], broken])
        }
        #expect(try await driver.migrate(Self.steps) == 2)
        await #expect(throws: StorageError.self) {
            try await driver.readNow("SELECT x FROM two", [])
        }
        await driver.close()
    }

    @Test(arguments: Backend.allCases)
    func aPassingErrorIsNoEmptyDatabase(_ backend: Backend) async throws {
        let driver = try await backend.open(migrated: false)
        try await driver.migrate(Self.steps)
        let passing = await #expect(throws: StorageError.self) {
            try await RecordStore(UnreadableDriver(driver: driver))
        }
        #expect(passing?.message == "a passing error")
        // Nothing was made beside what is there.
        try await driver.requireSchema(Self.steps)
        await driver.close()
    }

    @Test func serversThatStartTogetherOnPostgreSQLMigrateOnce() async throws {
        let database = try Backend.postgres.makeDatabase()
        let drivers = try (0..<4).map { _ in try database.open() }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for driver in drivers { group.addTask { try await driver.migrate() } }
            for try await version in group { #expect(version == Schema.migrations.count) }
        }
        for driver in drivers { await driver.close() }
    }

    @Test(arguments: Backend.allCases)
    func theJournalDrawsItsNumbersAndTakesAStatementOnce(_ backend: Backend) async throws {
        let driver = try await backend.open()
        let insert = """
            INSERT INTO journal (dedupe_key, subject, kind, stated, digest, facts, body)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            ON CONFLICT (dedupe_key) DO NOTHING RETURNING id
            """
        @Sendable func row(_ key: UInt8) -> [SQLValue] {
            [.blob([key]), .blob([0]), .integer(1), .integer(5), .blob([2]), .blob([]), .null]
        }
        let rows = [row(1), row(2), row(1)]
        let first = try await driver.write { try $0.queryMany(insert, rows) }
        let second = try await driver.write { try $0.queryMany(insert, [row(2), row(3)]) }
        let ids = try (first + second).compactMap { try $0.first?.int64(0) }
        #expect((first + second).map(\.count) == [1, 1, 0, 0, 1])
        #expect(ids == ids.sorted() && Set(ids).count == 3)
        await driver.close()
    }
}

/// A database whose reads fail.
private struct UnreadableDriver: StorageDriver {
    let driver: any StorageDriver

    var dialect: Dialect { driver.dialect }
    var commits: CommitSignal { driver.commits }

    @discardableResult
    func write<R: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> R
    ) async throws -> R {
        try await driver.write(body)
    }

    func read<R: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> R
    ) async throws -> R {
        throw StorageError(.other, "a passing error")
    }

    func readNow(
        _ sql: String,
        _ parameters: [SQLValue]
    ) async throws(StorageError) -> [Row] {
        throw StorageError(.other, "a passing error")
    }

    func close() async { await driver.close() }
}
