import AcceptedConnections
import AppStoreAPI
import AppStoreSimulator
import AsyncHTTPClient
import Foundation
import GooglePlayConnector
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import NIOHTTP1
import SandboxClock
import Storage
import Stores
import StripeAPI
import StripeSimulator
import Synchronization
import Testing
import TollgateAssembly
import TollgateAPI
import TollgateCore
import TollgateServer
import TollgateService
import TollgateSimulation

/// A server beside a Stripe that is played, the two on one clock and speaking HTTP.
struct Shop: Sendable {
    /// 2026-01-01T00:00:00Z.
    static let start: Int64 = 1_767_225_600_000

    let server: TestServer
    let clock: VirtualClock
    let stripe: StripeSimulator
    let api: Stripe.Client
    let calls: Calls

    /// What Stripe was asked, and what goes wrong when it is.
    final class Calls: Sendable {
        private struct Inside {
            var paths: [String] = []
            var failing: (path: String, spared: Int)?
        }
        private let inside = Mutex(Inside())

        struct Unreachable: Error {}

        /// Fails the calls whose path begins so, but for the first `spared` from now on.
        func fail(_ path: String, after spared: Int) {
            inside.withLock { $0 = Inside(failing: (path, spared)) }
        }

        /// Nothing fails any more, and nothing was asked.
        func forget() { inside.withLock { $0 = Inside() } }

        /// With queries; those that failed are not among them.
        var all: [String] { inside.withLock { $0.paths } }

        func all(_ path: String) -> [String] { all.filter { $0.hasPrefix(path) } }

        fileprivate func take(_ path: String) throws {
            try inside.withLock { inside in
                if let (failing, spared) = inside.failing, path.hasPrefix(failing),
                    inside.paths.count(where: { $0.hasPrefix(failing) }) >= spared
                {
                    throw Unreachable()
                }
                inside.paths.append(path)
            }
        }
    }

    private static let http = HTTPClient(eventLoopGroupProvider: .singleton)

