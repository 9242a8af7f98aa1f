import AppStoreAPI
import AppStoreConnector
import AppStoreSimulator
import Foundation
import Logging
import SandboxClock
import Storage
import Stores
import StrictJSON
import StripeAPI
import StripeConnector
import StripeSimulator
import Synchronization
import Testing
import TollgateAssembly
import TollgateAPI
import TollgateCore
import TollgateService
import TollgateSimulation

/// An application on a database that can be copied and put back, beside both stores, whose books are
/// the truth.
final class RestorableWorld: Sendable {
    static let start: Int64 = 1_780_272_000_000
    static let day: Int64 = 86_400_000

    /// A customer of all three.
    struct Person: Sendable {
        var user: String
        /// The account at the App Store.
        var buyer: String
        /// What Tollgate called them first.
        var id: String
    }

    private struct Running {
        var tollgate: Tollgate
        var driver: any StorageDriver
        var database: TestDatabase
    }

    let clock: VirtualClock
    let appStore: SimulatedAppStore
    let stripe: StripeSimulator
    let warnings = Warnings()
    private let line: Line
    private let catalog: TollgateCore.Catalog
    private let running = Mutex<Running?>(nil)
    private let known = Mutex<[Person]>([])
    let random = Mutex(SplitMix64(seed: 18))

    /// Where the stores' messages go: nowhere while no server runs.
    private final class Line: Sendable {
        let tollgate = Mutex<Tollgate?>(nil)

        func take(_ message: SimulatedAppStore.Message) async -> SimulatedAppStore.SendAttemptResult
        {
            guard let tollgate = tollgate.withLock({ $0 }),
                case .signedPayload(let payload) = message
            else { return .noResponse }
            let body = Array("{\"signedPayload\":\"\(payload)\"}".utf8)
            let isTaken = (try? await tollgate.appStore.receive(ReceivedMessage(body))) != nil
            return isTaken ? .success : .unsuccessfulHTTPResponseCode
        }

        func take(event body: String, _ signature: String) async -> Bool {
            guard let tollgate = tollgate.withLock({ $0 }) else { return false }
            let body = Array(body.utf8)
            return
                (try? await tollgate.stripe.receive(
                    ReceivedMessage(body, .delivered(signature: signature))
                )) != nil
        }
    }

    private init(_ catalog: TollgateCore.Catalog) async throws {
        let line = Line()
        let clock = VirtualClock(now: Self.start)
        appStore = try SimulatedAppStore(
            configuration: .init(
                environment: .sandbox,
                products: [
                    .init(
                        id: AppStoreWorld.weekly,
                        kind: .autoRenewable,
                        price: 9990,
                        period: .init("P1W"),
                        subscriptionGroup: "pro",
                        level: 2
                    ),
                    .init(id: AppStoreWorld.coins, kind: .consumable, price: 10_000),
                    .init(id: AppStoreWorld.lifetime, kind: .nonConsumable, price: 199_000),
                ],
                notificationURL: "https://billing.example.com/app",
                renewals: .real,
                renewalLimit: .max,
                authority: TestServer.authority.get()
            ),
            clock: clock,
            deliver: { message, _ in await line.take(message) }
        )
        await clock.join(appStore)
        var settings = StripeSimulator.Configuration()
        settings.secretKey = "sk_test_stripe"
        settings.products = catalog.products.compactMap(StripeSimulator.Product.init)
        settings.webhookEndpoints = [
            .init(url: "https://billing.example.com/stripe", secret: TestServer.webhookSecret)
        ]
        settings.wall = { Int(clock.nowAtOnce / 1000) }
        settings.deliver = { body, _, signature in await line.take(event: body, signature) }
        stripe = try await StripeSimulator(configuration: settings, clock: clock)
        self.clock = clock
        self.line = line
        self.catalog = catalog
    }

