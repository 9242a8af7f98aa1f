import CommandOutput
import AppStoreSimulator
import ArgumentParser
import Foundation
import TollgateSimulation

/// `tollgate scenario`.
struct ScenarioCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scenario",
        abstract: "Stories about customers and stores, and what access must hold in them.",
        subcommands: [ScenarioRunCommand.self, ScenarioCheckCommand.self]
    )
}

/// `tollgate scenario check FILE…`: every mistake with its line.
struct ScenarioCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "List the mistakes in scenario files, with lines."
    )

    @Argument(help: "Scenario files.")
    var files: [String]

    @Flag(help: "Answer in JSON.")
    var json = false

    private struct Report: Encodable {
        var scenarios: Int
        var checks: Int
        var mistakes: [String]
    }

    func run() async throws {
        let (loaded, mistakes) = ScenarioFiles.read(files)
        let checks = loaded.map(\.scenario.checkCount).reduce(0, +)
        if json {
            let lines = mistakes.flatMap { $0.split(separator: "\n").map { String($0) } }
            try Terminal.sayJSON(Report(scenarios: loaded.count, checks: checks, mistakes: lines))
            if !mistakes.isEmpty { throw CheckFailed(message: "") }
            return
        }
        guard mistakes.isEmpty else {
            throw CheckFailed(message: mistakes.joined(separator: "\n"))
        }
        Terminal.say("\(loaded.count) scenarios, \(checks) checks")
    }
}

enum ScenarioFiles {
    /// Reads them all, or says everything that is wrong.
    static func load(_ paths: [String]) throws -> [LoadedScenario] {
        let (loaded, mistakes) = Self.read(paths)
        guard mistakes.isEmpty else {
            throw CheckFailed(message: mistakes.joined(separator: "\n"))
        }
        return loaded
    }

    /// Reads those that can be read, and says everything that is wrong.
    static func read(_ paths: [String]) -> (loaded: [LoadedScenario], mistakes: [String]) {
        var mistakes: [String] = []
        let loaded = paths.compactMap { path -> LoadedScenario? in
            do { return try LoadedScenario(path: path) } catch {
                mistakes.append(PlainWords.of(error))
                return nil
            }
        }
        // Ids are drawn from the names, and stories share databases.
        for (title, same) in Dictionary(grouping: loaded, by: \.scenario.title).sorted(by: {
            $0.key < $1.key
        }) where same.count > 1 {
            let files = same.map(\.scenario.file).joined(separator: " and ")
            mistakes.append(
                "\(files) have one name, ‘\(title)’; rename one, or name each file once"
            )
        }
        return (loaded, mistakes)
    }
}
