import AppStoreConnector
import CommandOutput
import AppStoreAPI
import ArgumentParser
import Storage
import TollgateAssembly
import TollgateCore
import TollgateService

/// `tollgate reconcile app-store`: what the App Store has sent and the record lacks, and what looks
/// overdue.
struct ReconcileAppStoreCommand: DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "app-store",
        abstract:
            "Record the App Store's missed notifications, and ask about overdue purchases.",
        discussion: """
            Goes on where an earlier run was broken off, and says since when and up to which minute \
            the record then holds all that the App Store has sent. The first time, and once \
            something turns out to have been lost (a backup was restored), it asks as with \
            --everything. A running server does the same by itself, when it starts and every 15 \
            minutes.
            """
    )

    @Option(help: "production or sandbox; both if left out.")
    var environment: String?

    @Option(help: "The app, by its id in the catalog; all of them if left out.")
    var app: String?

    @OptionGroup var reaching: ReachOptions

    @OptionGroup var place: DatabaseOptions

    func run() async throws {
        let asked = try StoreEnvironment(option: environment)
        let reach = try reaching.reach
        let progress = ProgressLine(json: json)
        let reports = try await WritingCommand.run(database: database) { tollgate in
            let environments = asked.map { [$0] } ?? tollgate.appStore.environments
            guard !environments.isEmpty, !tollgate.appStore.applications.isEmpty else {
                throw CheckFailed(
                    message:
                        "The App Store Server API is not configured: set TOLLGATE_APP_STORE_ISSUER_ID, TOLLGATE_APP_STORE_KEY_ID and TOLLGATE_APP_STORE_KEY_FILE."
                )
            }
            var reports: [AppStoreReconciliation.Report] = []
            let applications = try tollgate.applications(asked: app)
            for (application, environment) in applications.flatMap({ application in
                environments.map { (application, $0) }
            }) {
                let isOnly = tollgate.appStore.applications.count == 1
                let place = (isOnly ? "" : "\(application), ") + environment.rawValue
                do {
                    let report = try await tollgate.appStore.reconcile(
                        in: environment,
                        of: application,
                        reach: reach,
                        progress: progress.report
                    )
                    progress.end()
                    guard let report else {
                        Terminal.complain("\(place): a server is at it already")
                        continue
                    }
                    reports.append(report)
                } catch {
                    progress.end()
                    guard error is AppStore.ServerAPIError || error is AppStore.VerificationError
                    else { throw error }
                    throw CheckFailed(message: "\(place): \(error). Run it again to go on.")
                }
            }
            return reports
        }
        if json { return try Terminal.sayJSON(reports) }
        for report in reports { say(report) }
    }

    private func say(_ report: AppStoreReconciliation.Report) {
        let name =
            (report.application.map { $0 + ", " } ?? "") + report.environment.rawValue
        var words = [
            "\(report.notifications) notifications, \(report.undelivered) undelivered",
            "\(report.taken) new",
        ]
        if report.parked > 0 { words.append("\(report.parked) parked") }
        if report.foreign > 0 { words.append("\(report.foreign) not signed for this app") }
        Terminal.say("\(name): \(words.joined(separator: ", "))")
        if report.delivered > 0 {
            Terminal.say(
                "\(name): \(report.delivered) of the new had been delivered, to this database before it lost them or to another server"
            )
        }
        words = ["\(report.overdue) overdue purchases asked about, \(report.changed) with news"]
        if report.unknown > 0 { words.append("\(report.unknown) unknown to the App Store") }
        Terminal.say("\(name): \(words.joined(separator: ", "))")
        if report.histories > 0 {
            Terminal.say(
                "\(name): all purchases of \(report.histories) customers read, \(report.historiesChanged) with news"
            )
        }
        let from = Instant(milliseconds: report.completeFrom)
        let until = Instant(milliseconds: report.completeUntil)
        Terminal.say(
            "\(name): the record holds every notification sent from \(from) up to \(until)"
        )
        if let asOf = report.historiesAsOf {
            Terminal.say(
                "\(name): everything that known customers bought was read last as of \(Instant(milliseconds: asOf))"
            )
        }
    }
}

extension Tollgate {
    /// The bundle ids of the apps that `--app` names: all where it is left out.
    fileprivate func applications(asked id: String?) throws -> [String] {
        guard let id else { return appStore.applications }
        let catalog = try AppStoreConnection.catalog() ?? store.history.current
        guard let app = catalog.app(id: id) else {
            throw ValidationError("--app: the catalog lists no app '\(id)'.")
        }
        guard let bundleID = app.bundleID else {
            throw ValidationError(
                "--app: '\(id)' has no bundle_id in the catalog: it is not in the App Store."
            )
        }
        return [bundleID]
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
