import ArgumentParser
import CommandOutput
import Foundation
import Storage
import StorageSQLite
import Stores
import TollgateCore
import TollgateService

/// `tollgate reload`: has a running server take in its changed catalog and settings.
struct ReloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Let the server take in a changed catalog and settings, without a restart.",
        discussion: """
            Give it the server's settings, on the server's machine. The catalog and tollgate.yaml are \
            checked first. With mistakes nothing is taken in, and the present ones go on. It waits for \
            the server, says what became of it, and names the settings that take a restart. \
            The server's variables stay those of its start. A server on SQLite is found by the lock \
            beside its database; name the process of one on PostgreSQL. systemctl reload tollgate \
            does all this.
            """
    )

    @Option(help: "The server's process; if left out, the one that uses the SQLite database.")
    var process: Int32?

    @Option(help: "sqlite:PATH or postgres://USER@HOST:PORT/NAME.")
    var database: String?

    @Option(help: "The catalog: what is sold and what it grants.")
    var catalog: String?

    func validate() throws {
        // kill(2) takes 0 and numbers below it for many processes, -1 for all that there are.
        if let process, process < 1 {
            throw ValidationError("--process: \(process) is no server's process.")
        }
    }

    func run() async throws {
        let location = try DatabaseLocation(option: database)
        _ = try Settings.logLevel()
        _ = try AlertSettings.configured(
            allowsPrivate: try Settings.flag("WEBHOOKS_ALLOW_PRIVATE")
        )
        let wanted = try CatalogFile.read(Settings.text(catalog, "CATALOG") ?? "catalog.yaml")
        let told = try process ?? server(of: location)
        guard !Self.isEnded(byHangup: told) else {
            throw CheckFailed(
                message:
                    "Process \(told) takes in no catalog: it is no server, or one that is still starting."
            )
        }
        let before = try await Self.record(of: told, in: location)
        guard kill(told, SIGHUP) == 0 else {
            throw CheckFailed(
                message:
                    "The server (process \(told)) cannot be told: \(String(cString: strerror(errno))). Run this as the server's user."
            )
        }
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(30)
        while clock.now < deadline {
            let after = try await Self.record(of: told, in: location)
            if let after, after != before { return try await say(after, wanted, in: location) }
            try await clock.sleep(until: clock.now + .milliseconds(50))
        }
        throw CheckFailed(
            message:
                "The server (process \(told)) did not say within 30 seconds what became of it; its log may. Run this on the server's machine, in its container if it has one, with the server's database. A server of an earlier version never says it: restart it."
        )
    }

    private static func record(
        of process: Int32,
        in location: DatabaseLocation
    ) async throws -> ReloadRecord? {
        try await ReadingCommand.run(database: location.text) {
            try await $0.cursors.value(ReloadRecord.name(of: process), as: ReloadRecord.self)
        }
    }

    private func say(
        _ record: ReloadRecord,
        _ wanted: TollgateCore.Catalog,
        in location: DatabaseLocation
    ) async throws {
        if let refusal = record.refusal {
            throw CheckFailed(
                message:
                    "The server took nothing in; its present catalog and settings go on. \(refusal)"
            )
        }
        let present = try await ReadingCommand.run(database: location.text) {
            try $0.history.current.canonicalJSON()
        }
        guard try present == wanted.canonicalJSON() else {
            throw CheckFailed(
                message:
                    "The server took in another catalog: it reads another file, or the file has changed since."
            )
        }
        Terminal.say("taken in: \(wanted.products.count) products")
        if !record.waiting.isEmpty {
            Terminal.complain(
                "Restart the server for what it reads at the start only: \(record.waiting.joined(separator: ", "))"
            )
        }
    }

    /// Tells if SIGHUP would end a process that does not expect it, as a restore or an import does not.
    ///
    /// False where the system does not say so, which only Linux does.
    private static func isEnded(byHangup process: Int32) -> Bool {
        guard let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("SigCgt:") }),
            let caught = line.split(whereSeparator: \.isWhitespace).last
                .flatMap({ UInt64($0, radix: 16) })
        else { return false }
        // Signals are counted from 1, and SIGHUP is the first.
        return caught & 1 == 0
    }

    private func server(of location: DatabaseLocation) throws -> Int32 {
        guard let path = location.sqlitePath else {
            throw ValidationError(
                "Name the server's process with --process: only a server on SQLite is found by its database."
            )
        }
        guard let process = StorageSQLite.server(of: path) else {
            throw CheckFailed(message: "No server is using \(path).")
        }
        return process
    }
}
