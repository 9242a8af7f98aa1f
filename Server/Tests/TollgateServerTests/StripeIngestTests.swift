import Foundation
import Storage
import StripeAPI
import StripeConnector
import StripeSimulator
import Testing
import TollgateAssembly
import TollgateService
import TollgateCore
import TollgateSimulation

@Suite("What Stripe's events do not say is read")
struct StripeIngestTests {
    @Test(
        "Events in another API version are hints: nothing is believed, all of it is read",
        arguments: Backend.allCases
    )
    func anotherVersion(_ backend: Backend) async throws {
        try await Shop.run(on: backend, version: "2020-08-27") { shop in
            let id = try await shop.server.customer()
            try await shop.buy("pro_yearly", for: id)
            try await shop.buy("coins_100", for: id)
            #expect(try await shop.entitlements(of: id) == [])
            #expect(try await shop.coins(of: id) == 0)
            await shop.server.tollgate.fetchWanted()
            #expect(try await shop.entitlements(of: id) == ["archive", "pro"])
            #expect(try await shop.coins(of: id) == 150)
            let customer = try await shop.stripeCustomer(of: id)
            try await shop.stripe.refund(customer: customer)
            await shop.server.tollgate.fetchWanted()
            #expect(try await shop.coins(of: id) == 50)
            try await shop.stripe.cancel(
                subscription: shop.subscription().id,
                atPeriodEnd: false
            )
            await shop.server.tollgate.fetchWanted()
            #expect(try await shop.entitlements(of: id) == [])
            // Nothing is asked twice.
            #expect(try await shop.server.rowCounts()["wanted"] == 0)
        }
    }

