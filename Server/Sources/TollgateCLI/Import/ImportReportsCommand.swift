import AppStoreAPI
import ArgumentParser
import AsyncHTTPClient
import Foundation
import Storage
import TollgateCore
import TollgateService

/// `tollgate import reports [FILE…]`: sales and finance reports of App Store Connect.
struct ImportReportsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reports",
        abstract: "Take in sales and finance reports of App Store Connect.",
        discussion: """
            Files as App Store Connect gives them out, packed or not; keep their names, which say \
            of some reports what day they are of. Without files, the reports of the last days that \
            are not here yet are fetched, with TOLLGATE_CONNECT_ISSUER_ID, TOLLGATE_CONNECT_KEY_ID, \
            TOLLGATE_CONNECT_KEY_FILE and TOLLGATE_CONNECT_VENDOR_NUMBER.
            """
    )

    @Argument(help: "The files.")
    var files: [String] = []

    @Option(help: "How many days back to fetch, where no files are given.")
    var days = 30

    @Option(help: "sqlite:PATH or postgres://USER@HOST:PORT/NAME.")
    var database: String?

    @Flag(help: "Answer in JSON.")
    var json = false

    /// What is said of each report.
    private struct Line: Encodable {
        var file: String?
        var kind: String
        var period: String
        var rows: Int
        var new: Bool

        init(_ outcome: ConnectReports.Outcome, file: String? = nil) {
            self.file = file
            kind = outcome.kind
            period = outcome.period
            rows = outcome.rows
            new = outcome.isNew
        }

        var text: String {
            (file.map { "\($0): " } ?? "") + "\(kind) \(period), \(rows) lines"
                + (new ? "" : ", known already")
        }
    }

    func run() async throws {
        guard (1...365).contains(days) else { throw ValidationError("--days is from 1 to 365.") }
        let settings = try ConnectSettings()
        let location = try DatabaseLocation(
            Settings.text(database, "DATABASE") ?? "sqlite:.tollgate/tollgate.sqlite"
        )
        let driver = try location.open()
        do {
            let reports = ConnectReports(try await RecordStore(driver))
            let lines =
                files.isEmpty ? try await fetch(reports, settings) : try await read(reports)
            await driver.close()
            if json { try Terminal.sayJSON(lines) }
            if !json, lines.isEmpty { Terminal.say("There is nothing new.") }
        } catch {
            await driver.close()
            throw error
        }
    }

    private func read(_ reports: ConnectReports) async throws -> [Line] {
        var lines: [Line] = []
        for path in files {
            guard let bytes = FileManager.default.contents(atPath: path) else {
                throw CheckFailed(
                    message: "\(path): there is no such file, or it cannot be read."
                )
            }
            let name = URL(fileURLWithPath: path).lastPathComponent
            do {
                let outcome = try await reports.take(
                    Array(bytes),
                    named: name,
                    at: SystemClock.now()
                )
                lines.append(Line(outcome, file: name))
                if !json { Terminal.say(Line(outcome, file: name).text) }
            } catch let error as AppStore.ConnectReportError {
                throw CheckFailed(message: "\(path): \(error)")
            } catch let error as ConnectReports.Failure {
                throw CheckFailed(message: "\(path): \(error)")
            }
        }
        return lines
    }

    private func fetch(
        _ reports: ConnectReports,
        _ settings: ConnectSettings
    ) async throws -> [Line] {
        let client = HTTPClient(eventLoopGroupProvider: .singleton)
        do {
            guard let connect = try settings.client(over: client) else {
                throw ValidationError(
                    "Name files, or set TOLLGATE_CONNECT_ISSUER_ID, TOLLGATE_CONNECT_KEY_ID, TOLLGATE_CONNECT_KEY_FILE and TOLLGATE_CONNECT_VENDOR_NUMBER."
                )
            }
            let today = try await ClockSetting(Settings.text(nil, "CLOCK")).now(over: client)()
            let isQuiet = json
            let outcomes = try await reports.fetch(with: connect, today: today, days: days) {
                if !isQuiet { Terminal.say(Line($0).text) }
            }
            try await client.shutdown()
            return outcomes.map { Line($0) }
        } catch {
            try? await client.shutdown()
            if let error = error as? AppStore.ServerAPIError {
                throw CheckFailed(message: "\(error)")
            }
            throw error
        }
    }
}
