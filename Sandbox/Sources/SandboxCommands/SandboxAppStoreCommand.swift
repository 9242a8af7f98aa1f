internal import CommandOutput
internal import AppStoreSimulator
internal import ArgumentParser
internal import Foundation
internal import SandboxClock
internal import ScenarioWriting

/// `tollgate sandbox app-store`: the App Store, and what one does to it.
///
/// It has no options of its own: they would take those of the same name from `act`.
struct SandboxAppStoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app-store",
        abstract: "Play the App Store: its server API, its notifications, its customers.",
        subcommands: [SandboxAppStorePlayCommand.self, SandboxAppStoreActCommand.self],
        defaultSubcommand: SandboxAppStorePlayCommand.self
    )
}

/// `tollgate sandbox app-store play`: plays the App Store at an address until it is stopped.
struct SandboxAppStorePlayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "play",
        abstract: "Play the App Store until stopped; what is done if nothing else is said."
    )

    @Option(help: "Where the App Store Server API listens; port 0 takes any free one.")
    var listen = "127.0.0.1:8081"

    @Option(help: "Where the control API listens; without it, at the same address.")
    var control: String?

    @Option(help: "production or sandbox.")
    var environment = "sandbox"

    @Option(help: "How often a subscription renews by itself before it ends; 0 for no limit.")
    var renewals: Int?

    @Option(
        help: """
            How long periods last: real, compressed as by default in Apple's sandbox (a month is five \
            minutes), or one of its rates, such as MONTHLY_RENEWAL_EVERY_ONE_HOUR.
            """
    )
    var durations: String?

    @Option(help: "Days of billing grace: 3, 16 or 28; 0 for none.")
    var graceDays = 16

    @Option(help: "A file that the root certificate is written to, in DER.")
    var rootOut: String?

    @Option(help: "A file that the API's private key is written to, a .p8.")
    var keyOut: String?

    @Option(help: "A file that keeps everything between runs.")
    var state: String?

    @Option(help: "What all ids are drawn from.")
    var seed: UInt64 = 1

    @Option(name: .customLong("notification-url"), help: "Where notifications are posted.")
    var notificationURL: String?

    @Option(name: .customLong("bundle-id"), help: "The app's bundle id.")
    var bundleID = "com.example.app"

    @Option(name: .customLong("app-apple-id"), help: "The app's Apple id.")
    var appAppleID: Int64 = 1_234_567_890

    @Option(help: "A JSON file with what the app sells, as PUT /sandbox/products takes it.")
    var products: String?

    @Option(help: "The virtual clock's start in UNIX milliseconds; the real time if left out.")
    var now: Int64?

    @Option(
        name: .customLong("ocsp-url"),
        help: "Named in the certificates as their OCSP responder."
    )
    var ocspURL: String?

    @Option(
        help: """
            A file that what happens is written to as a scenario, with its catalog beside it; \
            `tollgate scenario run` replays it.
            """
    )
    var saveScenario: String?

    @Option(
        help: """
            Milliseconds of real time that the app has to answer a realtime request for a retention \
            message.
            """
    )
    var realtimeLimit: Int64 = 700

    @Flag(help: "Answer calls beyond Apple's rate limits with 429.")
    var rateLimits = false

    func run() async throws {
        let saved = try state.flatMap { try SimulatedAppStore.savedNow(statePath: $0) }
        let start = now ?? saved ?? Int64(Date().timeIntervalSince1970 * 1000)
        let clock = VirtualClock(now: start)
        let store = try SimulatedAppStore(configuration: try configuration(), clock: clock)
        await clock.join(store)
        try await writeKeys(of: store)
        let (host, port) = try Self.address(listen)
        try await withThrowingTaskGroup(of: Void.self) { group in
            let surface: SimulatedAppStore.Surface = control == nil ? .everything : .serverAPI
            group.addTask {
                try await store.run(host: host, port: port, surface: surface) { port in
                    Terminal.announce("app-store listening on http://\(host):\(port)")
                }
            }
            if let control {
                let (host, port) = try Self.address(control)
                group.addTask {
                    try await store.run(host: host, port: port, surface: .control) { port in
                        Terminal.announce("app-store control listening on http://\(host):\(port)")
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private func configuration() throws -> SimulatedAppStore.Configuration {
        guard let environment = SimulatedAppStore.Environment(rawValue: environment.capitalized)
        else { throw ValidationError("--environment is production or sandbox.") }
        guard (1...600_000).contains(realtimeLimit) else {
            throw ValidationError("--realtime-limit is 1 to 600000 milliseconds.")
        }
        let length: SimulatedAppStore.Renewals? =
            switch durations {
            case nil: nil
            case "real": .real
            case "compressed": .compressed(.everyFiveMinutes)
            case let rate?: try Self.compressed(rate)
            }
        var configuration = SimulatedAppStore.Configuration(
            environment: environment,
            bundleID: bundleID,
            appAppleID: appAppleID,
            notificationURL: notificationURL,
            seed: seed,
            renewals: length,
            renewalLimit: renewals.map { $0 == 0 ? .max : $0 },
            graceDays: graceDays == 0 ? nil : graceDays,
            ocspURL: ocspURL,
            statePath: state,
            enforcesRateLimits: rateLimits,
            realtimeLimit: realtimeLimit
        )
        if let saveScenario { configuration.onDeed = Self.writer(to: saveScenario) }
        if let products {
            struct Listing: Decodable {
                var data: [SimulatedAppStore.Product]
            }
            let bytes = try Data(contentsOf: URL(fileURLWithPath: products))
            do {
                configuration.products = try StrictKeys.decode(Listing.self, from: bytes).data
            } catch {
                throw ValidationError("\(products) cannot be read: \(SandboxCommand.words(error))")
            }
        }
        return configuration
    }

    /// By the name of App Store Connect's `subscriptionRenewalRate`.
    private static func compressed(_ name: String) throws -> SimulatedAppStore.Renewals {
        let rates = SimulatedAppStore.Renewals.Rate.allCases
        guard let rate = rates.first(where: { $0.rawValue == name.uppercased() }) else {
            throw ValidationError(
                "--durations is real, compressed, or one of \(rates.map(\.rawValue).joined(separator: ", "))."
            )
        }
        return .compressed(rate)
    }

    /// Writes the scenario anew after each deed, so that it is whole whenever the sandbox ends.
    private static func writer(
        to path: String
    ) -> @Sendable (SimulatedAppStore.Story) -> Void {
        let file = ScenarioFile(path: path)
        return { story in
            file.write(
                ScenarioWriter.write(
                    story,
                    title: "What happened in the sandbox",
                    catalog: file.catalogName
                )
            )
        }
    }

    private func writeKeys(of store: SimulatedAppStore) async throws {
        if let rootOut {
            try store.rootDER.write(to: URL(fileURLWithPath: rootOut), options: .atomic)
        }
        if let keyOut {
            let pem = await store.apiKey.privateKeyPEM
            try Data(pem.utf8).write(to: URL(fileURLWithPath: keyOut), options: .atomic)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600],
                ofItemAtPath: keyOut
            )
        }
    }

    /// `host:port` or `:port`, which means this machine only.
    private static func address(_ text: String) throws -> (host: String, port: Int) {
        guard let colon = text.lastIndex(of: ":"),
            let port = Int(text[text.index(after: colon)...]), (0...65_535).contains(port)
        else { throw ValidationError("\(text) is not an address like 127.0.0.1:8081.") }
        let host = String(text[..<colon])
        return (host.isEmpty ? "127.0.0.1" : host, port)
    }
}
