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
import Synchronization
import TollgateAssembly
import TollgateAPI
import TollgateCore
import TollgateService
import TollgateSimulation

/// An application and the App Store that it speaks with: notifications come as they are sent, and
/// questions go over real HTTP.
struct AppStoreWorld: Sendable {
    static let start: Int64 = 1_780_272_000_000
    static let day: Int64 = 86_400_000
    static let weekly = "com.example.app.pro.monthly"
    static let yearly = "com.example.app.pro.yearly"
    static let coins = "com.example.app.coins100"
    static let lifetime = "com.example.app.lifetime"

    let tollgate: Tollgate
    let appStore: SimulatedAppStore
    let clock: VirtualClock
    /// Real time.
    let wall: TestClock
    let calls: Calls
    let environment: StoreEnvironment
    /// How far the application's clock is behind the stores', in milliseconds.
    let lag: TestClock
    /// Whether notifications reach the application; if not, somebody else takes them.
    let listens: Flag

    /// What the application asked the App Store, and what goes wrong when it does.
    final class Calls: Sendable {
        private let paths = Mutex<[String]>([])
        private let failing = Mutex<Set<Int>>([])
        private let unreadable = Mutex<[String]>([])
        private let refused = Mutex<(parts: [String], code: Int)>(([], 0))
        private let silent = Mutex<String?>(nil)
        private let earliest = Mutex<Int64?>(nil)

        struct Unreachable: Error {}

        /// Fails the calls of these numbers, from 0.
        func fail(_ numbers: Set<Int>) { failing.withLock { $0 = numbers } }

        /// Answers calls with half a line whose path contains one of these.
        func setUnreadable(_ parts: [String]) { unreadable.withLock { $0 = parts } }

        func isUnreadable(_ path: String) -> Bool {
            unreadable.withLock { parts in parts.contains { path.contains($0) } }
        }

        /// Answers calls with an error of Apple's whose path contains one of these.
        func refuse(_ parts: [String], with code: Int) { refused.withLock { $0 = (parts, code) } }

        /// Refuses to list notifications that were sent before this instant (4000012).
        func setEarliest(_ instant: Int64) { earliest.withLock { $0 = instant } }

        func isTooFarBack(_ path: String, _ body: [UInt8]?) -> Bool {
            guard let earliest = earliest.withLock({ $0 }), path.contains("notifications/history"),
                let request = try? JSONDecoder().decode(Span.self, from: Data(body ?? []))
            else { return false }
            return request.startDate < earliest
        }

        private struct Span: Decodable {
            var startDate: Int64
        }

        /// Gives no answer to calls whose path contains this.
        func setSilent(_ part: String?) { silent.withLock { $0 = part } }

        func refusal(of path: String) -> AppStore.HTTPResponse? {
            let (parts, code) = refused.withLock { $0 }
            guard parts.contains(where: { path.contains($0) }) else { return nil }
            let body = "{\"errorCode\":\(code),\"errorMessage\":\"Why.\"}"
            // The HTTP status is the code's first three digits.
            return AppStore.HTTPResponse(status: code / 10_000, body: Array(body.utf8))
        }

        func take(_ path: String) throws {
            let number = paths.withLock {
                $0.append(path)
                return $0.count - 1
            }
            if failing.withLock({ $0.contains(number) }) { throw Unreachable() }
            if let part = silent.withLock({ $0 }), path.contains(part) { throw Unreachable() }
        }

        var all: [String] { paths.withLock { $0 } }
        func forget() { paths.withLock { $0 = [] } }
    }

    /// What the application is set up with.
    struct Setup: Sendable {
        var environment = StoreEnvironment.sandbox
        var hasServerAPI = true
        var hasSharedSecret = false
        var faults = SimulatedAppStore.Faults()
        var notifies = true
        var ownership = Catalog.Ownership.keep
        var coinsSince: Instant?
        /// What `verifyReceipt` answers, whatever it is asked; `nil` asks the App Store.
        var receiptAnswer: String?
        /// Statuses with which a driver refuses rows, by dedupe key.
        var refusing: Set<[UInt8]> = []
    }

