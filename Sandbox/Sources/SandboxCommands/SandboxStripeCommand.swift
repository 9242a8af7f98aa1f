internal import CommandOutput
internal import ArgumentParser
internal import Foundation
internal import SandboxClock
internal import ScenarioWriting
internal import StripeSimulator

/// `tollgate sandbox stripe`: Stripe, played on this machine, for any project.
///
/// Without a subcommand it plays; its options are not this group's, or they would be taken from
/// `listen`, which has one of the same name.
struct SandboxStripeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stripe",
        abstract: "Plays Stripe: API, Checkout, portal and webhooks.",
        subcommands: [
            SandboxStripePlayCommand.self, SandboxStripeTriggerCommand.self,
            SandboxStripeListenCommand.self,
        ],
        defaultSubcommand: SandboxStripePlayCommand.self
    )
}

/// Plays Stripe until it is told to stop.
struct SandboxStripePlayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "play",
        abstract: "Plays Stripe; the same without this word.",
        discussion: """
            Give the printed address to a Stripe library as its API base, with the secret key. \
            The clock stands still until it is advanced: POST /sandbox/clock/advance {"by": ms}.
            """
    )

    @Option(help: "Where API and pages are served; port 0 takes a free one.")
    var listen = "127.0.0.1:8082"

    @Option(help: "Where /sandbox/… is served; by default on the same address.")
    var control: String?

    @Option(help: "The file that keeps the state; without, it is gone at the end.")
    var state: String?

    @Option(help: "From which all ids are drawn.")
    var seed: UInt64 = 1

    @Option(help: "The key that API requests must carry.")
    var secretKey = "sk_test_sandbox"

    @Option(help: "The account's API version: of requests and webhook endpoints that name none.")
    var apiVersion = StripeSimulator.Configuration().apiVersion

    @Option(help: "A webhook endpoint that gets every event. May be given more than once.")
    var forwardTo: [String] = []

    @Option(help: "The signing secret of these endpoints.")
    var webhookSecret = "whsec_sandbox"

    @Option(help: "Where the clock starts, in UNIX milliseconds; by default now.")
    var now: Int64?

    @Flag(help: "Save the customer portal's settings, so that portal sessions can be made.")
    var portal = false

    @Option(
        help: """
            A file that what happens is written to as a scenario, with its catalog beside it; \
            `tollgate scenario run` replays it.
            """
    )
    var saveScenario: String?

    func run() async throws {
        let address = try Self.address(listen, option: "listen")
        let controlAddress = try control.map { try Self.address($0, option: "control") }
        var settings = StripeSimulator.Configuration()
        settings.secretKey = secretKey
        settings.apiVersion = apiVersion
        settings.seed = seed
        settings.statePath = state
        settings.hasPortalConfiguration = portal
        settings.webhookEndpoints = forwardTo.map {
            StripeSimulator.WebhookEndpoint(url: $0, secret: webhookSecret)
        }
        if let saveScenario {
            let file = ScenarioFile(path: saveScenario)
            settings.onDeed = { story in
                file.write(
                    ScenarioWriter.write(
                        story,
                        title: "What happened in the sandbox",
                        catalog: file.catalogName
                    )
                )
            }
        }
        let saved = try state.flatMap { try StripeSimulator.savedInstant(statePath: $0) }
        let present = Int64(Date().timeIntervalSince1970 * 1_000)
        let simulator = try await StripeSimulator(
            configuration: settings,
            clock: VirtualClock(now: now ?? saved ?? present)
        )
        try await simulator.run(
            host: address.host,
            port: address.port,
            control: controlAddress
        ) { port in
            Terminal.announce("stripe listening on http://\(address.host):\(port)")
        }
    }

    /// Reads `host:port` or `:port`.
    private static func address(_ text: String, option: String) throws -> (host: String, port: Int)
    {
        guard let colon = text.lastIndex(of: ":"),
            let port = UInt16(text[text.index(after: colon)...])
        else { throw ValidationError("--\(option) wants HOST:PORT, not “\(text)”.") }
        let host = text[..<colon]
        return (host.isEmpty ? "127.0.0.1" : String(host), Int(port))
    }
}
