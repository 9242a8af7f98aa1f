import CommandOutput
import ArgumentParser
import Foundation
import TollgateSimulation

/// `tollgate simulate`: years of a world with both stores, in which nearly everything goes wrong.
struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Simulate years of customers, stores and faults, and compare the answers.",
        discussion: """
            Customers buy, renew, lapse, are refunded, share and spend; messages get lost, doubled \
            and late; the server is killed; the stores do not answer. At every quiet point the \
            server's answers are compared with the stores' own books. One seed decides all of it. \
            docs/reliability.md has the whole story.
            """
    )

    @Option(help: "The seed of the whole world.")
    var seed: UInt64 = 1

    @Option(help: "The number of worlds, with the following seeds.")
    var worlds = 1

    @Option(help: "The number of people.")
    var customers = 50

    @Option(help: "The number of years.")
    var years = 2.0

    @Option(
        help: "What goes wrong: \(Trouble.names.joined(separator: ", ")), or several by commas."
    )
    var faults = "all"

    @Option(help: "sqlite, or postgres for a server of this run's own.")
    var database = "sqlite"

    @Option(
        help: "A mistake to be planted into the server, to see it found; not in release builds."
    )
    var planted: String?

    @Option(help: "Only the acts with these numbers, as a shrunk failure names them.")
    var acts: String?

    @Option(help: "Where a failure is written as a scenario.")
    var scenario = "simulation.yaml"

    @Flag(inversion: .prefixedNo, help: "Make a failing world smaller.")
    var shrink = true

    @Flag(help: "Answer in JSON.")
    var json = false

    func validate() throws {
        guard Trouble(named: faults) != nil else {
            throw ValidationError("--faults is of \(Trouble.names.joined(separator: ", ")).")
        }
        guard (1...10_000).contains(customers), (0.1...50).contains(years), worlds >= 1 else {
            throw ValidationError(
                "--customers is from 1 to 10000, --years from 0.1 to 50, --worlds at least 1."
            )
        }
        guard Backend(rawValue: database) != nil else {
            throw ValidationError("--database is sqlite or postgres.")
        }
        if let planted {
            guard PlantedBug(rawValue: planted) != nil else {
                let names = PlantedBug.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("--planted is one of \(names).")
            }
            #if !DEBUG
                throw ValidationError("This build is for release: it cannot plant a mistake.")
            #endif
        }
        if let acts, acts.split(separator: ",").contains(where: { Int($0) == nil }) {
            throw ValidationError("--acts is a list of numbers: 3,14,15.")
        }
    }

    func run() async throws {
        guard let trouble = Trouble(named: faults), let backend = Backend(rawValue: database) else {
            return
        }
        let runner = try SimulatedWorlds(on: backend)
        var results: [Result] = []
        for number in 0..<UInt64(worlds) {
            let settings = Simulation.Settings(
                seed: seed &+ number,
                customers: customers,
                years: years,
                trouble: trouble,
                bug: planted.flatMap { PlantedBug(rawValue: $0) },
                acts: acts.map { Set($0.split(separator: ",").compactMap { Int($0) }) }
            )
            let start = ContinuousClock.now
            let outcome = try await runner.run(settings)
            let result = Result(settings, outcome, ContinuousClock.now - start)
            results.append(result)
            if !json { result.say() }
            if !outcome.failures.isEmpty {
                try await report(settings, outcome, runner)
                if json { try Terminal.sayJSON(results) }
                throw CheckFailed(message: "")
            }
        }
        if json { try Terminal.sayJSON(results) }
    }

    /// How a failure is seen again.
    private func report(
        _ settings: Simulation.Settings,
        _ outcome: Simulation.Outcome,
        _ runner: SimulatedWorlds
    ) async throws {
        func complain(_ text: String) { Terminal.complain(text) }
        complain("seen again by: \(command(settings))")
        var small = Shrinking.Found(settings: settings, outcome: outcome)
        if shrink {
            var shrinking = Shrinking { try await runner.run($0) }
            small = try await shrinking.shrink(small)
        }
        complain(
            "shrunk to \(small.outcome.performed.count { $0.customer != nil }) acts: "
                + command(small.settings)
        )
        for failure in small.outcome.failures { complain("  \(failure.message)") }
        let url = URL(fileURLWithPath: scenario)
        let catalog = url.deletingPathExtension().lastPathComponent + ".catalog.yaml"
        let written = Simulation.scenario(of: small.settings, small.outcome, catalog: catalog)
        try Data(written.scenario.utf8).write(to: url)
        try Data(written.catalog.utf8).write(
            to: url.deletingLastPathComponent().appendingPathComponent(catalog)
        )
        complain("as a scenario: \(scenario)")
    }

    private func command(_ settings: Simulation.Settings) -> String {
        var words = [
            "tollgate simulate --seed \(settings.seed) --customers \(settings.customers)",
            "--years \(settings.years) --faults \(settings.trouble.name) --database \(database)",
        ]
        if let bug = settings.bug { words.append("--planted \(bug.rawValue)") }
        if let acts = settings.acts {
            words.append("--acts " + acts.sorted().map(String.init).joined(separator: ","))
        }
        return words.joined(separator: " ")
    }

    /// What came of one world.
    private struct Result: Encodable {
        var seed: UInt64
        var acts: Int
        var messages: Int
        var kills: Int
        var comparisons: Int
        var looks: Int
        /// How often the second opinion said yes, no, or left it open.
        var secondOpinion: [String: Int]
        var journalRows: Int64
        var journalHash: String
        var seconds: Double
        var failures: [String]

        init(_ settings: Simulation.Settings, _ outcome: Simulation.Outcome, _ duration: Duration) {
            seed = settings.seed
            acts = outcome.performed.count
            messages = outcome.letters
            kills = outcome.kills
            comparisons = outcome.comparisons
            looks = outcome.looks
            let verdicts = outcome.verdicts
            secondOpinion = ["yes": verdicts.yes, "no": verdicts.no, "open": verdicts.open]
            journalRows = outcome.journalRows
            journalHash = outcome.journalHash
            let parts = duration.components
            seconds = Double(parts.seconds) + Double(parts.attoseconds) / 1e18
            failures = outcome.failures.map(\.message)
        }

        func say() {
            let verdict = failures.isEmpty ? "held  " : "FAILED"
            let seconds = (self.seconds * 10).rounded() / 10
            Terminal.say(
                "\(verdict) seed \(seed): \(acts) acts, \(messages) messages, \(kills) kills, "
                    + "\(comparisons) comparisons (\(looks) at once), \(journalRows) journal rows "
                    + "\(journalHash.prefix(16)), \(seconds) s"
            )
            func count(_ verdict: String) -> Int { secondOpinion[verdict] ?? 0 }
            Terminal.say(
                "        second opinion, by entitlement: \(count("yes")) yes, \(count("no")) no, "
                    + "\(count("open")) left open"
            )
            for failure in failures { Terminal.say("        \(failure)") }
        }
    }
}
