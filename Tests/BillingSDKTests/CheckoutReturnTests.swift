import Foundation
import Testing
import TollgateAPI

@testable import BillingSDK

@Suite struct CheckoutReturnTests {
    private func link(_ path: String, session: String? = nil) throws -> URL {
        let query = session.map { "?session_id=" + $0 } ?? ""
        return try #require(URL(string: "https://billing.example.com" + path + query))
    }

    private func begin(_ app: TestApp) async throws {
        _ = try await app.billing.getBuyButton(id: "buy_btn_monthly").checkout()
    }

    private func set(_ status: API.CheckoutStatus, _ app: TestApp, _ id: String = "cs_1") {
        app.server.world.withLock { $0.checkouts[id] = status }
    }

    private func success(_ app: TestApp, _ id: String = "cs_1") async throws -> CheckoutReturn? {
        await app.billing.handleCheckoutReturn(
            try link("/checkout_redirect/success", session: id)
        )
    }

    @Test func whatTheServerHasRecordedIsConfirmedAndTheEntitlementsAreFresh() async throws {
        let app = TestApp(maximumStale: 36000)
        #expect(try await app.keys() == [])
        try await begin(app)
        set(.confirmed, app)
        app.server.grant("premium", to: "cus_ada")
        #expect(try await success(app) == .confirmed)
        #expect(app.heardSets == [["premium"]])
        #expect(app.billing.purchaseInbox.pending.isEmpty)
    }

    @Test func theLinkAloneIsNeverBelieved() async throws {
        let app = TestApp()
        try await begin(app)
        #expect(try await success(app) == .processing)
        #expect(try await app.keys() == [])
        // Nor is one about a checkout that does not exist.
        #expect(try await success(app, "cs_forged") == .cancelled)
        let bare = try link("/checkout_redirect/success")
        #expect(await TestApp().billing.handleCheckoutReturn(bare) == .processing)
    }

    @Test(arguments: [API.CheckoutStatus.open, .processing, "from_2030"])
    func whatIsStillOnItsWayWaitsInTheInbox(_ status: API.CheckoutStatus) async throws {
        let app = TestApp()
        _ = try await app.keys()
        try await begin(app)
        set(status, app)
        #expect(try await success(app) == .processing)
        #expect(try await success(app) == .processing)
        let waiting = try #require(app.billing.purchaseInbox.pending.first)
        #expect(app.billing.purchaseInbox.pending.count == 1)
        #expect(waiting.origin == .checkoutReturn && waiting.reference == "cs_1")
        #expect(waiting.productID == "monthly")
        // It was paid for at the store: nothing offers to buy it again.
        #expect(app.billing.purchaseInbox.next(PurchaseReadiness()) == nil)
        set(.confirmed, app)
        await Checkouts(client: app.billing.client).settle()
        #expect(app.billing.purchaseInbox.pending.isEmpty)
    }

    @Test func aServerThatCannotBeAskedLeavesItOpen() async throws {
        let app = TestApp()
        try await begin(app)
        app.server.mood(.unreachable)
        #expect(try await success(app) == .processing)
        let cancel = try link("/checkout_redirect/cancel")
        #expect(await app.billing.handleCheckoutReturn(cancel) == .processing)
        app.server.mood(.well)
        app.backend.withLock { $0.failure = URLError(.timedOut) }
        app.server.expireSessions()
        await app.billing.reset()
        #expect(try await success(app) == .processing)
    }

    @Test func aLinkThatMeansNothingLeavesNothing() async throws {
        let app = TestApp()
        app.server.mood(.unreachable)
        #expect(try await success(app, "cs_forged") == .processing)
        #expect(app.billing.purchaseInbox.pending.isEmpty)
        // What the app's own backend began is known to the server.
        app.server.mood(.well)
        set(.processing, app, "cs_of_the_backend")
        #expect(try await success(app, "cs_of_the_backend") == .processing)
        #expect(app.billing.purchaseInbox.pending.map(\.reference) == ["cs_of_the_backend"])
    }

    @Test func turningBackIsCancelledUnlessItWasPaidAllTheSame() async throws {
        let app = TestApp()
        let cancel = try link("/checkout_redirect/cancel")
        #expect(await app.billing.handleCheckoutReturn(cancel) == .cancelled)
        try await begin(app)
        #expect(await app.billing.handleCheckoutReturn(cancel) == .cancelled)
        try await begin(app)
        set(.confirmed, app, "cs_2")
        #expect(await app.billing.handleCheckoutReturn(cancel) == .confirmed)
    }

    @Test func aPageThatEndedIsCancelled() async throws {
        let app = TestApp()
        try await begin(app)
        set(.expired, app)
        #expect(try await success(app) == .cancelled)
    }

    @Test(arguments: ["/", "/checkout_redirect", "/checkout_redirect/success/x", "/article/7"])
    func otherLinksAreTheAppsOwn(_ path: String) async throws {
        let app = TestApp()
        #expect(await app.billing.handleCheckoutReturn(try link(path, session: "cs_1")) == nil)
        #expect(app.server.world.withLock { $0.requests.isEmpty })
    }

    @Test func aVisitorsCheckoutIsAskedForWithoutASession() async throws {
        let app = TestApp()
        app.signIn(nil)
        try await begin(app)
        set(.confirmed, app)
        #expect(try await success(app) == .confirmed)
    }

    @Test func whatWasBegunIsRememberedOverARelaunch() async throws {
        let phone = OfflineTests.Phone()
        let first = phone.launch()
        _ = try await first.billing.getBuyButton(id: "buy_btn_monthly").checkout()
        set(.confirmed, first)
        let cancel = try link("/checkout_redirect/cancel")
        #expect(await phone.launch().billing.handleCheckoutReturn(cancel) == .confirmed)
        #expect(await phone.launch().billing.handleCheckoutReturn(cancel) == .cancelled)
    }
}
