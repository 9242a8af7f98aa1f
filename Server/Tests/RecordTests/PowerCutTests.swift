import CPowerCut
import Foundation
import Storage
import StorageSQLite
import Synchronization
import Testing
import TollgateCore
import TollgateSimulation

/// F5: the power fails, and what was not flushed is gone, or came through torn and out of order.
///
/// SIGKILL does not show this: what a process wrote, the system still has.
@Suite("F5: power cuts on SQLite")
struct PowerCutTests {
    private static let cuts =
        ProcessInfo.processInfo.environment["TOLLGATE_CUTS"].flatMap { Int($0) } ?? 20

    /// Other cuts: `make soak` adds up runs of different seeds.
    private static let seed =
        ProcessInfo.processInfo.environment["TOLLGATE_SEED"].flatMap { UInt32($0) } ?? 0

    /// Once: it is the whole process' file system.
    private static let installed = powercut_install("/power-cut/")

    private static func purchase(_ number: Int) -> JournalItem {
        .message(
            "m\(number)",
            .bought("coins", .consumable, "c\(number)", on: Double(number), token: "a")
        )
    }

    @Test("What was answered is there after every cut, and the record is sound")
    func cuts() async throws {
        #expect(Self.installed == 0)
        let folder = try TestFolder.make().appendingPathComponent("power-cut")
        let driver = try StorageSQLite(path: folder.path + "/tollgate.sqlite")
        // What the server gathers is lost with what the system has not flushed.
        #expect(try await driver.writerFileSystem() == "tollgate/powercut/unix")
        // Many checkpoints, and cuts in the midst of them.
        _ = try await driver.writerPragma("wal_autocheckpoint = 60")
        let store = try await RecordStore(driver)
        try await store.adopt(Shop.catalog, at: .day(-100))
        _ = try await store.submit(.register("ann", .token("a")))
        let progress = Progress()
        var lost = 0
        // More of them where few found anything that was not synced yet.
        for cut in 0..<Self.cuts * 10 where cut < Self.cuts || lost <= Self.cuts {
            let left = folder.deletingLastPathComponent().appendingPathComponent("left-\(cut)")
            try FileManager.default.createDirectory(at: left, withIntermediateDirectories: true)
            let certain = try await withThrowingTaskGroup(of: Void.self) { group in
                progress.begin()
                for _ in 0..<4 {
                    group.addTask {
                        while !progress.isOver {
                            _ = try await store.submit(Self.purchase(progress.next()))
                            progress.answer()
                        }
                    }
                }
                // Some work between two cuts, and then at whatever moment it happens to be.
                let before = progress.answered
                while progress.answered < before + 3 + cut % 5 { await Task.yield() }
                for _ in 0..<cut % 7 * 20 { await Task.yield() }
                let certain = progress.answered
                let gone = powercut_cut(
                    folder.path,
                    left.path,
                    Self.seed &* 1_000_003 &+ UInt32(cut + 1)
                )
                #expect(gone >= 0)
                lost += Int(gone)
                progress.end()
                try await group.waitForAll()
                return certain
            }
            try await Self.check(left, certain, isThorough: cut % 10 == 9)
            try FileManager.default.removeItem(at: left)
        }
        await driver.close()
        powercut_forget(folder.path)
        // Else nothing was tried: there were writes that a cut took away.
        #expect(lost > Self.cuts)
    }

    @Test("A commit of many pages reaches its log in few writes")
    func fewWrites() async throws {
        #expect(Self.installed == 0)
        let folder = try TestFolder.make().appendingPathComponent("power-cut/few")
        let driver = try StorageSQLite(path: folder.path + "/tollgate.sqlite")
        try await driver.migrate()
        let before = powercut_writes(folder.path + "/tollgate.sqlite-wal")
        try await driver.write { connection in
            try connection.executeMany(
                "INSERT INTO meta (name, value) VALUES ($1, $2)",
                (0..<300).map { [.text("\($0)"), .blob([UInt8](repeating: 1, count: 4_000))] }
            )
        }
        // Two for each page of 4 KB if nothing were gathered; now one for 124 KB.
        let writes = powercut_writes(folder.path + "/tollgate.sqlite-wal") - before
        #expect((10...40).contains(writes))
        await driver.close()
        powercut_forget(folder.path)
    }

    @Test("What a full disk refuses is refused as a whole, and goes on once there is room")
    func fullDisk() async throws {
        #expect(Self.installed == 0)
        let folder = try TestFolder.make().appendingPathComponent("power-cut/full")
        let driver = try StorageSQLite(path: folder.path + "/tollgate.sqlite")
        let store = try await RecordStore(driver)
        try await store.adopt(Shop.catalog, at: .day(-100))
        _ = try await store.submit(.register("ann", .token("a")))
        var number = 0
        for round in 1...3 {
            // What arrives together shares a commit.
            for _ in 0..<20 {
                number += 1
                _ = try await store.submit(Self.purchase(number))
            }
            powercut_fill(folder.path)
            let refused = await withTaskGroup(of: Bool.self) { group in
                for late in 1...8 {
                    let item = Self.purchase(1000 * round + late)
                    group.addTask {
                        do {
                            _ = try await store.submit(item)
                            return false
                        } catch {
                            return (error as? StorageError)?.kind == .diskFull
                        }
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            powercut_fill("")
            #expect(refused == 8)
            #expect(try await store.balance("ann") == Int64(number) * 100)
            #expect(
                try await driver.readNow("PRAGMA integrity_check", []) == [Row([.text("ok")])]
            )
        }
        #expect(try await store.rebuilt().isIdentical)
        await driver.close()
        powercut_forget(folder.path)
    }

    /// What the clients have got so far.
    private final class Progress: Sendable {
        private let state = Mutex((begun: 0, answered: 0, isOver: false))

        var answered: Int { state.withLock { $0.answered } }
        var isOver: Bool { state.withLock { $0.isOver } }
        func begin() { state.withLock { $0.isOver = false } }
        func answer() { state.withLock { $0.answered += 1 } }
        func end() { state.withLock { $0.isOver = true } }
        /// The number of a purchase that nobody else makes.
        func next() -> Int {
            state.withLock {
                $0.begun += 1
                return $0.begun
            }
        }
    }

    private static func check(_ folder: URL, _ certain: Int, isThorough: Bool) async throws {
        let driver = try StorageSQLite(path: folder.path + "/tollgate.sqlite")
        let store = try await RecordStore(driver)
        let integrity = try await driver.readNow("PRAGMA integrity_check", [])
        #expect(integrity == [Row([.text("ok")])])
        let rows = try await driver.readNow(
            "SELECT count(*) FROM journal WHERE kind = 0",
            []
        )
        let journalled = try #require(rows.first).int64(0)
        #expect(journalled >= Int64(certain), "nothing that was answered is lost")
        #expect(try await store.balance("ann") == journalled * 100, "all or nothing")
        if isThorough {
            let report = try await store.rebuilt()
            #expect(report.isIdentical, "\(report.differences)")
        }
        await driver.close()
    }
}
