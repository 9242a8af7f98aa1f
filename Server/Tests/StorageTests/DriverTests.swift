import Storage
import Testing
import TollgateSimulation

/// What both databases promise alike.
@Suite struct DriverTests {
    struct Refusal: Error {}

    /// A new database with one small table.
    static func open(_ backend: Backend) async throws -> any StorageDriver {
        let driver = try await backend.open(migrated: false)
        try await driver.write { connection in
            try connection.define(
                connection.dialect.spell(
                    """
                    CREATE TABLE thing (
                        key {blob} PRIMARY KEY NOT NULL, name TEXT UNIQUE, size {integer} NOT NULL
                    ) {table}
                    """
                )
            )
        }
        return driver
    }

    static func insert(
        _ connection: any StorageConnection,
        _ key: UInt8,
        _ name: String?,
        _ size: Int64
    ) throws {
        try connection.execute(
            "INSERT INTO thing (key, name, size) VALUES ($1, $2, $3)",
            [.blob([key]), SQLValue(name), .integer(size)]
        )
    }

    static func count(_ driver: any StorageDriver) async throws -> Int64? {
        try await driver.readNow("SELECT count(*) FROM thing", []).first?.int64(0)
    }

    @Test(arguments: Backend.allCases)
    func valuesComeBackAsTheyWent(_ backend: Backend) async throws {
        let driver = try await Self.open(backend)
        let sizes: [Int64] = [0, -1, .max, .min, 1 << 40]
        let names = ["", "ü 😀 'quoted' $1", nil, String(repeating: "x", count: 70_000), "0"]
        let keys: [[UInt8]] = [[], [0], [0, 0xff, 0], Array(0...255), [1]]
        try await driver.write { connection in
            let counts = try connection.executeMany(
                "INSERT INTO thing (size, name, key) VALUES ($3, $2, $1)",
                (0..<5).map { [.blob(keys[$0]), SQLValue(names[$0]), .integer(sizes[$0])] }
            )
            #expect(counts == [1, 1, 1, 1, 1])
        }
        let select = "SELECT key, name, size FROM thing WHERE key = $1"
        for index in 0..<5 {
            let expected = [
                Row([.blob(keys[index]), SQLValue(names[index]), .integer(sizes[index])])
            ]
            #expect(try await driver.readNow(select, [.blob(keys[index])]) == expected)
            #expect(
                try await driver.read { try $0.query(select, [.blob(keys[index])]) } == expected
            )
        }
        await driver.close()
    }

    @Test(arguments: Backend.allCases)
    func sumsAndComparisonsAreIntegers(_ backend: Backend) async throws {
        let driver = try await Self.open(backend)
        try await driver.write { connection in
            try Self.insert(connection, 1, nil, 123_456_789_012)
            try Self.insert(connection, 2, nil, -123_450_000_000)
            try Self.insert(connection, 3, nil, 10_000)
        }
        func sum(_ filter: String) async throws -> SQLValue? {
            try await driver.readNow("SELECT sum(size) FROM thing WHERE \(filter)", []).first?[0]
        }
        #expect(try await sum("size > -1") == .integer(123_456_799_012))
        #expect(try await sum("1 = 1") == .integer(6_799_012))
        #expect(try await sum("size < 0") == .integer(-123_450_000_000))
        #expect(try await sum("size = 10000") == .integer(10_000))
        #expect(try await sum("1 = 0") == .null)
        await driver.close()
    }

    @Test(arguments: Backend.allCases)
    func aWriteIsAllOrNothing(_ backend: Backend) async throws {
        let driver = try await Self.open(backend)
        await #expect(throws: Refusal.self) {
            try await driver.write { connection in
                try Self.insert(connection, 1, "a", 1)
                try Self.insert(connection, 2, "b", 2)
                throw Refusal()
            }
        }
        #expect(try await Self.count(driver) == 0)
        try await driver.write { try Self.insert($0, 1, "a", 1) }
        #expect(try await Self.count(driver) == 1)
        await driver.close()
    }

    @Test(arguments: Backend.allCases)
    func aTakenKeyIsAUniqueViolationAndUndoesTheWrite(_ backend: Backend) async throws {
        let driver = try await Self.open(backend)
        try await driver.write { try Self.insert($0, 1, "a", 1) }
        for (key, name) in [(UInt8(1), "b"), (UInt8(2), "a")] {
            let error = await #expect(throws: StorageError.self) {
                try await driver.write { connection in
                    try Self.insert(connection, 9, "before", 1)
                    try Self.insert(connection, key, name, 2)
                }
            }
            #expect(error?.kind == .uniqueViolation)
            #expect(error?.message.contains("thing") == true)
        }
        #expect(try await Self.count(driver) == 1)
        await driver.close()
    }

    @Test(arguments: Backend.allCases)
    func aMissingValueIsAConstraintViolation(_ backend: Backend) async throws {
        let driver = try await Self.open(backend)
        let error = await #expect(throws: StorageError.self) {
            try await driver.write { connection in
                try connection.execute("INSERT INTO thing (key) VALUES ($1)", [.blob([1])])
            }
        }
        #expect(error?.kind == .constraintViolation)
        await driver.close()
    }

    @Test(arguments: Backend.allCases)
    func aWriteCannotSwallowItsFailure(_ backend: Backend) async throws {
        let driver = try await Self.open(backend)
        try await driver.write { try Self.insert($0, 1, "a", 1) }
        let error = await #expect(throws: StorageError.self) {
            try await driver.write { connection in
                try Self.insert(connection, 2, "b", 1)
                do { try Self.insert(connection, 1, "c", 1) } catch {}
                #expect(throws: StorageError.self) { try Self.insert(connection, 3, "d", 1) }
            }
        }
        #expect(error?.kind == .uniqueViolation)
        #expect(try await Self.count(driver) == 1)
        await driver.close()
    }

    @Test(arguments: Backend.allCases)
    func manyRunsOfAStatementAnswerInOrder(_ backend: Backend) async throws {
        let driver = try await Self.open(backend)
        let count = 1000
        try await driver.write { connection in
            let inserted = try connection.queryMany(
                """
                INSERT INTO thing (key, name, size) VALUES ($1, NULL, $2)
                ON CONFLICT (key) DO NOTHING RETURNING size
                """,
                (0..<count).map { [.blob([UInt8($0 % 250)]), .integer(Int64($0))] }
            )
            #expect(inserted.count == count)
            #expect(inserted.prefix(250).map { $0.first?[0] } == (0..<250).map { .integer($0) })
            #expect(inserted.dropFirst(250).allSatisfy { $0 == [] })
            let found = try connection.queryMany(
                "SELECT size FROM thing WHERE key = $1",
                (0..<count).reversed().map { [.blob([UInt8($0 % 256)])] }
            )
            for (index, rows) in zip((0..<count).reversed(), found) {
                let expected = index % 256 < 250 ? [Row([.integer(Int64(index % 256))])] : []
                #expect(rows == expected)
            }
            #expect(try connection.queryMany("SELECT size FROM thing WHERE key = $1", []) == [])
        }
        await driver.close()
    }

    @Test("Rows get their ids in the order in which they came", arguments: Backend.allCases)
    func idsOfInsertedRows(_ backend: Backend) async throws {
        let driver = try await backend.open()
        let sql = """
            INSERT INTO message (customer, environment, sequence, kind, created, body)
            VALUES ($1, 0, $2, $3, 0, $1)
            """
        @Sendable func rows(_ sequences: Range<Int64>) -> [[SQLValue]] {
            sequences.map { [.blob([1]), .integer($0), .text("kind")] }
        }
        try await driver.write { connection in
            let first = try connection.insertMany(sql, rows(0..<50))
            let second = try connection.insertMany(sql, rows(50..<52))
            #expect(try connection.insertMany(sql, []) == [])
            let kept = try connection.query("SELECT id FROM message ORDER BY sequence")
            #expect(try kept.map { try $0.int64(0) } == first + second)
            #expect(Set(first + second).count == 52)
        }
        // One that inserts nothing has no id: not that of the row before it.
        await #expect(throws: StorageError.self) {
            try await driver.write { connection in
                try connection.insertMany(
                    "INSERT INTO message (customer, environment, sequence, kind, created, body)"
                        + " SELECT $1, 0, $2, $3, 0, $1 WHERE 1 = 0",
                    rows(52..<53)
                )
            }
        }
        await driver.close()
    }

    @Test(arguments: Backend.allCases)
    func aFailureAmongManyIsThatOnesAndUndoesTheWrite(_ backend: Backend) async throws {
        let driver = try await Self.open(backend)
        let error = await #expect(throws: StorageError.self) {
            try await driver.write { connection in
                try connection.executeMany(
                    "INSERT INTO thing (key, size) VALUES ($1, $2)",
                    [1, 2, 1, 3].map { [.blob([$0]), .integer(0)] }
                )
            }
        }
        #expect(error?.kind == .uniqueViolation)
        #expect(try await Self.count(driver) == 0)
        await driver.close()
    }

    @Test(arguments: Backend.allCases)
    func aReadSeesOneMoment(_ backend: Backend) async throws {
        let driver = try await Self.open(backend)
        let counts = try await driver.read { connection in
            let before = try connection.query("SELECT count(*) FROM thing").first?.int64(0)
            // A write from the outside, finished while this snapshot is open.
            blockingly { try await driver.write { try Self.insert($0, 1, "a", 1) } }
            let after = try connection.query("SELECT count(*) FROM thing").first?.int64(0)
            return [before, after]
        }
        #expect(counts == [0, 0])
        #expect(try await Self.count(driver) == 1)
        await driver.close()
    }

    @Test(arguments: Backend.allCases)
    func aReadCannotWrite(_ backend: Backend) async throws {
        let driver = try await Self.open(backend)
        let error = await #expect(throws: StorageError.self) {
            try await driver.read { try Self.insert($0, 1, "a", 1) }
        }
        #expect(error?.kind == .readOnly)
        await driver.close()
    }

    @Test(arguments: Backend.allCases)
    func manyWritersAndReadersAtOnceLoseNothing(_ backend: Backend) async throws {
        let driver = try await Self.open(backend)
        try await driver.write { try Self.insert($0, 1, "counter", 0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    _ = try await driver.write { connection in
                        try connection.execute(
                            "UPDATE thing SET size = size + 1 WHERE key = $1",
                            [.blob([1])]
                        )
                    }
                }
                group.addTask {
                    for _ in 0..<10 {
                        let rows = try await driver.readNow(
                            "SELECT name FROM thing WHERE key = $1",
                            [.blob([1])]
                        )
                        #expect(rows == [Row([.text("counter")])])
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(
            try await driver.readNow("SELECT size FROM thing", []) == [Row([.integer(100)])]
        )
        await driver.close()
    }

    @Test(arguments: Backend.allCases)
    func aBadStatementIsAnErrorForItsCallerAlone(_ backend: Backend) async throws {
        let driver = try await Self.open(backend)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    let error = await #expect(throws: StorageError.self) {
                        _ = try await driver.readNow("SELECT nothing FROM nowhere", [])
                    }
                    #expect(error?.kind == .other)
                }
                group.addTask {
                    // Refused when it runs, not when it is prepared.
                    await #expect(throws: StorageError.self) {
                        _ = try await driver.readNow("SELECT size FROM thing WHERE key = $1", [])
                    }
                }
                group.addTask {
                    let count = try await Self.count(driver)
                    #expect(count == 0)
                }
            }
            try await group.waitForAll()
        }
        await driver.close()
    }

    @Test(arguments: Backend.allCases)
    func afterClosingEverythingIsRefused(_ backend: Backend) async throws {
        let driver = try await Self.open(backend)
        _ = try await Self.count(driver)
        await driver.close()
        let onWrite = await #expect(throws: StorageError.self) {
            try await driver.write { _ in }
        }
        let onRead = await #expect(throws: StorageError.self) { try await driver.read { _ in } }
        let onReadNow = await #expect(throws: StorageError.self) { try await Self.count(driver) }
        #expect([onWrite, onRead, onReadNow].map(\.?.kind) == [.closed, .closed, .closed])
        await driver.close()
    }

    @Test(arguments: Backend.allCases)
    func whatWasWrittenIsThereAfterReopening(_ backend: Backend) async throws {
        let database = try backend.makeDatabase()
        let first = try database.open()
        try await first.migrate()
        try await first.write { connection in
            try connection.execute(
                "INSERT INTO meta (name, value) VALUES ($1, $2)",
                [.text("a"), .blob([7])]
            )
        }
        await first.close()
        let second = try database.open()
        #expect(
            try await second.readNow("SELECT name, value FROM meta", [])
                == [Row([.text("a"), .blob([7])])]
        )
        await second.close()
    }

    @Test func errorsNameNoValues() async throws {
        for backend in Backend.allCases {
            let driver = try await Self.open(backend)
            try await driver.write { try Self.insert($0, 1, "secret-name", 1) }
            let error = await #expect(throws: StorageError.self) {
                try await driver.write { try Self.insert($0, 2, "secret-name", 1) }
            }
            #expect(error.map { "\($0)".contains("secret") } == false)
            await driver.close()
        }
    }
}
