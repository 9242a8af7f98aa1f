import ArgumentParser

/// Filled in below.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "demo")
    func run() async throws {}
}
