import ArgumentParser
import CommandOutput
import Foundation
import Storage
import StorageSQLite
import Stores
import TollgateCore
import TollgateService

/// `tollgate backup`: a copy of the database, beside a running server.
struct BackupCommand: DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy the database, beside a running server.",
        discussion: """
            The copy is the database of one instant, in one file for its owner only. It is proven: \
            everything derived is derived again from its journal and compared. For SQLite; \
            PostgreSQL has pg_dump and its archive of logs, see docs/operations.md. The secret key \
            is not in the copy, and without it the copy cannot be served: keep it elsewhere.
            """
    )

    @Option(
        help: """
            A file, or a folder in which copies are named by their time; TOLLGATE_BACKUPS if left out.
            """
    )
    var to: String?

    @Option(help: "Repeat the copy every 30m, 1h or 1d, until it is stopped.")
    var every: String?

    @Option(help: "The number of copies that the folder keeps; the oldest are removed.")
    var keep: Int?

    @Flag(inversion: .prefixedNo, help: "Derive everything in the copy again and compare.")
    var verify = true

    @OptionGroup var place: DatabaseOptions

    func validate() throws {
        if let keep, keep < 1 { throw ValidationError("--keep: keep at least 1.") }
        _ = try every.map { try TimeSpan($0, option: "--every") }
    }

    func run() async throws {
        let location = try DatabaseLocation(option: database)
        guard let path = location.sqlitePath else {
            throw ValidationError(
                "--database: 'tollgate backup' copies SQLite files. For PostgreSQL: pg_dump --format=custom --file=copy.dump, see docs/operations.md."
            )
        }
        guard let target = Settings.text(to, "BACKUPS") else {
            throw ValidationError("Say --to FILE or --to FOLDER, or set TOLLGATE_BACKUPS.")
        }
        let folder = folder(target)
        if folder == nil, every != nil || keep != nil {
            throw ValidationError(
                "--every and --keep need a folder: '\(target)' is a file. End the name of a new folder with a slash."
            )
        }
        try folder?.make()
        guard let pause = try every.map({ try TimeSpan($0, option: "--every").duration }) else {
            return try await copy(path, to: target, in: folder)
        }
        let clock = ContinuousClock()
        while true {
            let begun = clock.now
            do {
                try await copy(path, to: target, in: folder)
            } catch let error where !(error is CancellationError) {
                // The next one may go well: a full disk is cleared, a folder is mounted again.
                Terminal.complain(PlainWords.of(error))
            }
            try await clock.sleep(until: begun + pause)
        }
    }

    /// The folder that `target` names: one that is there, or a name that ends with a slash, or whatever
    /// is to hold several copies.
    private func folder(_ target: String) -> BackupFolder? {
        let isFolder = (try? FileManager.default.contentsOfDirectory(atPath: target)) != nil
        let isFile = !isFolder && FileManager.default.fileExists(atPath: target)
        let isNamed = target.hasSuffix("/") || every != nil || keep != nil
        guard isFolder || (isNamed && !isFile) else { return nil }
        return BackupFolder(path: target.hasSuffix("/") ? String(target.dropLast()) : target)
    }

    private func copy(_ path: String, to target: String, in folder: BackupFolder?) async throws {
        let file = folder?.file(at: SystemClock.now()) ?? target
        let clock = ContinuousClock()
        let begun = clock.now
        let line = ProgressLine(json: json)
        defer { line.end() }
        try SQLiteBackup.copy(path, to: file) { done, all in
            line.report(WorkProgress(step: "pages", done: done, of: all))
        }
        let rows: Int64?
        do {
            rows = if verify { try await BackupProof.verify(file, line) } else { nil }
        } catch {
            // The copy may be the only one, so it stays under another name; copies do not pile up meanwhile.
            line.end()
            do {
                try folder?.setAside(file)
                _ = try keep.map { try folder?.keep(newest: $0) }
            } catch let later {
                FileHandle.standardError.write(
                    Data(
                        "tollgate: the unproven copy \(file) stays where it is: \(PlainWords.of(later))\n"
                            .utf8
                    )
                )
            }
            throw error
        }
        line.end()
        let removed = try keep.flatMap { try folder?.keep(newest: $0) } ?? []
        var status = stat()
        stat(file, &status)
        try say(
            Copy(
                file: file,
                bytes: Int64(status.st_size),
                seconds: (clock.now - begun).inSeconds,
                verifiedJournalRows: rows,
                removed: removed
            )
        )
    }

    /// A copy that was made.
    private struct Copy: Encodable {
        var file: String
        var bytes: Int64
        var seconds: Double
        /// `nil`: it was not verified.
        var verifiedJournalRows: Int64?
        var removed: [String]

        enum CodingKeys: String, CodingKey {
            case file, bytes, seconds, removed
            case verifiedJournalRows = "verified_journal_rows"
        }
    }

    private func say(_ copy: Copy) throws {
        if json { return try Terminal.sayJSON(copy) }
        let proof =
            copy.verifiedJournalRows.map {
                "everything derived follows from its \($0) journal rows"
            }
            ?? "not verified"
        Terminal.say(
            "copied  \(copy.file)  \(copy.bytes) bytes in \(copy.seconds) s, \(proof)"
        )
        for file in copy.removed { Terminal.say("removed \(file)") }
    }
}

/// The proof that a copy is good.
enum BackupProof {
    /// Derives everything in a copy again from its journal and compares.
    ///
    /// - Returns: how many rows its journal has.
    /// - Throws: `CheckFailed` where something differs: the copy stays, since it is what there is.
    static func verify(_ file: String, _ line: ProgressLine) async throws -> Int64 {
        let copy = try StorageSQLite(path: file, mode: .readOnly)
        let (report, _) = try await copy.closing {
            try await RebuildCheck.run(of: copy) { done, all in
                line.report(WorkProgress(step: "journal rows", done: Int(done), of: Int(all)))
            }
        }
        guard report.isIdentical else {
            let tables = report.differences.map(\.table).joined(separator: ", ")
            throw CheckFailed(
                message:
                    "\(file) is there, but what is derived in it differs from what its journal says, in \(tables). Run tollgate rebuild --verify on the database itself."
            )
        }
        return report.replayed
    }
}

extension Duration {
    /// In seconds, to a hundredth.
    fileprivate var inSeconds: Double {
        let exact = Double(components.seconds) + Double(components.attoseconds) / 1e18
        return (exact * 100).rounded() / 100
    }
}
