import CommandOutput
import ArgumentParser
import AsyncHTTPClient
import Foundation
import SandboxClock
import Storage
import StorageSQLite
import TollgateCore
import TollgateService

/// `tollgate demo`: everything on one machine, with no account anywhere.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Run the server, all simulated stores and an app that uses them.",
        discussion: """
            Nothing leaves this machine. Without --database each run begins anew, in .tollgate/: \
            the address, database and catalog of a tollgate.yaml are a server's.
            """
    )

    @Flag(help: "Play the story in the terminal; exit 0 only if every step succeeded.")
    var script = false

    @Flag(help: "Fill it with customers who bought in the stores for some months.")
    var populate = false

    @Option(help: "With --populate: the number of customers.")
    var customers = 500

    @Option(help: "With --populate: the number of months.")
    var months = 13

    @Option(help: "Where the server listens.")
    var listen: String?

    @Option(name: .customLong("app-store-listen"), help: "Where the simulated App Store listens.")
    var appStoreListen: String?

    @Option(
        name: .customLong("google-play-listen"),
        help: "Where the simulated Google Play listens."
    )
    var googlePlayListen: String?

    @Option(name: .customLong("stripe-listen"), help: "Where the simulated Stripe listens.")
    var stripeListen: String?

    @Option(help: "sqlite:PATH or postgres://USER@HOST:PORT/NAME.")
    var database: String?

    @Option(help: "The catalog; catalog.yaml in this folder, else a sample, if left out.")
    var catalog: String?

    @Option(help: "The seed of the stores' ids; random if left out.")
    var seed: UInt64?

    @Flag(help: "With --script: print the story in JSON, at its end.")
    var json = false

    func validate() throws {
        guard script || !json else { throw ValidationError("--json goes with --script.") }
        guard !script || !populate else {
            throw ValidationError("--script tells a story of its own, without --populate.")
        }
        guard (1...20_000).contains(customers) else {
            throw ValidationError("--customers is 1 to 20000.")
        }
        guard (1...60).contains(months) else { throw ValidationError("--months is 1 to 60.") }
    }

    func run() async throws {
        var free = try freePorts(4)
        let listen = Settings.given(listen, "LISTEN")
        let addresses = DemoWorld.Addresses(
            server: try address(listen, "127.0.0.1:8080", "--listen", &free),
            appStore: try address(appStoreListen, "127.0.0.1:8081", "--app-store-listen", &free),
            googlePlay: try address(
                googlePlayListen,
                "127.0.0.1:8083",
                "--google-play-listen",
                &free
            ),
            stripe: try address(stripeListen, "127.0.0.1:8082", "--stripe-listen", &free)
        )
        let all = [
            (addresses.server, "--listen"), (addresses.appStore, "--app-store-listen"),
            (addresses.googlePlay, "--google-play-listen"), (addresses.stripe, "--stripe-listen"),
        ]
        for (address, option) in all { try Self.requireThisMachine(address, option) }
        try ListenAddress.requireFree(all)
        let catalog = try soldHere()
        let location: DatabaseLocation
        if let text = Settings.given(database, "DATABASE") {
            location = try DatabaseLocation(text)
        } else {
            location = try DatabaseLocation(await freshDatabase())
        }
        let seed = seed ?? UInt64.random(in: 1...1 << 40)
        let past = populate ? Int64(months) * DemoPopulation.month : 0
        let isTrue = try await HTTPClient.withHTTPClient { client in
            let world = try await DemoWorld(
                addresses: addresses,
                database: location,
                catalog: catalog,
                seed: seed,
                client: client,
                startingAt: (SystemClock.now().milliseconds - past) / 1000 * 1000
            )
            return try await run(world, seed)
        }
        if !isTrue { throw CheckFailed(message: "Not every step of the story came true.") }
    }

    /// The catalog that is named, else the one in this folder, else the sample.
    private func soldHere() throws -> TollgateCore.Catalog {
        if let path = Settings.given(catalog, "CATALOG") { return try CatalogFile.read(path) }
        let path = "catalog.yaml"
        guard FileManager.default.fileExists(atPath: path) else { return try CatalogFile.sample() }
        return try CatalogFile.read(path)
    }

    private static func requireThisMachine(_ address: ListenAddress, _ option: String) throws {
        guard !Loopback.isHost(address.host) else { return }
        throw ValidationError(
            "\(option): everybody knows the demo's keys, so it listens on this machine only, such as 127.0.0.1:\(address.port), not on \(address.host)."
        )
    }

    /// Lets so many customers live in the stores until it is today.
    private static func populate(
        _ world: DemoWorld,
        customers: Int,
        _ seed: UInt64
    ) async throws {
        Terminal.announce("Letting \(customers) customers live in the stores until today …")
        let end = SystemClock.now().milliseconds / 1000 * 1000
        let population = DemoPopulation(
            customers: customers,
            from: await world.clock.now,
            until: end,
            seed: seed
        )
        let refused = try await DemoPopulator(world).live(population, until: end)
        Terminal.announce(
            "\(population.deeds.count - refused) purchases, cancellations, refunds and failed "
                + "cards later it is today (--seed \(seed))."
        )
    }

    private func run(_ world: DemoWorld, _ seed: UInt64) async throws -> Bool {
        let app = DemoApp(world)
        guard script else {
            let page = try DemoPage(app: app, world: world)
            let customers = populate ? customers : 0
            try await world.run(routes: { page.addRoutes(to: $0) }) {
                if customers > 0 {
                    try await Self.populate(world, customers: customers, seed)
                }
                try await app.signIn("user-1")
                Terminal.announce(
                    Self.welcome(world, dashboard: "\(world.serverURL)/demo/dashboard")
                )
                // Until the process is told to stop.
                while !Task.isCancelled { try await Task.sleep(for: .seconds(3600)) }
            }
            return true
        }
        let outcome = Outcome()
        let story = DemoStory(world: world, app: app, json: json)
        try await world.run {
            let isTrue = try await story.tell()
            await outcome.set(isTrue)
        }
        return await outcome.isTrue
    }

    /// As asked; else, for the script, one of the free ports, and for people one that is easy to
    /// remember.
    private func address(
        _ text: String?,
        _ usual: String,
        _ option: String,
        _ free: inout [Int]
    ) throws -> ListenAddress {
        if let text, !text.hasSuffix(":0") { return try ListenAddress(text, option: option) }
        if text != nil || script {
            return try ListenAddress("127.0.0.1:\(free.removeLast())", option: option)
        }
        return try ListenAddress(usual, option: option)
    }

    /// A place for a database that is not there yet.
    ///
    /// - Throws: `StorageError.inUse` rather than take the file from under a demo that is running.
    private func freshDatabase() async throws -> String {
        let name = script ? "story-\(ProcessInfo.processInfo.processIdentifier)" : "demo"
        let path = ".tollgate/\(name).sqlite"
        do {
            if FileManager.default.fileExists(atPath: path) {
                await (try StorageSQLite(path: path)).close()
            }
        } catch let error as StorageError where error.kind == .inUse {
            throw CheckFailed(
                message: "\(PlainWords.of(error)) Or start this demo with --database sqlite:PATH."
            )
        } catch {
            // Whatever it is, it goes.
        }
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: path + suffix)
        }
        return "sqlite:" + path
    }

    private static func welcome(_ world: DemoWorld, dashboard link: String) -> String {
        """

        Tollgate is running. Nothing leaves this machine.

          the app           \(world.serverURL)/demo
          the dashboard     \(link)
          Tollgate          \(world.serverURL)          (API: /openapi.json)
          the App Store     http://\(world.addresses.appStore.host):\(world.addresses.appStore.port)
          Google Play       http://\(world.addresses.googlePlay.host):\(world.addresses.googlePlay.port)
          Stripe            http://\(world.addresses.stripe.host):\(world.addresses.stripe.port)
          database          \(world.database.description)
          secret key        \(DemoWorld.secretKey)        (your backend)
          publishable key   \(DemoWorld.publishableKey)        (your app)

        Open the app in a browser and subscribe; then let a month pass. Or ask as a backend would:

          curl -u \(DemoWorld.secretKey): \(world.serverURL)/v1/customers/user-1/entitlements
          curl -u \(DemoWorld.secretKey): '\(world.serverURL)/v1/customers/user-1/explain?lookup_key=pro'

        Control-C ends it.
        """
    }
}

private actor Outcome {
    private(set) var isTrue = false

    func set(_ isTrue: Bool) {
        self.isTrue = isTrue
    }
}