    /// - Parameters:
    ///   - change: changes the sample catalog first.
    ///   - version: the API version in which Stripe writes its events.
    ///   - googlePlay: the connections to a Google Play beside it.
    static func run(
        on backend: Backend = .sqlite,
        catalog change: @Sendable (inout TollgateCore.Catalog) -> Void = { _ in },
        policy: StripeSimulator.Policy = .init(),
        version: String? = nil,
        hasWebhook: Bool = true,
        googlePlay: GooglePlaySetUp = GooglePlaySetUp(),
        _ test: @escaping @Sendable (Shop) async throws -> Void
    ) async throws {
        let clock = VirtualClock(now: start)
        let (ports, opened) = AsyncStream.makeStream(of: Int.self)
        var catalog = try sampleCatalog()
        change(&catalog)
        var settings = StripeSimulator.Configuration()
        settings.secretKey = "sk_test_stripe"
        settings.hasPortalConfiguration = true
        settings.policy = policy
        settings.products = catalog.products.compactMap(StripeSimulator.Product.init)
        settings.pause = { _ in }
        let stripe = try await StripeSimulator(configuration: settings, clock: clock)
        let catalogOfTest = catalog
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await stripe.run { opened.yield($0) } }
            var port = ports.makeAsyncIterator()
            let base = "http://127.0.0.1:\(await port.next() ?? 0)"
            try await serve(
                on: backend,
                catalogOfTest,
                clock,
                stripe,
                base,
                version,
                hasWebhook,
                googlePlay,
                test
            )
        }
    }

    private static func serve(
        on backend: Backend,
        _ catalog: TollgateCore.Catalog,
        _ clock: VirtualClock,
        _ stripe: StripeSimulator,
        _ base: String,
        _ version: String?,
        _ hasWebhook: Bool,
        _ googlePlay: GooglePlaySetUp,
        _ test: @escaping @Sendable (Shop) async throws -> Void
    ) async throws {
        let driver = try await backend.open()
        let store = try await RecordStore(driver)
        try await store.adopt(catalog, at: Instant(milliseconds: start))
        let appStore = try TestServer.simulatedAppStore(clock)
        let calls = Calls()
        let api = Stripe.Client(
            apiBase: base,
            secretKey: "sk_test_stripe",
            transport: { request in
                try calls.take(String(request.url.dropFirst(base.count)))
                return try await send(request)
            },
            sleep: { _ in }
        )
        let random = Mutex(SplitMix64(seed: 1))
        let wall: @Sendable () -> Instant = {
            Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        }
        let tollgate = Tollgate(
            configuration: Configuration(
                secretKey: TestServer.secretKey,
                publishableKey: TestServer.publishableKey,
                publicURL: TestServer.publicURL,
                stripeWebhookSecrets: [TestServer.webhookSecret],
                defaultEnvironment: .sandbox
            ),
            store: store,
            appStore: try AppStore.SignedDataVerifier(
                roots: [Array(appStore.rootDER)],
                bundleID: TestServer.bundleID,
                appAppleID: nil,
                environments: [.sandbox]
            ),
            stripe: api,
            googlePlay: googlePlay,
            clocks: .init(
                now: { Instant(milliseconds: await clock.now) },
                wall: wall,
                isVirtual: true
            ),
            randomBytes: { count in random.withLock { $0.bytes(count) } },
            signer: try await AnswerSigner(keptIn: driver),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        var logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        logger.logLevel = .critical
        let application = Application(
            router: try buildRouter(tollgate),
            server: TestServer.http(tollgate),
            logger: logger
        )
        try await application.test(.ahc(.http)) { client in
            if hasWebhook {
                try await stripe.add(
                    .init(
                        url: "http://localhost:\(client.port ?? 0)/webhooks/stripe",
                        secret: TestServer.webhookSecret,
                        apiVersion: version
                    )
                )
            }
            try await test(
                Shop(
                    server: TestServer(
                        client: client,
                        tollgate: tollgate,
                        appStore: appStore,
                        clock: clock,
                        wall: TestClock(wall().milliseconds),
                        stripe: FakeStripe(),
                        // Nothing here asks the App Store.
                        appStoreTransport: { _ in throw CancellationError() }
                    ),
                    clock: clock,
                    stripe: stripe,
                    api: api,
                    calls: calls
                )
            )
        }
        await driver.close()
    }

    private static func send(_ request: Stripe.Request) async throws -> Stripe.Response {
        var outgoing = HTTPClientRequest(url: request.url)
        outgoing.method = .init(rawValue: request.method.rawValue)
        for (name, value) in request.headers { outgoing.headers.add(name: name, value: value) }
        if !request.body.isEmpty { outgoing.body = .bytes(request.body) }
        let response = try await http.execute(outgoing, timeout: .seconds(300))
        let body = try await response.body.collect(upTo: 4 << 20)
        var headers: [String: String] = [:]
        for (name, value) in response.headers { headers[name.lowercased()] = value }
        return Stripe.Response(
            status: Int(response.status.code),
            headers: headers,
            body: Array(body.readableBytesView)
        )
    }

    private static func sampleCatalog() throws -> TollgateCore.Catalog {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../..")
        return try CatalogReader.read(
            bytes: Data(contentsOf: root.appendingPathComponent("catalog.yaml"))
        )
    }

    // MARK: - What many tests do

    /// Buys `product` on Stripe's page, and returns the Checkout Session's id.
    @discardableResult
    func buy(
        _ product: String,
        for customer: String,
        quantity: Int = 1,
        card: String = "4242424242424242"
    ) async throws -> String {
        let checkout = try await server.post(
            "/v1/checkout_sessions",
            "{\"customer\":\"\(customer)\",\"product\":\"\(product)\",\"quantity\":\(quantity)}"
        )
        let id = try #require(checkout.json["id"].string)
        _ = try await stripe.pay(checkoutSession: id, card: card)
        return id
    }

    /// A call of Stripe's API, by anybody who has the key.
    func call(_ method: String, _ path: String, _ form: String) async throws -> JSONValue {
        let answer = await stripe.exchange(
            method: method,
            path: path,
            query: "",
            body: form,
            headers: ["authorization": "Bearer sk_test_stripe"]
        )
        if !(200..<300).contains(answer.status) { Issue.record("\(path): \(answer.body)") }
        return try JSONDecoder().decode(JSONValue.self, from: Data(answer.body.utf8))
    }

    /// What Stripe calls `customer`.
    func stripeCustomer(of customer: String) async throws -> String {
        for try await known in api.lists.customers()
        where known.metadata["tollgate_customer"] == customer {
            return known.id
        }
        Issue.record("no Stripe customer of \(customer)")
        return ""
    }

    /// The only subscription there is.
    func subscription() async throws -> Stripe.Subscription {
        for try await subscription in api.lists.subscriptions() { return subscription }
        throw CancellationError()
    }

    func coins(of customer: String) async throws -> Int64? {
        try await server.get("/v1/customers/\(customer)/coins").json["balance"].integer
    }

    /// The lookup keys that `customer` may use now.
    func entitlements(of customer: String) async throws -> [String] {
        let list = try await server.get("/v1/customers/\(customer)/entitlements")
        return (list.json["data"].array ?? []).compactMap { $0["lookup_key"].string }
    }

    /// Lets time pass for Stripe and the server.
    func wait(days: Int64 = 0, hours: Int64 = 0) async throws {
        let now = await clock.now
        await clock.advance(to: now + days * 86_400_000 + hours * 3_600_000)
        await server.tollgate.fetchWanted()
    }
}

extension StripeSimulator.Product {
    /// What Stripe would sell of this catalog.
    init?(_ product: TollgateCore.Catalog.Product) {
        guard !product.stripePriceIDs.isEmpty, let price = product.price else { return nil }
        var interval: String?
        if product.kind == .autoRenewable {
            interval = (product.duration?.years ?? 0) > 0 ? "year" : "month"
        }
        self.init(
            id: "prod_\(product.id)",
            name: product.name,
            features: product.entitlements,
            prices: product.stripePriceIDs.map {
                .init(
                    id: $0,
                    unitAmount: Int(price.amount),
                    currency: price.currency,
                    interval: interval
                )
            }
        )
    }
}