    /// - Parameter test: a world with a server on an empty database.
    static func run(
        on backend: Backend,
        _ test: (RestorableWorld) async throws -> Void
    ) async throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../..")
        let catalog = try CatalogReader.read(
            bytes: Data(contentsOf: root.appendingPathComponent("catalog.yaml"))
        )
        let world = try await RestorableWorld(catalog)
        try await world.start(on: try backend.makeDatabase())
        try await test(world)
        await world.stop()
    }

    // MARK: - What operators do

    var tollgate: Tollgate {
        get throws { try #require(running.withLock { $0 }).tollgate }
    }

    func start(on database: TestDatabase) async throws {
        let driver = try database.open()
        let store = try await RecordStore(driver)
        try await store.adopt(catalog, at: Instant(milliseconds: Self.start))
        let tollgate = try await application(store)
        running.withLock { $0 = Running(tollgate: tollgate, driver: driver, database: database) }
        line.tollgate.withLock { $0 = tollgate }
    }

    func stop() async {
        line.tollgate.withLock { $0 = nil }
        let stopped = running.withLock { running in
            defer { running = nil }
            return running
        }
        await stopped?.driver.close()
    }

    /// A copy of the database as it is now.
    func backUp() async throws -> TestDatabase {
        let database = try #require(running.withLock { $0 }).database
        await stop()
        let copy = try database.copy()
        try await start(on: database)
        return copy
    }

    /// Whether all that is derived follows from the journal alone.
    func isRebuilt() async throws -> Bool {
        let driver = try #require(running.withLock { $0 }).driver
        let scratch = try Backend.sqlite.makeDatabase().open()
        let report = try await Rebuild(of: driver, into: scratch).verify()
        await scratch.close()
        return report.isIdentical
    }

    private func application(_ store: RecordStore) async throws -> Tollgate {
        let key = await appStore.apiKey
        let apiKey = try AppStore.APIKey(
            issuerID: key.issuerID,
            keyID: key.keyID,
            pem: key.privateKeyPEM
        )
        let serverAPI = InProcessServerAPI(appStore)
        let client = AppStore.ServerAPIClient(
            key: apiKey,
            bundleID: TestServer.bundleID,
            hosts: ["https://app-store.test"],
            transport: { request in
                let answer = await serverAPI.exchange(
                    method: request.method,
                    path: String(request.url.dropFirst("https://app-store.test".count)),
                    headers: request.headers,
                    body: request.body ?? []
                )
                return AppStore.HTTPResponse(
                    status: answer.status,
                    headers: answer.headers,
                    body: answer.body
                )
            },
            // Tokens are checked by real time.
            now: { Int64(Date().timeIntervalSince1970 * 1000) },
            sleep: { _ in }
        )
        let clock = clock
        return Tollgate(
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
            appStoreClients: AppStoreClients(
                key: apiKey,
                bundleID: TestServer.bundleID,
                production: client,
                sandbox: client
            ),
            stripe: stripeClient,
            clocks: .init(
                now: { Instant(milliseconds: clock.nowAtOnce) },
                wall: { Instant(milliseconds: clock.nowAtOnce) }
            ),
            // Another server draws other numbers.
            randomBytes: RestorableWorld.randomBytes,
            signer: AnswerSigner(),
            logger: warnings.logger
        )
    }

    private static let randomBytes: @Sendable (Int) -> [UInt8] = { count in
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    private var stripeClient: Stripe.Client {
        let stripe = stripe
        return Stripe.Client(
            apiBase: "https://stripe.test",
            secretKey: "sk_test_stripe",
            transport: { request in
                let parts = URLComponents(string: request.url)
                let answer = await stripe.exchange(
                    method: request.method.rawValue,
                    path: parts?.path ?? "",
                    query: parts?.percentEncodedQuery ?? "",
                    body: String(decoding: request.body, as: UTF8.self),
                    headers: request.headers
                )
                return Stripe.Response(
                    status: answer.status,
                    headers: answer.headers,
                    body: Array(answer.body.utf8)
                )
            },
            sleep: { _ in }
        )
    }

    // MARK: - What people do

    var people: [Person] { known.withLock { $0 } }

    func pass(days: Double) async throws {
        await clock.advance(to: clock.nowAtOnce + Int64(days * Double(Self.day)))
        if let tollgate = running.withLock({ $0 })?.tollgate { await tollgate.fetchWanted() }
    }

    /// Somebody comes, signs in, and opens an account at the App Store.
    func join(_ user: String) async throws {
        let customer = try await signIn(user)
        let buyer = try await appStore.createCustomer(appAccountToken: customer.appAccountToken)
        known.withLock { $0.append(Person(user: user, buyer: buyer.id, id: customer.id)) }
    }

    /// The app's backend makes whoever signs in known, as at every sign-in.
    @discardableResult
    func signIn(_ user: String) async throws -> API.Customer {
        try await tollgate.customers.create(API.CreateCustomerRequest(appUserID: user)).customer
    }

    /// A day in which many do something; what is not possible is left.
    func liveADay() async throws {
        for person in people where draw(3) > 0 {
            do {
                try await act(person, draw(10))
            } catch is SimulatedAppStore.Refusal {
            } catch is StripeSimulator.Refusal {
            } catch is Refusal {}
        }
        try await pass(days: 1)
    }

    private func draw(_ count: UInt64) -> Int {
        random.withLock { Int($0.next() % count) }
    }

    private func act(_ person: Person, _ deed: Int) async throws {
        switch deed {
        case 0, 1:
            _ = try await appStore.buy(
                AppStoreWorld.coins,
                customer: person.buyer,
                quantity: 1 + draw(3)
            )
        case 2: _ = try await appStore.buy(AppStoreWorld.weekly, customer: person.buyer)
        case 3:
            guard draw(3) == 0 else { break }
            _ = try await appStore.buy(AppStoreWorld.lifetime, customer: person.buyer)
        case 4:
            let last = try await appStore.transactions(customer: person.buyer)
                .last { $0.revocation == nil }
            if let last { try await appStore.refund(last.id) }
        case 5:
            let last = try await appStore.transactions(customer: person.buyer)
                .last { $0.kind == .autoRenewable }
            if let last { try await appStore.cancel(last.originalID) }
        case 6, 7: try await checkOut("coins_100", person)
        case 8: try await checkOut("pro_monthly", person)
        default:
            guard let customer = try await stripeCustomers(of: person).first else { break }
            try await stripe.refund(customer: customer, amount: draw(2) == 0 ? nil : 300)
        }
    }

    private func checkOut(_ product: String, _ person: Person) async throws {
        guard let tollgate = running.withLock({ $0 })?.tollgate else { return }
        let session = try await tollgate.stripe.checkouts.create(
            API.CheckoutSessionRequest(product: product),
            customer: person.user
        )
        _ = try await stripe.pay(checkoutSession: session.id)
    }

    // MARK: - The truth

    private func stripeCustomers(of person: Person) async throws -> Set<String> {
        var found: Set<String> = []
        for try await customer in stripeClient.lists.customers()
        where customer.metadata["tollgate_customer"] == person.id {
            found.insert(customer.id)
        }
        return found
    }

    /// Whose answer or coins are not what the stores' books say.
    func wrong(among people: [Person]? = nil) async throws -> [String] {
        var coins: [String: Int64] = [:]
        for try await charge in stripeClient.lists.all(["charges"])
            as Stripe.AutoPaging<Stripe.Charge>
        where charge.json["paid"]?.bool == true {
            guard let amount = charge.json["amount"]?.int64, amount % 1000 == 0,
                let refunded = charge.json["amount_refunded"]?.int64
            else { continue }
            let customer = charge.json["customer"]?.string ?? ""
            coins[customer, default: 0] += amount / 10 * (amount - refunded) / amount
        }
        var subscribers: Set<String> = []
        for try await subscription in stripeClient.lists.subscriptions()
        where subscription.status == .active {
            subscribers.insert(subscription.customer.id)
        }
        var wrong: [String] = []
        for person in people ?? self.people {
            let (isEntitled, apple) = try await appStoreSays(of: person)
            let customers = try await stripeCustomers(of: person)
            let balance = apple + customers.reduce(0) { $0 + coins[$1, default: 0] }
            let expected = isEntitled || !customers.isDisjoint(with: subscribers)
            let answer = try await answer(person)
            if answer.has != expected { wrong.append("\(person.user): pro, not \(answer.has)") }
            if answer.coins != balance {
                wrong.append(
                    "\(person.user): \(balance) coins, \(apple) of them Apple's, not \(answer.coins)"
                )
            }
        }
        return wrong
    }

    func expectTruth(
        among people: [Person]? = nil,
        location: SourceLocation = #_sourceLocation
    ) async throws {
        let wrong = try await wrong(among: people)
        #expect(wrong.isEmpty, "\(wrong)", sourceLocation: location)
    }

    private func answer(_ person: Person) async throws -> (has: Bool, coins: Int64) {
        let tollgate = try tollgate
        do {
            let list = try await tollgate.entitlements.active(of: person.user)
            let coins = try await tollgate.coins.balance(of: person.user, in: .sandbox).balance
            return (list.data.contains { $0.lookupKey == "pro" }, coins)
        } catch let refusal as Refusal where refusal.status == 404 {
            return (false, 0)
        }
    }

    private func appStoreSays(of person: Person) async throws -> (Bool, Int64) {
        var isEntitled = false
        var coins: Int64 = 0
        for transaction in try await appStore.transactions(customer: person.buyer) {
            let isRevoked = transaction.revocation != nil
            switch transaction.kind {
            case .consumable: if !isRevoked { coins += 100 * Int64(transaction.quantity) }
            case .nonConsumable: if !isRevoked { isEntitled = true }
            default:
                let state = try await appStore.subscription(transaction.originalID).state
                if [.active, .billingGrace].contains(state) { isEntitled = true }
            }
        }
        return (isEntitled, coins)
    }
}
