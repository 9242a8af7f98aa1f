import ArgumentParser
import CommandOutput
import SandboxCommands

/// The program `sandbox`: the stores alone, without Tollgate.
@main
struct SandboxCLI: AsyncParsableCommand {
    static let configuration = SandboxCommand.configuration

    static func main() async {
        await runAsProgram(words: SandboxCommand.words)
    }
}
