import AppStoreSimulator
import Foundation
import StripeAPI
import StripeConnector
import StripeSimulator
import Testing
import TollgateAssembly
import TollgateCore
import TollgateService
import TollgateSimulation

@Suite("How the portal and the dashboard say that something was not bought, or was given back")
struct PortalStateTests {
    @Test("A checkout that was left is no purchase", arguments: Backend.allCases)
    func abandoned(_ backend: Backend) async throws {
        try await Shop.run(on: backend) { shop in
            let id = try await shop.server.customer("reader-1")
            let left = try await shop.server.post(
                "/v1/checkout_sessions",
                "{\"customer\":\"\(id)\",\"product\":\"lifetime\"}"
            )
            let session = try #require(left.json["id"].string)
            // The page is looked at again while it is open, and then it expires.
            try await shop.server.tollgate.stripe.reads.fulfil(checkoutSession: session)
            try await shop.wait(days: 2)
            var browser = try await shop.server.portal(of: id)
            #expect(try await browser.open("/portal").text.contains("not bought anything yet"))
            for (language, words) in [
                ("en", "Not bought, checkout not finished"),
                ("ja", "未購入（チェックアウト未完了）"),
            ] {
                var staff = try await shop.server.staff(.support)
                staff.language = language
                let file = try await staff.open("/dashboard/customers/\(id)?environment=sandbox")
                #expect(file.words.contains(words))
                let list = try await staff.open("/dashboard/purchases")
                #expect(list.words.contains(words))
                #expect(!list.words.contains("Bought") && !list.words.contains("に購入"))
            }
        }
    }

