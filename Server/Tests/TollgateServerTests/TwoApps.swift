import AcceptedConnections
import AppStoreAPI
import AppStoreConnector
import AppStoreSimulator
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdTesting
import Logging
import NIOCore
import SandboxClock
import Storage
import Stores
import StripeAPI
import Synchronization
import Testing
import TollgateAssembly
import TollgateAPI
import TollgateCore
import TollgateServer
import TollgateService
import TollgateSimulation

/// Two apps of one team on one server, each with an App Store that sells for it alone.
struct TwoApps: Sendable {
    static let reader = Catalog.App(
        id: "reader",
        name: "Reader",
        bundleID: "com.example.reader",
        appAppleID: 1_111_111_111,
        teamID: "ABCDE12345"
    )
    static let studio = Catalog.App(
        id: "studio",
        name: "Studio",
        bundleID: "com.example.studio",
        appAppleID: 2_222_222_222,
        teamID: "ABCDE12345"
    )
    static let readerKey = "pk_test_reader"
    static let studioKey = "pk_test_studio"
    /// Listed behind the present key of the reader, as while a key is changed.
    static let formerReaderKey = "pk_test_reader_before"

    let server: TestServer
    let reader: SimulatedAppStore
    let studio: SimulatedAppStore
    /// Which app was asked about, in order.
    let asked: Asked

    /// The apps by whose keys the App Store was asked.
    final class Asked: Sendable {
        private let apps = Mutex<[String]>([])
        func note(_ app: String) { apps.withLock { $0.append(app) } }
        var all: [String] { apps.withLock { $0 } }
    }

    /// Both apps sell the plan under ids of their own, and different coins under one id.
    static let catalog = Catalog(
        entitlements: [.init(lookupKey: "pro", name: "Pro")],
        products: [
            .init(
                id: "pro_monthly",
                name: "Pro, monthly",
                kind: .autoRenewable,
                appStoreProductIDs: [
                    "reader": "com.example.reader.pro", "studio": "com.example.studio.pro",
                ],
                stripePriceIDs: ["price_pro"],
                entitlements: ["pro"],
                subscriptionGroup: "pro",
                price: .init(amount: 999, currency: "usd")
            ),
            .init(
                id: "coins_reader",
                name: "Coins of the reader",
                kind: .consumable,
                appStoreProductIDs: ["reader": "coins"],
                coins: 100
            ),
            .init(
                id: "coins_studio",
                name: "Coins of the studio",
                kind: .consumable,
                appStoreProductIDs: ["studio": "coins"],
                coins: 500
            ),
        ],
        buyButtons: [.init(id: "buy_pro", product: "pro_monthly")],
        apps: [reader, studio]
    )

    static func run(
        on backend: Backend = .sqlite,
        _ test: @Sendable (TwoApps) async throws -> Void
    ) async throws {
        let clock = VirtualClock(now: TestServer.start)
        let (reader, studio) = (
            try store(of: Self.reader, 1, clock), try store(of: Self.studio, 2, clock)
        )
        await clock.join(reader)
        await clock.join(studio)
        try await serverAPI(of: reader).test(.ahc(.http)) { readerAPI in
            try await serverAPI(of: studio).test(.ahc(.http)) { studioAPI in
                let asked = Asked()
                let clients = AppStoreClients(
                    key: try await apiKey(of: reader),
                    apps: [
                        try await client(Self.reader, of: reader, over: readerAPI, asked),
                        try await client(Self.studio, of: studio, over: studioAPI, asked),
                    ]
                )
                try await serve(on: backend, clock, reader, studio, clients, asked, test)
            }
        }
    }

    private static func serve(
        on backend: Backend,
        _ clock: VirtualClock,
        _ reader: SimulatedAppStore,
        _ studio: SimulatedAppStore,
        _ clients: AppStoreClients,
        _ asked: Asked,
        _ test: @Sendable (TwoApps) async throws -> Void
    ) async throws {
        let driver = try await backend.open()
        let store = try await RecordStore(driver)
        try await store.adopt(catalog, at: Instant(milliseconds: TestServer.start))
        let (wall, stripe) = (TestClock(TestServer.start), FakeStripe())
        let random = Mutex(SplitMix64(seed: 1))
        let tollgate = Tollgate(
            configuration: Configuration(
                secretKey: TestServer.secretKey,
                publishableKey: readerKey,
                publicURL: TestServer.publicURL,
                appsOfKeys: [
                    readerKey: "reader", formerReaderKey: "reader", studioKey: "studio",
                ],
                defaultEnvironment: .production,
                formerPublishableKeys: [formerReaderKey, studioKey]
            ),
            store: store,
            appStore: try AppStore.SignedDataVerifier(
                roots: [Array(reader.rootDER)],
                apps: [Self.reader, Self.studio].map {
                    .init(bundleID: $0.bundleID ?? "", appAppleID: $0.appAppleID)
                },
                environments: [.production]
            ),
            appStoreClients: clients,
            stripe: Stripe.Client(
                apiBase: "https://stripe.test",
                secretKey: "sk_test_stripe",
                maximumRetries: 0,
                transport: { try await stripe.answer($0) }
            ),
            clocks: .init(
                now: { Instant(milliseconds: await clock.now) },
                wall: { wall.now },
                nowAtOnce: { Instant(milliseconds: clock.nowAtOnce) }
            ),
            randomBytes: { count in random.withLock { $0.bytes(count) } },
            signer: try await AnswerSigner(keptIn: driver),
            logger: TestServer.silent
        )
        let application = Application(
            router: try buildRouter(tollgate),
            server: TestServer.http(tollgate),
            logger: TestServer.silent
        )
        try await application.test(.ahc(.http)) { client in
            let server = TestServer(
                client: client,
                tollgate: tollgate,
                appStore: reader,
                clock: clock,
                wall: wall,
                stripe: stripe,
                appStoreTransport: { _ in throw CancellationError() }
            )
            try await test(TwoApps(server: server, reader: reader, studio: studio, asked: asked))
        }
        await driver.close()
    }

