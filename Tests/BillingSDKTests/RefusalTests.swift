import Foundation
import Testing
import TollgateAPI

@testable import BillingSDK

/// Every call of the SDK that asks the server, with every status by which the server refuses.
@Suite struct RefusalTests {
    /// A call, and whether it goes out with the session as its bearer.
    struct Call: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var hasSession = true
        var make: @Sendable (TestApp) async throws -> Void
    }

    static let calls: [Call] = [
        Call(testDescription: "getActiveEntitlements") {
            _ = try await $0.billing.getActiveEntitlements(forceRefresh: true)
        },
        Call(testDescription: "hasEntitlement") {
            _ = try await $0.billing.hasEntitlement(lookupKey: "pro", forceRefresh: true)
        },
        Call(testDescription: "getBuyButton", hasSession: false) {
            _ = try await $0.billing.getBuyButton(id: "buy_btn_monthly")
        },
        Call(testDescription: "getOfferings", hasSession: false) {
            _ = try await $0.billing.getOfferings()
        },
        Call(testDescription: "getPlacement", hasSession: false) {
            _ = try await $0.billing.getPlacement(id: "paywall")
        },
        Call(testDescription: "recordShown") {
            try await $0.billing.recordShown(
                Placement(id: "paywall", offering: Offering(id: "standard", products: []))
            )
        },
        Call(testDescription: "getPurchases") { _ = try await $0.billing.getPurchases() },
        Call(testDescription: "getCustomerPortal") { _ = try await $0.billing.getCustomerPortal() },
        Call(testDescription: "getCoinBalance") { _ = try await $0.billing.getCoinBalance() },
        Call(testDescription: "getConsents") { _ = try await $0.billing.getConsents() },
        Call(testDescription: "accept") { _ = try await $0.billing.accept([]) },
        Call(testDescription: "getPurchaseReadiness", hasSession: false) {
            _ = try await $0.billing.getPurchaseReadiness(isSetUp: true)
        },
        Call(testDescription: "stateAge") { _ = try await $0.billing.stateAge(atLeast: 18) },
        Call(testDescription: "recordParentalConsent") {
            _ = try await $0.billing.recordParentalConsent(true)
        },
        Call(testDescription: "submit", hasSession: false) {
            try await $0.billing.submit(signedTransaction: "e30.e30.c2ln")
        },
        Call(testDescription: "accountToken") {
            let preparation = PurchasePreparation(client: $0.billing.client)
            _ = try await preparation.accountToken(for: "pro")
        },
        Call(testDescription: "offerSignature") {
            let preparation = PurchasePreparation(client: $0.billing.client)
            _ = try await preparation.offerSignature(product: "pro", offer: "come_back")
        },
    ]

    /// The error for a status; a session that is refused twice is told apart from a key.
    private static func expected(_ status: Int, _ call: Call) -> String {
        switch status {
        case 401: call.hasSession ? "sessionRejected" : "invalidPublishableKey"
        case 403: "notPermitted"
        case 404, 410: "notFound"
        case 429: "serverUnavailable"
        default: "requestRefused"
        }
    }

    @Test(
        arguments: calls,
        [
            (400, APIError.Code.parameterInvalid), (401, .invalidKey), (403, "key_scope"),
            (404, .resourceMissing), (405, "method_not_allowed"), (409, .conflict),
            (410, "customer_erased"), (413, "body_too_large"), (415, "unsupported_media_type"),
            (422, "unprocessable"), (429, "rate_limited"),
        ]
    )
    func everyRefusalIsAnErrorWithAName(
        _ call: Call,
        _ refusal: (status: Int, code: APIError.Code)
    ) async throws {
        let app = TestApp()
        app.server.mood(.answers(refusal.status, refusal.code))
        let error = await billingError { try await call.make(app) }
        #expect(error?.name == Self.expected(refusal.status, call))
        switch error {
        case .requestRefused(let status, let code, let message)?:
            #expect(status == refusal.status && code == refusal.code.rawValue)
            #expect(!message.isEmpty)
        case .notPermitted(let code, let message)?:
            #expect(code == refusal.code.rawValue && !message.isEmpty)
        case .serverUnavailable(let status, _)?: #expect(status == refusal.status)
        default: break
        }
        #expect(app.heardSets.isEmpty)
    }

    @Test func aCheckoutThatIsRefusedSaysWhy() async throws {
        for (status, name) in [
            (400, "requestRefused"), (401, "invalidPublishableKey"), (403, "notPermitted"),
            (404, "notFound"), (409, "requestRefused"), (429, "serverUnavailable"),
        ] {
            let app = TestApp()
            let button = try await app.billing.getBuyButton(id: "buy_btn_monthly")
            app.server.mood(.answers(status, status == 401 ? .invalidKey : .parameterInvalid))
            let error = await billingError { try await button.checkout() }
            #expect(error?.name == name)
        }
    }

    private static let statuses: [(status: Int, code: APIError.Code)] = [
        (400, .parameterInvalid), (401, .invalidKey), (403, "key_scope"), (404, .resourceMissing),
        (405, "method_not_allowed"), (409, .conflict), (410, "customer_erased"),
        (413, "body_too_large"), (415, "unsupported_media_type"), (422, "unprocessable"),
        (429, "rate_limited"), (503, .storageUnavailable),
    ]

    /// Calls that the SDK makes by itself: catalog, keys, what StoreKit holds, a visitor's claim.
    @Test(
        arguments: [
            APIPath.catalog, .jsonWebKeySet, .appStoreObservations, .checkoutClaims,
        ],
        statuses
    )
    func aRefusalBesideAnAnswerCostsNothing(
        _ path: APIPath,
        _ refusal: (status: Int, code: APIError.Code)
    ) async throws {
        let phone = OfflineTests.Phone()
        phone.server.world.withLock { $0.catalog = DeviceEvaluationTests.catalog }
        let held = StoreKitStatement(
            transaction: DeviceEvaluationTests.transaction(),
            signedTransaction: "e30.e30.c2ln"
        )
        let app = phone.launch(storeKit: { [held] })
        app.signIn(nil)
        _ = try await app.billing.getBuyButton(id: "buy_btn_monthly").checkout()
        phone.server.mood(.answers(refusal.status, refusal.code), on: path)
        app.signIn("cus_ada")
        #expect(try await app.keys() == ["premium"])
        #expect(try await app.keys(forceRefresh: true) == ["premium"])
        await app.billing.client.observations.task.withLock { $0 }?.value
        #expect(app.heardSets == [["premium"]])
    }

    @Test(arguments: statuses)
    func aCheckoutThatTheServerDoesNotTellOfIsUnderWayUnlessItIsGone(
        _ refusal: (status: Int, code: APIError.Code)
    ) async throws {
        let app = TestApp()
        _ = try await app.billing.getBuyButton(id: "buy_btn_monthly").checkout()
        app.server.mood(
            .answers(refusal.status, refusal.code),
            on: APIPath(template: APIPath.checkoutSession.path(id: "cs_1"))
        )
        let link = try #require(
            URL(string: "https://x.example/checkout_redirect/success?session_id=cs_1")
        )
        let isGone = [404, 410].contains(refusal.status)
        #expect(await app.billing.handleCheckoutReturn(link) == (isGone ? .cancelled : .processing))
    }
}
