import Foundation
import Storage
import StorageSQLite
import Testing
import TollgateSimulation

/// What holds for a SQLite file alone.
@Suite struct SQLiteTests {
    private static func path() throws -> String {
        try TestFolder.make().appendingPathComponent("folder/below/tollgate.sqlite").path
    }

    @Test func aCommitIsFlushedToDisk() async throws {
        let driver = try StorageSQLite(path: Self.path())
        // 2 is FULL; with 1, NORMAL, the last commits may be lost when the power fails.
        #expect(try await driver.writerPragma("synchronous") == .integer(2))
        #expect(try await driver.writerPragma("journal_mode") == .text("wal"))
        #expect(try await driver.writerPragma("foreign_keys") == .integer(1))
        #expect(try await driver.writerPragma("cache_size") == .integer(-32_000))
        await driver.close()
    }

    @Test("Writes that are gathered are seen by others as soon as they are committed")
    func gatheredWrites() async throws {
        let path = try Self.path()
        // A small cache: pages go to the log, and are read from it, before the commit.
        var server = try StorageSQLite(path: path, cacheKiB: 64)
        try await server.migrate()
        let reader = try StorageSQLite(path: path, mode: .readOnly)
        let sums = "SELECT count(*), sum(length(value)), min(hex(value)) = max(hex(value)), "
        for round in UInt8(1)...3 {
            #expect(try await server.writerFileSystem() == "tollgate/unix")
            // Each pass is 6 MB, more than is gathered at once, and changes the same pages.
            try await server.write { connection in
                for pass in UInt8(1)...3 {
                    let value = [UInt8](repeating: 16 * round + pass, count: 20_000)
                    try connection.executeMany(
                        """
                        INSERT INTO meta (name, value) VALUES ($1, $2)
                        ON CONFLICT (name) DO UPDATE SET value = $2
                        """,
                        (0..<300).map { [.text("\($0)"), .blob(value)] }
                    )
                }
            }
            let last = "min(substr(hex(value), 1, 2)) FROM meta"
            let expected = [
                Row([.integer(300), .integer(6_000_000), .integer(1), .text("\(round)3")])
            ]
            #expect(try await reader.readNow(sums + last, []) == expected)
            #expect(try await server.writerPragma("integrity_check") == .text("ok"))
            // A file that is there is opened in the same way.
            await server.close()
            server = try StorageSQLite(path: path, cacheKiB: 64)
        }
        await reader.close()
        await server.close()
    }

    @Test(
        "Once nothing is written for a while, all is in the main file",
        .timeLimit(.minutes(2))
    )
    func quietLog() async throws {
        let path = try Self.path()
        let server = try StorageSQLite(path: path, quiet: .nanoseconds(0))
        try await server.migrate()
        let copy = path + ".copy"
        for round in Int64(1)...3 {
            try await server.write {
                _ = try $0.execute(
                    "INSERT INTO meta (name, value) VALUES ($1, zeroblob(100000))",
                    [.text("\(round)")]
                )
            }
            // The file as it is without its log; in the middle of a checkpoint it is no database.
            func holdsAll() async throws -> Bool {
                try? FileManager.default.removeItem(atPath: copy)
                try FileManager.default.copyItem(atPath: path, toPath: copy)
                let count = "SELECT count(*) FROM meta WHERE length(value) = 100000"
                guard let main = try? StorageSQLite(path: copy, mode: .readOnly) else {
                    return false
                }
                let found = try? await main.readNow(count, [])
                let check = try? await main.readNow("PRAGMA integrity_check", [])
                await main.close()
                return found == [Row([.integer(round)])] && check == [Row([.text("ok")])]
            }
            try await Self.untilQuiet(server, holdsAll)
        }
        await server.close()
    }

