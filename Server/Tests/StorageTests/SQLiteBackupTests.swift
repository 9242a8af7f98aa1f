import Foundation
import Storage
import StorageSQLite
import Testing
import TollgateSimulation

/// Copies of a SQLite database, made beside a server and put in the place of a lost one.
@Suite struct SQLiteBackupTests {
    private static let count: String = "SELECT count(*) FROM meta WHERE name LIKE 'row %'"

    private static func folder() throws -> URL { try TestFolder.make() }

    /// A database with `rows` rows of 100 KB.
    private static func server(at path: String, rows: Int) async throws -> StorageSQLite {
        let server = try StorageSQLite(path: path)
        try await server.migrate()
        for row in 0..<rows { try await add(row, to: server) }
        return server
    }

    private static func add(_ row: Int, to server: StorageSQLite) async throws {
        try await server.write {
            _ = try $0.execute(
                "INSERT INTO meta (name, value) VALUES ($1, zeroblob(100000))",
                [.text("row \(row)")]
            )
        }
    }

    private static func rows(in path: String) async throws -> SQLValue? {
        let copy = try StorageSQLite(path: path, mode: .readOnly)
        let found = try await copy.readNow(count, []).first?[0]
        await copy.close()
        return found
    }

    @Test func aCopyIsTheDatabaseOfOneInstantAlthoughItIsWrittenMeanwhile() async throws {
        let folder = try Self.folder()
        let path = folder.appendingPathComponent("live.sqlite").path
        let copy = folder.appendingPathComponent("copy.sqlite").path
        let server = try await Self.server(at: path, rows: 100)
        var steps = 0
        try SQLiteBackup.copy(path, to: copy) { done, all in
            #expect(done <= all)
            // A commit between two steps: without one transaction around them the copy would begin anew.
            let written = DispatchSemaphore(value: 0)
            let row = 1_000 + steps
            server.write {
                try $0.execute(
                    "INSERT INTO meta (name, value) VALUES ($1, zeroblob(10))",
                    [.text("row \(row)")]
                )
            } completion: { _ in
                written.signal()
            }
            written.wait()
            steps += 1
        }
        #expect(steps > 1)
        #expect(try await Self.rows(in: copy) == .integer(100))
        #expect(try await Self.rows(in: path) == .integer(Int64(100 + steps)))
        await server.close()
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(Set(files.filter { $0.hasPrefix("copy") }) == ["copy.sqlite"])
    }

    @Test func aFileThatIsThereIsNotReplacedByACopy() async throws {
        let folder = try Self.folder()
        let path = folder.appendingPathComponent("live.sqlite").path
        let copy = folder.appendingPathComponent("copy.sqlite").path
        let server = try await Self.server(at: path, rows: 1)
        try Data("mine".utf8).write(to: URL(fileURLWithPath: copy))
        #expect(throws: StorageError.self) { try SQLiteBackup.copy(path, to: copy) }
        #expect(try String(contentsOfFile: copy, encoding: .utf8) == "mine")
        await server.close()
    }

    @Test func aRestoreKeepsTheFormerDatabaseAndIsRefusedWhileAServerHasItOpen() async throws {
        let folder = try Self.folder()
        let path = folder.appendingPathComponent("live.sqlite").path
        let copy = folder.appendingPathComponent("copy.sqlite").path
        let server = try await Self.server(at: path, rows: 2)
        try SQLiteBackup.copy(path, to: copy)
        try await Self.add(2, to: server)
        let refused = #expect(throws: StorageError.self) {
            try SQLiteBackup.restore(copy, to: path, keepingFormerAs: ".before")
        }
        #expect(refused?.kind == .inUse)
        #expect(try await Self.rows(in: path) == .integer(3))
        await server.close()

        let former = try SQLiteBackup.restore(copy, to: path, keepingFormerAs: ".before")
        #expect(former == path + ".before")
        #expect(try await Self.rows(in: path) == .integer(2))
        #expect(try await Self.rows(in: path + ".before") == .integer(3))
        #expect(try await Self.rows(in: copy) == .integer(2))
    }

    @Test func aFileThatIsNoDatabaseIsNotPutInPlace() async throws {
        let folder = try Self.folder()
        let path = folder.appendingPathComponent("live.sqlite").path
        let copy = folder.appendingPathComponent("copy.sqlite").path
        let server = try await Self.server(at: path, rows: 1)
        await server.close()
        try Data("this is no database, only words".utf8).write(to: URL(fileURLWithPath: copy))
        #expect(throws: StorageError.self) {
            try SQLiteBackup.restore(copy, to: path, keepingFormerAs: ".before")
        }
        #expect(try await Self.rows(in: path) == .integer(1))
    }
}
