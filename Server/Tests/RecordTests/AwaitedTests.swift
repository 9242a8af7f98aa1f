import Storage
import Synchronization
import Testing
import TollgateCore
import TollgateSimulation

@Suite("What is awaited of a store")
struct AwaitedTests {
    static let scope = RowKey("scope")

    /// A word is awaited an hour after the newest month's end, for 100 days.
    static func awaited(_ record: Purchase) -> Awaited? {
        guard let end = record.periods.compactMap(\.period.end).max() else { return nil }
        return Awaited(
            scope: scope,
            since: end.advanced(by: 3_600_000),
            until: end.advanced(by: 100 * 86_400_000)
        )
    }

    private static func text(_ value: SQLValue) -> String? {
        if case .text(let text) = value { text } else { nil }
    }

    private func overdue(_ store: RecordStore, at day: Double, limit: Int64 = 2) async throws
        -> [String]
    {
        var ids: [String] = []
        var place: AwaitedPlace?
        repeat {
            let page = try await store.awaited.overdue(
                in: Self.scope,
                at: .day(day),
                after: place,
                limit: limit
            )
            ids += page.records.map(\.key.id)
            place = page.next
        } while place != nil
        return ids
    }

    @Test(
        "only what was journalled since is read, and only what is overdue",
        arguments: Backend.allCases
    )
    func follows(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        for number in 0..<5 {
            _ = try await store.submit(
                .message("m\(number)", .month(Double(number), of: "\(number)"))
            )
        }
        let looked = Mutex<[String]>([])
        func follow(at minutes: Int64) async throws -> [String] {
            looked.withLock { $0 = [] }
            try await store.awaited.follow(
                of: .appStore,
                cursor: "awaited",
                wall: Instant(milliseconds: minutes * 60_000)
            ) {
                record in
                looked.withLock { $0.append(record.key.id) }
                return Self.awaited(record)
            }
            return looked.withLock { $0.sorted() }
        }
        #expect(try await follow(at: 0) == ["0", "1", "2", "3", "4"])
        #expect(try await overdue(store, at: 30) == [])
        #expect(try await overdue(store, at: 32.5) == ["0", "1", "2"])
        // On PostgreSQL the youngest rows are read once more, until nothing can come before them.
        _ = try await follow(at: 11)
        #expect(try await follow(at: 22) == [])
        _ = try await store.submit(.message("again", .month(31, of: "1")))
        #expect(try await follow(at: 23) == ["1"])
        #expect(try await overdue(store, at: 32.5) == ["0", "2"])
        // After 100 days nobody asks any more, and the row is gone.
        #expect(try await overdue(store, at: 131.5) == ["2", "3", "4", "1"])
        #expect(try await overdue(store, at: 133) == ["3", "4", "1"])
        let rows = try await store.driver.readNow("SELECT count(*) FROM awaited", [])
        #expect(try rows.first?.int64(0) == 3)
        await store.driver.close()
    }

    @Test("no purchase is looked at that is not overdue", arguments: Backend.allCases)
    func byIndex(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        try await store.driver.write { connection in
            let keys = (0..<4000).map { RowKey("purchase", "\($0)") }
            try connection.executeMany(
                "INSERT INTO purchase (key, version, record) VALUES ($1, 0, $2)",
                keys.map { [$0.value, .blob([])] }
            )
            try connection.executeMany(
                "INSERT INTO awaited (purchase, scope, since, until) VALUES ($1, $2, $3, $4)",
                keys.enumerated().map { number, key in
                    [key.value, Self.scope.value, .integer(Int64(number)), .integer(9_000)]
                }
            )
            try connection.execute("ANALYZE")
        }
        let plan = try await store.driver.read { connection in
            let word = backend == .sqlite ? "EXPLAIN QUERY PLAN " : "EXPLAIN "
            return try connection.query(
                word + AwaitedStore.overdueSQL,
                [Self.scope.value, .integer(10), .integer(-1), .blob([]), .integer(500)]
            ).map { row in
                row.values.compactMap(Self.text)
                    .joined(separator: " ")
            }
        }
        #expect(plan.contains { $0.contains("awaited_since") }, "\(plan)")
        #expect(!plan.contains { $0.contains("SCAN") || $0.contains("Seq Scan") }, "\(plan)")
        await store.driver.close()
    }
}
