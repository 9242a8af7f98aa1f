import Foundation
import TollgateAPI
import TollgateCore

@testable import BillingSDK

/// A server in process: sessions, entitlements, coins, a shop; told by a test how to misbehave.
final class FakeServer: Sendable {
    enum Mood: Sendable {
        case well
        case unreachable
        case answers(Int, APIError.Code)
        /// A body that is not Tollgate's, as a proxy or another server sends it.
        case foreign(Int, String)
    }

    struct World: Sendable {
        var isButtonActive = true
        var mood = Mood.well
        /// How it misbehaves on single paths, whatever its mood.
        var moods: [String: Mood] = [:]
        /// How it answers single signed transactions, by their JWS.
        var refusals: [String: Mood] = [:]
        /// The products that it was asked about before a purchase.
        var prepared: [String] = []
        var validSecrets: Set<String> = []
        var requests: [HTTPRequest] = []
        var entitlements: [String: [API.Entitlement]] = [:]
        var coins: [String: Int64] = [:]
        var submitted: [API.AppStoreTransactionRequest] = []
        var observed: [API.AppStoreObservation] = []
        var isPortalEnabled = true
        var gate: Gate?
        /// The only path that the gate holds, if set.
        var gatedPath: String?
        /// Signs what it says, if set: customer, at → token.
        var sign: (@Sendable (String, API.EntitlementList) -> String)?
        var keys = JSONWebKeySet(keys: [])
        var catalog = Catalog()
        /// Signs the slice of the catalog, if set.
        var signCatalog: (@Sendable (API.SignedCatalog) -> String)?
        var consents: [String: API.Consents] = [:]
        var checkouts: [String: API.CheckoutStatus] = [:]
        var offers: [API.OfferSignatureRequest] = []
        var checkoutBodies: [API.BuyButtonCheckoutRequest] = []
        var claimed: [String] = []
        /// What the catalog shows together, by the places where it is shown.
        var offerings: [API.Offering] = []
        var placements: [String: [String: String]] = [:]
        /// What customers have seen: customer, placement, offering.
        var shown: [[String]] = []
        var purchases: [String: [API.CustomerPurchase]] = [:]
    }

    static let publishableKey = "pk_test_shop"
    let clock: TestClock
    let world = Locked(World())

    init(clock: TestClock) { self.clock = clock }

    func mood(_ mood: Mood) { world.withLock { $0.mood = mood } }
    func mood(_ mood: Mood?, on path: APIPath) { world.withLock { $0.moods[path.path] = mood } }
    func gate(_ gate: Gate?) { world.withLock { $0.gate = gate } }
    func expireSessions() { world.withLock { $0.validSecrets = [] } }

    func requests(_ method: String, _ path: String) -> [HTTPRequest] {
        world.withLock { $0.requests.filter { $0.method == method && $0.url.path == path } }
    }

    func grant(
        _ keys: String...,
        to customer: String,
        until: Date? = nil,
        ground: API.Ground = .payment,
        purchase: String = "app_store/1",
        willRenew: Bool? = nil,
        offer: String? = nil
    ) {
        world.withLock { world in
            world.entitlements[customer] = keys.map { key in
                API.Entitlement(
                    id: "ent_" + key,
                    lookupKey: key,
                    feature: "feat_" + key,
                    since: 0,
                    until: until.map { Int64($0.timeIntervalSince1970 * 1000) },
                    ground: ground,
                    purchase: purchase,
                    offer: offer,
                    willRenew: willRenew
                )
            }
        }
    }

    func session(for customer: String, lasting seconds: TimeInterval = 1800)
        -> UBCustomerSessionDetails
    {
        let secret = "cuss_secret_" + UUID().uuidString
        world.withLock { _ = $0.validSecrets.insert(secret + "/" + customer) }
        return UBCustomerSessionDetails(
            clientSecret: secret,
            expiresAt: clock.now.addingTimeInterval(seconds),
            customer: customer
        )
    }

    var transport: Transport {
        { request in
            let gate = self.world.withLock { world in
                world.requests.append(request)
                let isGated = world.gatedPath.map { $0 == request.url.path } ?? true
                return isGated ? world.gate : nil
            }
            // What the server knew when the request arrived is what it says, however late.
            let answer = Result { try self.answer(request) }
            if let gate { await gate.pass() }
            // As a request over the network ends with its task.
            try Task.checkCancellation()
            return try answer.get()
        }
    }

