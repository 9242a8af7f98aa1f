import AcceptedConnections
import AppStoreAPI
import AppStoreConnector
import AppStoreSimulator
import Foundation
import GooglePlayConnector
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
import TollgateCore
import TollgateServer
import TollgateService
import TollgateSimulation

/// A whole server on loopback: its database, both stores and both clocks are the test's own.
///
/// Every answer is compared with `openapi.json` as it comes in.
struct TestServer: Sendable {
    static let secretKey = "sk_test_backend"
    static let publishableKey = "pk_test_app"
    static let webhookSecret = "whsec_endpoint"
    static let publicURL = "https://billing.example.com"
    static let bundleID = "com.example.app"
    /// 2026-06-01T00:00:00Z.
    static let start: Int64 = 1_780_272_000_000

    let client: any TestClientProtocol
    let tollgate: Tollgate
    let appStore: SimulatedAppStore
    /// The stores' time.
    let clock: VirtualClock
    /// Real time.
    let wall: TestClock
    let stripe: FakeStripe
    /// Leads to the simulated App Store's addresses, over loopback.
    let appStoreTransport: AppStore.Transport
    /// The app's backend, where webhooks arrive.
    var receiver = WebhookReceiver()
    /// The mail server.
    var mailbox = Mailbox()

    /// Says nothing.
    static let silent = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    /// Serves while `test` runs.
    ///
    /// - Parameters:
    ///   - adjust: changes the sample catalog before it is adopted.
    ///   - clientAddressHeader: as the configuration has it.
    ///   - retentionRules: as the table of retention messages has them.
    ///   - logger: what the application says.
    ///   - shared: the stores' time, where another store lives on it too.
    ///   - googlePlay: how Google Play is spoken to.
    ///   - checkUp: what the dashboard's page **Doctor** asks.
    ///   - alerts: the channels that the page **Doctor** tries.
    ///   - connectors: the rooms of further stores.
    static func run(
        on backend: Backend = .sqlite,
        catalog adjust: @Sendable (inout TollgateCore.Catalog) -> Void = { _ in },
        clientAddressHeader: String? = nil,
        retentionRules: [RetentionRule] = [],
        logger: Logger = silent,
        clock shared: VirtualClock? = nil,
        googlePlay: GooglePlaySetUp? = nil,
        checkUp: CheckUp? = nil,
        alerts: AlertSettings? = nil,
        connectors: @Sendable (StoreContext) -> [any StoreConnector] = { _ in [] },
        _ test: @Sendable (TestServer) async throws -> Void
    ) async throws {
        let clock = shared ?? VirtualClock(now: start)
        let appStore = try simulatedAppStore(clock)
        await clock.join(appStore)
        let serverAPI = Application(
            router: appStore.router(surface: .serverAPI),
            server: .http1UntilEnded,
            logger: silent
        )
        try await serverAPI.test(.ahc(.http)) { serverAPI in
            try await run(
                on: backend,
                clock,
                appStore,
                serverAPI,
                adjust,
                clientAddressHeader,
                retentionRules,
                logger,
                googlePlay,
                checkUp,
                alerts,
                connectors,
                test
            )
        }
    }

