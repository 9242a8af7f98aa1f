import AppStoreAPI
import AppStoreConnector
import AppStoreSimulator
import AsyncHTTPClient
import Foundation
import GooglePlayConnector
import GooglePlaySimulator
import Hummingbird
import SandboxClock
import ServiceLifecycle
import Storage
import Stores
import StripeAPI
import StripeSimulator
import TollgateAssembly
import TollgateCore
import TollgateServer
import TollgateService
import TollgateSimulation

/// All stores, the server and their clock, in one process; each speaks to the others over HTTP.
struct DemoWorld: Sendable {
    /// Where everything is.
    struct Addresses: Sendable {
        var server: ListenAddress
        var appStore: ListenAddress
        var googlePlay: ListenAddress
        var stripe: ListenAddress
    }

    static let secretKey = "sk_test_demo"
    static let publishableKey = "pk_test_demo"
    private static let stripeKey = "sk_test_sandbox"
    private static let webhookSecret = "whsec_demo"
    /// The app's bundle id, and its package name.
    fileprivate static let bundleID = "com.example.app"

    let clock: VirtualClock
    let appStore: SimulatedAppStore
    let googlePlay: SimulatedGooglePlay
    let stripe: StripeSimulator
    let stripeClient: Stripe.Client
    let server: RunningServer
    let client: HTTPClient
    let catalog: TollgateCore.Catalog
    let addresses: Addresses
    let database: DatabaseLocation

    /// - Parameters:
    ///   - seed: what the stores' ids are drawn from.
    ///   - start: where the clock begins, UNIX milliseconds: a full second, since Stripe counts
    ///     nothing finer.
    init(
        addresses: Addresses,
        database: DatabaseLocation,
        catalog: TollgateCore.Catalog,
        seed: UInt64,
        client: HTTPClient,
        startingAt start: Int64
    ) async throws {
        let clock = VirtualClock(now: start)
        let base = "http://\(addresses.server.host):\(addresses.server.port)"
        let (appStore, stripe) = try await Self.stores(catalog, base, seed: seed, clock)
        let pushes = base + "/webhooks/google_play"
        let googlePlay = try await Self.googlePlay(catalog, pushes, seed: seed, clock)
        let verifier = try AppStore.SignedDataVerifier(
            roots: [Array(appStore.rootDER)],
            bundleID: Self.bundleID,
            appAppleID: nil,
            environments: [.sandbox]
        )
        let stripeClient = Stripe.Client(
            apiBase: "http://\(addresses.stripe.host):\(addresses.stripe.port)",
            secretKey: Self.stripeKey,
            transport: transport(over: client)
        )
        let server = try await RunningServer(
            configuration: Configuration(
                secretKey: Self.secretKey,
                publishableKey: Self.publishableKey,
                publicURL: base,
                appURL: base + "/demo",
                stripeWebhookSecrets: [Self.webhookSecret],
                appleAppIDs: ["TEAMID." + Self.bundleID],
                defaultEnvironment: .sandbox,
                allowsPrivateWebhooks: true
            ),
            database: database,
            catalog: catalog,
            stores: StoreConnections(
                appStore: verifier,
                appStoreClients: try await appStore.clients(at: addresses.appStore, over: client),
                appStoreOptions: AppStoreOptions(
                    connect: try await appStore.reports(at: addresses.appStore, over: client)
                ),
                stripe: stripeClient,
                googlePlay: try await GooglePlaySetUp(
                    googlePlay,
                    packageName: Self.bundleID,
                    at: addresses.googlePlay,
                    pushingTo: pushes,
                    over: client
                )
            ),
            clocks: .init(
                now: { Instant(milliseconds: await clock.now) },
                wall: SystemClock.now,
                isVirtual: true,
                nowAtOnce: { Instant(milliseconds: clock.nowAtOnce) }
            )
        )
        self.clock = clock
        self.appStore = appStore
        self.googlePlay = googlePlay
        self.stripe = stripe
        self.stripeClient = stripeClient
        self.server = server
        self.client = client
        self.catalog = catalog
        self.addresses = addresses
        self.database = database
    }

    private static func stores(
        _ catalog: TollgateCore.Catalog,
        _ base: String,
        seed: UInt64,
        _ clock: VirtualClock
    ) async throws -> (SimulatedAppStore, StripeSimulator) {
        let appStore = try SimulatedAppStore(
            configuration: .init(
                environment: .sandbox,
                bundleID: bundleID,
                products: catalog.products.compactMap(SimulatedAppStore.Product.init),
                notificationURL: base + "/webhooks/app_store",
                seed: seed,
                renewals: .real
            ),
            clock: clock
        )
        await clock.join(appStore)
        var settings = StripeSimulator.Configuration()
        settings.secretKey = stripeKey
        settings.seed = seed
        settings.hasPortalConfiguration = true
        settings.products = catalog.products.compactMap(StripeSimulator.Product.init)
        settings.webhookEndpoints = [.init(url: base + "/webhooks/stripe", secret: webhookSecret)]
        return (appStore, try await StripeSimulator(configuration: settings, clock: clock))
    }

