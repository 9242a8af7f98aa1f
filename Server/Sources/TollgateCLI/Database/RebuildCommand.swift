import CommandOutput
import ArgumentParser
import Foundation
import Storage
import StorageSQLite
import Stores
import TollgateAssembly
import TollgateService

/// Everything derived, derived again from the journal and compared.
enum RebuildCheck {
    /// Compares `source` with what follows from its journal, in a database of the scratch folder.
    ///
    /// - Returns: the report, and how many messages the figures of reports are behind: they are compared
    ///   only where that is 0.
    static func run(
        of source: any StorageDriver,
        progress: @Sendable (Int64, Int64) -> Void
    ) async throws -> (report: Rebuild.Report, lag: Int64) {
        let folder = ScratchFolder.parent
            .appendingPathComponent("tollgate-rebuild-\(UUID().uuidString)")
        // A folder that is made here and now is nobody else's, who could read the journal in it.
        try FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        defer { try? FileManager.default.removeItem(at: folder) }
        let scratch = try StorageSQLite(path: folder.appendingPathComponent("scratch.sqlite").path)
        let lag = try await FigureDerivation.lag(of: try await RecordStore(reading: source))
        let figures: @Sendable (RecordStore) async throws -> Void = { store in
            try await FigureDerivation(store, rows: Tollgate.storeRows).followToTheEnd(
                now: SystemClock.now()
            )
        }
        let rebuild = Rebuild(of: source, into: scratch, figures: lag > 0 ? nil : figures)
        let report = try await rebuild.verify(progress: progress)
        await scratch.close()
        return (report, lag)
    }
}

/// `tollgate rebuild --verify`: proves that everything derived follows from the journal.
struct RebuildCommand: DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild",
        abstract: "Derive everything again from the journal and compare."
    )

    @Flag(help: "Compare with what is there; change nothing.")
    var verify = false

    @Flag(help: "Derive the figures of reports again, in place.")
    var reports = false

    @OptionGroup var place: DatabaseOptions

    func validate() throws {
        guard verify != reports else {
            throw ValidationError(
                "Say --verify to compare everything derived with the journal, or --reports to derive the figures of reports again; the record itself is not rebuilt in place."
            )
        }
    }

    func run() async throws {
        let location = try DatabaseLocation(option: database)
        if reports { return try await rebuildReports(location) }
        let source = try location.openReadOnly()
        let line = ProgressLine(json: json)
        let (report, lag) = try await source.closing {
            try await RebuildCheck.run(of: source) { done, all in
                line.report(WorkProgress(step: "journal rows", done: Int(done), of: Int(all)))
            }
        }
        line.end()
        try say(report)
        if lag > 0 {
            Terminal.complain(
                "The figures of reports are \(lag) messages behind and were not compared."
            )
        }
        guard report.isIdentical else {
            throw CheckFailed(message: "What is derived differs from what the journal says.")
        }
    }

    private func rebuildReports(_ location: DatabaseLocation) async throws {
        let driver = try location.open()
        let count = try await driver.closing {
            let store = try await RecordStore(driver)
            try await store.figures.dropAll()
            let line = ProgressLine(json: json)
            try await FigureDerivation(store, rows: Tollgate.storeRows).followToTheEnd(
                now: SystemClock.now()
            ) {
                line.report(WorkProgress(step: "journal rows", done: Int($0), of: Int($1)))
            }
            line.end()
            return try await store.figures.journalEnd()
        }
        if json { return try Terminal.sayJSON(["journal": count]) }
        Terminal.say("figures derived again from \(count) journal rows")
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
                "\(table.identical ? "same     " : Terminal.coloured("DIFFERENT", .red))  \(name) \(table.rows) rows  \(table.digest)"
            )
        }
    }
}