    @Test("Where an event of a clock that stands still follows a read, the newest state wins")
    func withinOneSecond() async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer()
            let session = try await shop.buy("pro_monthly", for: id)
            try await shop.server.tollgate.stripe.reads.fulfil(checkoutSession: session)
            let subscription = try await shop.subscription().id
            try await shop.stripe.cancel(subscription: subscription, atPeriodEnd: true)
            await shop.server.tollgate.fetchWanted()
            let record = try await shop.server.tollgate.store.record(
                of: Purchase.Key(
                    store: .stripe,
                    environment: .sandbox,
                    application: "-",
                    id: subscription
                )
            )
            #expect(record?.subscription?.value.cancelAt != nil)
        }
    }

    @Test("Stripe's own entitlements are compared with ours, and shown where they differ")
    func opinions() async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer()
            try await shop.buy("pro_monthly", for: id)
            await shop.server.tollgate.fetchWanted()
            let path = "/v1/customers/\(id)/explain?lookup_key="
            func opinion(_ key: String) async throws -> String? {
                let answer = try await shop.server.get(path + key)
                return answer.json["facts"].array?
                    .first { $0["kind"].string == "entitlement_summary" }?["summary"].string
            }
            #expect(try await opinion("pro") == "Stripe's own entitlements list pro")
            #expect(
                try await opinion("archive") == "Stripe's own entitlements do not list archive"
            )
            let metrics = try await shop.server.get("/metrics", as: nil).text
            #expect(!metrics.contains("tollgate_entitlement_disagreements_total"))
        }
    }

    @Test(
        "Where Stripe's entitlements say something else it is counted and shown, and not obeyed",
        arguments: Backend.allCases
    )
    func disagreement(_ backend: Backend) async throws {
        try await Shop.run(on: backend) { shop in
            // Somebody gives the plan one feature more at Stripe, and forgets the catalog.
            let feature = try await shop.call(
                "POST",
                "/v1/entitlements/features",
                "name=Back+issues&lookup_key=archive_of_stripe"
            )
            _ = try await shop.call(
                "POST",
                "/v1/products/prod_pro_monthly/features",
                "entitlement_feature=\(try #require(feature["id"].string))"
            )
            let id = try await shop.server.customer()
            try await shop.buy("pro_monthly", for: id)
            await shop.stripe.settle()
            await shop.server.tollgate.fetchWanted()
            #expect(try await shop.entitlements(of: id) == ["pro"])
            func counted() async throws -> Int64 {
                let metrics = try await shop.server.get("/metrics", as: nil).text
                let name = "tollgate_entitlement_disagreements_total{store=\"stripe\"} "
                return metrics.split(separator: "\n").first { $0.hasPrefix(name) }
                    .flatMap { Int64($0.dropFirst(name.count)) } ?? 0
            }
            let before = try await counted()
            #expect(before > 0)
            let answer = try await shop.server.get(
                "/v1/customers/\(id)/explain?lookup_key=archive_of_stripe"
            )
            #expect(answer.json["entitled"].bool == false)
            let opinion = answer.json["facts"].array?
                .first { $0["kind"].string == "entitlement_summary" }
            #expect(
                opinion?["summary"].string == "Stripe's own entitlements list archive_of_stripe"
            )
            #expect(opinion?["decides"].bool == false)

            // What the other store or staff gives is no disagreement, and adds none.
            let other = try await shop.server.customer("user-2")
            _ = try await shop.server.post(
                "/v1/customers/\(other)/grants",
                "{\"lookup_key\":\"archive\"}"
            )
            try await shop.buy("coins_100", for: other)
            await shop.stripe.settle()
            await shop.server.tollgate.fetchWanted()
            #expect(try await counted() == before)
        }
    }

    @Test("Of 101 entitlements a summary shows ten; all of them count, and are explained")
    func manyEntitlements() async throws {
        let keys = (1...101).map { "feature_\($0)" }
        try await Shop.run(
            catalog: { catalog in
                catalog.entitlements += keys.map { .init(lookupKey: $0, name: "Feature \($0)") }
                for index in catalog.products.indices
                where catalog.products[index].id == "pro_monthly" {
                    catalog.products[index].entitlements += keys
                }
            },
            { shop in
                let id = try await shop.server.customer()
                try await shop.buy("pro_monthly", for: id)
                let events = try await shop.call("GET", "/v1/events", "limit=100")
                let summary = events["data"].array?.first {
                    $0["type"].string == "entitlements.active_entitlement_summary.updated"
                }?["data"]["object"]["entitlements"]
                #expect(summary?["data"].array?.count == 10)
                #expect(summary?["has_more"].bool == true)
                await shop.server.tollgate.fetchWanted()
                #expect(Set(try await shop.entitlements(of: id)) == Set(keys + ["pro"]))
                for key in ["feature_1", "feature_101"] {
                    let answer = try await shop.server.get(
                        "/v1/customers/\(id)/explain?lookup_key=\(key)"
                    )
                    #expect(answer.json["entitled"].bool == true)
                    let opinions = answer.json["facts"].array?.compactMap { fact in
                        fact["kind"].string == "entitlement_summary"
                            ? fact["summary"].string : nil
                    }
                    #expect(opinions == ["Stripe's own entitlements list \(key)"])
                }
            }
        )
    }

    /// Opens the return page eight times while the events that were held back are let go.
    private func race(_ shop: Shop, _ session: String) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<8 {
                group.addTask {
                    let page = try await shop.server.get(
                        "/checkout_redirect/success?session_id=\(session)",
                        as: nil
                    )
                    #expect(page.text.contains("Thank you"))
                }
                if index == 3 {
                    group.addTask { await shop.stripe.setFaults(StripeSimulator.Faults()) }
                }
            }
            try await group.waitForAll()
        }
        await shop.server.tollgate.fetchWanted()
    }

    @Test(
        "The return page and the webhook fulfil at once, and coins come once",
        arguments: Backend.allCases
    )
    func concurrentFulfilment(_ backend: Backend) async throws {
        try await Shop.run(on: backend) { shop in
            let id = try await shop.server.customer()
            var faults = StripeSimulator.Faults()
            faults.isPaused = true
            await shop.stripe.setFaults(faults)
            let session = try await shop.buy("coins_100", for: id)
            #expect(try await shop.coins(of: id) == 0)
            try await race(shop, session)
            #expect(try await shop.coins(of: id) == 100)
        }
    }

    @Test(
        "A bank's late yes and the return page fulfil at once, and coins come once",
        arguments: Backend.allCases
    )
    func concurrentLateFulfilment(_ backend: Backend) async throws {
        try await Shop.run(on: backend) { shop in
            let id = try await shop.server.customer()
            let session = try await shop.buy("coins_100", for: id, card: "AT611904300234573201")
            // The session that is not paid yet is read once.
            await shop.server.tollgate.fetchWanted()
            var faults = StripeSimulator.Faults()
            faults.isPaused = true
            await shop.stripe.setFaults(faults)
            try await shop.wait(days: 14)
            #expect(try await shop.coins(of: id) == 0)
            try await race(shop, session)
            #expect(try await shop.coins(of: id) == 100)
        }
    }

    @Test("The return page fulfils by itself: while no webhook comes, plan and coins are there")
    func fulfilmentWithoutWebhooks() async throws {
        try await Shop.run(hasWebhook: false) { shop in
            let id = try await shop.server.customer()
            for product in ["pro_yearly", "coins_100"] {
                let session = try await shop.buy(product, for: id)
                let page = try await shop.server.get(
                    "/checkout_redirect/success?session_id=\(session)",
                    as: nil
                )
                #expect(page.text.contains("Thank you"))
            }
            #expect(try await shop.coins(of: id) == 150)
            #expect(try await shop.entitlements(of: id) == ["archive", "pro"])
        }
    }

    @Test("A payment that takes days credits when it arrives, and never if it fails")
    func asynchronousPayments() async throws {
        try await Shop.run { shop in
            for (account, arrives) in [
                ("AT611904300234573201", true), ("AT861904300235473202", false),
            ] {
                let id = try await shop.server.customer(account)
                let session = try await shop.buy("coins_100", for: id, card: account)
                let page = try await shop.server.get(
                    "/checkout_redirect/success?session_id=\(session)",
                    as: nil
                )
                #expect(page.text.contains("being processed"))
                #expect(try await shop.coins(of: id) == 0)
                try await shop.wait(days: 14)
                #expect(try await shop.coins(of: id) == (arrives ? 100 : 0))
            }
        }
    }

    @Test("A checkout that is left open for a day expires, and the return page says so")
    func expiry() async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer()
            let checkout = try await shop.server.post(
                "/v1/checkout_sessions",
                "{\"customer\":\"\(id)\",\"product\":\"coins_100\"}"
            )
            let session = try #require(checkout.json["id"].string)
            #expect(checkout.json["expires_at"].integer == Shop.start / 1000 + 86_400)
            try await shop.wait(days: 1)
            let page = try await shop.server.get(
                "/checkout_redirect/success?session_id=\(session)",
                as: nil
            )
            #expect(page.text.contains("has expired"))
            await #expect(throws: StripeSimulator.Refusal.self) {
                _ = try await shop.stripe.pay(checkoutSession: session)
            }
            #expect(try await shop.coins(of: id) == 0)
        }
    }
}