    private func answer(_ request: HTTPRequest) throws -> HTTPResponse {
        try world.withLock { world in
            switch world.moods[request.url.path] ?? world.mood {
            case .unreachable: throw URLError(.cannotConnectToHost)
            case .answers(let status, let code): return Self.refusal(status, code)
            case .foreign(let status, let body):
                return HTTPResponse(status: status, body: Data(body.utf8))
            case .well: break
            }
            let path = request.url.path
            if path == APIPath.jsonWebKeySet.path { return try Self.ok(world.keys) }
            let bearer = request.headers["Authorization"]?.dropFirst("Bearer ".count) ?? ""
            let secret = request.headers[APIHeader.customerSession].map { Substring($0) } ?? bearer
            let customer = world.validSecrets.first { $0.hasPrefix(secret + "/cus") }
                .map { String($0.dropFirst(secret.count + 1)) }
            let isKey = bearer == Self.publishableKey
            guard isKey || customer != nil else {
                return Self.refusal(401, bearer.hasPrefix("cuss") ? .sessionExpired : .invalidKey)
            }
            if request.headers[APIHeader.customerSession] != nil, customer == nil {
                return Self.refusal(401, .sessionExpired)
            }
            return try shop(request, path, customer, &world)
        }
    }

    private func shop(
        _ request: HTTPRequest,
        _ path: String,
        _ customer: String?,
        _ world: inout World
    ) throws -> HTTPResponse {
        let at = Int64(clock.now.timeIntervalSince1970 * 1000)
        if let answer = try catalogAndCheckouts(request, path, customer, &world) { return answer }
        if let answer = try offeringsAndPurchases(request, path, customer, &world) { return answer }
        switch (request.method, path) {
        case ("GET", APIPath.buyButton.path(id: "buy_btn_monthly")):
            return try Self.ok(
                API.BuyButton(
                    id: "buy_btn_monthly",
                    active: world.isButtonActive,
                    callToAction: "Subscribe",
                    checkoutURL: "https://shop.example/anonymous",
                    lineItemGroup: .init(amountTotal: "1500", currency: "jpy"),
                    product: .init(id: "monthly", name: "Monthly", interval: "month")
                )
            )
        case ("POST", APIPath.buyButtonCheckout.path(id: "buy_btn_monthly")):
            let body = try APIJSON.decode(
                API.BuyButtonCheckoutRequest.self,
                from: request.body ?? Data("{}".utf8)
            )
            world.checkoutBodies.append(body)
            let id = "cs_\(world.checkouts.count + 1)"
            world.checkouts[id] = .open
            return try Self.ok(
                API.BuyButtonCheckout(
                    id: id,
                    url: "https://shop.example/" + (customer ?? "nobody")
                )
            )
        case ("POST", APIPath.appStorePurchases.path):
            guard let customer else { return Self.refusal(401, .noSessionPresent) }
            let asked = try APIJSON.decode(
                API.AppStorePurchaseRequest.self,
                from: request.body ?? Data()
            )
            world.prepared.append(asked.product)
            return try Self.ok(
                API.AppStorePurchase(
                    product: asked.product,
                    appStoreProductID: asked.product,
                    appAccountToken: Self.token(of: customer).uuidString
                )
            )
        case ("POST", APIPath.appStoreTransactions.path):
            let body = try APIJSON.decode(
                API.AppStoreTransactionRequest.self,
                from: request.body ?? Data()
            )
            if case .answers(let status, let code)? = world.refusals[body.signedTransaction] {
                return Self.refusal(status, code)
            }
            world.submitted.append(body)
            return try Self.ok(
                API.AppStoreTransactionReply(
                    environment: .sandbox,
                    purchase: "app_store/1",
                    customer: customer,
                    new: true
                )
            )
        default: break
        }
        guard let customer else { return Self.refusal(401, .noSessionPresent) }
        switch (request.method, path) {
        case ("POST", APIPath.checkoutClaims.path):
            let body = try APIJSON.decode(
                API.CheckoutClaimRequest.self,
                from: request.body ?? Data()
            )
            world.claimed.append(body.secret)
            return try Self.ok(API.CheckoutClaim(customer: customer, purchases: ["stripe/test//1"]))
        case ("GET", APIPath.customerEntitlements.path(id: customer)):
            var list = API.EntitlementList(
                data: world.entitlements[customer] ?? [],
                environment: .sandbox,
                at: at
            )
            list.signedAnswer = world.sign?(customer, list)
            return try Self.ok(list)
        case ("GET", APIPath.customerCoins.path(id: customer)):
            return try Self.ok(API.CoinBalance(balance: world.coins[customer] ?? 0))
        case ("POST", APIPath.portalSessions.path):
            guard world.isPortalEnabled else { return Self.refusal(403, .componentDisabled) }
            return try Self.ok(API.PortalSession(url: "https://portal.example/" + customer))
        default: return Self.refusal(404, .resourceMissing)
        }
    }

