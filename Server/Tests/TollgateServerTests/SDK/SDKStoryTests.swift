import AppStoreSimulator
import Foundation
import SandboxClock
import Storage
import StripeAPI
import StripeSimulator
import Synchronization
import Testing
import TollgateAPI
import TollgateCore
import TollgateService
import TollgateSimulation

@testable import BillingSDK

/// What the SDK's documentation tells people to try, on a real server.
@Suite("BillingSDK on a real server: stories")
struct SDKStoryTests {
    @Test("a new user buys a subscription", arguments: Backend.allCases)
    func aNewUserBuysASubscription(_ backend: Backend) async throws {
        try await Shop.run(on: backend) { shop in
            let app = try AppOnServer(shop.server, maximumStale: 36000)
            app.connectBackend()
            app.signIn(nil)
            let button = try await app.billing.getBuyButton(id: "buy_pro_monthly")
            #expect(button.active && button.lineItemGroup.amount_total == "999")
            #expect(try await app.keys() == [])
            app.signIn("ada")
            #expect(try await app.billing.hasEntitlement(lookupKey: "pro") == false)

            // The page that the button opens is Stripe's; paying there is all that ada does.
            let page = try await button.checkout()
            var browser = shop.server.browser
            #expect(try await browser.send(page.absoluteString).text.contains("Pro, monthly"))
            let paid = try await shop.stripe.pay(checkoutSession: page.lastPathComponent)
            guard case .completed(let successURL) = paid else {
                Issue.record("\(paid)")
                return
            }
            let ada = try await shop.server.customer("ada")
            #expect(try await shop.entitlements(of: ada) == ["pro"])

            // The universal link that leads back opens the app.
            let link = try #require(successURL.flatMap { URL(string: $0) })
            #expect(await app.billing.handleCheckoutReturn(link) == .confirmed)
            #expect(try await app.keys() == ["pro"])
            #expect(try await app.billing.hasEntitlement(lookupKey: "pro"))
            #expect(app.heardSets == [["pro"]])
        }
    }

    @Test("a plan is changed in the portal", arguments: Backend.allCases)
    func aPlanIsChangedInThePortal(_ backend: Backend) async throws {
        try await Shop.run(on: backend) { shop in
            let app = try AppOnServer(shop.server, maximumStale: 36000)
            app.connectBackend()
            try await shop.buy("pro_monthly", for: try await shop.server.customer("ada"))
            #expect(try await app.keys() == ["pro"])

            let portal = try await app.billing.getCustomerPortal()
            #expect(portal.url.hasPrefix(TestServer.publicURL + "/portal?"))
            var browser = shop.server.browser
            let opened = try await browser.open(
                portal.url.replacing(TestServer.publicURL, with: "")
            )
            #expect(opened.status == 200 && opened.text.contains("Pro, monthly"))
            let switched = try await browser.press("switch", product: "pro_yearly")
            #expect(switched.text.contains("Your plan has been changed"))
            #expect(switched.text.contains("Pro, yearly"))
            #expect(try await shop.subscription().items.data[0].price.id == "price_pro_yearly")

            // While the page is open the app still has the answer from before.
            #expect(try await app.keys() == ["pro"])
            #expect(app.heardSets == [["pro"]])
            // What the end of a visit does.
            await app.billing.client.refreshIfSignedIn()
            #expect(try await app.keys() == ["archive", "pro"])
            #expect(app.heardSets == [["pro"], ["archive", "pro"]])
        }
    }