    @Test("A plan whose first invoice was never paid is no purchase")
    func incomplete() async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer()
            try await shop.buy("coins_100", for: id)
            let customer = try await shop.stripeCustomer(of: id)
            _ = try await shop.call(
                "POST",
                "/v1/subscriptions",
                "customer=\(customer)&items[0][price]=price_pro_monthly"
                    + "&payment_behavior=default_incomplete"
            )
            await shop.stripe.settle()
            var browser = try await shop.server.portal(of: id)
            let waiting = try await browser.open("/portal")
            #expect(waiting.text.contains("The last payment failed, so it is not active"))
            try await shop.wait(days: 1)
            #expect(try await !browser.open("/portal").text.contains("Subscriptions"))
        }
    }

    @Test("A bank debit is under way, then failed or through, and the pages say which")
    func debits() async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer()
            let bad = try await shop.buy("coins_100", for: id, card: "AT861904300235473202")
            await shop.stripe.settle()
            var browser = try await shop.server.portal(of: id)
            let waiting = try await browser.open("/portal")
            #expect(waiting.text.contains("The payment is being processed"))
            try await shop.wait(days: 1)
            // Reading the session again, which says only ‘unpaid’, does not hide the failure.
            try await shop.server.tollgate.stripe.reads.fulfil(checkoutSession: bad)
            let failed = try await browser.open("/portal")
            #expect(failed.text.contains("The payment failed, so nothing was bought"))
            let back = try await shop.server.get(
                "/checkout_redirect/success?session_id=\(bad)",
                as: nil
            )
            #expect(back.text.contains("The payment failed"))
            let outcome = try await shop.server.get(
                "/v1/checkout_sessions/\(bad)",
                as: try await shop.server.session(of: id)
            )
            #expect(outcome.json["status"].string == "failed")
            var staff = try await shop.server.staff(.support)
            let file = try await staff.open("/dashboard/customers/\(id)?environment=sandbox")
            #expect(file.words.contains("Payment failed"))
            try await shop.buy("coins_100", for: id, card: "AT611904300234573201")
            try await shop.wait(days: 1)
            #expect(try await browser.open("/portal").text.contains("Bought on"))
        }
    }

    @Test(
        "A refunded plan says so with the day, and when it will be charged again",
        arguments: [Catalog.RefundedPlan.end, .keep]
    )
    func refundedPlan(_ policy: Catalog.RefundedPlan) async throws {
        try await Shop.run(catalog: { $0.refundedPlan = policy }) { shop in
            let id = try await shop.server.customer()
            try await shop.buy("pro_monthly", for: id)
            try await shop.wait(days: 9)
            let customer = try await shop.stripeCustomer(of: id)
            try await shop.stripe.refund(customer: customer, amount: 500)
            await shop.server.tollgate.fetchWanted()
            var browser = try await shop.server.portal(of: id)
            #expect(try await browser.open("/portal").text.contains("Renews on 1 February 2026"))
            try await shop.stripe.refund(customer: customer, amount: 499)
            await shop.server.tollgate.fetchWanted()
            let page = try await browser.open("/portal")
            #expect(
                page.text.contains("Refunded on 10 January 2026. Renews on 1 February 2026.")
            )
            var staff = try await shop.server.staff(.support)
            staff.language = "ja"
            let file = try await staff.open("/dashboard/customers/\(id)?environment=sandbox")
            #expect(file.words.contains("に返金、"))
            let cancelled = try await browser.press("cancel")
            #expect(cancelled.text.contains("Refunded on 10 January 2026<"))
            #expect(!cancelled.text.contains("Renews on"))
        }
    }

    @Test("A plan of which only an added item was refunded is not called refunded")
    func refundedItem() async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer()
            try await shop.buy("pro_monthly", for: id)
            try await shop.wait(days: 9)
            let plan = try await shop.subscription().id
            _ = try await shop.call(
                "POST",
                "/v1/subscription_items",
                "subscription=\(plan)&price=price_pro_yearly&proration_behavior=always_invoice"
            )
            try await shop.stripe.refund(customer: try await shop.stripeCustomer(of: id))
            await shop.server.tollgate.fetchWanted()
            var browser = try await shop.server.portal(of: id)
            #expect(try await !browser.open("/portal").text.contains("Refunded on"))
            // Then the plan itself is refunded, too.
            let charges = try await shop.call("GET", "/v1/charges", "")
            let paid = charges["data"].array?.compactMap { $0["id"].string } ?? []
            #expect(paid.count == 2)
            _ = try await shop.call("POST", "/v1/refunds", "charge=\(paid.last ?? "")")
            // Until its webhooks have arrived, which a call of the API does not await.
            try await shop.wait(hours: 0)
            #expect(try await browser.open("/portal").text.contains("Refunded on 10 January 2026"))
        }
    }

    @Test("What was bought once and given back says so with the day")
    func refundedOnce() async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer()
            try await shop.buy("lifetime", for: id)
            try await shop.wait(days: 4)
            try await shop.stripe.refund(customer: try await shop.stripeCustomer(of: id))
            await shop.server.tollgate.fetchWanted()
            var browser = try await shop.server.portal(of: id)
            #expect(try await browser.open("/portal").text.contains("Refunded on 5 January 2026"))
        }
    }

    @Test("A plan that Apple refunded says so with the day; a reversal takes that back")
    func refundedByApple() async throws {
        try await TestServer.run { server in
            let token = UUID()
            let id = try await server.customer("reader-1", token: token)
            let buyer = try await server.appStore.createCustomer(
                appAccountToken: token.uuidString.lowercased()
            )
            let bought = try await server.appStore.buy(
                "com.example.app.pro.monthly",
                customer: buyer.id
            )
            try await server.deliverNotifications()
            try await server.pass(days: 3)
            try await server.appStore.refund(bought.transactionID)
            try await server.deliverNotifications()
            var browser = try await server.portal(of: id)
            #expect(try await browser.open("/portal").text.contains("Refunded on 4 June 2026"))
            try await server.appStore.reverseRefund(bought.transactionID)
            try await server.deliverNotifications()
            let page = try await browser.open("/portal")
            #expect(page.text.contains("1 July 2026") && !page.text.contains("Refunded"))
        }
    }
}
