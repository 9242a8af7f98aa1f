import Foundation
import Testing
import TollgateAPI

@testable import BillingSDK

@Suite struct CallTests {
    @Test func theCountryOfTheCustomersAppStoreIsSaidWhereCheckoutMayNotBeOffered() async throws {
        let app = TestApp(storefront: { "JPN" })
        let button = try await app.billing.getBuyButton(id: "buy_btn_monthly")
        let asked = app.server.requests("GET", APIPath.buyButton.path(id: "buy_btn_monthly"))
        #expect(asked.map(\.url.query) == ["storefront=JPN"])
        _ = try await button.checkout()
        #expect(app.server.world.withLock { $0.checkoutBodies.map(\.storefront) } == ["JPN"])
    }

    @Test func aCancelledCallThrowsCancellationErrorAndNothingElse() async throws {
        let app = TestApp()
        app.server.mood(.unreachable)
        let gate = Gate()
        app.server.gate(gate)
        let call = Task { try await app.billing.getBuyButton(id: "buy_btn_monthly") }
        await gate.arrivals(1)
        call.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await call.value }
    }

    @Test func aProviderThatFailsNeverLeadsToAnAnonymousPurchase() async throws {
        let app = TestApp()
        let button = try await app.billing.getBuyButton(id: "buy_btn_monthly")
        app.backend.withLock { $0.failure = URLError(.timedOut) }
        let error = await billingError { try await button.checkout() }
        #expect(error?.name == "customerSessionProviderFailed")
        let path = APIPath.buyButtonCheckout.path(id: "buy_btn_monthly")
        #expect(app.server.requests("POST", path).isEmpty)
    }

    @Test func aCheckoutRepeatedAfterA401IsTheSameCheckout() async throws {
        let app = TestApp()
        _ = try await app.keys()
        app.server.expireSessions()
        let button = try await app.billing.getBuyButton(id: "buy_btn_monthly")
        _ = try await button.checkout()
        let path = APIPath.buyButtonCheckout.path(id: "buy_btn_monthly")
        let keys = app.server.requests("POST", path).map { $0.headers[APIHeader.idempotencyKey] }
        #expect(keys.count == 2 && keys[0] != nil && keys[0] == keys[1])
    }

    @Test func aKeyThatTheServerDoesNotKnowIsToldApartFromASession() async throws {
        let app = TestApp()
        let button = try await app.billing.getBuyButton(id: "buy_btn_monthly")
        app.server.mood(.answers(401, .invalidKey))
        let error = await billingError { try await button.checkout() }
        #expect(error?.name == "invalidPublishableKey")
        let other = await billingError { try await app.billing.getCoinBalance() }
        #expect(other?.name == "sessionRejected")
    }

    @Test func anUnknownButtonIsNotFound() async throws {
        let app = TestApp()
        app.signIn("cus_ada")
        _ = try await app.keys()
        app.server.mood(.answers(404, .resourceMissing))
        let error = await billingError { try await app.billing.getBuyButton(id: "../x?y=1") }
        #expect(error?.name == "notFound")
        let sent = app.server.world.withLock { $0.requests.last?.url.absoluteString }
        #expect(sent == "https://tollgate.example/v1/buy_buttons/..%2Fx%3Fy%3D1")
    }

    @Test func aComponentThatWasNotEnabledIsToldApart() async throws {
        let app = TestApp()
        app.server.world.withLock { $0.isPortalEnabled = false }
        let error = await billingError { try await app.billing.getCustomerPortal() }
        guard case .notPermitted(let code, _)? = error else {
            Issue.record("got \(String(describing: error))")
            return
        }
        #expect(code == "component_disabled")
    }

    @Test func coinsComeFromTheServer() async throws {
        let app = TestApp()
        app.server.world.withLock { $0.coins["cus_ada"] = -30 }
        let coins = try await app.billing.getCoinBalance()
        #expect(coins == CoinBalance(balance: -30, spendable: 0, debt: 30))
    }

    @Test func aSubmittedTransactionRefreshesTheEntitlements() async throws {
        let app = TestApp(maximumStale: 36000)
        _ = try await app.keys()
        app.server.grant("premium", to: "cus_ada")
        let submission = try await app.billing.submit(
            signedTransaction: "e30.e30.c2ln",
            mode: .purchased
        )
        #expect(submission.isNew && submission.customer == "cus_ada")
        #expect(app.heardSets == [["premium"]])
        #expect(try await app.billing.hasEntitlement(lookupKey: "premium"))
        let sent = app.server.world.withLock { $0.submitted }
        #expect(sent == [.init(signedTransaction: "e30.e30.c2ln", mode: .purchased)])
    }

    @Test func aTransactionCanBeSubmittedByNobody() async throws {
        let app = TestApp(hasProvider: false)
        let submission = try await app.billing.submit(signedTransaction: "e30.e30.c2ln")
        #expect(submission.customer == nil)
    }

    @Test func aSubmissionThatTheServerDidNotAcknowledgeThrows() async throws {
        let app = TestApp()
        app.server.mood(.answers(503, .storageUnavailable))
        let error = await billingError {
            try await app.billing.submit(signedTransaction: "e30.e30.c2ln", mode: .observed)
        }
        #expect(error?.name == "serverUnavailable")
    }
}
