internal import ArgumentParser
internal import CommandOutput
internal import GooglePlaySimulator
internal import NIOHTTP1

/// `tollgate sandbox google-play act`: does what a buyer, a bank, Google or the developer would do.
struct SandboxGooglePlayActCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "act",
        abstract: "Act as a buyer, as Google or as the developer in a running sandbox.",
        discussion: """
            tollgate sandbox google-play act buy product_id=premium account=account_1
            tollgate sandbox google-play act set-account account_1 payment=declines
            tollgate sandbox google-play act advance by=2678400000
            tollgate sandbox google-play act faults lost=0.2 doubled=0.1

            Actions: \(actions.keys.sorted().joined(separator: ", ")).
            """
    )

    @Option(help: "Where the control API listens.")
    var control = "http://127.0.0.1:8083"

    @Argument(help: "What to do.")
    var action: String

    @Argument(help: "Whom or what it concerns, if anybody, then name=value for each detail.")
    var details: [String] = []

    private static let actions: [String: ControlCall] = {
        var all = SimulatedGooglePlay.acts.mapValues { ControlCall(method: .POST, path: $0) }
        let others: [(String, HTTPMethod, String)] = [
            ("advance", .POST, "clock/advance"), ("rotate-keys", .POST, "keys/rotate"),
            ("forget-access-tokens", .POST, "access_tokens/forget"),
            ("identity-token", .POST, "identity_tokens"), ("faults", .PUT, "faults"),
            ("behaviour", .PUT, "behaviour"), ("subscription", .PUT, "subscriptions"),
            ("clock", .GET, "clock"), ("app", .GET, "app"), ("show", .GET, "accounts/*"),
            ("show-purchase", .GET, "purchases/*"),
            ("signed", .GET, "purchases/*/signed"), ("notifications", .GET, "notifications"),
            ("subscriptions", .GET, "subscriptions"), ("orders", .GET, "orders"),
            ("voided", .GET, "voided"), ("reviews", .GET, "reviews"),
        ]
        for (name, method, path) in others { all[name] = ControlCall(method: method, path: path) }
        return all
    }()

    func run() async throws {
        guard let call = Self.actions[action] else {
            throw ValidationError("'\(action)' is no action; see --help.")
        }
        try await call.run(action, details, at: control, of: "google-play")
    }
}
