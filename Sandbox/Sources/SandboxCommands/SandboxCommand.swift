public import ArgumentParser
internal import CommandOutput

/// `sandbox`: the stores, played on this machine.
public struct SandboxCommand: AsyncParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "sandbox",
        abstract: "Play the App Store, Google Play or Stripe on this machine, for any project.",
        subcommands: [
            SandboxAppStoreCommand.self, SandboxGooglePlayCommand.self, SandboxStripeCommand.self,
        ]
    )

    public init() {}

    /// An error in words for a person.
    public static func words(_ error: any Error) -> String {
        PlainWords.of(
            error,
            modules: ["AppStoreSimulator", "GooglePlaySimulator", "Sandbox", "StripeSimulator"]
        )
    }
}
