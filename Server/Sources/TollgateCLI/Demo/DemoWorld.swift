import AppStoreAPI
import AppStoreConnector
import AppStoreSimulator
import AsyncHTTPClient
import Foundation
import Hummingbird
import SandboxClock
import ServiceLifecycle
import Stores
import StripeAPI
import StripeSimulator
import TollgateCore
import TollgateServer
import TollgateService
import TollgateSimulation

/// Both stores, the server and their clock, in one process; each speaks to the others over HTTP.
struct DemoWorld: Sendable {
    /// Where everything is.
    struct Addresses: Sendable {
        var server: ListenAddress
        var appStore: ListenAddress
        var stripe: ListenAddress
    }

    static let secretKey = "sk_test_demo"
    static let publishableKey = "pk_test_demo"
    private static let stripeKey = "sk_test_sandbox"
    private static let webhookSecret = "whsec_demo"
    private static let bundleID = "com.example.app"

    let clock: VirtualClock
    let appStore: SimulatedAppStore
    let stripe: StripeSimulator
    let stripeClient: Stripe.Client
    let server: RunningServer
    let client: HTTPClient
    let catalog: TollgateCore.Catalog
    let addresses: Addresses
    let database: DatabaseLocation

    /// - Parameter seed: what the stores' ids are drawn from.
    init(
        addresses: Addresses,
        database: DatabaseLocation,
        catalog: TollgateCore.Catalog,
        seed: UInt64,
        client: HTTPClient
    ) async throws {
        // The clock starts at a full second, since Stripe counts nothing finer.
        let clock = VirtualClock(now: SystemClock.now().milliseconds / 1000 * 1000)
        let base = "http://\(addresses.server.host):\(addresses.server.port)"
        let (appStore, stripe) = try await Self.stores(catalog, base, seed: seed, clock)
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
            appStore: verifier,
            appStoreClients: try await AppStoreClients(
                appStore,
                bundleID: Self.bundleID,
                at: addresses.appStore,
                over: client
            ),
            stripe: stripeClient,
            clocks: .init(
                now: { Instant(milliseconds: await clock.now) },
                wall: SystemClock.now,
                isVirtual: true,
                nowAtOnce: { Instant(milliseconds: clock.nowAtOnce) }
            )
        )
        self.clock = clock
        self.appStore = appStore
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

    /// Runs all three until the process is told to stop or `then` returns.
    ///
    /// - Parameter then: begun once all three listen.
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
                if count == 3 { break }
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

extension AppStoreClients {
    /// Speaks to the simulated App Store with its own key.
    fileprivate init(
        _ appStore: SimulatedAppStore,
        bundleID: String,
        at address: ListenAddress,
        over client: HTTPClient
    ) async throws {
        let key = await appStore.apiKey
        self.init(
            key: try AppStore.APIKey(
                issuerID: key.issuerID,
                keyID: key.keyID,
                pem: key.privateKeyPEM
            ),
            bundleIDs: [bundleID],
            baseURL: "http://\(address.host):\(address.port)",
            over: client
        )
    }
}
