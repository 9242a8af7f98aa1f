import AppStoreAPI
import AppStoreConnector
import AppStoreSimulator
import Foundation
import GooglePlayConnector
import Logging
import SandboxClock
import Storage
import Stores
import StripeAPI
import StripeSimulator
import TollgateAssembly
import TollgateCore
import TollgateService

extension SimulatedServer {
    /// An application whose lines to the stores are as bad as the world's trouble makes them.
    func makeTollgate(
        _ store: RecordStore,
        _ stores: Stores,
        receipts: AppStore.ReceiptClient? = nil,
        randomBytes: @escaping @Sendable (Int) -> [UInt8]
    ) throws -> Tollgate {
        let roots = [Array(parts.rootDER)]
        let impostors = [Array(parts.impostor.rootDER)]
        // Real time is the stores', as it is outside of a sandbox (RULES §14).
        let (clock, incidents) = (stores.clock, incidents)
        // Who lives on receipts has no key for anything else.
        let client = receipts == nil ? try appStoreClient(stores) : nil
        var options = AppStoreOptions(receipts: receipts)
        options.journalsInTurn = true
        let now: @Sendable () -> Instant = {
            if let believed = Self.believedNow { return Instant(milliseconds: believed) }
            return Instant(milliseconds: incidents.clock(at: clock.nowAtOnce))
        }
        return Tollgate(
            configuration: Configuration(
                secretKey: "sk_test_simulation",
                publishableKey: "pk_test_simulation",
                publicURL: "https://billing.example.com",
                stripeWebhookSecrets: [ScenarioWorld.webhookSecret],
                defaultEnvironment: .sandbox
            ),
            store: store,
            appStore: try AppStore.SignedDataVerifier(
                roots: parts.bug == .anyRootTrusted ? roots + impostors : roots,
                bundleID: ScenarioWorld.bundleID,
                appAppleID: ScenarioWorld.appAppleID,
                environments: [.sandbox, .production]
            ),
            appStoreClients: client,
            appStoreOptions: options,
            stripe: Stripe.Client(
                apiBase: "https://stripe.test",
                secretKey: ScenarioWorld.stripeKey,
                transport: { [self] in try await askStripe($0, stores) },
                sleep: { _ in },
                jitter: { 0.5 }
            ),
            googlePlay: googlePlaySetUp(stores),
            clocks: .init(
                now: now,
                wall: { Instant(milliseconds: incidents.clock(at: clock.nowAtOnce)) },
                nowAtOnce: now
            ),
            randomBytes: randomBytes,
            signer: AnswerSigner(),
            logger: Logger(label: "simulation") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    private struct NoAnswer: Error {}

    private func appStoreClient(_ stores: Stores) throws -> AppStoreClients {
        let key = try AppStore.APIKey(
            issuerID: stores.apiKey.issuerID,
            keyID: stores.apiKey.keyID,
            pem: stores.apiKey.privateKeyPEM
        )
        func client(of environment: StoreEnvironment) -> AppStore.ServerAPIClient {
            AppStore.ServerAPIClient(
                key: key,
                bundleID: ScenarioWorld.bundleID,
                hosts: ["https://app-store.test"],
                transport: { [self] request in
                    if environment != parts.environment,
                        request.url.contains("notifications/history")
                    {
                        return Self.nothingSent
                    }
                    return try await askAppStore(request, stores)
                },
                // The simulated store checks tokens by real time.
                now: { Int64(Date().timeIntervalSince1970 * 1000) },
                sleep: { _ in }
            )
        }
        return AppStoreClients(
            key: key,
            bundleID: ScenarioWorld.bundleID,
            production: client(of: .production),
            sandbox: client(of: .sandbox)
        )
    }

    /// The App Store's history where it has sent nothing.
    private static let nothingSent = AppStore.HTTPResponse(
        status: 200,
        body: Array("{\"notificationHistory\":[],\"hasMore\":false}".utf8)
    )

    private func askAppStore(
        _ request: AppStore.HTTPRequest,
        _ stores: Stores
    ) async throws -> AppStore.HTTPResponse {
        if incidents.isCutOff(at: stores.clock.nowAtOnce) { throw NoAnswer() }
        let parts = URLComponents(string: request.url)
        let query = parts?.percentEncodedQuery.map { "?\($0)" } ?? ""
        let path = (parts?.percentEncodedPath ?? "/") + query
        let answersQuestion = path.contains("/transactions/consumption/")
        let fate = answersQuestion ? apart : self.parts.fate
        let fails = !self.parts.fate.isHealed && fate.strikes(fate.trouble.unavailable)
        if fails, self.parts.bug == .failedPagesAreTheEnd, path.contains("notifications/history") {
            return Self.nothingSent
        }
        let how = fails ? fate.below(4) : 4
        switch how {
        case 0:
            return AppStore.HTTPResponse(
                status: 429,
                headers: ["retry-after": "\(stores.clock.nowAtOnce + 1000)"],
                body: Array("{\"errorCode\":4290000,\"errorMessage\":\"Rate limit.\"}".utf8)
            )
        case 1:
            return AppStore.HTTPResponse(
                status: 500,
                body: Array("{\"errorCode\":5000000,\"errorMessage\":\"Unknown.\"}".utf8)
            )
        case 2: throw NoAnswer()
        default: break
        }
        var body = request.body ?? []
        if self.parts.bug == .restoreAsksOnlyFailures, path.contains("notifications/history"),
            var words = try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
        {
            words["onlyFailures"] = true
            body = Array(try JSONSerialization.data(withJSONObject: words))
        }
        let answer = await stores.serverAPI.exchange(
            method: request.method,
            path: path,
            headers: request.headers,
            body: body
        )
        if answersQuestion, answer.status == 400 {
            object(
                "what was consumed is told wrongly: \(String(decoding: answer.body, as: UTF8.self))"
            )
        }
        let said = how == 3 ? Array(answer.body.prefix(answer.body.count / 2)) : answer.body
        return AppStore.HTTPResponse(status: answer.status, headers: answer.headers, body: said)
    }

    private func askStripe(
        _ request: Stripe.Request,
        _ stores: Stores
    ) async throws -> Stripe.Response {
        let how =
            parts.fate.strikes(parts.fate.trouble.unavailable) ? parts.fate.below(4) : 4
        func refusal(_ status: Int, _ type: String) -> Stripe.Response {
            let body = "{\"error\":{\"type\":\"\(type)\",\"message\":\"Not now.\"}}"
            return Stripe.Response(status: status, headers: [:], body: Array(body.utf8))
        }
        switch how {
        case 0: return refusal(429, "rate_limit_error")
        case 1: return refusal(500, "api_error")
        case 2: throw NoAnswer()
        default: break
        }
        let parts = URLComponents(string: request.url)
        var query = parts?.percentEncodedQuery ?? ""
        if parts?.path == "/v1/events", !isAsInProduction {
            // Four of five events state nothing that is kept, and would cost half of the time.
            // A customer's tells a restored backup whose they are.
            let types = self.parts.stripeEvents + ["customer.created"]
            query += types.map { "&types[]=\($0)" }.joined()
        }
        if self.parts.bug == .freeCheckoutCountsTwice, parts?.path == "/v1/checkout/sessions",
            query.contains("customer=")
        {
            // Nobody asks which page made the invoice.
            let nothing = "{\"object\":\"list\",\"data\":[],\"has_more\":false}"
            return Stripe.Response(status: 200, headers: [:], body: Array(nothing.utf8))
        }
        let answer = await stores.stripe.exchange(
            method: request.method.rawValue,
            path: parts?.path ?? "",
            query: query,
            body: String(decoding: request.body, as: UTF8.self),
            headers: request.headers
        )
        if self.parts.bug == .refundOfAPartIgnored, parts?.path == "/v1/invoice_payments",
            query.contains("payment_intent"), Self.isOfPart(answer.body)
        {
            let nothing = "{\"object\":\"list\",\"data\":[],\"has_more\":false}"
            return Stripe.Response(status: 200, headers: [:], body: Array(nothing.utf8))
        }
        if self.parts.bug == .deletedCustomerIsKept, answer.body.contains("No such customer") {
            return refusal(400, "invalid_request_error")
        }
        let body = Array(answer.body.utf8)
        return Stripe.Response(
            status: answer.status,
            headers: answer.headers,
            body: how == 3 ? Array(body.prefix(body.count / 2)) : body
        )
    }

    /// Whether a list names a payment of a part of an invoice.
    private static func isOfPart(_ body: String) -> Bool {
        let list = try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
        let payments = list?["data"] as? [[String: Any]]
        return payments?.contains { $0["is_default"] as? Bool == false } ?? false
    }
}