    static func run(
        on backend: Backend = .sqlite,
        _ setup: Setup = Setup(),
        _ test: @Sendable (AppStoreWorld) async throws -> Void
    ) async throws {
        let clock = VirtualClock(now: start)
        let target = Target()
        let isSandbox = setup.environment == .sandbox
        let appStore = try SimulatedAppStore(
            configuration: .init(
                environment: isSandbox ? .sandbox : .production,
                products: products,
                notificationURL: setup.notifies ? "https://billing.example.com/app" : nil,
                renewals: .real,
                authority: TestServer.authority.get(),
                faults: setup.faults
            ),
            clock: clock,
            deliver: { message, _ in await target.take(message) }
        )
        await clock.join(appStore)
        let server = Application(
            router: appStore.router(surface: .serverAPI),
            server: .http1UntilEnded,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        try await server.test(.ahc(.http)) { client in
            let calls = Calls()
            let wall = TestClock(start)
            let lag = TestClock(0)
            let driver = FaultyDriver(try await backend.open(), refusing: setup.refusing)
            let tollgate = try await application(
                setup,
                appStore,
                driver,
                clock,
                wall,
                lag,
                transport(client, calls, setup.receiptAnswer)
            )
            target.set(tollgate)
            try await test(
                AppStoreWorld(
                    tollgate: tollgate,
                    appStore: appStore,
                    clock: clock,
                    wall: wall,
                    calls: calls,
                    environment: setup.environment,
                    lag: lag,
                    listens: target.listens
                )
            )
            await driver.close()
        }
    }

    private static let products: [SimulatedAppStore.Product] = [
        .init(
            id: weekly,
            kind: .autoRenewable,
            price: 9990,
            period: .init("P1W"),
            subscriptionGroup: "pro",
            level: 2
        ),
        .init(
            id: yearly,
            kind: .autoRenewable,
            price: 79_990,
            period: .init("P1Y"),
            subscriptionGroup: "pro",
            level: 1
        ),
        .init(id: coins, kind: .consumable, price: 10_000),
        .init(id: lifetime, kind: .nonConsumable, price: 199_000),
    ]

    private static func application(
        _ setup: Setup,
        _ appStore: SimulatedAppStore,
        _ driver: any StorageDriver,
        _ clock: VirtualClock,
        _ wall: TestClock,
        _ lag: TestClock,
        _ transport: @escaping AppStore.Transport
    ) async throws -> Tollgate {
        let store = try await RecordStore(driver)
        var catalog = try catalog()
        catalog.ownership = setup.ownership
        catalog.coinsSince = setup.coinsSince
        let adopted = max(
            Instant(milliseconds: start),
            catalog.coinsSince ?? Instant(milliseconds: 0)
        )
        try await store.adopt(catalog, at: adopted)
        let random = Mutex(SplitMix64(seed: 7))
        let key = await appStore.apiKey
        let environment =
            setup.environment == .sandbox
            ? AppStore.Environment.sandbox : .production
        let apiKey = try AppStore.APIKey(
            issuerID: key.issuerID,
            keyID: key.keyID,
            pem: key.privateKeyPEM
        )
        let client = AppStore.ServerAPIClient(
            key: apiKey,
            bundleID: TestServer.bundleID,
            hosts: ["https://app-store.test"],
            transport: transport,
            // Tokens are checked by real time.
            now: { Int64(Date().timeIntervalSince1970 * 1000) },
            sleep: { _ in }
        )
        let clients = AppStoreClients(
            key: apiKey,
            bundleID: TestServer.bundleID,
            production: client,
            sandbox: client
        )
        var options = AppStoreOptions()
        if setup.hasSharedSecret {
            let secret = await appStore.sharedSecret
            options.sharedSecret = secret
            options.receipts = AppStore.ReceiptClient(
                sharedSecret: secret,
                urls: [environment: "https://app-store.test/verifyReceipt"],
                transport: transport,
                sleep: { _ in }
            )
        }
        return Tollgate(
            configuration: Configuration(
                secretKey: TestServer.secretKey,
                publishableKey: TestServer.publishableKey,
                publicURL: TestServer.publicURL,
                defaultEnvironment: setup.environment
            ),
            store: store,
            appStore: try AppStore.SignedDataVerifier(
                roots: [Array(appStore.rootDER)],
                bundleID: TestServer.bundleID,
                appAppleID: environment == .production ? 1_234_567_890 : nil,
                environments: [environment]
            ),
            appStoreClients: setup.hasServerAPI ? clients : nil,
            appStoreOptions: options,
            stripe: nil,
            clocks: .init(
                now: { Instant(milliseconds: await clock.now - lag.now.milliseconds) },
                wall: { wall.now }
            ),
            randomBytes: { count in random.withLock { $0.bytes(count) } },
            signer: try await AnswerSigner(keptIn: driver),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        )
    }

    private static func catalog() throws -> Catalog {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../..")
        return try CatalogReader.read(
            bytes: Data(contentsOf: root.appendingPathComponent("catalog.yaml"))
        )
    }

    private static func transport(
        _ client: any TestClientProtocol,
        _ calls: Calls,
        _ receiptAnswer: String?
    ) -> AppStore.Transport {
        { request in
            let path = String(request.url.dropFirst("https://app-store.test".count))
            try calls.take(path)
            if calls.isUnreadable(path) {
                return AppStore.HTTPResponse(status: 200, body: Array("{".utf8))
            }
            if calls.isTooFarBack(path, request.body) {
                let body = "{\"errorCode\":4000012,\"errorMessage\":\"Too far in the past.\"}"
                return AppStore.HTTPResponse(status: 400, body: Array(body.utf8))
            }
            if let refusal = calls.refusal(of: path) { return refusal }
            if path == "/verifyReceipt", let receiptAnswer {
                return AppStore.HTTPResponse(status: 200, body: Array(receiptAnswer.utf8))
            }
            var headers: HTTPFields = [:]
            for (name, value) in request.headers {
                if let name = HTTPField.Name(name) { headers[name] = value }
            }
            let response = try await client.executeRequest(
                uri: path,
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

    // MARK: - What tests do

    func pass(days: Double) async {
        await clock.advance(to: await clock.now + Int64(days * Double(Self.day)))
    }

    /// A customer of both the app's backend and the App Store.
    func customer(_ user: String) async throws -> (id: String, buyer: String) {
        let token = UUID().uuidString.lowercased()
        var request = API.CreateCustomerRequest(appUserID: user)
        request.appAccountToken = token
        let customer = try await tollgate.customers.create(request).customer
        let buyer = try await appStore.createCustomer(appAccountToken: token)
        return (customer.id, buyer.id)
    }

    /// Does something of which no notice comes.
    func unannounced(_ body: () async throws -> Void) async throws {
        var lost = SimulatedAppStore.Faults()
        lost.drop = 1
        await appStore.setFaults(lost)
        try await body()
        await appStore.setFaults(SimulatedAppStore.Faults())
    }

    /// A device shows a transaction as the App Store signs it now.
    func show(_ transaction: String, _ mode: API.SubmissionMode, by customer: String?) async throws
    {
        _ = try await tollgate.appStore.devices.receive(
            API.AppStoreTransactionRequest(
                signedTransaction: try await appStore.signedTransaction(transaction).jws,
                mode: mode
            ),
            from: customer.map { Customer.ID($0) }
        )
    }

    func isEntitled(_ customer: String, _ lookupKey: String = "pro") async throws -> Bool {
        try await tollgate.entitlements.active(of: customer).data.contains {
            $0.lookupKey == lookupKey
        }
    }

    func balance(_ customer: String) async throws -> Int64 {
        let id = Customer.ID(customer)
        return try await tollgate.store.reading(of: id, in: environment).balance
    }

    func count(_ table: String) async throws -> Int64 {
        try await tollgate.store.driver.read { connection in
            try connection.query("SELECT count(*) FROM \(table)").first?.int64(0) ?? -1
        }
    }

    /// Whether all that is derived follows from the journal alone.
    func isRebuilt() async throws -> Bool {
        let scratch = try Backend.sqlite.makeDatabase().open()
        let report = try await Rebuild(of: tollgate.store.driver, into: scratch).verify()
        await scratch.close()
        return report.isIdentical
    }
}

/// The application that notifications go to, once it is there.
private final class Target: Sendable {
    let listens = Flag(true)
    private let tollgate = Mutex<Tollgate?>(nil)

    func set(_ tollgate: Tollgate) { self.tollgate.withLock { $0 = tollgate } }

    func take(_ message: SimulatedAppStore.Message) async -> SimulatedAppStore.SendAttemptResult {
        guard listens.isSet else { return .success }
        guard let tollgate = tollgate.withLock({ $0 }) else { return .noResponse }
        let body =
            switch message {
            case .signedPayload(let payload): "{\"signedPayload\":\"\(payload)\"}"
            case .versionOne(let body): body
            }
        do {
            _ = try await tollgate.appStore.receive(ReceivedMessage(Array(body.utf8)))
            return .success
        } catch {
            return .unsuccessfulHTTPResponseCode
        }
    }
}

/// Something that is so or not.
final class Flag: Sendable {
    private let value: Mutex<Bool>

    init(_ value: Bool) { self.value = Mutex(value) }

    var isSet: Bool { value.withLock { $0 } }
    func set(_ value: Bool) { self.value.withLock { $0 = value } }
}

/// A database that refuses certain rows of the journal, as a constraint would.
struct FaultyDriver: StorageDriver {
    let driver: any StorageDriver
    let refusing: Set<[UInt8]>

    init(_ driver: any StorageDriver, refusing: Set<[UInt8]>) {
        self.driver = driver
        self.refusing = refusing
    }

    var dialect: Dialect { driver.dialect }
    var commits: CommitSignal { driver.commits }

    func write<R: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> R
    ) async throws -> R {
        guard !refusing.isEmpty else { return try await driver.write(body) }
        return try await driver.write { try body(FaultyConnection($0, refusing)) }
    }

    func read<R: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> R
    ) async throws -> R {
        try await driver.read(body)
    }

    func readNow(_ sql: String, _ parameters: [SQLValue]) async throws(StorageError) -> [Row] {
        try await driver.readNow(sql, parameters)
    }

    func close() async { await driver.close() }
}

private struct FaultyConnection: StorageConnection {
    let connection: any StorageConnection
    let refusing: Set<[UInt8]>

    init(_ connection: any StorageConnection, _ refusing: Set<[UInt8]>) {
        self.connection = connection
        self.refusing = refusing
    }

    var dialect: Dialect { connection.dialect }

    func query(_ sql: String, _ parameters: [SQLValue]) throws(StorageError) -> [Row] {
        try connection.query(sql, parameters)
    }

    func execute(_ sql: String, _ parameters: [SQLValue]) throws(StorageError) -> Int {
        try connection.execute(sql, parameters)
    }

    func queryMany(_ sql: String, _ rows: [[SQLValue]]) throws(StorageError) -> [[Row]] {
        if sql.contains("INSERT INTO journal") {
            for row in rows {
                if case .blob(let key)? = row.first, refusing.contains(key) {
                    throw StorageError(.constraintViolation, "a row that no database takes")
                }
            }
        }
        return try connection.queryMany(sql, rows)
    }

    func executeMany(_ sql: String, _ rows: [[SQLValue]]) throws(StorageError) -> [Int] {
        try connection.executeMany(sql, rows)
    }

    func define(_ statement: String) throws(StorageError) {
        try connection.define(statement)
    }
}
