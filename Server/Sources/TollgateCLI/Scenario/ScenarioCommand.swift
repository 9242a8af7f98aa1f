import AppStoreSimulator
import ArgumentParser
import Foundation
import TollgateTesting

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
        abstract: "Say what is wrong with scenario files, line by line."
    )

    @Argument(help: "Scenario files.")
    var files: [String]

    func run() async throws {
        let loaded = try ScenarioFiles.load(files)
        Terminal.say(
            "\(loaded.count) scenarios, \(loaded.map(\.scenario.checkCount).reduce(0, +)) checks"
        )
    }
}

enum ScenarioFiles {
    /// Reads them all, or says everything that is wrong.
    static func load(_ paths: [String]) throws -> [LoadedScenario] {
        var mistakes: [String] = []
        let loaded = paths.compactMap { path -> LoadedScenario? in
            do { return try LoadedScenario(path: path) } catch {
                mistakes.append("\(error)")
                return nil
            }
        }
        guard mistakes.isEmpty else {
            throw CheckFailed(message: mistakes.joined(separator: "\n"))
        }
        return loaded
    }
}
