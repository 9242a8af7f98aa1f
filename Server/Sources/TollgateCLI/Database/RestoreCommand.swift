import ArgumentParser
import CommandOutput
import Foundation
import Storage
import StorageSQLite
import Stores
import TollgateCore
import TollgateService

/// `tollgate restore FILE`: puts a copy in the place of a lost database and closes the gap.
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Replace the database by a backup, and ask the stores for later sales.",
        discussion: """
            Stop the server first. The copy is checked, then put in place; a database that is there \
            is kept beside it. Then every store that is set up is asked for what was sold since the \
            copy was made, as 'tollgate reconcile' does. Give it the server's settings, with the \
            secret key that the database was served with. docs/operations.md says what no store \
            knows.
            """
    )

    @Argument(help: "The copy, as tollgate backup made it.")
    var file: String

    @Flag(help: "Replace an existing database; the old one is kept beside it.")
    var replace = false

    @Flag(inversion: .prefixedNo, help: "First derive everything in the copy again and compare.")
    var verify = true

    @Flag(inversion: .prefixedNo, help: "Ask the stores for what the copy lacks.")
    var reconcile = true

    @Option(help: "sqlite:PATH")
    var database: String?

    @Option(help: "The catalog: what is sold and what it grants.")
    var catalog: String?

    func run() async throws {
        let location = try DatabaseLocation(option: database)
        guard let path = location.sqlitePath else {
            throw ValidationError(
                "--database: 'tollgate restore' puts back SQLite files. For PostgreSQL: pg_restore into an empty database, then tollgate reconcile, see docs/operations.md."
            )
        }
        guard replace || !FileManager.default.fileExists(atPath: path) else {
            throw CheckFailed(
                message:
                    "There is a database at \(path). Say --replace to put \(file) in its place: the database that is there is then kept beside it."
            )
        }
        let line = ProgressLine(json: false)
        defer { line.end() }
        if verify {
            let rows = try await verified(line)
            line.end()
            Terminal.say(
                "checked  \(file): everything derived follows from its \(rows) journal rows"
            )
        }
        let time = SystemClock.now().description.filter { $0 != "-" && $0 != ":" }
        let former = try SQLiteBackup.restore(file, to: path, keepingFormerAs: ".before-\(time)") {
            line.report(WorkProgress(step: "pages", done: $0, of: $1))
        }
        line.end()
        Terminal.say("restored \(path)")
        if let former { Terminal.say("the former database is \(former)") }
        if reconcile { try await closeTheGap(location) }
    }

    /// - Throws: `CheckFailed` where the copy cannot be verified, also because it is another version's.
    private func verified(_ line: ProgressLine) async throws -> Int64 {
        do {
            return try await BackupProof.verify(file, line)
        } catch let error as StorageError where error.kind == .schema {
            throw CheckFailed(
                message:
                    "\(file) is of another version of Tollgate, which alone can verify it: \(error.message). To put an older copy in place as it is, say --no-verify --no-reconcile; then start tollgate serve, which brings it up to date and asks the stores."
            )
        }
    }

    /// Asks each store that is set up, one after the other.
    ///
    /// - Throws: `CheckFailed` with the store that could not be asked; the others were.
    private func closeTheGap(_ location: DatabaseLocation) async throws {
        let stores = try StoreSettings(
            try catalog.map { try CatalogFile.read($0) } ?? AppStoreConnection.catalog()
        )
        let place = ["--database", location.text]
        let withCatalog = place + (catalog.map { ["--catalog", $0] } ?? [])
        var failures: [String] = []
        func ask(_ name: String, _ work: () async throws -> Void) async {
            Terminal.say("asking   \(name)")
            do {
                try await work()
            } catch {
                let words = (error as? ValidationError)?.message ?? PlainWords.of(error)
                failures.append("\(name): \(words)")
            }
        }
        do {
            try await adoptCatalog(in: location)
        } catch {
            failures.append("the catalog: \(PlainWords.of(error))")
        }
        if stores.appStoreKey != nil {
            await ask("the App Store") { try await ReconcileAppStoreCommand.parse(place).run() }
        }
        if stores.stripeSecretKey != nil {
            await ask("Stripe") { try await ReconcileStripeCommand.parse(withCatalog).run() }
        }
        if stores.googlePlay.isSetUp {
            await ask("Google Play") {
                try await ReconcileGooglePlayCommand.parse(withCatalog + ["--everything"]).run()
            }
        }
        guard failures.isEmpty else {
            throw CheckFailed(
                message:
                    "The copy is in place, and not everything could be asked; a server goes on with it by itself.\n"
                    + failures.map { "  - \($0)" }.joined(separator: "\n")
            )
        }
    }

    /// Takes in the server's catalog, which may be newer than the copy's, as the start of a server would.
    private func adoptCatalog(in location: DatabaseLocation) async throws {
        let path = Settings.text(catalog, "CATALOG") ?? "catalog.yaml"
        guard FileManager.default.fileExists(atPath: path) else { return }
        let present = try CatalogFile.read(path)
        let driver = try location.open()
        try await driver.closing {
            let store = try await RecordStore(driver)
            try await store.adopt(present, at: try await ClockSetting.instant(nil))
        }
    }
}
