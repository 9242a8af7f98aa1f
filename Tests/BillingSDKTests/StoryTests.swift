import Foundation
import Testing
import TollgateAPI

@testable import BillingSDK

/// The scenarios that the SDK's documentation tells people to try.
@Suite struct StoryTests {
    @Test("a new user buys a subscription")
    func aNewUserBuysASubscription() async throws {
        let app = TestApp()
        app.signIn(nil)
        let button = try await app.billing.getBuyButton(id: "buy_btn_monthly")
        #expect(button.active && button.callToAction == "Subscribe")
        #expect(button.lineItemGroup.amount_total == "1500")
        #expect(button.formattedPrice(locale: Locale(identifier: "en_US")) == "¥1,500")
        #expect(try await button.checkout().absoluteString == "https://shop.example/nobody")

        app.signIn("cus_ada")
        #expect(try await app.keys() == [])
        #expect(try await button.checkout().absoluteString == "https://shop.example/cus_ada")
        app.server.grant("premium", to: "cus_ada")  // the purchase reaches the server
        #expect(try await app.keys(forceRefresh: true) == ["premium"])
        #expect(app.heardSets == [["premium"]])
    }

    @Test("a plan is changed in the portal")
    func aPlanIsChangedInThePortal() async throws {
        let app = TestApp()
        app.server.grant("premium", to: "cus_ada")
        _ = try await app.keys()
        let portal = try await app.billing.getCustomerPortal()
        #expect(portal.url == "https://portal.example/cus_ada")
        app.server.grant("premium", "gold", to: "cus_ada")  // what the customer does there
        #expect(try await app.keys(forceRefresh: true) == ["premium", "gold"])
        #expect(app.heardSets == [["premium"], ["premium", "gold"]])
    }

    @Test("an entitlement is checked")
    func anEntitlementIsChecked() async throws {
        let app = TestApp()
        app.server.grant("premium", to: "cus_ada")
        #expect(try await app.billing.hasEntitlement(lookupKey: "premium"))
        #expect(try await app.billing.hasEntitlement(lookupKey: "premium", forceRefresh: true))
        #expect(try await app.billing.hasEntitlement(lookupKey: "gold") == false)
        #expect(
            try await app.billing.getActiveEntitlements()
                == [Entitlement(id: "ent_premium", feature: "feat_premium", lookupKey: "premium")]
        )
    }

    @Test("an invalid key and an expired session")
    func anInvalidKeyAndAnExpiredSession() async throws {
        let stranger = TestApp(publishableKey: "pk_test_unknown")
        let error = await billingError {
            try await stranger.billing.getBuyButton(id: "buy_btn_monthly")
        }
        #expect(error?.name == "invalidPublishableKey")

        let app = TestApp()
        app.server.grant("premium", to: "cus_ada")
        _ = try await app.keys()
        app.server.expireSessions()
        #expect(try await app.keys(forceRefresh: true) == ["premium"])
        app.server.expireSessions()
        let button = try await app.billing.getBuyButton(id: "buy_btn_monthly")
        #expect(try await button.checkout().absoluteString == "https://shop.example/cus_ada")
        #expect(app.providerCalls == 3)
    }

    @Test("signing out clears cached data")
    func signingOutClearsCachedData() async throws {
        let app = TestApp(maximumStale: 36000)
        app.server.grant("premium", to: "cus_ada")
        _ = try await app.keys()
        app.signIn(nil)
        await app.billing.reset()
        #expect(app.heardSets == [["premium"], []])
        #expect(try await app.keys() == [])
        #expect(try await app.billing.hasEntitlement(lookupKey: "premium") == false)
        let error = await billingError { try await app.billing.getCustomerPortal() }
        #expect(error?.name == "unauthenticated")
    }
}
