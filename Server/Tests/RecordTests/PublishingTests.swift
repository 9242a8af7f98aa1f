import Foundation
import Storage
import Synchronization
import Testing
import TollgateCore
import TollgateSimulation

/// What a lease cannot promise: that its holder knows when it has ended.
@Suite("Publishers that outlive their lease")
struct PublishingTests {
    /// Holds `one` up in the middle of its work until `two` has done its own, or waits for `one`.
    private static func meet(
        _ held: HeldDriver,
        after look: String,
        watching driver: any StorageDriver,
        one: @escaping @Sendable () async throws -> Void,
        two: @escaping @Sendable () async throws -> Void
    ) async throws {
        let isDone = Mutex(false)
        let goOn = DispatchSemaphore(value: 0)
        defer { goOn.signal() }
        let (looked, hasLooked) = AsyncStream.makeStream(of: Void.self)
        held.hold(after: look) {
            hasLooked.finish()
            goOn.wait()
        }
        let first = Task {
            defer { hasLooked.finish() }
            try await one()
        }
        for await _ in looked {}
        let second = Task {
            defer { isDone.withLock { $0 = true } }
            try await two()
        }
        while !isDone.withLock({ $0 }) {
            let waiting = try await driver.readNow(
                """
                SELECT count(*) FROM pg_stat_activity
                WHERE datname = current_database() AND wait_event_type = 'Lock'
                """,
                []
            )
            if try waiting.first?.int64(0) != 0 { break }
        }
        goOn.signal()
        try await first.value
        try await second.value
    }

    @Test(
        "What another server has published meanwhile keeps its place, even where no lock is taken",
        arguments: [true, false]
    )
    func places(takesLocks: Bool) async throws {
        let database = try Backend.postgres.makeDatabase()
        let two = try await RecordStore.open(database)
        let held = HeldDriver(try database.open(), takesLocks: takesLocks)
        let one = try await RecordStore(held)
        // Makes the row that publishers lock.
        _ = try await two.feed.publish(at: .day(1), limit: 500)
        for number in 0..<5 {
            let name = "\(number)"
            _ = try await two.submit(.register("c\(name)", .token(name)))
            _ = try await two.submit(.message("m\(name)", .month(0, of: name, token: name)))
        }
        let published = Mutex(0)
        try await Self.meet(held, after: "number IS NULL", watching: two.driver) {
            let count = try await one.feed.publish(at: .day(1), limit: 500)
            published.withLock { $0 += count }
        } two: {
            let count = try await two.feed.publish(at: .day(1), limit: 500)
            published.withLock { $0 += count }
        }
        #expect(published.withLock { $0 } == 5, "each message is published by one of them")
        let feed = try await two.feed.messages(after: 0, limit: 100)
        #expect(feed.map(\.number) == [1, 2, 3, 4, 5])
        #expect(Set(feed.map(\.customer)).count == 5)
        let pointing = try await two.driver.readNow(
            "SELECT count(*) FROM message WHERE previous IS NOT NULL",
            []
        )
        #expect(try pointing.first?.int64(0) == 0, "none comes after another")
        await held.close()
        await two.driver.close()
    }

    @Test("What another server has announced meanwhile is not announced again")
    func lapses() async throws {
        let database = try Backend.postgres.makeDatabase()
        let two = try await RecordStore.open(database)
        let held = HeldDriver(try database.open(), takesLocks: true)
        let one = try await RecordStore(held)
        _ = try await two.feed.sweep(until: .day(-1))
        _ = try await two.submit(.register("ann", .token("a")))
        _ = try await two.submit(.message("m", .month(0, of: "1", token: "a")))
        _ = try await two.feed.publish(at: .day(1), limit: 500)
        try await Self.meet(held, after: "FROM meta", watching: two.driver) {
            _ = try await one.feed.sweep(until: .day(31))
        } two: {
            _ = try await two.feed.sweep(until: .day(40))
        }
        let lengths = try await two.queueLengths()
        #expect(lengths.unpublished == 1)
        #expect(lengths.swept == .day(40), "what is swept stays swept")
        await held.close()
        await two.driver.close()
    }
}

/// A server that is held up once, in the middle of a transaction.
private final class HeldDriver: StorageDriver {
    private let driver: any StorageDriver
    /// Without them it shows what holds by itself.
    private let takesLocks: Bool
    private let held = Mutex<Hold?>(nil)

    private struct Hold: Sendable {
        var look: String
        var wait: @Sendable () -> Void
    }

    init(_ driver: any StorageDriver, takesLocks: Bool) {
        self.driver = driver
        self.takesLocks = takesLocks
    }

    /// Has `wait` called once, after the next query that has `look` in it.
    func hold(after look: String, _ wait: @escaping @Sendable () -> Void) {
        held.withLock { $0 = Hold(look: look, wait: wait) }
    }

    func pass(_ sql: String) {
        let hold: Hold? = held.withLock { held in
            guard let hold = held, sql.contains(hold.look) else { return nil }
            held = nil
            return hold
        }
        hold?.wait()
    }

    var dialect: Dialect {
        var dialect = driver.dialect
        if !takesLocks { dialect.rowLock = "" }
        return dialect
    }
    var commits: CommitSignal { driver.commits }

    @discardableResult
    func write<R: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> R
    ) async throws -> R {
        try await driver.write { try body(HeldConnection(connection: $0, driver: self)) }
    }

    func read<R: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> R
    ) async throws -> R {
        try await driver.read(body)
    }

    func readNow(
        _ sql: String,
        _ parameters: [SQLValue]
    ) async throws(StorageError) -> [Row] {
        try await driver.readNow(sql, parameters)
    }

    func close() async {
        await driver.close()
    }
}

/// Tells the driver after every query.
private struct HeldConnection: StorageConnection {
    let connection: any StorageConnection
    let driver: HeldDriver

    var dialect: Dialect { driver.dialect }

    func query(_ sql: String, _ parameters: [SQLValue]) throws(StorageError) -> [Row] {
        let rows = try connection.query(sql, parameters)
        driver.pass(sql)
        return rows
    }

    @discardableResult
    func execute(_ sql: String, _ parameters: [SQLValue]) throws(StorageError) -> Int {
        try connection.execute(sql, parameters)
    }

    func queryMany(_ sql: String, _ rows: [[SQLValue]]) throws(StorageError) -> [[Row]] {
        try connection.queryMany(sql, rows)
    }

    @discardableResult
    func executeMany(_ sql: String, _ rows: [[SQLValue]]) throws(StorageError) -> [Int] {
        try connection.executeMany(sql, rows)
    }

    func define(_ statement: String) throws(StorageError) {
        try connection.define(statement)
    }
}
