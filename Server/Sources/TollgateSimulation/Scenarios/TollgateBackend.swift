import AppStoreAPI
import AppStoreConnector
import Foundation
import GooglePlayAPI
import GooglePlayConnector
import GooglePlaySimulator
import Logging
import Storage
import Stores
import StripeAPI
import StripeConnector
import StripeSimulator
import Synchronization
import TollgateAssembly
import TollgateAPI
import TollgateCore
import TollgateService

/// Tollgate itself, asked in process: everything of a server but its HTTP.
final class TollgateBackend: ScenarioBackend {
    /// The stores' present in a telling that has no clock of its own.
    @TaskLocal static var now: Int64?
    /// What Stripe answers when Tollgate makes a customer in a telling from a recording.
    @TaskLocal static var recordedCustomer: String?
    /// What `verifyReceipt` answers about the receipt that is being posted.
    @TaskLocal private static var verifiedReceipt: (answer: String, isProduction: Bool)?

    let tollgate: Tollgate
    private let line: StripeLine
    let googlePlayLine: GooglePlayLine
    /// The app's name in Google Play; `nil` where no Google Play is read.
    let package: String?

    /// - Parameters:
    ///   - driver: an empty database.
    ///   - rootDER: the App Store's certificate.
    ///   - seed: from which the customers' ids are drawn.
    ///   - package: the app's name in Google Play; `nil` where none is read.
    ///   - bug: a mistake that it makes with Google Play.
    ///   - now: the stores' present where none is set for the task.
    init(
        _ driver: any StorageDriver,
        catalog: Catalog,
        rootDER: Data,
        seed: UInt64,
        package: String? = nil,
        bug: PlantedGooglePlayBug? = nil,
        now: @escaping @Sendable () async -> Int64
    ) async throws {
        self.package = package
        let planting = bug.map { GooglePlayPlanting($0) }
        let googlePlayLine = GooglePlayLine(planting)
        self.googlePlayLine = googlePlayLine
        let store = try await Self.store(on: driver, planting)
        // A catalog is older than every story.
        try await store.adopt(catalog, at: Instant(milliseconds: 1_420_070_400_000))
        let random = Mutex(SplitMix64(seed: seed))
        let line = StripeLine()
        self.line = line
        tollgate = Tollgate(
            configuration: Configuration(
                secretKey: "sk_test_scenario",
                publishableKey: "pk_test_scenario",
                publicURL: "https://billing.example.com",
                stripeWebhookSecrets: [ScenarioWorld.webhookSecret],
                defaultEnvironment: .sandbox
            ),
            store: store,
            appStore: try AppStore.SignedDataVerifier(
                roots: [Array(rootDER)],
                bundleID: ScenarioWorld.bundleID,
                appAppleID: ScenarioWorld.appAppleID,
                environments: [.sandbox, .production]
            ),
            appStoreOptions: AppStoreOptions(receipts: Self.receiptClient),
            stripe: Stripe.Client(
                apiBase: "https://stripe.test",
                secretKey: ScenarioWorld.stripeKey,
                maximumRetries: 0,
                transport: { try await line.send($0) }
            ),
            googlePlay: try await googlePlayLine.setUp(of: package),
            clocks: .init(
                now: {
                    if let now = Self.now { return Instant(milliseconds: now) }
                    return Instant(milliseconds: await now())
                },
                wall: { Instant(seconds: Int64(ScenarioWorld.wall) + GooglePlayLine.later) }
            ),
            randomBytes: { count in random.withLock { $0.bytes(count) } },
            signer: AnswerSigner(),
            logger: Logger(label: "scenario") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    private static func store(
        on driver: any StorageDriver,
        _ planting: GooglePlayPlanting?
    ) async throws -> RecordStore {
        let store = try await RecordStore(driver)
        #if DEBUG
            if let planting { return store.planted { planting.alter($0) } }
        #endif
        return store
    }

    /// Where Tollgate's questions to Stripe go, whichever of them knows the answer.
    func connect(_ worlds: [StripeSimulator]) {
        line.worlds.withLock { $0 = worlds }
    }

    // MARK: - ScenarioBackend

    func begin(_ customer: ScenarioCustomer) async throws {
        _ = try await tollgate.customers.create(
            API.CreateCustomerRequest(appUserID: customer.id, appAccountToken: customer.id)
        )
    }

    func stripeCustomer(
        of customer: ScenarioCustomer,
        at stripe: StripeSimulator
    ) async throws -> String? {
        connect([stripe])
        return try await registerAtStripe(customer)
    }

    /// Has Tollgate make and keep a Stripe customer, as it does before the first checkout.
    func registerAtStripe(_ customer: ScenarioCustomer) async throws -> String? {
        let sold = tollgate.store.history.current.products.filter { !$0.stripePriceIDs.isEmpty }
        // Coins can always be bought; a plan, as long as it is not there already.
        let product = sold.first { $0.kind == .consumable } ?? sold.first
        guard let product else { return nil }
        // The session itself is refused on the line: a story opens its own.
        _ = try? await tollgate.stripe.checkouts.create(
            API.CheckoutSessionRequest(product: product.id),
            customer: customer.id
        )
        return line.madeCustomer.withLock { $0 }
    }

    func take(signedPayload: String) async -> Bool {
        let body = Data("{\"signedPayload\":\"\(signedPayload)\"}".utf8)
        return (try? await tollgate.appStore.receive(ReceivedMessage(Array(body)))) != nil
    }

    func take(event body: String, signature: String) async -> Bool {
        (try? await tollgate.stripe.receive(
            ReceivedMessage(Array(body.utf8), .delivered(signature: signature))
        )) != nil
    }

    func post(
        _ signedTransaction: String,
        by customer: ScenarioCustomer,
        mode: String
    ) async throws {
        let id = Customer.ID(try await tollgate.directory.customer(customer.id).id)
        do {
            _ = try await tollgate.appStore.devices.receive(
                API.AppStoreTransactionRequest(
                    signedTransaction: signedTransaction,
                    mode: API.SubmissionMode(rawValue: mode) ?? .observed
                ),
                from: id
            )
        } catch let refusal as Refusal where refusal.status == 409 {
            // Somebody else's purchase: an answer, which the next check looks at.
        }
    }

    func post(
        receipt: String,
        answered answer: String,
        by customer: ScenarioCustomer,
        mode: String
    ) async throws {
        let id = Customer.ID(try await tollgate.directory.customer(customer.id).id)
        _ = try await Self.$verifiedReceipt.withValue((answer, customer.isProduction)) {
            try await tollgate.appStore.receipts.receive(
                receipt,
                from: id,
                mode: Claim.Mode(rawValue: mode) ?? .observed,
                isTrusted: false
            )
        }
    }

    private static let receiptClient = AppStore.ReceiptClient(
        sharedSecret: "00000000000000000000000000000000",
        transport: { request in
            let isProduction = request.url == AppStore.ReceiptClient.url(of: .production)
            var body = "{\"status\":\(isProduction ? 21007 : 21008)}"
            if let verified = verifiedReceipt, verified.isProduction == isProduction {
                body = verified.answer
            }
            return AppStore.HTTPResponse(status: 200, body: Array(body.utf8))
        },
        sleep: { _ in }
    )

    func spend(_ amount: Int64, of customer: ScenarioCustomer, key: String) async throws -> Bool? {
        do {
            _ = try await tollgate.coins.spend(
                API.SpendRequest(amount: amount),
                of: customer.id,
                in: customer.isProduction ? .production : .sandbox,
                idempotencyKey: key
            )
            return true
        } catch let refusal as Refusal where refusal.status == 409 {
            return false
        }
    }

    func settle() async {
        guard package == nil else { return await readGooglePlay() }
        await tollgate.fetchWanted()
    }

    func answer(_ customer: ScenarioCustomer, lookupKeys: [String]) async throws -> ScenarioAnswer {
        var answer = ScenarioAnswer(has: [], coins: 0)
        for environment in customer.environments {
            let list = try await tollgate.entitlements.active(of: customer.id, in: environment)
            answer.has.formUnion(list.data.map(\.lookupKey))
            let coins = try await tollgate.coins.balance(of: customer.id, in: environment)
            answer.coins = (answer.coins ?? 0) + coins.balance
            try await tollgate.addSecondOpinion(
                on: customer.id,
                in: environment,
                at: Instant(milliseconds: list.at),
                to: &answer
            )
        }
        return answer
    }

    func answer(
        _ customer: ScenarioCustomer,
        about instant: Int64,
        lookupKeys: [String]
    ) async throws -> ScenarioAnswer? {
        var answer = ScenarioAnswer(has: [], coins: nil)
        for environment in customer.environments {
            let list = try await tollgate.entitlements.active(
                of: customer.id,
                in: environment,
                at: Instant(milliseconds: instant)
            )
            answer.has.formUnion(list.data.map(\.lookupKey))
        }
        return answer
    }
}

/// Tollgate's line to Stripe, in process.
private final class StripeLine: Sendable {
    let worlds = Mutex<[StripeSimulator]>([])
    let madeCustomer = Mutex<String?>(nil)

    func send(_ request: Stripe.Request) async throws -> Stripe.Response {
        let parts = URLComponents(string: request.url)
        let path = parts?.path ?? ""
        if request.method == .post, path == "/v1/customers",
            let recorded = TollgateBackend.recordedCustomer
        {
            return Stripe.Response(status: 200, headers: [:], body: Array(recorded.utf8))
        }
        if request.method == .post, path == "/v1/checkout/sessions" {
            return await refuseCheckout(request)
        }
        let answer = await ask(
            request.method.rawValue,
            path,
            query: parts?.percentEncodedQuery ?? "",
            body: String(decoding: request.body, as: UTF8.self),
            headers: request.headers
        )
        if request.method == .post, path == "/v1/customers",
            let object = try? JSONSerialization.jsonObject(with: Data(answer.body.utf8)),
            let id = (object as? [String: Any])?["id"] as? String
        {
            madeCustomer.withLock { $0 = id }
        }
        return Stripe.Response(
            status: answer.status,
            headers: answer.headers,
            body: Array(answer.body.utf8)
        )
    }

    private func ask(
        _ method: String,
        _ path: String,
        query: String = "",
        body: String = "",
        headers: [String: String]
    ) async -> StripeSimulator.Exchange {
        var answer = StripeSimulator.Exchange(status: 404, body: "{\"error\":{}}", headers: [:])
        // An empty list may be somebody else's: the objects are in another world.
        for world in worlds.withLock({ $0 }) {
            guard answer.status == 404 || answer.isEmptyList else { break }
            let other = await world.exchange(
                method: method,
                path: path,
                query: query,
                body: body,
                headers: headers
            )
            if answer.status == 404 || other.status != 404 { answer = other }
        }
        return answer
    }

    /// Refuses a session, since a story opens its own; of a customer who is gone as Stripe does.
    private func refuseCheckout(_ request: Stripe.Request) async -> Stripe.Response {
        let form = String(decoding: request.body, as: UTF8.self).split(separator: "&")
        let customer = form.first { $0.hasPrefix("customer=") }?.dropFirst(9).description ?? ""
        let known =
            if let recorded = TollgateBackend.recordedCustomer {
                recorded
            } else {
                await ask("GET", "/v1/customers/\(customer)", headers: request.headers).body
            }
        let object = try? JSONSerialization.jsonObject(with: Data(known.utf8)) as? [String: Any]
        var error = ["type": "invalid_request_error", "message": "Not now."]
        if object?["id"] as? String != customer || object?["deleted"] as? Bool == true {
            error["code"] = "resource_missing"
            error["param"] = "customer"
            error["message"] = "No such customer: '\(customer)'"
        }
        let body = try? JSONSerialization.data(withJSONObject: ["error": error])
        return Stripe.Response(status: 400, headers: [:], body: Array(body ?? Data()))
    }
}

extension StripeSimulator.Exchange {
    fileprivate var isEmptyList: Bool {
        let object = try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
        return (object?["data"] as? [Any])?.isEmpty ?? false
    }
}