    /// The token under which the App Store knows a customer.
    static func token(of customer: String) -> UUID {
        var bytes = [UInt8](repeating: 0, count: 16)
        for (index, byte) in customer.utf8.enumerated() { bytes[index % 16] ^= byte }
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    private func catalogAndCheckouts(
        _ request: HTTPRequest,
        _ path: String,
        _ customer: String?,
        _ world: inout World
    ) throws -> HTTPResponse? {
        let seconds = Int64(clock.now.timeIntervalSince1970)
        let required = API.RequiredConsents(
            terms: [
                world.catalog.gates.termsVersion.map { .init(document: "terms", version: $0) },
                world.catalog.gates.subscriptionTermsVersion.map {
                    .init(document: "subscription_terms", version: $0)
                },
            ].compactMap { $0 },
            minimumAge: world.catalog.gates.minimumAge,
            ages: world.catalog.gates.askedAges,
            parentalConsentBelow: world.catalog.gates.parentalConsentBelow
        )
        if (request.method, path) == ("GET", APIPath.catalog.path) {
            let slice = API.SignedCatalog(world.catalog, iat: seconds, exp: seconds + 30 * 86400)
            return try Self.ok(
                API.CatalogSlice(
                    required: required,
                    checkout: .init(successPath: "/s", cancelPath: "/c"),
                    signedCatalog: world.signCatalog?(slice) ?? Self.unsigned(slice)
                )
            )
        }
        if request.method == "GET",
            let (id, status) = world.checkouts.first(where: {
                path == APIPath.checkoutSession.path(id: $0.key)
            })
        {
            return try Self.ok(API.CheckoutOutcome(id: id, status: status))
        }
        guard let customer else { return nil }
        switch (request.method, path) {
        case ("GET", APIPath.consents.path), ("POST", APIPath.consents.path):
            var consents = world.consents[customer] ?? API.Consents(terms: [])
            if let body = request.body {
                let said = try APIJSON.decode(API.ConsentsRequest.self, from: body)
                consents.terms += (said.terms ?? []).map {
                    .init(document: $0.document, version: $0.version, acceptedAt: seconds * 1000)
                }
                if var age = said.age {
                    // The customer's own word does not lead out of a guardian's.
                    if consents.age?.declaration == "guardian_declared",
                        [nil, "self_declared"].contains(age.declaration),
                        let end = consents.age?.below, age.atLeast >= end
                    {
                        return Self.refusal(409, APIError.Code(rawValue: "age_declared"))
                    }
                    age.statedAt = seconds * 1000
                    consents.age = age
                }
                if let isGiven = said.parentalConsent {
                    consents.parentalConsent = .init(isGiven: isGiven, statedAt: seconds * 1000)
                }
            }
            consents.required = required
            world.consents[customer] = consents
            return try Self.ok(consents)
        case ("POST", APIPath.appStoreObservations.path):
            let observation = try APIJSON.decode(
                API.AppStoreObservation.self,
                from: request.body ?? Data()
            )
            world.observed.append(observation)
            let has = (world.entitlements[customer] ?? []).map(\.lookupKey)
            return try Self.ok(
                API.AppStoreObservationReply(
                    entitled: observation.lookupKeys.filter { has.contains($0) }
                )
            )
        case ("POST", APIPath.appStoreOfferSignatures.path):
            let asked = try APIJSON.decode(
                API.OfferSignatureRequest.self,
                from: request.body ?? Data()
            )
            world.offers.append(asked)
            return try Self.ok(
                API.OfferSignature(
                    type: asked.type,
                    productID: asked.product,
                    appAccountToken: Self.token(of: customer).uuidString,
                    promotionalOffer: API.OfferSignature.PromotionalOffer(
                        offerID: asked.offer ?? "",
                        keyID: "KEY",
                        nonce: "6a1f9f0c-2f5b-4b49-b6c7-0e6b8f9a4d10",
                        signature: "c2lnbmVk",
                        timestamp: seconds * 1000
                    ),
                    compactJWS: "e30.e30.c2ln"
                )
            )
        default: return nil
        }
    }

    private static func unsigned(_ slice: API.SignedCatalog) throws -> String {
        try JSONWebToken.signingInput(header: .init(kid: "k1"), claims: slice) + ".c2ln"
    }

    static func ok(_ value: some Encodable) throws -> HTTPResponse {
        HTTPResponse(status: 200, body: try APIJSON.encode(value))
    }

    static func refusal(_ status: Int, _ code: APIError.Code) -> HTTPResponse {
        let error = APIError(type: .invalidRequestError, code: code, message: "no: \(code)")
        return HTTPResponse(status: status, body: (try? APIJSON.encode(error)) ?? Data())
    }
}

/// An app: an SDK, the server behind it, who is signed in, and what the listener heard.
final class TestApp: Sendable {
    struct Backend: Sendable {
        var customer: String? = "cus_ada"
        var failure: URLError?
        var sessionLife: TimeInterval = 1800
        var calls = 0
        var gate: Gate?
    }

