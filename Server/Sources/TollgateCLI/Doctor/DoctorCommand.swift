import ArgumentParser
import AsyncHTTPClient
import CommandOutput
import Foundation
import Storage
import Stores
import TollgateCore
import TollgateService

/// `tollgate doctor`: asks everything that can be wrong, and says what to do.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Ask everything that can be wrong, and say what to do about it.",
        discussion: """
            Reads the server's settings, and asks the database, the disk, the clock, the public \
            address, the mail server of emails to customers, and each store that is set up: its key \
            and what the key may do, where it sends its messages, and what it sells. It changes \
            nothing and may run beside the server. \
            Exit codes: 0 nothing failed, 1 something did.
            """
    )

    @Option(help: "sqlite:PATH or postgres://USER@HOST:PORT/NAME.")
    var database: String?

    @Option(help: "The catalog: what is sold and what it grants.")
    var catalog: String?

    @Option(name: .customLong("public-url"), help: "Where browsers and stores reach the server.")
    var publicURL: String?

    @Flag(help: "Answer in JSON.")
    var json = false

    func run() async throws {
        let findings = try await examine()
        if json {
            try Terminal.sayJSON(findings)
        } else {
            say(findings)
        }
        guard !findings.contains(where: { $0.state == .failed }) else {
            throw CheckFailed(message: "")
        }
    }

    private func examine() async throws -> [Finding] {
        let given = [
            ("--database", database), ("--catalog", catalog), ("--public-url", publicURL),
        ]
        let options = given.flatMap { name, value in value.map { [name, $0] } ?? [] }
        let settings: ServeSettings
        do {
            settings = try ServeSettings(try ServeCommand.parse(options), listens: false)
        } catch let wrong as WrongSettings {
            return wrong.problems.map {
                Finding.failed(
                    "settings",
                    Sentence(quoting: $0),
                    "Mend the setting, then ask again: the rest was not asked."
                )
            }
        }
        let client = HTTPClient(
            eventLoopGroupProvider: .singleton,
            configuration: .forCommand(.init(redirectConfiguration: .disallow))
        )
        var findings = [Finding.ok("settings", "tollgate serve would start with these settings.")]
        findings += settings.warnings.map {
            Finding.warning(
                "settings",
                Sentence(quoting: $0),
                "See docs/operations.md, Keys that change."
            )
        }
        if let finding = openFile() { findings.append(finding) }
        let checkUp = Doctor.checkUp(
            { settings },
            over: client,
            .beside(settings.location)
        )
        // Stripe is asked about each price of the catalog.
        let line = ProgressLine(json: json)
        findings += await checkUp.findings(within: .seconds(600)) { done, all in
            line.report(WorkProgress(step: "checks", done: done, of: all))
        }
        line.end()
        try await client.shutdown()
        return findings
    }

    /// Warns of secrets in a file that everybody on this machine may read.
    private func openFile() -> Finding? {
        var status = stat()
        guard let path = try? SettingsFile.path(), stat(path, &status) == 0,
            status.st_mode & 0o004 != 0, !SettingsFile.secrets(at: path).isEmpty
        else { return nil }
        return .warning(
            "settings",
            "\(path) holds keys, and everybody on this machine may read it.",
            "chmod 640 \(path), or 600 where the server runs as its owner."
        )
    }

    private static func coloured(_ text: String, _ state: Finding.State) -> String {
        switch state {
        case .ok: Terminal.coloured(text, .green)
        case .warning: Terminal.coloured(text, .yellow)
        case .failed: Terminal.coloured(text, .red)
        case .skipped: text
        }
    }

    private func say(_ findings: [Finding]) {
        let width = findings.map(\.check.count).max() ?? 0
        for finding in findings {
            let state = Self.coloured(
                finding.state.rawValue.padding(toLength: 8, withPad: " ", startingAt: 0),
                finding.state
            )
            let check = finding.check.padding(toLength: width, withPad: " ", startingAt: 0)
            Terminal.say("\(state) \(check)  \(finding.sentence)")
            if let remedy = finding.remedy {
                Terminal.say(String(repeating: " ", count: 9) + "→ \(remedy)")
            }
        }
        let counts = Finding.State.allCases.map { state in
            "\(findings.count { $0.state == state }) \(state.rawValue)"
        }
        Terminal.say(counts.joined(separator: ", "))
    }
}