    private static func run(
        on backend: Backend,
        _ clock: VirtualClock,
        _ appStore: SimulatedAppStore,
        _ serverAPI: any TestClientProtocol,
        _ adjust: @Sendable (inout TollgateCore.Catalog) -> Void,
        _ clientAddressHeader: String?,
        _ retentionRules: [RetentionRule],
        _ logger: Logger,
        _ googlePlay: GooglePlaySetUp?,
        _ checkUp: CheckUp?,
        _ alerts: AlertSettings?,
        _ connectors: @Sendable (StoreContext) -> [any StoreConnector],
        _ test: @Sendable (TestServer) async throws -> Void
    ) async throws {
        let wall = TestClock(start)
        let appStoreTransport = transport(over: serverAPI)
        let stripe = FakeStripe()
        let (receiver, mailbox) = (WebhookReceiver(), Mailbox())
        let driver = try await backend.open()
        let store = try await RecordStore(driver)
        var catalog = try sampleCatalog()
        adjust(&catalog)
        try await store.adopt(catalog, at: Instant(milliseconds: start))
        let random = Mutex(SplitMix64(seed: 1))
        let randomBytes: @Sendable (Int) -> [UInt8] = { count in
            random.withLock { $0.bytes(count) }
        }
        var configuration = Configuration(
            secretKey: secretKey,
            publishableKey: publishableKey,
            publicURL: publicURL,
            stripeWebhookSecrets: [webhookSecret],
            appleAppIDs: ["ABCDE12345.com.example.app"],
            defaultEnvironment: .sandbox
        )
        configuration.clientAddressHeader = clientAddressHeader
        configuration.passwordRounds = 1 << 4
        if googlePlay?.bucket != nil { configuration.reportedEnvironment = .production }
        var appStoreOptions = AppStoreOptions()
        appStoreOptions.retentionRules = retentionRules
        let tollgate = Tollgate(
            configuration: configuration,
            store: store,
            appStore: try AppStore.SignedDataVerifier(
                roots: [Array(appStore.rootDER)],
                bundleID: bundleID,
                appAppleID: nil,
                environments: [.sandbox]
            ),
            appStoreClients: try await appStoreClients(of: appStore, over: appStoreTransport),
            appStoreOptions: appStoreOptions,
            stripe: Stripe.Client(
                apiBase: "https://stripe.test",
                secretKey: "sk_test_stripe",
                maximumRetries: 0,
                transport: { try await stripe.answer($0) }
            ),
            googlePlay: googlePlay ?? GooglePlaySetUp(),
            webhooks: { try await receiver.take($0) },
            mails: { mail, _ in try await mailbox.take(mail) },
            clocks: .init(
                now: { Instant(milliseconds: await clock.now) },
                wall: { wall.now },
                isVirtual: googlePlay != nil,
                nowAtOnce: { Instant(milliseconds: clock.nowAtOnce) }
            ),
            randomBytes: randomBytes,
            signer: try await AnswerSigner(keptIn: driver),
            logger: logger,
            connectors: connectors
        )
        var muted = silent
        muted.logLevel = .critical
        let application = Application(
            router: try buildRouter(
                tollgate,
                checkUp: checkUp,
                alertTrial: { tollgate.alertTrial(alerts) }
            ),
            server: http(tollgate),
            configuration: .init(serverName: "tollgate"),
            logger: muted
        )
        try await application.test(.ahc(.http)) { client in
            try await test(
                TestServer(
                    client: client,
                    tollgate: tollgate,
                    appStore: appStore,
                    clock: clock,
                    wall: wall,
                    stripe: stripe,
                    appStoreTransport: appStoreTransport,
                    receiver: receiver,
                    mailbox: mailbox
                )
            )
        }
        await driver.close()
    }

    /// The product's own HTTP server, as patient as a machine needs that is busy with tests.
    static func http(_ tollgate: Tollgate) -> HTTPServerBuilder {
        .http1OnEventLoops(
            tollgate,
            limits: ConnectionLimits(
                firstByte: .seconds(300),
                headers: .seconds(300),
                body: .seconds(300)
            )
        )
    }

    /// One for all stores whose servers trust it: keys and certificates take long to make.
    static let authority = Result { try SimulatedAppStore.makeAuthority() }

    /// A store that sells what the sample catalog sells there; a stranger has a root of its own.
    static func simulatedAppStore(
        _ clock: VirtualClock,
        bundleID: String = bundleID,
        isStranger: Bool = false
    ) throws -> SimulatedAppStore {
        try SimulatedAppStore(
            configuration: .init(
                environment: .sandbox,
                bundleID: bundleID,
                products: [
                    .init(
                        id: "com.example.app.pro.monthly",
                        kind: .autoRenewable,
                        price: 9990,
                        period: .init("P1M"),
                        subscriptionGroup: "pro",
                        level: 2,
                        isFamilyShareable: true,
                        offers: [
                            .init(
                                kind: .promotional,
                                id: "come_back",
                                discount: .payAsYouGo,
                                period: try #require(.init("P1M")),
                                price: 4990
                            )
                        ]
                    ),
                    .init(
                        id: "com.example.app.pro.yearly",
                        kind: .autoRenewable,
                        price: 79_990,
                        period: .init("P1Y"),
                        subscriptionGroup: "pro",
                        level: 1,
                        isFamilyShareable: true
                    ),
                    .init(id: "com.example.app.pass30", kind: .nonRenewing, price: 12_990),
                    .init(id: "com.example.app.coins100", kind: .consumable, price: 10_000),
                    .init(id: "com.example.app.lifetime", kind: .nonConsumable, price: 199_000),
                ],
                notificationURL: "https://billing.example.com/webhooks/app_store",
                renewals: .real,
                authority: isStranger ? nil : authority.get(),
                // As long as a busy machine may take; Apple gives 700 ms.
                realtimeLimit: 60_000
            ),
            clock: clock,
            deliver: { _, _ in .success }
        )
    }

