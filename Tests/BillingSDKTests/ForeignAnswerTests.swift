import Foundation
import Testing
import TollgateAPI

@testable import BillingSDK

/// Answers of a proxy, a hotel's network or another server, which are not the server's word.
@Suite struct ForeignAnswerTests {
    static let page = "<html><body>Please wait.</body></html>"

    /// A status with a body that is not Tollgate's.
    static let answers: [(status: Int, body: String)] =
        [302, 401, 403, 404, 405, 410, 413, 422, 503, 200].map { ($0, page) } + [
            (401, ""), (401, #"{"error":"unauthorized"}"#), (403, #"{"error":{}}"#),
            (404, #"{"error":{"message":"no such route"}}"#),
            (404, #"{"error":{"code":404,"message":"not found","type":"x"}}"#), (200, "{}"),
        ]

    @Test(arguments: answers)
    func theSignedAnswerStandsInAndIsKept(_ answer: (status: Int, body: String)) async throws {
        let phone = OfflineTests.Phone()
        #expect(try await phone.launch().keys() == ["premium"])
        phone.server.clock.advance(by: 3600)
        phone.server.mood(.foreign(answer.status, answer.body))
        let app = phone.launch()
        #expect(try await app.keys() == ["premium"])
        #expect(app.heardSets == [["premium"]])
        // A session is not renewed for a proxy.
        #expect(app.providerCalls == 1 && app.entitlementRequests() == 2)
        phone.server.mood(.unreachable)
        #expect(try await phone.launch().keys() == ["premium"])
    }

    @Test(arguments: answers)
    func whatStoreKitHasVerifiedStandsIn(_ answer: (status: Int, body: String)) async throws {
        let phone = OfflineTests.Phone()
        phone.server.world.withLock { $0.catalog = DeviceEvaluationTests.catalog }
        let first = phone.launch()
        _ = try await first.billing.getBuyButton(id: "buy_btn_monthly")
        await first.settled()
        phone.server.mood(.foreign(answer.status, answer.body))
        let bought = StoreKitStatement(transaction: DeviceEvaluationTests.transaction())
        #expect(try await phone.launch(storeKit: { [bought] }).keys() == ["pro"])
    }

    @Test(arguments: RefusalTests.calls, answers)
    func everyCallTakesItForAPassingFault(
        _ call: RefusalTests.Call,
        _ answer: (status: Int, body: String)
    ) async throws {
        let phone = OfflineTests.Phone()
        let app = phone.launch()
        #expect(try await app.keys() == ["premium"])
        phone.server.mood(.foreign(answer.status, answer.body))
        // A list that is empty where nothing was sent is no answer of the proxy's.
        let error = await billingError { try await call.make(app) }
        #expect(error?.name == (answer.status == 200 ? "invalidResponse" : "serverUnavailable"))
        #expect(error?.isTemporary == true)
        #expect(app.heardSets == [["premium"]] && app.providerCalls == 1)
        phone.server.clock.advance(by: 3600)
        #expect(try await app.keys() == ["premium"])
        #expect(try await phone.launch().keys() == ["premium"])
    }

    @Test(arguments: answers)
    func aPaidTransactionIsKept(_ answer: (status: Int, body: String)) async throws {
        let app = TestApp()
        app.server.mood(.foreign(answer.status, answer.body), on: .appStoreTransactions)
        let finished = Locked(0)
        let transaction = SignedTransaction(id: 1, jwsRepresentation: "e30.e30.c2ln") {
            finished.withLock { $0 += 1 }
        }
        let error = await billingError {
            try await app.delivery.deliver(transaction, mode: .purchased)
        }
        #expect(error?.isTemporary == true && finished.withLock { $0 } == 0)
    }

    @Test(arguments: answers)
    func aVisitorsSecretIsKept(_ answer: (status: Int, body: String)) async throws {
        let app = TestApp()
        app.signIn(nil)
        _ = try await app.billing.getBuyButton(id: "buy_btn_monthly").checkout()
        app.server.mood(.foreign(answer.status, answer.body), on: .checkoutClaims)
        app.signIn("cus_ada")
        _ = try await app.keys()
        app.server.mood(nil, on: .checkoutClaims)
        await VisitorPurchases(client: app.billing.client).claim(for: "cus_ada")
        #expect(app.server.world.withLock { $0.claimed.count } == 1)
    }

    /// Our server's refusals: what may be mended keeps the secret, what is final ends it.
    @Test(arguments: [
        (400, "parameter_invalid", 0), (409, "already_claimed", 0), (400, "parameter_unknown", 1),
        (405, "method_not_allowed", 1), (409, "conflict", 1), (415, "unsupported_media_type", 1),
        (403, "key_scope", 1), (404, "resource_missing", 1), (429, "rate_limited", 1),
    ])
    func onlyAFinalRefusalOfTheServerEndsAVisitorsSecret(
        _ status: Int,
        _ code: String,
        claims: Int
    ) async throws {
        let app = TestApp()
        app.signIn(nil)
        _ = try await app.billing.getBuyButton(id: "buy_btn_monthly").checkout()
        app.server.mood(.answers(status, APIError.Code(rawValue: code)), on: .checkoutClaims)
        app.signIn("cus_ada")
        _ = try await app.keys()
        app.server.mood(nil, on: .checkoutClaims)
        await VisitorPurchases(client: app.billing.client).claim(for: "cus_ada")
        #expect(app.server.world.withLock { $0.claimed.count } == claims)
    }

    @Test func aCheckoutThatAProxyDoesNotKnowIsStillUnderWay() async throws {
        let app = TestApp()
        _ = try await app.billing.getBuyButton(id: "buy_btn_monthly").checkout()
        app.server.mood(.foreign(404, Self.page))
        let link = try #require(
            URL(string: "https://x.example/checkout_redirect/success?session_id=cs_1")
        )
        #expect(await app.billing.handleCheckoutReturn(link) == .processing)
    }
}
