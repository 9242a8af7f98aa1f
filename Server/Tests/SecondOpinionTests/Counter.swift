import AppStoreAPI
import AppStoreConnector
import AppStoreSimulator
import Crypto
import Foundation
import Logging
import SandboxClock
import Storage
import Stores
import StripeAPI
import StripeConnector
import Synchronization
import Testing
import TollgateAssembly
import TollgateAPI
import TollgateCore
import TollgateService
import TollgateSimulation

@testable import SecondOpinion

extension Instant {
    /// Days since the stories began, on 2026-01-01.
    static func day(_ day: Double) -> Instant {
        Instant(milliseconds: 1_767_225_600_000 + Int64(day * 86_400_000))
    }
}

/// A shop whose stores say only what a test writes down, word for word, signed as they sign.
struct Counter: Sendable {
    static let bundleID = "com.example.app"
    static let webhookSecret = "whsec_stories"
    static let authority = Result { try SimulatedAppStore.makeAuthority() }

    let tollgate: Tollgate
    let driver: any StorageDriver
    private let appStore: SimulatedAppStore
    private let now: Present
    private let stripe = StripeShelf()

    /// The stores' time.
    private final class Present: Sendable {
        let instant = Mutex(Instant.day(0))
    }

    /// What Stripe answers when it is asked, by path.
    private final class StripeShelf: Sendable {
        let objects = Mutex<[String: String]>([:])
    }

