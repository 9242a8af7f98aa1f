internal import ArgumentParser
internal import CommandOutput
internal import Foundation
internal import GooglePlaySimulator
internal import SandboxClock
internal import ScenarioWriting

/// `tollgate sandbox google-play`: Google Play, and what one does to it.
///
/// It has no options of its own: they would take those of the same name from `act`.
struct SandboxGooglePlayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "google-play",
        abstract: "Play Google Play: its Developer API, Pub/Sub, its reports, its buyers.",
        subcommands: [SandboxGooglePlayPlayCommand.self, SandboxGooglePlayActCommand.self],
        defaultSubcommand: SandboxGooglePlayPlayCommand.self
    )
}

/// `tollgate sandbox google-play play`: plays Google Play at an address until it is stopped.
struct SandboxGooglePlayPlayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "play",
        abstract: "Play Google Play until stopped; what is done if nothing else is said."
    )

    @Option(help: "Where Google's APIs listen; port 0 takes any free one.")
    var listen = "127.0.0.1:8083"

    @Option(help: "Where the control API listens; without it, at the same address.")
    var control: String?

    @Option(help: "The app's package name.")
    var packageName = "com.example.app"

    @Option(help: "The Google Cloud project with the topic and the service account.")
    var project = "sandbox"

    @Option(help: "A JSON file with what the app sells, as PUT /sandbox/catalog takes it.")
    var catalog: String?

    @Option(help: "A file that the service account's key is written to, with our token endpoint.")
    var serviceAccountOut: String?

    @Option(help: "Where notifications are pushed; without it, they wait to be pulled.")
    var pushEndpoint: String?

    @Option(help: "The audience of push tokens; the endpoint if left out.")
    var pushAudience: String?

    @Option(help: "A file that keeps everything between runs.")
    var state: String?

    @Option(help: "What all ids are drawn from.")
    var seed: UInt64 = 1

    @Option(help: "The virtual clock's start in UNIX milliseconds; the real time if left out.")
    var now: Int64?

    @Option(
        help: """
            A file that what happens is written to as a scenario, with its catalog beside it.
            """
    )
    var saveScenario: String?

    @Flag(help: "Answer calls beyond Google's quotas with 429.")
    var quotas = false

    func run() async throws {
        let saved = try state.flatMap { try SimulatedGooglePlay.savedNow(statePath: $0) }
        let start = now ?? saved ?? Int64(Date().timeIntervalSince1970 * 1000)
        guard (0...253_402_300_799_000).contains(start) else {
            throw ValidationError(
                "--now is an instant in UNIX milliseconds, before the year 10000."
            )
        }
        let clock = VirtualClock(now: start)
        let play = try SimulatedGooglePlay(configuration: try configuration(), clock: clock)
        await clock.join(play)
        let (host, port) = try ListenAddress.parse(listen)
        let serviceAccountOut = serviceAccountOut
        try await withThrowingTaskGroup(of: Void.self) { group in
            let surface: SimulatedGooglePlay.Surface = control == nil ? .everything : .google
            group.addTask {
                try await play.run(host: host, port: port, surface: surface) { port in
                    await Self.writeKey(of: play, to: serviceAccountOut, host: host, port: port)
                    Terminal.announce("google-play listening on http://\(host):\(port)")
                }
            }
            if let control {
                let (host, port) = try ListenAddress.parse(control)
                group.addTask {
                    try await play.run(host: host, port: port, surface: .control) { port in
                        Terminal.announce("google-play control listening on http://\(host):\(port)")
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private func configuration() throws -> SimulatedGooglePlay.Configuration {
        var configuration = SimulatedGooglePlay.Configuration(
            packageName: packageName,
            project: project,
            catalog: try catalog.map { try Data(contentsOf: URL(fileURLWithPath: $0)) },
            pushEndpoint: pushEndpoint,
            pushAudience: pushAudience,
            seed: seed,
            statePath: state,
            enforcesQuotas: quotas
        )
        if let saveScenario {
            let file = ScenarioFile(path: saveScenario)
            configuration.onDeed = { story in
                file.write(
                    ScenarioWriter.write(
                        story,
                        title: "What happened in the sandbox",
                        catalog: file.catalogName
                    )
                )
            }
        }
        return configuration
    }

    /// Only once it listens the token endpoint has an address.
    private static func writeKey(
        of play: SimulatedGooglePlay,
        to path: String?,
        host: String,
        port: Int
    ) async {
        guard let path else { return }
        do {
            let file = await play.serviceAccountFile(tokenURL: "http://\(host):\(port)/token")
            try file.write(to: URL(fileURLWithPath: path), options: .atomic)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        } catch {
            Terminal.complain("The key cannot be written: \(SandboxCommand.words(error))")
        }
    }
}

/// The address on which a sandbox listens.
enum ListenAddress {
    /// `host:port` or `:port`, which means this machine only.
    static func parse(_ text: String) throws -> (host: String, port: Int) {
        guard let colon = text.lastIndex(of: ":"),
            let port = Int(text[text.index(after: colon)...]), (0...65_535).contains(port)
        else { throw ValidationError("\(text) is not an address like 127.0.0.1:8083.") }
        let host = String(text[..<colon])
        return (host.isEmpty ? "127.0.0.1" : host, port)
    }
}
