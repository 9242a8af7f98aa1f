import AppStoreConnector
import CommandOutput
import AppStoreAPI
import ArgumentParser
import AsyncHTTPClient
import Foundation
import GooglePlayAPI
import GooglePlayConnector
import Logging
import Storage
import Stores
import StripeAPI
import StripeConnector
import TollgateCore
import TollgateService

/// `tollgate import reports [FILE…]`: sales and finance reports of App Store Connect.
struct ImportReportsCommand: DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "reports",
        abstract: "Import the stores' sales and finance reports.",
        discussion: """
            Files as App Store Connect gives them out, packed or not; keep their names, which say \
            of some reports what day they are of. Of Stripe, balance transactions and payouts: \
            exports (CSV) or objects of the API, one a line. Of Google Play, estimated sales, \
            earnings and payouts under their names in the Play Console. Without files, what is not here yet \
            of the last days is fetched: from App Store Connect with TOLLGATE_CONNECT_ISSUER_ID, \
            TOLLGATE_CONNECT_KEY_ID, TOLLGATE_CONNECT_KEY_FILE and TOLLGATE_CONNECT_VENDOR_NUMBER, \
            from Stripe with TOLLGATE_STRIPE_SECRET_KEY, from Google Play with \
            TOLLGATE_GOOGLE_PLAY_BUCKET. A server that runs fetches by itself.
            """
    )

    @Argument(help: "The files.")
    var files: [String] = []

    @Option(help: "The number of days to fetch, if no files are given.")
    var days = 30

    @OptionGroup var place: DatabaseOptions

    /// What is said of each report.
    private struct Line: Encodable, Sendable {
        var file: String?
        var kind: String
        var period: String
        var rows: Int
        var new: Bool

        init(_ outcome: TakenReport, file: String? = nil) {
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
        let settings = try StoreSettings(nil)
        let driver = try DatabaseLocation(option: database).open()
        let lines = try await driver.closing {
            let store = try await RecordStore(driver)
            return files.isEmpty ? try await fetch(store, settings) : try await read(store)
        }
        if json { return try Terminal.sayJSON(lines) }
        if lines.isEmpty { Terminal.say("There is nothing new.") }
    }

    private func read(_ store: RecordStore) async throws -> [Line] {
        let reports = ConnectReports(store)
        var lines: [Line] = []
        for path in files {
            guard let bytes = FileManager.default.contents(atPath: path) else {
                throw CheckFailed(message: "\(path): there is no such file, or it cannot be read.")
            }
            let name = URL(fileURLWithPath: path).lastPathComponent
            if GooglePlayReports.recognizes(name) {
                lines.append(try await read(googlePlay: Array(bytes), of: path, store))
                continue
            }
            if StripeReports.recognizes(Array(bytes)) {
                lines += try await read(stripe: Array(bytes), of: path, store)
                continue
            }
            do {
                let outcome = try await reports.take(
                    Array(bytes),
                    named: name,
                    at: SystemClock.now()
                )
                lines.append(Line(outcome, file: name))
                if !json { Terminal.say(Line(outcome, file: name).text) }
            } catch let error as AppStore.ConnectReportError {
                throw CheckFailed(message: "\(path): \(PlainWords.of(error))")
            } catch let error as ConnectReports.Failure {
                throw CheckFailed(message: "\(path): \(PlainWords.of(error))")
            }
        }
        return lines
    }

    private func read(
        googlePlay bytes: [UInt8],
        of path: String,
        _ store: RecordStore
    ) async throws -> Line {
        let name = URL(fileURLWithPath: path).lastPathComponent
        do {
            let outcome = try await GooglePlayReports(store)
                .take(bytes, named: name, at: SystemClock.now())
            let line = Line(outcome, file: name)
            if !json { Terminal.say(line.text) }
            return line
        } catch let problem as GooglePlay.ReportProblem {
            throw CheckFailed(message: "\(problem)")
        }
    }

    private func read(
        stripe bytes: [UInt8],
        of path: String,
        _ store: RecordStore
    ) async throws -> [Line] {
        let name = URL(fileURLWithPath: path).lastPathComponent
        do {
            let outcomes = try await StripeReports(store).take(bytes, at: SystemClock.now())
            let lines = outcomes.filter { $0.rows > 0 }.map { Line($0, file: name) }
            if !json { for line in lines { Terminal.say(line.text) } }
            return lines
        } catch let error as StorageError {
            throw error
        } catch {
            throw CheckFailed(message: "\(path): \(PlainWords.of(error))")
        }
    }

    private func fetch(_ store: RecordStore, _ settings: StoreSettings) async throws -> [Line] {
        try await HTTPClient.forCommand { client in
            let connect = settings.connect.client(over: client)
            let stripe = settings.stripe(over: client)
            let bucket = try await settings.googlePlay.setUp(over: client).bucket
            guard connect != nil || stripe != nil || bucket != nil else {
                throw ValidationError(
                    "Name files, or set TOLLGATE_CONNECT_ISSUER_ID, TOLLGATE_CONNECT_KEY_ID, TOLLGATE_CONNECT_KEY_FILE and TOLLGATE_CONNECT_VENDOR_NUMBER, or TOLLGATE_STRIPE_SECRET_KEY, or TOLLGATE_GOOGLE_PLAY_BUCKET."
                )
            }
            let today = try await ClockSetting(Settings.text(nil, "CLOCK")).reached(over: client)()
            let isQuiet = json
            let told: @Sendable (TakenReport) -> Void = {
                if !isQuiet { Terminal.say(Line($0).text) }
            }
            var outcomes: [TakenReport] = []
            if let connect {
                outcomes += try await ConnectReports(store)
                    .fetch(with: connect, today: today, days: days, told: told)
            }
            if let stripe {
                outcomes += try await StripeReports(store)
                    .fetch(with: stripe, today: today, days: days, told: told)
            }
            if let bucket {
                outcomes += try await GooglePlayReports(store).fetch(
                    from: bucket,
                    at: SystemClock.now(),
                    logger: Logger(label: "tollgate") {
                        StreamLogHandler.standardError(label: $0)
                    },
                    told: told
                )
            }
            return outcomes.map { Line($0) }
        }
    }
}
