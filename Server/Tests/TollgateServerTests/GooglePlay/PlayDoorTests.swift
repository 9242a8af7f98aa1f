import AppStoreSimulator
import Foundation
import HTTPTypes
import NIOHTTP1
import SandboxClock
import Storage
import Stores
import Testing
import TollgateCore
import TollgateService
import TollgateSimulation

@testable import GooglePlayConnector

/// Wherever people see what was bought, Google Play is there as the other stores are.
///
/// Buyers are licence testers: their purchases are of the sandbox, which these servers answer for.
@Suite("Google Play where people see it")
struct PlayDoorTests {
    /// A customer whose plan of a month lasts a month.
    private static func subscriber(
        _ world: PlayWorld
    ) async throws -> (id: String, account: String, token: String) {
        try await world.act(
            "behaviour",
            #"{"shortens_tests":false,"limits_test_renewals":false}"#,
            "PUT"
        )
        let (id, account) = try await world.person(tester: true)
        let token = try await world.buy("pro", for: account)
        try await world.settle()
        return (id, account, token)
    }

    @Test("The portal shows a plan with the link to its own page in Google Play")
    func portal() async throws {
        try await PlayWorld.run { world in
            let (id, account, token) = try await Self.subscriber(world)
            var browser = try await world.server.portal(of: id)
            var page = try await browser.open("/portal").text
            #expect(page.contains("Subscriptions") && page.contains("Google Play"))
            #expect(page.contains("Renews on") && page.contains("Manage in Google Play"))
            let link = "https://play.google.com/store/account/subscriptions"
            #expect(
                page.contains("\(link)?sku=pro&amp;package=com.example.app")
                    || page.contains("\(link)?sku=pro&package=com.example.app")
            )
            #expect(!page.contains("paying twice"))

            try await world.act("purchases/\(token)/cancel")
            try await world.settle()
            #expect(try await browser.open("/portal").text.contains("Ends on"))
            try await world.act("purchases/\(token)/restore")
            try await world.act("accounts/\(account)", #"{"payment":"declines"}"#)
            await world.wait(days: 32)
            try await world.settle()
            // The link of an hour ago has expired.
            browser = try await world.server.portal(of: id)
            page = try await browser.open("/portal").text
            #expect(page.contains("The last payment failed. You keep access until"))
            await world.wait(days: 8)
            try await world.settle()
            browser = try await world.server.portal(of: id)
            page = try await browser.open("/portal").text
            #expect(page.contains("The last payment failed, so it is not active"))
            try await world.act("accounts/\(account)", #"{"payment":"approves"}"#)
            try await world.settle()
            try await world.act("purchases/\(token)/revoke")
            try await world.settle()
            #expect(try await browser.open("/portal").text.contains("Refunded on"))
        }
    }

    @Test("The portal names the next charge as Google Play states it, in the buyer's currency")
    func nextCharge() async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person(tester: true, region: "DE")
            let token = try await world.buy("pro", for: account)
            try await world.settle()
            var browser = try await world.server.portal(of: id)
            #expect(try await browser.open("/portal").text.contains("Next charge: €10.99 on "))
            try await world.act("purchases/\(token)/cancel")
            try await world.settle()
            let cancelled = try await browser.open("/portal").text
            #expect(cancelled.contains("Nothing more is charged."))
            #expect(!cancelled.contains("Next charge"))
        }
    }

    @Test("The portal tells a new price before it is charged, and that it needs a consent")
    func priceIncrease() async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person(tester: true)
            let token = try await world.buy("pro", for: account)
            try await world.settle()
            var browser = try await world.server.portal(of: id)
            #expect(try await browser.open("/portal").text.contains("Next charge: $9.99 on "))
            // A licence tester's next renewal is the first at the new price.
            try await world.act(
                "products/pro/price",
                #"{"base_plan_id":"monthly","price_micros":14990000}"#
            )
            try await world.settle()
            let page = try await browser.open("/portal").text
            #expect(page.contains("The price rises to $14.99 on "))
            #expect(page.contains("Agree in Google Play by then, or the subscription ends."))
            try await world.act("purchases/\(token)/consent")
            try await world.settle()
            #expect(try await browser.open("/portal").text.contains("Next charge: $14.99 on "))
        }
    }

    @Test("The portal says how something stands that was bought once")
    func boughtOnce() async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person(tester: true, payment: "slowly_approves")
            let token = try await world.buy("lifetime", for: account)
            let session = try await world.server.session(of: id)
            let posted = try await world.server.post(
                "/v1/google_play/purchases",
                as: session,
                #"{"purchase_token":"\#(token)","kind":"one_time","mode":"purchased"}"#
            )
            #expect(posted.status == 200)
            var browser = try await world.server.portal(of: id)
            var page = try await browser.open("/portal").text
            #expect(page.contains("The payment is being processed"))
            try await world.act("purchases/\(token)/pay")
            try await world.settle()
            page = try await browser.open("/portal").text
            #expect(page.contains("Bought once") && page.contains("Yours for good"))
            #expect(!page.contains("Manage in Google Play"))
            try await world.act("purchases/\(token)/revoke")
            try await world.settle()
            #expect(try await browser.open("/portal").text.contains("Refunded on"))
        }
    }

    @Test("Whoever pays in two stores is told so by their names, and Checkout sells no second plan")
    func twice() async throws {
        try await PlayWorld.run { world in
            let (id, _, _) = try await Self.subscriber(world)
            let server = world.server
            let session = try await server.session(of: id)
            let until = try await server.get("/v1/customers/\(id)/entitlements")
                .json["data"][0]["until"].integer
            for (path, key, body) in [
                (
                    "/v1/checkout_sessions", TestServer.secretKey,
                    #"{"customer":"\#(id)","product":"pro_monthly"}"#
                ), ("/v1/buy_buttons/buy_pro_monthly/checkout", session, "{}"),
                ("/v1/app_store/purchases", session, #"{"product":"pro_yearly"}"#),
            ] {
                let refused = try await server.post(path, as: key, body)
                #expect(refused.status == 409 && refused.code == "already_active", "\(path)")
                #expect(refused.json["error"]["until"].integer == until)
            }
            // The App Store cannot know it.
            let customer = try await server.get("/v1/customers/\(id)")
            let buyer = try await server.appStore.createCustomer(
                appAccountToken: customer.json["app_account_token"].string
            )
            _ = try await server.appStore.buy("com.example.app.pro.monthly", customer: buyer.id)
            try await server.deliverNotifications()
            var browser = try await server.portal(of: id)
            let page = try await browser.open("/portal").text
            #expect(page.contains("You are paying twice for Pro features"))
            #expect(page.contains("in the App Store and in Google Play."))
        }
    }

    @Test("The dashboard shows the purchase, its order and its evidence, in both languages")
    func dashboard() async throws {
        try await PlayWorld.run { world in
            let (id, _, token) = try await Self.subscriber(world)
            let order = try #require(try await world.look(token)["order_id"].string)
            for (language, words, reason) in [
                (
                    "en", ["Renews", "Latest transaction", "Period ends", "$9.99"],
                    "Google Play subscription is ACTIVE: pro:monthly"
                ),
                (
                    "ja", ["に更新", "最新の取引", "期間の終了", "$9.99"],
                    "Google Play サブスクリプション（有効）: pro:monthly"
                ),
            ] {
                var staff = try await world.server.staff(.support)
                staff.language = language
                let file = try await staff.open("/dashboard/customers/\(id)")
                #expect(file.words.contains("Pro, monthly") && file.words.contains("Google Play"))
                let link = try #require(
                    file.text.firstMatch(of: /\/dashboard\/purchases\/[0-9a-f]+/)
                )
                let purchase = try await staff.open(String(link.output))
                for text in words + ["Google Play", order, token] {
                    #expect(purchase.words.contains(text), "\(text)")
                }
                let console = "https://play.google.com/console/developers/app"
                #expect(purchase.text.contains(#"<a href="\#(console)/subscriptions/setup""#))
                let why = try await staff.open("/dashboard/customers/\(id)/explain?lookup_key=pro")
                #expect(why.words.contains("Google Play"))
                #expect(why.words.contains(reason))
                for path in ["catalog", "health", "reports/revenue", ""] {
                    let page = try await staff.open("/dashboard/\(path)")
                    #expect(page.words.contains("Google Play"), "\(path)")
                }
                #expect(
                    try await staff.open("/dashboard/catalog").words.contains("Google Play: pro")
                )
            }
        }
    }

    @Test("What was bought once leads to the Play Console's page of one-time products")
    func console() async throws {
        try await PlayWorld.run { world in
            let (_, account) = try await world.person()
            let token = try await world.buy("coins100", for: account)
            try await world.settle()
            let bought = try #require(try await world.record(token))
            #expect(
                world.room.consoleURL(of: .products(bought), in: .production)
                    == "https://play.google.com/console/developers/app/managed-products"
            )
            #expect(world.room.consoleURL(of: .purchase(bought), in: .production) == nil)
        }
    }

    @Test("Staff find a purchase by its token, its order and the notification's id")
    func search() async throws {
        try await PlayWorld.run { world in
            let (id, _, token) = try await Self.subscriber(world)
            let order = try #require(try await world.look(token)["order_id"].string)
            let message = try #require(
                try await world.act("notifications", "", "GET")["data"].array?.first?["message_id"]
                    .string
            )
            var staff = try await world.server.staff(.support)
            for text in [token, order, "google_play/sandbox/\(PlayWorld.package)/\(token)"] {
                let found = try await staff.send(
                    "/dashboard/customers?q=\(StaffBrowser.escaped(text))"
                )
                #expect(found.location == "/dashboard/customers/\(id)", "\(text)")
            }
            let hint = try await staff.open("/dashboard/customers?q=\(message)")
            // What Pub/Sub wraps is opened.
            #expect(hint.text.contains("subscriptionNotification"))
            let unknown = try await staff.send("/dashboard/customers?q=GPA.0000-0000-0000-00000")
            #expect(unknown.status == 200 && unknown.text.contains("Nothing has the id"))
        }
    }

    @Test("Explanation, events, figures and metrics name the store")
    func outside() async throws {
        try await PlayWorld.run { world in
            let (id, _, token) = try await Self.subscriber(world)
            let server = world.server
            let why = try await server.get("/v1/customers/\(id)/explain?lookup_key=pro")
            let facts = why.json["facts"].array ?? []
            #expect(
                facts.contains { $0["store"].string == "google_play" && $0["decides"].bool == true }
            )
            await server.tollgate.events.publish()
            let events = try await server.get("/v1/events").text
            #expect(events.contains("google_play/sandbox/\(PlayWorld.package)/\(token)"))
            while try await !server.tollgate.figures.followOnce() {}
            let rows = try await server.get(
                "/v1/reports/sales/rows?store=google_play&environment=sandbox"
            )
            #expect(rows.text.contains("google_play") && rows.text.contains("pro_monthly"))
            let wrong = try await server.get("/v1/reports/sales?store=play")
            #expect(wrong.status == 400)
            #expect(wrong.text.contains("app_store, stripe or google_play"))
            let metrics = await server.tollgate.metrics.text()
            #expect(metrics.contains(#"tollgate_parked_messages{store="google_play"} 0"#))
        }
    }
}
