import AppStoreSimulator
import Foundation
import HTTPTypes
import StripeSimulator
import Testing
import TollgateCore
import TollgateService
import TollgateSimulation

@Suite("What an app has to say of each purchase")
struct CustomerPurchaseTests {
    private static let day: Int64 = 86_400_000

    @Test(
        "A plan of the App Store: its trial, its next charge, its end and its failed payment",
        arguments: Backend.allCases
    )
    func appStore(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            try await server.offerTrial()
            let buyer = try await Buyer(server)
            let path = "/v1/customers/\(buyer.id)/purchases"
            #expect(
                try await server.get(path, as: buyer.session).json["data"].array?.isEmpty == true
            )

            let bought = try await buyer.buys(ProductTypeTests.monthly)
            let trial = try await server.get(path, as: buyer.session)
            #expect(trial.status == 200)
            #expect(trial.json["environment"].string == "sandbox")
            let first = trial.json["data"][0]
            #expect(first["id"].string?.hasSuffix("/" + bought.originalTransactionID) == true)
            #expect(first["store"].string == "app_store" && first["kind"].string == "plan")
            #expect(first["product"].string == "pro_monthly")
            #expect(first["entitlements"].array?.compactMap(\.string) == ["pro"])
            #expect(first["will_renew"].bool == true && first["offer"].string == "trial")
            let access = "/v1/customers/\(buyer.id)/entitlements"
            let pro = try await server.get(access, as: buyer.session).json["data"][0]
            #expect(pro["will_renew"].bool == true && pro["offer"].string == "trial")
            #expect(first["payment_problem"].bool == false && first["status"].string == "active")
            #expect(
                first["management_url"].string == "https://apps.apple.com/account/subscriptions"
            )
            #expect(first["interval"].string == "month" && first["interval_count"].integer == 1)
            // Apple signs what it costs after the offer.
            // https://developer.apple.com/documentation/appstoreserverapi/renewalprice
            #expect(first["next_charge"]["price"]["amount"].integer == 999)
            #expect(first["next_charge"]["price"]["currency"].string == "usd")
            #expect(try await server.get(path).json == trial.json)

            try await server.pass(days: 20)
            let paid = try await server.get(path, as: buyer.session).json["data"][0]
            #expect(paid["offer"] == .null)
            #expect(paid["next_charge"]["price"]["currency"].string == "usd")
            #expect(paid["next_charge"]["awaits_consent"].bool == false)

            try await server.appStore.cancel(bought.originalTransactionID)
            try await server.deliverNotifications()
            let ending = try await server.get(access, as: buyer.session).json["data"][0]
            #expect(ending["will_renew"].bool == false && ending["offer"] == .null)
            let cancelled = try await server.get(path, as: buyer.session).json["data"][0]
            #expect(cancelled["will_renew"].bool == false && cancelled["next_charge"] == .null)
            #expect(cancelled["until"].integer != nil)

            try await server.pass(days: 40)
            let ended = try await server.get(path, as: buyer.session).json["data"][0]
            #expect(ended["entitlements"].array?.isEmpty == true)
            #expect(ended["until"] == .null && ended["offer"] == .null)
            #expect(ended["payment_problem"].bool == false && ended["status"].string == "ended")
        }
    }

    @Test("A failed payment is told in the grace period, and while the App Store still tries")
    func failedPayment() async throws {
        try await TestServer.run { server in
            let buyer = try await Buyer(server)
            let path = "/v1/customers/\(buyer.id)/purchases"
            _ = try await buyer.buys(ProductTypeTests.monthly)
            try await server.appStore.failBilling(customer: buyer.account)
            try await server.pass(days: 35)
            let grace = try await server.get(path, as: buyer.session).json["data"][0]
            #expect(grace["payment_problem"].bool == true && grace["next_charge"] == .null)
            #expect(grace["entitlements"].array?.compactMap(\.string) == ["pro"])
            let access = "/v1/customers/\(buyer.id)/entitlements"
            let pro = try await server.get(access, as: buyer.session).json["data"][0]
            #expect(pro["ground"].string == "grace" && pro["will_renew"] == .null)
            try await server.pass(days: 16)
            let retried = try await server.get(path, as: buyer.session).json["data"][0]
            #expect(retried["payment_problem"].bool == true)
            #expect(retried["status"].string == "payment_failed")
            #expect(retried["entitlements"].array?.isEmpty == true)
            try await server.appStore.recoverBilling(customer: buyer.account)
            try await server.deliverNotifications()
            let mended = try await server.get(path, as: buyer.session).json["data"][0]
            #expect(mended["payment_problem"].bool == false)
            #expect(mended["will_renew"].bool == true && mended["next_charge"]["at"].integer != nil)
        }
    }

    @Test("Who had a plan before another account hears nothing of that account's payments")
    func formerBuyer() async throws {
        try await TestServer.run { server in
            let ann = try await Buyer(server)
            let bought = try await ann.buys(ProductTypeTests.monthly)
            try await server.appStore.cancel(bought.originalTransactionID)
            try await server.deliverNotifications()
            try await server.pass(days: 40)
            // The same Apple account, and so the same original transaction.
            let token = UUID()
            let ben = try await server.customer("user-2", token: token)
            let again = try await server.appStore.buy(
                ProductTypeTests.monthly,
                customer: ann.account,
                appAccountToken: token.uuidString.lowercased()
            )
            #expect(again.originalTransactionID == bought.originalTransactionID)
            let session = try await server.session(of: ben)
            #expect(try await server.present(again.jws, session: session).status == 200)
            try await server.deliverNotifications()

            let paths = (
                ann: "/v1/customers/\(ann.id)/purchases", ben: "/v1/customers/\(ben)/purchases"
            )
            try await server.appStore.failBilling(customer: ann.account)
            for isRetried in [false, true] {
                let hers = try await server.get(paths.ann, as: ann.session).json["data"][0]
                #expect(hers["status"].string == "ended")
                #expect(hers["payment_problem"].bool == false && hers["offer"] == .null)
                #expect(hers["will_renew"].bool == false && hers["next_charge"] == .null)
                let his = try await server.get(paths.ben, as: session).json["data"][0]
                #expect(his["payment_problem"].bool == isRetried)
                #expect(his["status"].string == (isRetried ? "payment_failed" : "active"))
                // Past the period, and past the grace period behind it.
                if !isRetried { try await server.pass(days: 51) }
            }
        }
    }

    @Test("Stripe's plans are managed in the portal, and what is left unpaid is no purchase")
    func stripe() async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer("reader-1")
            let session = try await shop.server.session(of: id)
            let path = "/v1/customers/\(id)/purchases"
            _ = try await shop.server.post(
                "/v1/checkout_sessions",
                "{\"customer\":\"\(id)\",\"product\":\"lifetime\"}"
            )
            try await shop.buy("pro_yearly", for: id)
            try await shop.buy("coins_100", for: id)
            await shop.stripe.settle()
            await shop.server.tollgate.fetchWanted()
            let list = try await shop.server.get(path, as: session).json["data"]
            // Coins open nothing, and a page that was left is none.
            #expect(list.array?.count == 1)
            #expect(list[0]["product"].string == "pro_yearly")
            #expect(list[0]["store"].string == "stripe" && list[0]["management_url"] == .null)
            #expect(list[0]["entitlements"].array?.compactMap(\.string) == ["archive", "pro"])
            #expect(list[0]["interval"].string == "year")
            #expect(list[0]["next_charge"]["price"]["amount"].integer == 7999)
            #expect(
                list[0]["next_charge"]["at"].integer == Shop.start + 365 * Self.day
            )
            let access = try await shop.server.get("/v1/customers/\(id)/entitlements", as: session)
            #expect(access.json["data"].array?.map { $0["will_renew"].bool } == [true, true])
        }
    }

    @Test("What was bought once and what staff gave are told while they open something")
    func others() async throws {
        try await TestServer.run { server in
            let buyer = try await Buyer(server)
            _ = try await buyer.buys("com.example.app.lifetime")
            _ = try await buyer.buys("com.example.app.coins100")
            let until = TestServer.start + Self.day
            let grant = try await server.post(
                "/v1/customers/\(buyer.id)/grants",
                #"{"lookup_key":"archive","until":\#(until)}"#,
                idempotencyKey: "gift"
            )
            #expect(grant.status == 201)
            let path = "/v1/customers/\(buyer.id)/purchases"
            let list = try await server.get(path, as: buyer.session).json["data"]
            #expect(list.array?.compactMap { $0["kind"].string }.sorted() == ["grant", "once"])
            let gift = try #require(list.array?.first { $0["kind"].string == "grant" })
            #expect(gift["until"].integer == until && gift["product"] == .null)
            #expect(gift["store"].string == "tollgate" && gift["will_renew"].bool == false)
            let once = try #require(list.array?.first { $0["kind"].string == "once" })
            #expect(once["product"].string == "lifetime" && once["until"] == .null)
            #expect(once["next_charge"] == .null && once["interval"] == .null)
            try await server.pass(days: 2)
            let later = try await server.get(path, as: buyer.session).json["data"]
            #expect(later.array?.compactMap { $0["kind"].string } == ["once"])
        }
    }

    @Test("T1: a session reads its own customer's purchases, with the component that shows them")
    func apart() async throws {
        try await TestServer.run { server in
            let mine = try await Buyer(server, "mine")
            let other = try await Buyer(server, "other")
            _ = try await other.buys(ProductTypeTests.monthly)
            let foreign = try await server.get(
                "/v1/customers/\(other.id)/purchases",
                as: mine.session
            )
            #expect(foreign.status == 404 && foreign.code == "resource_missing")
            let path = "/v1/customers/\(mine.id)/purchases"
            let narrow = try await server.session(of: mine.id, components: ["buy_button"])
            let disabled = try await server.get(path, as: narrow)
            #expect(disabled.status == 403 && disabled.code == "component_disabled")
            let key = try await server.get(path, as: TestServer.publishableKey)
            #expect(key.status == 403 && key.code == "key_scope")
            let wrong = try await server.get(path + "?environment=production", as: mine.session)
            #expect(wrong.status == 403 && wrong.code == "key_scope")
            #expect(try await server.get("/v1/customers/cus_nobody/purchases").status == 404)
            #expect(try await server.send(.delete, "/v1/customers/\(mine.id)").status == 200)
            let erased = try await server.get(path)
            #expect(erased.status == 410 && erased.code == "customer_erased")
        }
    }
}
