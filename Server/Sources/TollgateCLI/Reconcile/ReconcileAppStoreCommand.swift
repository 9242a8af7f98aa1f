import AppStoreAPI
import ArgumentParser
import TollgateCore
import TollgateService

/// `tollgate reconcile app-store`: what the App Store could not deliver, and what looks overdue.
struct ReconcileAppStoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app-store",
        abstract: "Take in what the App Store could not deliver, and ask about what looks overdue.",
        discussion: """
            Goes on where an earlier run was broken off, and says up to which minute the record \
            then holds all that the App Store has sent. A running server does the same by itself \
            every 15 minutes.
            """
    )

    @Option(help: "production or sandbox; both if left out.")
    var environment: String?

    @Option(help: "sqlite:PATH or postgres://USER@HOST:PORT/NAME.")
    var database: String?

    @Flag(help: "Answer in JSON.")
    var json = false

    func run() async throws {
        let asked = try StoreEnvironment(option: environment)
        let progress = ProgressLine(json: json)
        let reports = try await WritingCommand.run(database: database) { tollgate in
            let environments = asked.map { [$0] } ?? tollgate.appStoreEnvironments
            guard !environments.isEmpty else {
                throw CheckFailed(
                    message:
                        "The App Store Server API is not configured: set TOLLGATE_APP_STORE_ISSUER_ID, TOLLGATE_APP_STORE_KEY_ID and TOLLGATE_APP_STORE_KEY_FILE."
                )
            }
            var reports: [AppStoreReconciliation.Report] = []
            for environment in environments {
                do {
                    let report = try await tollgate.reconcileAppStore(
                        in: environment,
                        progress: progress.report
                    )
                    progress.end()
                    guard let report else {
                        Terminal.complain("\(environment.rawValue): a server is at it already")
                        continue
                    }
                    reports.append(report)
                } catch let error as AppStore.ServerAPIError {
                    progress.end()
                    throw CheckFailed(
                        message: "\(environment.rawValue): \(error). Run it again to go on."
                    )
                }
            }
            return reports
        }
        if json { return try Terminal.sayJSON(reports) }
        for report in reports { say(report) }
    }

    private func say(_ report: AppStoreReconciliation.Report) {
        let name = report.environment.rawValue
        var words = ["\(report.undelivered) undelivered notifications, \(report.taken) new"]
        if report.parked > 0 { words.append("\(report.parked) parked") }
        if report.foreign > 0 { words.append("\(report.foreign) not signed for this app") }
        Terminal.say("\(name): \(words.joined(separator: ", "))")
        words = ["\(report.overdue) overdue purchases asked about, \(report.changed) with news"]
        if report.unknown > 0 { words.append("\(report.unknown) unknown to the App Store") }
        Terminal.say("\(name): \(words.joined(separator: ", "))")
        let from = Instant(milliseconds: report.completeFrom)
        let until = Instant(milliseconds: report.completeUntil)
        Terminal.say("\(name): the record is proven complete from \(from) up to \(until)")
    }
}

extension StoreEnvironment {
    /// `--environment`.
    init?(option text: String?) throws {
        guard let text else { return nil }
        guard let environment = StoreEnvironment(rawValue: text.lowercased()) else {
            throw ValidationError("--environment is production or sandbox.")
        }
        self = environment
    }
}
