import CommandOutput
import ArgumentParser
import AsyncHTTPClient
import Foundation
import Storage
import Stores
import TollgateCore
import TollgateService

/// `tollgate check-access`: who paid and is locked out, who is let in without having paid.
struct CheckAccessCommand: DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-access",
        abstract: "Compare everybody's access with a second opinion from the stores' own words.",
        discussion: """
            Reads beside a running server and changes nothing. Exit codes: 0 nobody is locked out \
            or let in, 1 somebody is, 2 wrong usage.
            """
    )

    @Option(help: "The instant, in UNIX milliseconds; now if left out.")
    var at: Int64?

    @OptionGroup var place: DatabaseOptions

    private struct Answer: Encodable {
        var report: AccessReport
        /// What devices saw, with the cause of the no that both give.
        var devices: [AccessFinding]
    }

    func run() async throws {
        let asked = try await ClockSetting.instant(at)
        let line = ProgressLine(json: json)
        let answer = try await ReadingCommand.run(database: database) { records in
            let report = try await AccessChecks.report(of: records, at: asked) { rows in
                line.report(WorkProgress(step: "journal rows", done: rows))
            }
            let devices = try await records.evidence.findings(of: [.device])
            return Answer(report: report, devices: devices.map(\.finding))
        }
        line.end()
        if json {
            try Terminal.sayJSON(answer)
        } else {
            for finding in answer.report.findings + answer.devices { say(finding) }
            let report = answer.report
            Terminal.say(
                "\(report.purchases) purchases looked at as of \(report.at), \(report.unjudged) "
                    + "could not be judged: \(report.findings.count) findings"
                    + (report.isCut ? ", and more that were not looked at" : "")
            )
        }
        guard answer.report.findings.isEmpty else { throw CheckFailed(message: "") }
    }

    private func say(_ finding: AccessFinding) {
        Terminal.say(
            "\(finding.kind.rawValue)  \(finding.customer)  \(finding.lookupKey)  "
                + "\(finding.environment.rawValue)  since \(finding.since)"
        )
        Terminal.say("    evidence: \(finding.opinion)")
        Terminal.say("    server:   \(finding.answer)")
        for evidence in finding.evidence {
            let message = evidence.message.map { " (\($0))" } ?? ""
            Terminal.say("    → journal \(evidence.journal)\(message)")
        }
    }
}