    let clock: TestClock
    let server: FakeServer
    let billing: BillingSDK
    let backend = Locked(Backend())
    /// How often the SDK looked at its clock, which every call does.
    let clockReads = Locked(0)
    let heard = Locked<[[String]]>([])
    let pauses = Pauses()
    let refusals = Locked<[AppStoreRefusal]>([])
    let logged = Locked<[BillingLogEntry]>([])

    init(
        publishableKey: String = FakeServer.publishableKey,
        maximumStale: TimeInterval = 300,
        server: FakeServer? = nil,
        hasProvider: Bool = true,
        uptime: @escaping @Sendable () -> TimeInterval = { 0 },
        storeKit: @escaping @Sendable () async -> [StoreKitStatement] = { [] },
        storefront: @escaping @Sendable () async -> String? = { nil },
        disk: Disk = .ofThisDevice,
        configure: (inout BillingSDK.Configuration) -> Void = { _ in }
    ) {
        let clock = server?.clock ?? TestClock()
        let server = server ?? FakeServer(clock: clock)
        self.clock = clock
        self.server = server
        var configuration = BillingSDK.Configuration(
            publishableKey: publishableKey,
            maximumStaleEntitlementsDuration: maximumStale,
            serverURL: URL(string: "https://tollgate.example")
        )
        configuration.cacheDirectory = nil
        configuration.logHandler = { [logged] entry in logged.withLock { $0.append(entry) } }
        configure(&configuration)
        billing = BillingSDK(
            client: BillingClient(
                configuration: configuration,
                transport: server.transport,
                now: { [clockReads] in
                    clockReads.withLock { $0 += 1 }
                    return clock.now
                },
                uptime: uptime,
                storeKitStatements: storeKit,
                storefront: storefront,
                disk: disk,
                pause: { [pauses] in try await pauses.wait($0) }
            )
        )
        if hasProvider { setProvider() }
        billing.onEntitlementsChanged { [heard] entitlements in
            heard.withLock { $0.append(entitlements.map(\.lookupKey)) }
        }
        billing.onAppStoreRefusal { [refusals] refusal in
            refusals.withLock { $0.append(refusal) }
        }
    }

    func setProvider() {
        billing.setCustomerSessionProvider { [backend, server] in
            let (now, gate) = backend.withLock { backend in
                backend.calls += 1
                return (backend, backend.gate)
            }
            if let gate { await gate.pass() }
            try Task.checkCancellation()
            if let failure = now.failure { throw failure }
            return now.customer.map { server.session(for: $0, lasting: now.sessionLife) }
        }
    }

    var delivery: TransactionDelivery { TransactionDelivery(client: billing.client) }
    var providerCalls: Int { backend.withLock { $0.calls } }
    /// Whether no transaction is on its way to the server.
    var isIdle: Bool { billing.client.deliveries.withLock { $0.underWay.isEmpty } }
    var heardSets: [[String]] { heard.withLock { $0 } }
    func signIn(_ customer: String?) { backend.withLock { $0.customer = customer } }
    func entitlementRequests(of customer: String = "cus_ada") -> Int {
        server.requests("GET", APIPath.customerEntitlements.path(id: customer)).count
    }
    func keys(forceRefresh: Bool = false) async throws -> [String] {
        let keys = try await billing.getActiveEntitlements(forceRefresh: forceRefresh)
            .map(\.lookupKey)
        await settled()
        return keys
    }
    /// Waits for what is fetched beside answers: catalog and keys.
    func settled() async { await billing.client.background.withLock { $0 }?.value }
}

/// The error that `body` throws, as the SDK's own.
func billingError(
    isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> some Sendable
) async -> BillingSDKError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? BillingSDKError
    }
}

extension APIPath {
    static func buyButton(_ id: String) -> APIPath {
        APIPath(template: APIPath.buyButton.path(id: id))
    }
}

extension BillingSDKError {
    /// The case's name, for tests to compare.
    var name: String { String(describing: self).split(separator: "(").first.map(String.init) ?? "" }
}
