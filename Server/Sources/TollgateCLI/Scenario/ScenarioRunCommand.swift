import CommandOutput
import AppStoreSimulator
import ArgumentParser
import Foundation
import TollgateSimulation

/// `tollgate scenario run FILE…`: plays stories on the simulated stores and asks Tollgate, or any
/// backend, what access there is.
struct ScenarioRunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Play scenarios against Tollgate, or against any backend.",
        discussion: """
            Without --webhook, Tollgate is asked in this process, in order and then in random \
            orders with repetitions. With --webhook and --entitled it is your backend: the stores \
            post there, and GET ENTITLED?customer=…&entitlement=… must answer {"entitled": bool}. \
            docs/scenarios.md has the whole story.
            """
    )

    @Argument(help: "Scenario files.")
    var files: [String]

    @Option(help: "The address to which the stores post their messages.")
    var webhook: String?

    @Option(help: "The address that says whether a customer has an entitlement.")
    var entitled: String?

    @Option(help: "The signing secret of Stripe's messages.")
    var webhookSecret = "whsec_scenario"

    @Option(help: "A file that keeps the App Store's keys and certificates between runs.")
    var authority: String?

    @Option(help: "A file that the App Store's root certificate is written to, in DER.")
    var rootOut: String?

    @Option(help: "The number of random orders of each story.")
    var orders = 3

    @Option(help: "The seed of the random orders.")
    var seed: UInt64 = 1

    @Option(
        help: """
            How the stores behave where they do not say: likely, all, or the name of one switch \
            (\(Variant.all.dropFirst().map(\.name).joined(separator: ", "))).
            """
    )
    var behaviour = "likely"

    @Option(help: "sqlite, or postgres for a server of this run's own.")
    var database = "sqlite"

    @Flag(help: "Answer in JSON.")
    var json = false

    func validate() throws {
        guard (webhook == nil) == (entitled == nil) else {
            throw ValidationError("--webhook and --entitled go together.")
        }
        guard !files.isEmpty else { throw ValidationError("Name at least one scenario file.") }
    }

    func run() async throws {
        guard let database = Backend(rawValue: database) else {
            throw ValidationError("--database is sqlite or postgres.")
        }
        let loaded = try ScenarioFiles.load(files)
        let authority = try keptAuthority()
        if let rootOut {
            let root = try SimulatedAppStore.rootDER(ofAuthority: authority)
            try root.write(to: URL(fileURLWithPath: rootOut), options: .atomic)
        }
        let runner = try ScenarioRunner(authority: authority) { try await database.open() }
        var results: [Result] = []
        if let webhook, let entitled {
            let backend = HTTPBackend(webhook: webhook, entitled: entitled)
            // New customers at each run, or a backend would know them.
            let salt = UInt64.random(in: .min ... .max)
            for scenario in loaded {
                let score = await runner.score(
                    scenario,
                    backend: backend,
                    webhookSecret: webhookSecret,
                    salt: salt,
                    now: { Int64(Date().timeIntervalSince1970 * 1000) }
                )
                results.append(Result(score))
                if !json { results[results.count - 1].say() }
            }
        } else {
            results = try await againstTollgate(loaded, runner)
            if !json { results.forEach { $0.say() } }
        }
        let failed = results.count { $0.outcome == .failed }
        let skipped = results.count { $0.outcome == .skipped }
        let passed = results.count - failed - skipped
        if json {
            try Terminal.sayJSON(
                Report(passed: passed, failed: failed, skipped: skipped, scenarios: results)
            )
        } else {
            Terminal.say("\(passed) passed, \(failed) failed, \(skipped) skipped")
        }
        if failed > 0 { throw CheckFailed(message: "") }
    }

    private func againstTollgate(
        _ loaded: [LoadedScenario],
        _ runner: ScenarioRunner
    ) async throws -> [Result] {
        var variants = Variant.all.filter { behaviour == "all" || $0.name == behaviour }
        if variants.isEmpty {
            throw ValidationError("'\(behaviour)' is no switch of the simulators; see --help.")
        }
        var results = loaded.map { Result(ScenarioScore(scenario: $0.scenario)) }
        func add(_ failures: [ScenarioFailure]) {
            for failure in failures {
                let index = results.firstIndex { $0.file == failure.file } ?? 0
                results[index].failures.append(failure)
            }
        }
        for (number, variant) in variants.enumerated() {
            let concerned = loaded.filter { variant.concerns($0.scenario) }
            for scenario in concerned {
                let index = results.firstIndex { $0.file == scenario.scenario.file } ?? 0
                results[index].asked += scenario.scenario.checkCount
            }
            add(try await runner.play(concerned, under: variant))
            progress("in order", number + 1, variants.count)
        }
        // A story that does not hold in order is not worth telling in another one.
        let sound = zip(loaded, results).filter { $1.failures.isEmpty }.map(\.0)
        if orders == 0 { variants = [] }
        var likely: [String: Recording] = [:]
        for variant in variants {
            var recordings: [Recording] = []
            for scenario in sound where variant.concerns(scenario.scenario) {
                let recording = try await runner.record(scenario, under: variant)
                let file = scenario.scenario.file
                if let known = likely[file], known.saysTheSame(as: recording) { continue }
                if variant.name == Variant.likely.name { likely[file] = recording }
                recordings.append(recording)
            }
            for order in 0..<orders {
                add(try await runner.replay(recordings, order: order, seed: seed))
                progress("\(variant.name), random order", order + 1, orders)
            }
        }
        return results
    }

    private func progress(_ what: String, _ done: Int, _ all: Int) {
        guard Terminal.isInteractive else { return }
        Terminal.mark("\r\u{1B}[K\(what) \(done)/\(all)")
        if done == all { Terminal.mark("\r\u{1B}[K") }
    }

    private func keptAuthority() throws -> Data {
        if let authority, let kept = FileManager.default.contents(atPath: authority) { return kept }
        let made = try SimulatedAppStore.makeAuthority()
        if let authority {
            try made.write(to: URL(fileURLWithPath: authority), options: .atomic)
        }
        return made
    }

    /// The whole answer in JSON.
    private struct Report: Encodable {
        var passed: Int
        var failed: Int
        /// Nothing was asked of these.
        var skipped: Int
        var scenarios: [Result]
    }

    /// What became of one scenario.
    private struct Result: Encodable {
        var file: String
        var title: String
        var asked: Int
        var skipped: [String]
        var failures: [ScenarioFailure]

        init(_ score: ScenarioScore) {
            file = score.scenario.file
            title = score.scenario.title
            asked = score.asked
            skipped = score.skipped
            failures = score.failures
        }

        enum Outcome: String {
            case passed = "ok     "
            case failed = "FAILED "
            case skipped
        }

        var outcome: Outcome {
            if !failures.isEmpty { return .failed }
            return asked == 0 ? .skipped : .passed
        }

        func say() {
            Terminal.say("\(outcome.rawValue) \(file): \(title) (\(asked) checks)")
            for reason in asked == 0 ? skipped.prefix(1) : [] { Terminal.say("        \(reason)") }
            for failure in failures { Terminal.say("        \(failure)") }
        }
    }
}
