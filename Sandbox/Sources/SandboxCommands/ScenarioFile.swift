internal import CommandOutput
internal import Foundation

/// Where a sandbox writes down what happens in it: a scenario, and its catalog beside it.
struct ScenarioFile: Sendable {
    private let scenario: URL
    private let catalog: URL

    init(path: String) {
        scenario = URL(fileURLWithPath: path)
        catalog = scenario.deletingPathExtension().appendingPathExtension("catalog.yaml")
    }

    var catalogName: String { catalog.lastPathComponent }

    /// Writes both anew, so that they are whole whenever the sandbox ends.
    func write(_ written: (scenario: String, catalog: String)) {
        do {
            try Data(written.catalog.utf8).write(to: catalog, options: .atomic)
            try Data(written.scenario.utf8).write(to: scenario, options: .atomic)
        } catch {
            Terminal.complain("The scenario cannot be saved: \(SandboxCommand.words(error))")
        }
    }
}
