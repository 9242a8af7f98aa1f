import ArgumentParser
import CommandOutput
import Foundation
import Storage
import StorageSQLite
import Stores
import TollgateCore
import TollgateService

/// `tollgate reload`: has a running server reload its catalog and settings.
struct ReloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Reload the server's catalog and settings, without a restart.",
        discussion: """
            Run it with the server's settings, on the server's machine. It checks the catalog and \
            tollgate.yaml first. With a mistake nothing is reloaded, and the current ones stay in effect. \
            It waits for the server, prints the result, and names the settings that need a restart. \
            The server's environment variables stay those of its start. A server on SQLite is found by \
            the lock beside its database; name the process of one on PostgreSQL. systemctl reload \
            tollgate does all this.
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
                    "Process \(told) cannot reload: it is not a server, or it is still starting."
            )
        }
        let before = try await Self.record(of: told, in: location)
        guard kill(told, SIGHUP) == 0 else {
            throw CheckFailed(
                message:
                    "The server (process \(told)) cannot be signalled: \(String(cString: strerror(errno))). Run this as the server's user."
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
                "The server (process \(told)) reported no result within 30 seconds; look at its log. Run this on the server's machine, in its container if it has one, with the server's database. Servers of earlier versions report no result: restart them."
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
                    "The reload failed; the server's current catalog and settings stay in effect. \(refusal)"
            )
        }
        let present = try await ReadingCommand.run(database: location.text) {
            try $0.history.current.canonicalJSON()
        }
        guard try present == wanted.canonicalJSON() else {
            throw CheckFailed(
                message:
                    "The server reloaded another catalog: it reads another file, or the file has changed since."
            )
        }
        Terminal.say("reloaded: \(wanted.products.count) products")
        if !record.waiting.isEmpty {
            Terminal.complain(
                "These changed settings need a restart: \(record.waiting.joined(separator: ", "))"
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
