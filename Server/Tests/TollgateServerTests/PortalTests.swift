import AppStoreSimulator
import Foundation
import StripeAPI
import StripeConnector
import StripeSimulator
import Testing
import TollgateAPI
import TollgateAssembly
import TollgateService
import TollgateCore
import TollgateSimulation

@Suite("The customer portal")
struct PortalTests {
    @Test(
        "A plan is cancelled, kept after all, and changed, each seen at once",
        arguments: Backend.allCases
    )
    func changes(_ backend: Backend) async throws {
        // Without webhooks: what Stripe answers is enough.
        try await Shop.run(on: backend, hasWebhook: false) { shop in
            let id = try await shop.server.customer("reader-1")
            let session = try await shop.buy("pro_monthly", for: id)
            try await shop.server.tollgate.stripe.reads.fulfil(checkoutSession: session)
            var browser = try await shop.server.portal(of: id)
            let page = try await browser.open("/portal")
            #expect(page.text.contains("Pro, monthly") && page.text.contains("$9.99 a month"))
            #expect(page.text.contains("Renews on 1 February 2026"))

            let cancelled = try await browser.press("cancel")
            #expect(cancelled.text.contains("You keep it until the end of the period"))
            #expect(cancelled.text.contains("Ends on 1 February 2026"))
            #expect(try await shop.subscription().cancelAt != nil)

            let resumed = try await browser.press("resume")
            #expect(resumed.text.contains("Renews on 1 February 2026"))
            #expect(try await shop.subscription().cancelAt == nil)

            let switched = try await browser.press("switch", product: "pro_yearly")
            #expect(switched.text.contains("Your plan has been changed"))
            #expect(switched.text.contains("Pro, yearly"))
            #expect(try await shop.subscription().items.data[0].price.id == "price_pro_yearly")
            #expect(try await shop.entitlements(of: id) == ["archive", "pro"])
            // What it cost lies among the invoices.
            #expect(switched.text.contains("Invoices") && switched.text.contains("$9.99"))
        }
    }

    @Test("A change whose payment is declined changes nothing, and the page says so")
    func declined() async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer()
            try await shop.buy("pro_monthly", for: id)
            let customer = try await shop.stripeCustomer(of: id)
            try await shop.stripe.setDefaultCard("4000000000000341", customer: customer)
            var browser = try await shop.server.portal(of: id)
            let page = try await browser.press("switch")
            #expect(page.text.contains("The payment was declined, so nothing was changed"))
            #expect(try await shop.subscription().items.data[0].price.id == "price_pro_monthly")
        }
    }

    @Test(
        "Signing out ends the portal that was opened with the session",
        arguments: Backend.allCases
    )
    func signingOut(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let id = try await server.customer()
            let session = try await server.session(of: id)
            let link = try await server.post("/v1/portal_sessions", as: session, "{}")
            var browser = server.browser
            _ = try await browser.open(
                (link.json["url"].string ?? "").replacing(TestServer.publicURL, with: "")
            )
            #expect(try await browser.send("/portal").status == 200)
            let unused = try await server.post("/v1/portal_sessions", as: session, "{}")
            #expect(try await server.tollgate.sessions.revoke(session).revoked == 1)
            #expect(try await browser.send("/portal").status == 401)
            var late = server.browser
            let opened = try await late.send(
                (unused.json["url"].string ?? "").replacing(TestServer.publicURL, with: "")
            )
            #expect(opened.status == 401)
        }
    }

    @Test("Nobody changes what is not theirs, nor by a form of another site")
    func strangers() async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer()
            try await shop.buy("pro_monthly", for: id)
            let subscription = try await shop.subscription().id
            let other = try await shop.server.customer("user-2")
            var stranger = try await shop.server.portal(of: other)
            let asked = try await stranger.send(
                "/portal/change?action=cancel&subscription=\(subscription)"
            )
            #expect(asked.location == "/portal?done=gone")
            var owner = try await shop.server.portal(of: id)
            let page = try await owner.open(
                "/portal/change?action=cancel&subscription=\(subscription)"
            )
            let token = try #require(Browser.field("form", in: page))
            for (var browser, form) in [(stranger, token), (owner, ""), (owner, "0")] {
                let answer = try await browser.send(
                    "/portal/change",
                    form: ["form": form, "action": "cancel", "subscription": subscription]
                )
                #expect(answer.location == "/portal?done=gone")
            }
            var nobody = shop.server.browser
            let answer = try await nobody.send(
                "/portal/change",
                form: ["form": token, "action": "cancel", "subscription": subscription]
            )
            #expect(answer.status == 401)
            #expect(try await shop.subscription().cancelAt == nil)
        }
    }

    @Test("Both stores on one page; Apple's are managed at Apple, and paying twice is pointed out")
    func bothStores() async throws {
        try await Shop.run { shop in
            let token = UUID()
            let id = try await shop.server.customer("reader-1", token: token)
            try await shop.buy("pro_monthly", for: id)
            var browser = try await shop.server.portal(of: id)
            #expect(try await !browser.open("/portal").text.contains("paying twice"))
            let buyer = try await shop.server.appStore.createCustomer()
            _ = try await shop.server.appStore.buy(
                "com.example.app.pro.monthly",
                customer: buyer.id,
                appAccountToken: token.uuidString.lowercased()
            )
            _ = try await shop.server.deliverNewestNotification()
            let page = try await browser.open("/portal")
            #expect(page.text.contains("You are paying twice for Pro features"))
            #expect(page.text.contains("https://apps.apple.com/account/subscriptions"))
            #expect(page.text.contains("App Store") && page.text.contains("Web"))
        }
    }

    @Test("Payment methods are changed at Stripe, which leads back to this page")
    func paymentMethod() async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer()
            try await shop.buy("pro_monthly", for: id)
            var browser = try await shop.server.portal(of: id)
            let left = try await browser.send("/portal/stripe?flow=payment_method_update")
            #expect(left.status == 303)
            let address = try #require(left.location)
            #expect(address.hasPrefix("http://127.0.0.1:"))
            let page = try await browser.send(address)
            #expect(page.status == 200)
            #expect(page.text.contains(TestServer.publicURL + "/portal"))
        }
    }

    @Test("While Stripe is out of reach the page shows all but the invoices")
    func withoutStripe() async throws {
        try await TestServer.run { server in
            let id = try await server.customerWithCoins("reader-1")
            _ = try await server.post(
                "/v1/checkout_sessions",
                "{\"customer\":\"\(id)\",\"product\":\"coins_100\"}"
            )
            server.stripe.setReachable(false)
            var browser = try await server.portal(of: id)
            let page = try await browser.open("/portal")
            #expect(page.status == 200 && page.text.contains("100 coins"))
            #expect(page.text.contains("Invoices cannot be shown"))
            let left = try await browser.open("/portal/stripe")
            #expect(left.text.contains("out of reach"))
        }
    }
}