    init(
        on backend: Backend = .sqlite,
        _ change: (inout Catalog) -> Void = { _ in }
    ) async throws {
        driver = try await backend.open()
        let clock = VirtualClock(now: Instant.day(0).milliseconds)
        appStore = try SimulatedAppStore(
            configuration: .init(
                environment: .sandbox,
                bundleID: Self.bundleID,
                appAppleID: 1_234_567_890,
                products: [],
                authority: Self.authority.get()
            ),
            clock: clock,
            deliver: { _, _ in .success }
        )
        let now = Present()
        self.now = now
        var catalog = Self.catalog
        change(&catalog)
        let store = try await RecordStore(driver)
        try await store.adopt(catalog, at: .day(-100))
        let random = Mutex(SplitMix64(seed: 1))
        var options = AppStoreOptions()
        options.sharedSecret = "secret"
        let stripe = stripe
        options.receipts = AppStore.ReceiptClient(
            sharedSecret: "secret",
            urls: [.sandbox: "https://app-store.test/verifyReceipt"],
            transport: { _ in
                let answer = stripe.objects.withLock { $0["receipt"] ?? "{}" }
                return AppStore.HTTPResponse(status: 200, body: Array(answer.utf8))
            },
            sleep: { _ in }
        )
        tollgate = Tollgate(
            configuration: Configuration(
                secretKey: "sk_test_stories",
                publishableKey: "pk_test_stories",
                publicURL: "https://billing.example.com",
                stripeWebhookSecrets: [Self.webhookSecret],
                defaultEnvironment: .sandbox
            ),
            store: store,
            appStore: try AppStore.SignedDataVerifier(
                roots: [Array(appStore.rootDER)],
                bundleID: Self.bundleID,
                appAppleID: nil,
                environments: [.sandbox]
            ),
            appStoreOptions: options,
            stripe: Stripe.Client(
                apiBase: "https://stripe.test",
                secretKey: "sk_test_stripe",
                maximumRetries: 0,
                transport: { request in
                    let path = URLComponents(string: request.url)?.path ?? ""
                    let object = stripe.objects.withLock { $0[path] }
                    let empty = "{\"object\":\"list\",\"data\":[],\"has_more\":false,\"url\":\"/\"}"
                    let isList = path.split(separator: "/").count == 2
                    return Stripe.Response(
                        status: object != nil || isList ? 200 : 404,
                        headers: [:],
                        body: Array((object ?? (isList ? empty : "{\"error\":{}}")).utf8)
                    )
                }
            ),
            clocks: .init(
                now: { now.instant.withLock { $0 } },
                wall: { Instant(seconds: 1_900_000_000) },
                isVirtual: true
            ),
            randomBytes: { count in random.withLock { $0.bytes(count) } },
            signer: AnswerSigner(),
            logger: Logger(label: "stories") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    static let catalog = Catalog(
        entitlements: [
            .init(lookupKey: "pro", name: "Pro"), .init(lookupKey: "archive", name: "Archive"),
        ],
        products: [
            .init(
                id: "monthly",
                name: "Monthly",
                kind: .autoRenewable,
                appStoreProductID: "monthly",
                stripePriceIDs: ["price_monthly"],
                googlePlayProductID: "monthly",
                entitlements: ["pro"]
            ),
            .init(
                id: "yearly",
                name: "Yearly",
                kind: .autoRenewable,
                appStoreProductID: "yearly",
                stripePriceIDs: ["price_yearly"],
                googlePlayProductID: "yearly",
                entitlements: ["pro", "archive"]
            ),
            .init(
                id: "lifetime",
                name: "For ever",
                kind: .nonConsumable,
                appStoreProductID: "lifetime",
                stripePriceIDs: ["price_lifetime"],
                googlePlayProductID: "lifetime",
                entitlements: ["pro", "archive"]
            ),
            .init(
                id: "pass",
                name: "Pass",
                kind: .nonRenewing,
                appStoreProductID: "pass",
                stripePriceIDs: ["price_pass"],
                googlePlayProductID: "pass",
                entitlements: ["pro"],
                duration: CalendarDuration(days: 30),
                whileActive: .extend
            ),
            .init(
                id: "coins",
                name: "Coins",
                kind: .consumable,
                appStoreProductID: "coins",
                stripePriceIDs: ["price_coins"],
                coins: 100
            ),
            .init(
                id: "reader",
                name: "Reader",
                kind: .freeSubscription,
                appStoreProductID: "reader",
                entitlements: ["pro"]
            ),
        ]
    )

    // MARK: - People

    static func token(of user: String) -> String {
        let byte = String(user.utf8.first ?? 0, radix: 16)
        return "00000000-0000-4000-8000-0000000000\(byte)"
    }

    /// Makes a customer known, whom Stripe calls `cus_NAME`.
    @discardableResult
    func customer(_ user: String) async throws -> Customer.ID {
        var request = API.CreateCustomerRequest(appUserID: user)
        request.appAccountToken = Self.token(of: user)
        let customer = Customer.ID(try await tollgate.customers.create(request).customer.id)
        try await register([.stripeCustomer("cus_\(user)")], of: customer, user)
        return customer
    }

    /// Makes names of a customer known.
    func register(_ names: [Holder], of customer: Customer.ID, _ user: String) async throws {
        _ = try await tollgate.store.submit(
            JournalItem(
                dedupeKey: RowKey("names", names.map(\.canonical).joined()),
                subject: RecordStore.subject(of: customer),
                kind: .command,
                stated: .day(0),
                content: .register(
                    Registration(
                        customer: customer,
                        aliases: names,
                        profile: Array(
                            "{\"customer\":{\"id\":\"\(customer)\",\"app_user_id\":\"\(user)\",\"app_account_token\":\"\(Self.token(of: user))\",\"metadata\":{},\"consumption_consent\":false,\"created\":1}}"
                                .utf8
                        )
                    )
                )
            )
        )
    }

    // MARK: - What the stores say

    func set(_ instant: Instant) { now.instant.withLock { $0 = instant } }

    /// What Stripe or the App Store answers from now on at this path.
    func shelve(_ path: String, _ object: Any) throws {
        let json = try Self.text(object)
        stripe.objects.withLock { $0[path] = json }
    }

    func sign(_ object: [String: Any]) async throws -> String {
        let json = try JSONSerialization.data(withJSONObject: object, options: .sortedKeys)
        return try await appStore.sign(anyPayload: json)
    }

    /// A notification that holds these objects.
    func notify(
        _ type: String,
        _ subtype: String? = nil,
        at instant: Instant,
        _ transaction: [String: Any],
        _ renewal: [String: Any]? = nil,
        status: Int? = nil,
        id: String
    ) async throws {
        var data: [String: Any] = [
            "bundleId": Self.bundleID, "environment": "Sandbox",
            "signedTransactionInfo": try await sign(transaction),
        ]
        if let renewal { data["signedRenewalInfo"] = try await sign(renewal) }
        if let status { data["status"] = status }
        var payload: [String: Any] = [
            "notificationType": type, "notificationUUID": id, "version": "2.0",
            "signedDate": instant.milliseconds, "data": data,
        ]
        if let subtype { payload["subtype"] = subtype }
        let body = "{\"signedPayload\":\"\(try await sign(payload))\"}"
        _ = try await tollgate.appStore.receive(ReceivedMessage(Array(body.utf8)))
    }

    func event(_ type: String, at instant: Instant, _ object: [String: Any], id: String)
        async throws
    {
        let event: [String: Any] = [
            "id": id, "object": "event", "api_version": "2026-09-30.endive",
            "created": instant.milliseconds / 1000, "livemode": false, "pending_webhooks": 1,
            "type": type, "data": ["object": object],
            "request": ["id": NSNull(), "idempotency_key": NSNull()],
        ]
        let body = try Self.text(event)
        let time = "1900000000"
        let code = HMAC<SHA256>.authenticationCode(
            for: Data("\(time).\(body)".utf8),
            using: SymmetricKey(data: Data(Self.webhookSecret.utf8))
        ).map { String(format: "%02x", $0) }.joined()
        _ = try await tollgate.stripe.receive(
            ReceivedMessage(Array(body.utf8), .delivered(signature: "t=\(time),v1=\(code)"))
        )
        await tollgate.fetchWanted()
    }

    private static func text(_ object: Any) throws -> String {
        let json = try JSONSerialization.data(withJSONObject: object, options: .sortedKeys)
        return String(decoding: json, as: UTF8.self)
    }

    // MARK: - Both answers

    func check(at instant: Instant) -> AccessCheck {
        AccessCheck(tollgate.store, history: tollgate.store.history, at: instant)
    }

    /// What the server answers.
    func active(_ customer: Customer.ID, at instant: Instant) async throws -> Set<String> {
        let list = try await tollgate.entitlements.active(
            of: customer.rawValue,
            in: .sandbox,
            at: instant
        )
        return Set(list.data.map(\.lookupKey))
    }

    /// Alters the answer of a customer behind the server's back.
    ///
    /// - Parameter other: whose answer takes its place; `nil`: nothing.
    func plant(_ other: Customer.ID?, in customer: Customer.ID) async throws {
        let row = RowKey(of: customer).inEnvironment(.sandbox)
        let source = other.map { RowKey(of: $0).inEnvironment(.sandbox) }
        try await driver.write { connection in
            var answer: [UInt8] = []
            if let source {
                answer = try #require(
                    try connection.query(
                        "SELECT answer FROM customer WHERE key = $1",
                        [source.value]
                    ).first
                ).bytes(0)
            }
            try connection.execute(
                """
                INSERT INTO customer (key, environment, sequence, balance, answer)
                VALUES ($1, 0, 1, 0, $2) ON CONFLICT (key) DO UPDATE SET answer = $2
                """,
                [row.value, .blob(answer)]
            )
        }
    }
}
