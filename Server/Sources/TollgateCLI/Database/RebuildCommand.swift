import ArgumentParser
import Foundation
import Storage
import StorageSQLite

/// `tollgate rebuild --verify`: proves that everything derived follows from the journal.
struct RebuildCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild",
        abstract: "Derive everything again from the journal and compare."
    )

    @Flag(help: "Compare with what is there; change nothing.")
    var verify = false

    @Option(help: "sqlite:PATH or postgres://USER@HOST:PORT/NAME.")
    var database: String?

    @Flag(help: "Answer in JSON.")
    var json = false

    func validate() throws {
        guard verify else {
            throw ValidationError("Say --verify: rebuilding in place is not offered, comparing is.")
        }
    }

    func run() async throws {
        let location = try DatabaseLocation(
            Settings.text(database, "DATABASE") ?? "sqlite:.tollgate/tollgate.sqlite"
        )
        let source = try location.openReadOnly()
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tollgate-rebuild-\(ProcessInfo.processInfo.processIdentifier)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let scratch = try StorageSQLite(path: folder.appendingPathComponent("scratch.sqlite").path)
        let shows = Terminal.isInteractive && !json
        let report = try await Rebuild(of: source, into: scratch).verify { done, all in
            guard shows else { return }
            FileHandle.standardError.write(Data("\r\(done) of \(all) journal rows".utf8))
        }
        if shows { Terminal.complain("") }
        await scratch.close()
        await source.close()
        try say(report)
        guard report.isIdentical else {
            throw CheckFailed(message: "What is derived differs from what the journal says.")
        }
    }

    private func say(_ report: Rebuild.Report) throws {
        struct Table: Encodable {
            var table: String
            var rows: Int
            var digest: String
            var identical: Bool
        }
        let different = Set(report.differences.map(\.table))
        let tables = report.digests.map {
            Table(
                table: $0.table,
                rows: $0.rows,
                digest: $0.digest,
                identical: !different.contains($0.table)
            )
        }
        if json { return try Terminal.sayJSON(tables) }
        Terminal.say("replayed \(report.replayed) journal rows")
        for table in tables {
            let name = table.table.padding(toLength: 10, withPad: " ", startingAt: 0)
            Terminal.say(
                "\(table.identical ? "same     " : "DIFFERENT")  \(name) \(table.rows) rows  \(table.digest)"
            )
        }
    }
}
