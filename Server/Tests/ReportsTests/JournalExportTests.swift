import Dispatch
import Reports
import Storage
import Synchronization
import Testing
import TollgateCore
import TollgateService
import TollgateSimulation

@Suite("The journal, given out for a warehouse")
struct JournalExportTests {
    /// What one export gives out after a place: the messages' keys, and the place that it keeps.
    private struct Export {
        var keys: [String] = []
        var place: String?

        init(of store: RecordStore, after begin: String?) async throws {
            let export = JournalExport(records: store)
            place = begin
            let horizon = try await export.horizon(after: begin)
            var next = begin
            repeat {
                let page = try await export.rows(
                    from: .story(-2000),
                    to: .story(100),
                    after: next,
                    upTo: horizon,
                    limit: 3
                )
                keys += page.table.values("dedupe_key").map(\.text)
                place = page.table.values("id").last?.text ?? place
                next = page.next
            } while next != nil
        }
    }

    private static func messages(_ numbers: Range<Int>) -> [JournalItem] {
        numbers.map { .message($0, .checkout("pi_\($0)", amount: 999, on: Double($0))) }
    }

    @Test(
        "Exports that go on after one another give out every row once",
        arguments: Backend.allCases
    )
    func inPieces(_ backend: Backend) async throws {
        let store = try await RecordStore(backend.open())
        try await store.adopt(Shop.catalog, at: .day(-1000))
        var place = try await Export(of: store, after: nil).place
        for numbers in [0..<1, 1..<8, 8..<8, 8..<20] {
            let items = Self.messages(numbers)
            for item in items { _ = try await store.submit(item) }
            let export = try await Export(of: store, after: place)
            #expect(export.keys == items.map(\.dedupeKey.hex))
            place = export.place
        }
        await store.driver.close()
    }

    @Test("What another server commits late is not left behind the place that was kept")
    func lateCommit() async throws {
        let database = try Backend.postgres.makeDatabase()
        let quick = try await RecordStore(database.open())
        try await quick.adopt(Shop.catalog, at: .day(-1000))
        let held = HeldCommits(try database.open())
        let slow = try await RecordStore(held)
        let begin = try await Export(of: quick, after: nil)
        let items = Self.messages(0..<12)

        // One server has drawn an id and not committed yet; what the other journals meanwhile has
        // larger ones, and is there to be seen.
        let (written, isWritten) = AsyncStream.makeStream(of: Void.self)
        let commits = DispatchSemaphore(value: 0)
        held.holdNext {
            isWritten.finish()
            commits.wait()
            commits.signal()
        }
        @Sendable func submitLate() async throws {
            defer { isWritten.finish() }
            _ = try await slow.submit(items[0])
        }
        async let late: Void = submitLate()
        for await _ in written {}
        for item in items.dropFirst() { _ = try await quick.submit(item) }

        let isDone = Mutex(false)
        @Sendable func exported() async throws -> Export {
            defer { isDone.withLock { $0 = true } }
            return try await Export(of: quick, after: begin.place)
        }
        async let first = exported()
        // It has given out what it saw, or it waits for who is about to commit.
        while !isDone.withLock({ $0 }), await Self.waiters(quick) == 0 {}
        commits.signal()
        try await late
        let before = try await first
        let after = try await Export(of: quick, after: before.place)
        #expect(before.keys + after.keys == items.map(\.dedupeKey.hex))
        await quick.driver.close()
        await held.close()
    }

    /// How many transactions of this database wait for servers that are about to commit.
    private static func waiters(_ store: RecordStore) async -> Int64? {
        let rows = try? await store.driver.readNow(
            """
            SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
            WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()
            """,
            []
        )
        return try? rows?.first?.int64(0)
    }
}

/// A database whose commits a test can hold up.
private final class HeldCommits: StorageDriver {
    private let inner: any StorageDriver
    private let next = Mutex<(@Sendable () -> Void)?>(nil)

    init(_ inner: any StorageDriver) {
        self.inner = inner
    }

    var dialect: Dialect { inner.dialect }
    var commits: CommitSignal { inner.commits }

    /// The next write is committed once all is written and `body` has returned.
    func holdNext(_ body: @escaping @Sendable () -> Void) {
        next.withLock { $0 = body }
    }

    func write<R: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> R
    ) async throws -> R {
        let hold: (@Sendable () -> Void)? = next.withLock { next in
            defer { next = nil }
            return next
        }
        return try await inner.write { connection in
            let result = try body(connection)
            hold?()
            return result
        }
    }

    func read<R: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> R
    ) async throws -> R { try await inner.read(body) }

    func readNow(_ sql: String, _ parameters: [SQLValue]) async throws(StorageError) -> [Row] {
        try await inner.readNow(sql, parameters)
    }

    func close() async { await inner.close() }
}