    /// An App Store that sells for one app; all have one root, as Apple has.
    static func store(
        of app: Catalog.App,
        _ seed: UInt64,
        _ clock: VirtualClock
    ) throws -> SimulatedAppStore {
        try SimulatedAppStore(
            configuration: .init(
                environment: .production,
                bundleID: app.bundleID ?? "",
                appAppleID: app.appAppleID ?? 0,
                products: [
                    .init(
                        id: (app.bundleID ?? "") + ".pro",
                        kind: .autoRenewable,
                        price: 9990,
                        period: .init("P1M"),
                        subscriptionGroup: "pro",
                        level: 1
                    ),
                    .init(id: "coins", kind: .consumable, price: 1000),
                ],
                notificationURL: "https://billing.example.com/webhooks/app_store",
                seed: seed,
                renewals: .real,
                authority: TestServer.authority.get()
            ),
            clock: clock,
            deliver: { _, _ in .success }
        )
    }

    private static func serverAPI(of store: SimulatedAppStore) -> some ApplicationProtocol {
        Application(
            router: store.router(surface: .serverAPI),
            server: .http1UntilEnded,
            logger: TestServer.silent
        )
    }

    private static func apiKey(of store: SimulatedAppStore) async throws -> AppStore.APIKey {
        let key = await store.apiKey
        return try AppStore.APIKey(
            issuerID: key.issuerID,
            keyID: key.keyID,
            pem: key.privateKeyPEM
        )
    }

    private static func client(
        _ app: Catalog.App,
        of store: SimulatedAppStore,
        over api: any TestClientProtocol,
        _ asked: Asked
    ) async throws -> AppStoreClients.App {
        let lead = TestServer.transport(over: api)
        let client = AppStore.ServerAPIClient(
            key: try await apiKey(of: store),
            bundleID: app.bundleID ?? "",
            hosts: ["https://app-store.test"],
            transport: { request in
                asked.note(app.id)
                return try await lead(request)
            },
            now: { Int64(Date().timeIntervalSince1970 * 1000) },
            sleep: { _ in }
        )
        return AppStoreClients.App(
            bundleID: app.bundleID ?? "",
            production: client,
            sandbox: client
        )
    }

    // MARK: - What tests do

    /// A customer of the team with an account at the App Store.
    func customer(_ user: String = "ada") async throws -> (id: String, token: String) {
        let token = UUID()
        return (try await server.customer(user, token: token), token.uuidString.lowercased())
    }

    /// Buys in an app; the notification is delivered unless it is lost.
    func buy(
        _ product: String,
        in store: SimulatedAppStore,
        token: String,
        isLost: Bool = false
    ) async throws {
        _ = try await store.buy(
            product,
            customer: try await store.createCustomer().id,
            appAccountToken: token
        )
        guard !isLost else { return }
        let newest = try #require(await store.notifications().last)
        #expect(try await server.deliver(newest.signedPayload).status == 200)
    }

    /// A session of a customer for one app.
    func session(of customer: String, app: String?) async throws -> Answer {
        let app = app.map { ",\"app\":\"\($0)\"" } ?? ""
        return try await server.post(
            "/v1/customer_sessions",
            """
            {"customer":"\(customer)","components":{"active_entitlements":{"enabled":true},\
            "buy_button":{"enabled":true}}\(app)}
            """
        )
    }

    /// The newest notification of a store with a part of its payload replaced, signed again.
    func newest(
        of store: SimulatedAppStore,
        replacing part: String,
        with other: String
    ) async throws -> String {
        let payload = try #require(await store.notifications().last).signedPayload
        let middle = try #require(payload.split(separator: ".").dropFirst().first)
        let json = String(decoding: try #require(Base64URL.decode(String(middle))), as: UTF8.self)
        #expect(json.contains(part))
        return try await store.sign(anyPayload: Data(json.replacing(part, with: other).utf8))
    }
}