    @Test("an entitlement is checked", arguments: Backend.allCases)
    func anEntitlementIsChecked(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let app = try AppOnServer(server)
            app.connectBackend()
            try await app.buy("com.example.app.lifetime", for: "ada")
            #expect(try await app.billing.hasEntitlement(lookupKey: "archive"))
            #expect(try await app.billing.hasEntitlement(lookupKey: "gold") == false)
            let all = try await app.billing.getActiveEntitlements()
            #expect(all.first?.feature == "Back issues" && all.first?.id == "ent_archive")
            #expect(app.entitlementRequests == 1)
        }
    }

    @Test("an invalid key and an expired session", arguments: Backend.allCases)
    func anInvalidKeyAndAnExpiredSession(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let stranger = try AppOnServer(server, publishableKey: "pk_test_unknown")
            let refused = await AppOnServer.failure {
                try await stranger.billing.getBuyButton(id: "buy_pro_monthly")
            }
            #expect(refused == "invalidPublishableKey")

            let app = try AppOnServer(server)
            app.connectBackend()
            try await app.buy("com.example.app.lifetime", for: "ada")
            _ = try await app.keys()
            server.wall.advance(seconds: 1801)
            #expect(try await app.keys() == ["archive", "pro"])
            #expect(app.calls == 2)
        }
    }

    @Test("signing out clears cached data", arguments: Backend.allCases)
    func signingOutClearsCachedData(_ backend: Backend) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("sdk-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await TestServer.run(on: backend) { server in
            let app = try AppOnServer(server, maximumStale: 36000, cache: folder)
            app.connectBackend()
            try await app.buy("com.example.app.lifetime", for: "ada")
            _ = try await app.keys()
            let file = folder.appendingPathComponent("pk_test_app/answer")
            #expect(FileManager.default.fileExists(atPath: file.path))
            app.signIn(nil)
            await app.billing.reset()
            #expect(!FileManager.default.fileExists(atPath: file.path))
            #expect(try await app.keys() == [])
            let portal = await AppOnServer.failure { try await app.billing.getCustomerPortal() }
            #expect(portal == "unauthenticated")
            #expect(app.heardSets == [["archive", "pro"], []])
        }
    }

    @Test("terms are accepted once, and again when they change", arguments: Backend.allCases)
    func terms(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let app = try AppOnServer(server)
            app.connectBackend()
            func adopt(_ version: String) async throws {
                var catalog = server.tollgate.store.history.current
                catalog.gates = .init(termsVersion: version, minimumAge: 13)
                try await server.tollgate.store.adopt(catalog, at: server.wall.now)
            }
            try await adopt("1")
            let inbox = app.billing.purchaseInbox
            let purchase = inbox.add(
                productID: "com.example.app.pro.monthly",
                origin: .promotedPayment
            )
            func next() async throws -> PurchaseInbox.Step? {
                inbox.next(try await app.billing.getPurchaseReadiness(isSetUp: true))
            }
            #expect(try await next() == .pass(.terms, for: purchase))
            let asked = try await app.billing.getConsents()
            #expect(try await app.billing.accept(asked.missingTerms).missingTerms.isEmpty)
            #expect(try await next() == .proceed(purchase))
            try await adopt("2")
            #expect(try await next() == .pass(.terms, for: purchase))
            #expect(try await app.billing.stateAge(atLeast: 20).statedAge == 20)
            let unheard = await AppOnServer.failure {
                try await app.billing.accept([TermsDocument(id: "terms", version: "9")])
            }
            #expect(unheard == "requestRefused")
        }
    }

    @Test("a checkout return is confirmed by the server, never by its address")
    func checkoutReturn() async throws {
        try await TestServer.run { server in
            let app = try AppOnServer(server, maximumStale: 36000)
            app.connectBackend()
            _ = try await app.keys()
            let button = try await app.billing.getBuyButton(id: "buy_coins_100")
            _ = try await button.checkout()
            let success = try #require(
                URL(
                    string: "https://billing.example.com/checkout_redirect/success"
                        + "?session_id=cs_test_1"
                )
            )
            let cancel = try #require(
                URL(string: "https://billing.example.com/checkout_redirect/cancel")
            )
            #expect(await app.billing.handleCheckoutReturn(success) == .processing)
            #expect(try await app.billing.getCoinBalance().balance == 0)
            #expect(await app.billing.handleCheckoutReturn(cancel) == .cancelled)
            _ = try await button.checkout()
            server.stripe.pay("cs_test_2")
            server.stripe.setReachable(false)
            #expect(await app.billing.handleCheckoutReturn(cancel) == .processing)
            #expect(app.billing.purchaseInbox.pending.map(\.reference) == ["cs_test_2"])
            server.stripe.setReachable(true)
            #expect(await app.billing.handleCheckoutReturn(cancel) == .confirmed)
            #expect(try await app.billing.getCoinBalance().balance == 100)
            #expect(app.billing.purchaseInbox.pending.isEmpty)
        }
    }

    @Test("what a visitor bought is theirs once they sign in", arguments: Backend.allCases)
    func aVisitorSignsIn(_ backend: Backend) async throws {
        try await Shop.run(on: backend) { shop in
            let app = try AppOnServer(shop.server, maximumStale: 36000)
            app.connectBackend()
            app.signIn(nil)
            let page = try await app.billing.getBuyButton(id: "buy_coins_100").checkout()
            _ = try await shop.stripe.pay(
                checkoutSession: page.lastPathComponent,
                email: "jenny@example.com"
            )
            await shop.server.tollgate.fetchWanted()
            let token = VisitorPurchases(client: app.billing.client).accountToken()
            let account = try await shop.server.appStore.createCustomer()
            _ = try await shop.server.appStore.buy(
                "com.example.app.pro.monthly",
                customer: account.id,
                appAccountToken: token.uuidString.lowercased()
            )
            #expect(try await shop.server.deliverNewestNotification().status == 200)
            #expect(try await app.keys() == [])
            app.signIn("ada")
            await app.billing.customerDidChange()
            await app.settled()
            #expect(try await app.keys() == ["pro"])
            #expect(try await app.billing.getCoinBalance().balance == 100)
            // Who signs in after her has nothing of it.
            app.signIn("bob")
            await app.billing.reset()
            #expect(try await app.keys() == [])
            #expect(try await app.billing.getCoinBalance().balance == 0)
        }
    }
}