    /// Leads whatever is sent to `https://app-store.test` to the simulated App Store.
    static func transport(over serverAPI: any TestClientProtocol) -> AppStore.Transport {
        { request in
            var headers: HTTPFields = [:]
            for (name, value) in request.headers {
                if let name = HTTPField.Name(name) { headers[name] = value }
            }
            let response = try await serverAPI.executeRequest(
                uri: String(request.url.dropFirst("https://app-store.test".count)),
                method: HTTPRequest.Method(request.method) ?? .get,
                headers: headers,
                body: request.body.map { ByteBuffer(bytes: $0) }
            )
            return AppStore.HTTPResponse(
                status: response.status.code,
                headers: Dictionary(
                    response.headers.map { ($0.name.canonicalName, $0.value) },
                    uniquingKeysWith: { first, _ in first }
                ),
                body: Array(response.body.readableBytesView)
            )
        }
    }

    /// Speaks to the simulated App Store with its own key.
    ///
    /// Tokens are made and checked by real time.
    private static func appStoreClients(
        of appStore: SimulatedAppStore,
        over transport: @escaping AppStore.Transport
    ) async throws -> AppStoreClients {
        let key = await appStore.apiKey
        let apiKey = try AppStore.APIKey(
            issuerID: key.issuerID,
            keyID: key.keyID,
            pem: key.privateKeyPEM
        )
        let client = AppStore.ServerAPIClient(
            key: apiKey,
            bundleID: bundleID,
            hosts: ["https://app-store.test"],
            transport: transport,
            now: { Int64(Date().timeIntervalSince1970 * 1000) },
            sleep: { _ in }
        )
        return AppStoreClients(
            key: apiKey,
            bundleID: bundleID,
            production: client,
            sandbox: client
        )
    }

    private static func sampleCatalog() throws -> Catalog {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../..")
        return try CatalogReader.read(
            bytes: Data(contentsOf: root.appendingPathComponent("catalog.yaml"))
        )
    }
}

/// Real time as a test wants it.
final class TestClock: Sendable {
    private let instant: Mutex<Int64>

    init(_ milliseconds: Int64) {
        instant = Mutex(milliseconds)
    }

    var now: Instant { Instant(milliseconds: instant.withLock { $0 }) }

    func advance(seconds: Int64) {
        instant.withLock { $0 += seconds * 1000 }
    }
}

/// A mail server that a test plays: what it took, and what it refuses.
final class Mailbox: Sendable {
    private let state = Mutex<(mails: [Mail], tries: Int, failures: [String: MailFailed])>(
        ([], 0, [:])
    )
    /// For what mail to a recipient waits.
    private let holds = Mutex<[String: @Sendable () async -> Void]>([:])

    /// The mails that were taken.
    var mails: [Mail] { state.withLock { $0.mails } }
    /// How many mails came, also those that were not taken.
    var tries: Int { state.withLock { $0.tries } }

    /// Refuses mail for this recipient from now on, or takes it again.
    func refuse(_ recipient: String, _ failure: MailFailed?) {
        state.withLock { $0.failures[recipient] = failure }
    }

    /// Takes mail for this recipient only once the wait is over.
    func hold(_ recipient: String, _ wait: @escaping @Sendable () async -> Void) {
        holds.withLock { $0[recipient] = wait }
    }

    func take(_ mail: Mail) async throws {
        await holds.withLock { $0[mail.recipient] }?()
        try state.withLock { state in
            state.tries += 1
            if let failure = state.failures[mail.recipient] { throw failure }
            state.mails.append(mail)
        }
    }
}