    private static func googlePlay(
        _ catalog: TollgateCore.Catalog,
        _ pushes: String,
        seed: UInt64,
        _ clock: VirtualClock
    ) async throws -> SimulatedGooglePlay {
        var configuration = SimulatedGooglePlay.Configuration(
            packageName: bundleID,
            catalog: try SoldInGooglePlay(catalog).json,
            pushEndpoint: pushes,
            seed: seed
        )
        // Buyers are licence testers, whose purchases are of the sandbox, as the App Store's are here.
        configuration.shortensTests = false
        configuration.usesOneKey = true
        let googlePlay = try SimulatedGooglePlay(configuration: configuration, clock: clock)
        await clock.join(googlePlay)
        return googlePlay
    }

    /// Lets the stores' time go on; returns once what they have told was read.
    func advance(to instant: Int64) async {
        // Google takes back what nobody has acknowledged.
        await settle()
        await clock.advance(to: instant)
        await settle()
    }

    /// Reads what Google Play has hinted at, and does what has a deadline, before the server's next
    /// round would.
    func settle() async {
        for _ in 0..<5 {
            let wanted = try? await server.tollgate.store.queueLengths().wanted
            guard wanted?.contains(where: { $0.kind.hasPrefix(Self.googlePlayQuestions) }) ?? true
            else { return }
            _ = await server.tollgate.googlePlay.askWhatIsWanted()
        }
    }

    private static let googlePlayQuestions = "google_play"

    /// Fetches the stores' reports of the days that are over and compares them with the record, before
    /// the server's next hour would.
    func fetchReports() async {
        await server.tollgate.accounts.fetchReportsIfDue(every: 0)
    }

    /// A page that signs the demo's admin in to the dashboard, once.
    func dashboardLink() async throws -> String {
        let tollgate = server.tollgate
        if try await tollgate.staff.member(Self.admin) == nil {
            try await tollgate.staff.add(Self.admin, role: .admin)
        }
        return try await tollgate.signIns.link(for: Self.admin)
    }

    private static let admin = "demo"

    var serverURL: String { "http://\(addresses.server.host):\(addresses.server.port)" }
    var stripeURL: String { "http://\(addresses.stripe.host):\(addresses.stripe.port)" }

    /// Runs all of them until the process is told to stop or `then` returns.
    ///
    /// - Parameter then: begun once all of them listen.
    func run(
        routes: @escaping @Sendable (Router<ServerRequestContext>) -> Void = { _ in },
        then: @escaping @Sendable () async throws -> Void
    ) async throws {
        let (opened, open) = AsyncStream.makeStream(of: Void.self)
        let stores = [
            Beside {
                try await appStore.run(
                    host: addresses.appStore.host,
                    port: addresses.appStore.port
                ) { _ in open.yield() }
            },
            Beside {
                try await googlePlay.run(
                    host: addresses.googlePlay.host,
                    port: addresses.googlePlay.port
                ) { _ in open.yield() }
            },
            Beside {
                try await stripe.run(
                    host: addresses.stripe.host,
                    port: addresses.stripe.port
                ) { _ in open.yield() }
            },
        ]
        let story = Beside {
            var count = 0
            for await _ in opened {
                count += 1
                if count == 4 { break }
            }
            try await then()
        }
        try await server.run(
            at: addresses.server,
            levers: DemoLevers(world: self).levers,
            beside: stores.map { .init(service: $0) } + [
                .init(service: story, successTerminationBehavior: .gracefullyShutdownGroup)
            ],
            routes: routes
        ) { _ in open.yield() }
    }
}

/// Something that runs beside the server and ends with it.
private struct Beside: Service {
    let body: @Sendable () async throws -> Void

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown { try await body() }
        } catch is CancellationError {
            // Asked to end, and ended.
        }
    }
}

extension SimulatedAppStore {
    /// How the server speaks to it.
    fileprivate func clients(
        at address: ListenAddress,
        over client: HTTPClient
    ) throws -> AppStoreClients {
        AppStoreClients(
            key: try demoKey,
            bundleIDs: [DemoWorld.bundleID],
            baseURL: "http://\(address.host):\(address.port)",
            over: client
        )
    }

    /// How the server fetches reports; Apple has none of its sandbox, the simulated store does.
    fileprivate func reports(
        at address: ListenAddress,
        over client: HTTPClient
    ) throws -> AppStore.ConnectClient {
        AppStore.ConnectClient(
            key: try demoKey,
            vendorNumber: "80000000",
            host: "http://\(address.host):\(address.port)",
            transport: appStoreTransport(over: client),
            now: { SystemClock.now().milliseconds }
        )
    }

    private var demoKey: AppStore.APIKey {
        get throws {
            try AppStore.APIKey(
                issuerID: apiKey.issuerID,
                keyID: apiKey.keyID,
                pem: apiKey.privateKeyPEM
            )
        }
    }
}