    @Test(
        "What was erased leaves the log, as soon as nobody reads from it any more",
        .timeLimit(.minutes(2))
    )
    func erasedFromTheLog() async throws {
        let path = try Self.path()
        let server = try StorageSQLite(path: path, quiet: .nanoseconds(0))
        try await server.migrate()
        let secret = Array("somebody's name".utf8)
        func holdsSecret() throws -> Bool {
            try [path, path + "-wal"].contains {
                try Data(contentsOf: URL(fileURLWithPath: $0)).range(of: Data(secret)) != nil
            }
        }
        let reader = try StorageSQLite(path: path, mode: .readOnly)
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let goOn = DispatchSemaphore(value: 0)
        try await server.write {
            _ = try $0.execute(
                "INSERT INTO meta (name, value) VALUES ('erased', $1)",
                [.blob(secret)]
            )
        }
        let count = "SELECT count(*) FROM meta WHERE name = 'erased'"
        let held = Task {
            try await reader.read { connection in
                let before = try connection.query(count)
                begin.finish()
                goOn.wait()
                return try before + connection.query(count)
            }
        }
        for await _ in begun {}
        try await server.write {
            $0.erases()
            try $0.execute("DELETE FROM meta WHERE name = 'erased'")
        }
        #expect(try holdsSecret())
        // Nobody waits for the reader: what is written goes on meanwhile.
        for number in 0..<100 {
            try await server.write {
                _ = try $0.execute(
                    "INSERT INTO meta (name, value) VALUES ($1, $2)",
                    [.text("later\(number)"), .blob([1])]
                )
            }
        }
        #expect(try await server.readNow(count, []) == [Row([.integer(0)])])
        goOn.signal()
        #expect(try await held.value == [Row([.integer(1)]), Row([.integer(1)])])
        await reader.close()
        // It is cut off, not only written over by chance.
        try await Self.untilQuiet(server) { try Self.logSize(path) == 0 }
        #expect(try !holdsSecret())
        #expect(
            try await server.readNow("SELECT count(*) FROM meta WHERE name LIKE 'later%'", [])
                == [Row([.integer(100)])]
        )
        await server.close()
    }

    @Test(
        "What was erased leaves the log also if the process ended at once",
        .timeLimit(.minutes(2))
    )
    func erasedBeforeTheEnd() async throws {
        let path = try Self.path()
        let copy = path + ".copy"
        let first = try StorageSQLite(path: path, quiet: .seconds(3_600))
        try await first.migrate()
        let secret = Array("somebody's name".utf8)
        try await first.write {
            _ = try $0.execute(
                "INSERT INTO meta (name, value) VALUES ('erased', $1)",
                [.blob(secret)]
            )
        }
        try await first.write {
            $0.erases()
            try $0.execute("DELETE FROM meta WHERE name = 'erased'")
        }
        // What a kill leaves.
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
        }
        let log = try Data(contentsOf: URL(fileURLWithPath: copy + "-wal"))
        #expect(log.range(of: Data(secret)) != nil)
        await first.close()
        let second = try StorageSQLite(path: copy, quiet: .nanoseconds(0))
        try await second.write { _ = try $0.execute("DELETE FROM meta WHERE name = 'none'") }
        try await Self.untilQuiet(second) { try Self.logSize(copy) == 0 }
        for suffix in ["", "-wal"] {
            let file = try Data(contentsOf: URL(fileURLWithPath: copy + suffix))
            #expect(file.range(of: Data(secret)) == nil)
        }
        await second.close()
    }

    private static func logSize(_ path: String) throws -> Int {
        try Data(contentsOf: URL(fileURLWithPath: path + "-wal")).count
    }

    /// Lets what stands in the writer's queue have its turn until `isQuiet`; writes nothing.
    private static func untilQuiet(
        _ server: StorageSQLite,
        _ isQuiet: () async throws -> Bool
    ) async throws {
        while try await !isQuiet() { _ = try await server.writerFileSystem() }
    }

    @Test("A checkpoint that a reader holds back leaves every other reader with what is committed")
    func checkpointBesideAReader() async throws {
        let path = try Self.path()
        let server = try StorageSQLite(path: path)
        try await server.migrate()
        func commit(_ name: String, checkpointAfter pages: Int) async throws {
            _ = try await server.writerPragma("wal_autocheckpoint = \(pages)")
            try await server.write { connection in
                try connection.executeMany(
                    "INSERT INTO meta (name, value) VALUES ($1, $2)",
                    (0..<100).map {
                        [.text("\(name)\($0)"), .blob([UInt8](repeating: 1, count: 3900))]
                    }
                )
            }
        }
        let count = "SELECT count(*), sum(length(value)) FROM meta"
        try await commit("a", checkpointAfter: 0)
        let old = try StorageSQLite(path: path, mode: .readOnly)
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let goOn = DispatchSemaphore(value: 0)
        let held = Task {
            try await old.read { connection in
                let rows = try connection.query(count)
                begin.finish()
                goOn.wait()
                return rows
            }
        }
        for await _ in begun {}
        // What the reader sees goes to the main file, what comes after it cannot.
        try await commit("b", checkpointAfter: 50)
        let other = try StorageSQLite(path: path, mode: .readOnly)
        #expect(
            try await other.readNow(count, []) == [Row([.integer(200), .integer(780_000)])]
        )
        #expect(try await other.readNow("PRAGMA integrity_check", []) == [Row([.text("ok")])])
        await other.close()
        goOn.signal()
        #expect(try await held.value == [Row([.integer(100), .integer(390_000)])])
        await old.close()
        await server.close()
    }

    @Test func aSecondServerOnTheSameFileIsRefusedUntilTheFirstCloses() async throws {
        let path = try Self.path()
        let first = try StorageSQLite(path: path)
        let error = #expect(throws: StorageError.self) { _ = try StorageSQLite(path: path) }
        #expect(error?.kind == .inUse)
        #expect(error?.message.contains(path) == true)
        #expect(error?.message.contains("process \(getpid())") == true)
        await first.close()
        let second = try StorageSQLite(path: path)
        await second.close()
    }

    @Test func anotherProcessHoldsTheFileAsWell() throws {
        let path = try Self.path()
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let holder = Process()
        let output = Pipe()
        let input = Pipe()
        holder.executableURL = URL(fileURLWithPath: "/usr/bin/flock")
        holder.arguments = [path + ".lock", "sh", "-c", "echo held; read line"]
        holder.standardOutput = output
        holder.standardInput = input
        try holder.run()
        #expect(output.fileHandleForReading.availableData == Data("held\n".utf8))
        let error = #expect(throws: StorageError.self) { _ = try StorageSQLite(path: path) }
        #expect(error?.kind == .inUse)
        try input.fileHandleForWriting.close()
        holder.waitUntilExit()
        _ = try StorageSQLite(path: path)
    }

    @Test func aReaderSeesWhatTheServerCommitsAndCannotWrite() async throws {
        let path = try Self.path()
        let server = try StorageSQLite(path: path)
        try await server.migrate()
        let reader = try StorageSQLite(path: path, mode: .readOnly)
        try await reader.requireSchema()
        try await server.write { connection in
            try connection.execute(
                "INSERT INTO meta (name, value) VALUES ($1, $2)",
                [.text("a"), .blob([1])]
            )
        }
        let select = "SELECT name FROM meta"
        #expect(try await reader.readNow(select, []) == [Row([.text("a")])])
        #expect(try await reader.read { try $0.query(select) } == [Row([.text("a")])])
        let error = await #expect(throws: StorageError.self) { try await reader.write { _ in } }
        #expect(error?.kind == .readOnly)
        await server.close()
        #expect(try await reader.readNow(select, []) == [Row([.text("a")])])
        await reader.close()
    }

    @Test("D6: the file, its logs and its folder are for their owner only")
    func owners() async throws {
        let path = try Self.path()
        func mode(_ name: String) throws -> mode_t {
            var status = stat()
            try #require(stat(name, &status) == 0)
            return status.st_mode & 0o777
        }
        let names = [path, path + "-wal", path + "-shm", path + ".lock"]
        var driver = try StorageSQLite(path: path)
        try await driver.migrate()
        for name in names { #expect(try mode(name) == 0o600, "\(name)") }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        #expect(try mode(folder.path) == 0o700)
        #expect(try mode(folder.deletingLastPathComponent().path) == 0o700)
        await driver.close()
        // Those of an earlier version, which everybody could read.
        chmod(path, 0o644)
        let isMade = FileManager.default.createFile(
            atPath: path + "-wal",
            contents: nil,
            attributes: [.posixPermissions: 0o644]
        )
        #expect(isMade)
        driver = try StorageSQLite(path: path)
        try await driver.write { try $0.execute("CREATE TABLE made (id INTEGER)", []) }
        for name in names { #expect(try mode(name) == 0o600, "\(name)") }
        await driver.close()
    }

    @Test("D6: so are they where the file is a link to one that is missing")
    func ownersBehindALink() async throws {
        let path = try Self.path()
        let target = try Self.path() + ".target"
        for name in [path, target] {
            try FileManager.default.createDirectory(
                at: URL(fileURLWithPath: name).deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
        }
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
        let driver = try StorageSQLite(path: path)
        try await driver.migrate()
        for name in [target, target + "-wal", target + "-shm"] {
            var status = stat()
            try #require(stat(name, &status) == 0, "\(name)")
            #expect(status.st_mode & 0o777 == 0o600, "\(name)")
        }
        await driver.close()
    }

    @Test func aMissingOrForeignFileIsAClearError() async throws {
        let path = try Self.path()
        let missing = #expect(throws: StorageError.self) {
            _ = try StorageSQLite(path: path, mode: .readOnly)
        }
        #expect(missing?.kind == .unavailable)
        #expect(missing?.message.contains(path) == true)
        #expect(!FileManager.default.fileExists(atPath: path))

        let foreign = try TestFolder.make().appendingPathComponent("foreign")
        try Data(repeating: 65, count: 10_000).write(to: foreign)
        for mode in [StorageSQLite.Mode.server, .readOnly] {
            let error = #expect(throws: StorageError.self) {
                _ = try StorageSQLite(path: foreign.path, mode: mode)
            }
            #expect(error?.kind == .corrupt, "\(mode)")
        }
    }

    @Test func aFullDiskIsAnErrorAndNothingIsWritten() async throws {
        let driver = try StorageSQLite(path: Self.path())
        try await driver.migrate()
        func write(pages: Int) async throws {
            try await driver.write { connection in
                _ = try connection.query("PRAGMA max_page_count = \(pages)")
                try connection.executeMany(
                    "INSERT INTO meta (name, value) VALUES ($1, $2)",
                    (0..<100).map { [.text("\($0)"), .blob([UInt8](repeating: 1, count: 5000))] }
                )
            }
        }
        let error = await #expect(throws: StorageError.self) { try await write(pages: 60) }
        #expect(error?.kind == .diskFull)
        #expect(error?.isRetryable == true)
        let count = "SELECT count(*) FROM meta"
        #expect(try await driver.readNow(count, []) == [Row([.integer(0)])])
        try await write(pages: 10_000)
        #expect(try await driver.readNow(count, []) == [Row([.integer(100)])])
        await driver.close()
    }

    @Test func parametersAreCountedByTheirNumber() async throws {
        let driver = try StorageSQLite(path: Self.path())
        let rows = try await driver.readNow(
            "SELECT $2, $1, $2, '$1', \"x$1\" FROM (SELECT 'c' AS \"x$1\")",
            [.text("a"), .text("b")]
        )
        #expect(rows == [Row([.text("b"), .text("a"), .text("b"), .text("$1"), .text("c")])])
        await driver.close()
    }
}
