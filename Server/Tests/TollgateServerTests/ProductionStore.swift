import AcceptedConnections
import AppStoreAPI
import AppStoreConnector
import AppStoreSimulator
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import SandboxClock
import Storage
import Stores
import Testing
import TollgateAssembly
import TollgateCore
import TollgateService
import TollgateSimulation

/// An application beside an App Store that sells for real money, whose reports it fetches, and one
/// that is a sandbox; both on one clock.
struct ProductionStore: Sendable {
    /// 2026-06-01T00:00:00Z.
    static let start: Int64 = 1_780_272_000_000
    static let plan = "com.example.app.pro.monthly"

    let tollgate: Tollgate
    let production: SimulatedAppStore
    let sandbox: SimulatedAppStore
    let clock: VirtualClock
    let wall: TestClock

    static func run(
        on backend: Backend,
        _ test: @Sendable (ProductionStore) async throws -> Void
    ) async throws {
        let clock = VirtualClock(now: start)
        let authority = try SimulatedAppStore.makeAuthority()
        let production = try store(.production, authority, clock)
        let sandbox = try store(.sandbox, authority, clock)
        await clock.join(production)
        await clock.join(sandbox)
        let silent = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let server = Application(
            router: production.router(surface: .serverAPI),
            server: .http1UntilEnded,
            logger: silent
        )
        try await server.test(.ahc(.http)) { client in
            let driver = try await backend.open()
            let store = try await RecordStore(driver)
            let key = await production.apiKey
            let connect = AppStore.ConnectClient(
                key: try AppStore.APIKey(
                    issuerID: key.issuerID,
                    keyID: key.keyID,
                    pem: key.privateKeyPEM
                ),
                vendorNumber: "87654321",
                host: "https://app-store.test",
                transport: transport(over: client),
                now: { Int64(Date().timeIntervalSince1970 * 1000) }
            )
            let wall = TestClock(start)
            let tollgate = Tollgate(
                configuration: Configuration(
                    secretKey: TestServer.secretKey,
                    publishableKey: TestServer.publishableKey,
                    publicURL: TestServer.publicURL,
                    defaultEnvironment: .production
                ),
                store: store,
                appStore: try AppStore.SignedDataVerifier(
                    roots: [Array(production.rootDER)],
                    bundleID: TestServer.bundleID,
                    appAppleID: 1_234_567_890,
                    environments: [.production, .sandbox]
                ),
                appStoreOptions: AppStoreOptions(connect: connect),
                stripe: nil,
                clocks: .init(
                    now: { Instant(milliseconds: await clock.now) },
                    wall: { wall.now }
                ),
                randomBytes: { Array(repeating: 7, count: $0) },
                signer: try await AnswerSigner(keptIn: driver),
                logger: silent
            )
            try await test(
                ProductionStore(
                    tollgate: tollgate,
                    production: production,
                    sandbox: sandbox,
                    clock: clock,
                    wall: wall
                )
            )
            await driver.close()
        }
    }

    private static func store(
        _ environment: SimulatedAppStore.Environment,
        _ authority: Data,
        _ clock: VirtualClock
    ) throws -> SimulatedAppStore {
        let kinds = SimulatedAppStore.ReportDifference.Kind.allCases.map(\.rawValue) + ["plain"]
        let packs = kinds.enumerated().map { number, kind in
            SimulatedAppStore.Product(
                id: "com.example.app.\(kind)",
                kind: .consumable,
                price: 10_000 + Int64(number) * 1_000
            )
        }
        let period = try #require(SimulatedAppStore.Period("P1M"))
        return try SimulatedAppStore(
            configuration: .init(
                environment: environment,
                bundleID: TestServer.bundleID,
                appAppleID: 1_234_567_890,
                products: packs + [
                    .init(
                        id: plan,
                        kind: .autoRenewable,
                        price: 9_990,
                        period: period,
                        subscriptionGroup: "pro",
                        level: 1,
                        isFamilyShareable: true
                    ),
                    .init(
                        id: "com.example.app.offered",
                        kind: .autoRenewable,
                        price: 19_990,
                        period: .init("P1Y"),
                        subscriptionGroup: "offered",
                        level: 1,
                        introductoryOffer: .init(
                            kind: .introductory,
                            discount: .payUpFront,
                            period: period,
                            price: 4_990
                        )
                    ),
                ],
                notificationURL: "https://billing.example.com/webhooks/app_store",
                // No two messages of Apple's have one UUID, in whichever environment.
                seed: environment == .production ? 1 : 2,
                renewals: .real,
                authority: authority
            ),
            clock: clock,
            deliver: { _, _ in .success }
        )
    }

    private static func transport(over client: any TestClientProtocol) -> AppStore.Transport {
        { request in
            var headers: HTTPFields = [:]
            for (name, value) in request.headers {
                if let name = HTTPField.Name(name) { headers[name] = value }
            }
            let response = try await client.executeRequest(
                uri: String(request.url.dropFirst("https://app-store.test".count)),
                method: HTTPRequest.Method(request.method) ?? .get,
                headers: headers,
                body: nil
            )
            return AppStore.HTTPResponse(
                status: response.status.code,
                headers: [:],
                body: Array(response.body.readableBytesView)
            )
        }
    }

    // MARK: - What happens

    func pass(hours: Int64) async {
        await clock.advance(to: clock.now + hours * 3_600_000)
    }

    /// Everything that both stores have signed so far reaches the application.
    func deliver() async throws {
        for store in [production, sandbox] {
            for notification in await store.notifications() {
                let body = "{\"signedPayload\":\"\(notification.signedPayload)\"}"
                _ = try await tollgate.appStore.receive(ReceivedMessage(Array(body.utf8)))
            }
        }
    }

    /// Somebody buys something; returns the transaction's id.
    func buy(_ product: String, in storefront: String = "USA") async throws -> String {
        let buyer = try await production.createCustomer(storefront: storefront)
        let bought = try await production.buy(product, customer: buyer.id)
        if product == Self.plan { try await production.cancel(bought.originalTransactionID) }
        return bought.transactionID
    }

    /// A year's plan with a month paid up front at a lower price.
    func buyOffer() async throws -> String {
        let buyer = try await production.createCustomer()
        let bought = try await production.buy("com.example.app.offered", customer: buyer.id)
        try await production.cancel(bought.originalTransactionID)
        return bought.transactionID
    }

    /// A plan for the family; returns the transaction of the member who did not pay.
    func buyForFamily() async throws -> String {
        let payer = try await production.createCustomer(family: "family")
        let member = try await production.createCustomer(family: "family")
        let bought = try await production.buy(Self.plan, customer: payer.id)
        try await production.cancel(bought.originalTransactionID)
        let transactions = try await production.transactions(customer: member.id)
        return try #require(transactions.first { $0.ownership != .purchased }).id
    }

    func buyInSandbox() async throws -> String {
        let tester = try await sandbox.createCustomer()
        return try await sandbox.buy("com.example.app.plain", customer: tester.id).transactionID
    }
}
