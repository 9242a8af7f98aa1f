import TollgateAssembly
import Foundation
import Storage
import Stores
import StripeAPI
import StripeConnector
import StripeSimulator
import Synchronization
import Testing
import TollgateCore
import TollgateService
import TollgateSimulation

@Suite("Nothing of Stripe's is missed")
struct StripeReconciliationTests {
    @Test("While no webhook arrives, one pass brings all of it", arguments: Backend.allCases)
    func outage(_ backend: Backend) async throws {
        try await Shop.run(on: backend, hasWebhook: false) { shop in
            let tollgate = shop.server.tollgate
            let id = try await shop.server.customer()
            try await shop.buy("pro_yearly", for: id)
            try await shop.buy("coins_100", for: id, quantity: 2)
            let first = try #require(try await tollgate.stripe.reconcile())
            #expect(first.objects.new > 0)
            #expect(first.completeTo == Shop.start)
            #expect(try await shop.coins(of: id) == 250)
            #expect(try await shop.entitlements(of: id) == ["archive", "pro"])
            // The second time only the events since then are read, and nothing is new.
            let before = try await shop.server.rowCounts()
            let again = try #require(try await tollgate.stripe.reconcile())
            #expect(again.objects.seen == 0 && again.events.new == 0)
            #expect(try await shop.server.rowCounts() == before)
            // A refund and the end of the plan are found in the events.
            try await shop.wait(days: 3)
            try await shop.stripe.refund(customer: shop.stripeCustomer(of: id))
            try await shop.stripe.cancel(
                subscription: shop.subscription().id,
                atPeriodEnd: false
            )
            let later = try #require(try await tollgate.stripe.reconcile())
            #expect(later.objects.seen == 0 && later.events.new > 0)
            #expect(try await shop.entitlements(of: id) == [])
            #expect(try await shop.coins(of: id) == 50)
            // After a month Stripe has forgotten, so every object is read.
            try await shop.wait(days: 40)
            let full = try #require(try await tollgate.stripe.reconcile())
            #expect(full.objects.seen > 0 && full.objects.new == 0)
        }
    }

    @Test("A full pass over what is known adds nothing to the journal")
    func confirmation() async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer()
            try await shop.buy("pro_yearly", for: id)
            try await shop.buy("coins_100", for: id)
            try await shop.stripe.refund(customer: shop.stripeCustomer(of: id))
            await shop.server.tollgate.fetchWanted()
            let before = try await shop.server.rowCounts()
            let found = try #require(
                try await shop.server.tollgate.stripe.reconcile(reach: .everything)
            )
            #expect(found.objects.seen >= 4 && found.events.seen > 0)
            #expect(found.events.new == 0)
            #expect(try await shop.server.rowCounts() == before)
        }
    }

    @Test("Interrupted anywhere, it goes on where it was", arguments: [1, 2, 3, 60])
    func resumed(_ stop: Int) async throws {
        try await Shop.run(hasWebhook: false) { shop in
            let tollgate = shop.server.tollgate
            let id = try await shop.server.customer()
            for _ in 0..<3 { try await shop.buy("coins_100", for: id) }
            try await shop.buy("pro_monthly", for: id)
            let count = Counter()
            let interrupted = Task {
                try await tollgate.stripe.reconcile { _ in
                    if count.next() == stop { withUnsafeCurrentTask { $0?.cancel() } }
                }
            }
            // One that was done before it was cancelled ends as well.
            _ = try? await interrupted.value
            let found = try await tollgate.stripe.reconcile()
            #expect(found != nil)
            #expect(try await shop.coins(of: id) == 300)
            #expect(try await shop.entitlements(of: id) == ["pro"])
        }
    }

    @Test("Broken off between two kinds of object, it goes on with the second")
    func resumedBetweenKinds() async throws {
        try await Shop.run(hasWebhook: false) { shop in
            let tollgate = shop.server.tollgate
            let id = try await shop.server.customer()
            try await shop.buy("pro_monthly", for: id)
            try await shop.buy("coins_100", for: id)
            shop.calls.fail("/v1/payment_intents?", after: 0)
            await #expect(throws: Stripe.RequestError.self) {
                _ = try await tollgate.stripe.reconcile()
            }
            let kinds = ["subscriptions", "invoices", "checkout/sessions"].map { "/v1/\($0)?" }
            for kind in kinds { #expect(shop.calls.all(kind).count == 1, "\(kind)") }
            shop.calls.forget()
            let found = try #require(try await tollgate.stripe.reconcile())
            for kind in kinds { #expect(shop.calls.all(kind) == [], "\(kind)") }
            #expect(shop.calls.all.first?.hasPrefix("/v1/payment_intents?") == true)
            #expect(found.objects.new > 0 && found.completeTo == Shop.start)
        }
    }

    @Test("Broken off within a list, it goes on after what it had, and asks nothing twice")
    func resumedWithinAList() async throws {
        try await Shop.run(hasWebhook: false) { shop in
            let tollgate = shop.server.tollgate
            let id = try await shop.server.customer()
            for _ in 0..<60 { try await shop.buy("coins_100", for: id) }
            // Each checkout is read by itself. Nobody answers for the 56th.
            shop.calls.fail("/v1/checkout/sessions/", after: 55)
            await #expect(throws: Stripe.RequestError.self) {
                _ = try await tollgate.stripe.reconcile()
            }
            #expect(try await shop.coins(of: id) == 5500)
            let before = Set(shop.calls.all("/v1/checkout/sessions/"))
            shop.calls.forget()
            let found = try #require(try await tollgate.stripe.reconcile())
            // Each checkout, and the payment of each, and the customer.
            #expect(found.objects.seen == 121)
            #expect(try await shop.coins(of: id) == 6000)
            let list = shop.calls.all("/v1/checkout/sessions?")
            #expect(list.count == 1 && list.allSatisfy { $0.contains("starting_after=cs_") })
            let read = Set(shop.calls.all("/v1/checkout/sessions/"))
            #expect(read.count == 5 && read.isDisjoint(with: before))
            #expect(shop.calls.all("/v1/subscriptions?") == [])

            // So it is with the list of events, whose second page does not come.
            try await shop.wait(days: 1)
            _ = try await tollgate.stripe.reconcile()
            for _ in 0..<30 { try await shop.buy("coins_100", for: id) }
            shop.calls.fail("/v1/events?", after: 1)
            await #expect(throws: Stripe.RequestError.self) {
                _ = try await tollgate.stripe.reconcile()
            }
            shop.calls.forget()
            let rest = try #require(try await tollgate.stripe.reconcile())
            let pages = shop.calls.all("/v1/events?")
            #expect(pages.allSatisfy { $0.contains("starting_after=evt_") })
            #expect(pages.count == (rest.events.seen - 100 + 99) / 100)
            #expect(rest.events.seen > 100 && rest.events.new == rest.events.seen)
            #expect(try await shop.coins(of: id) == 9000)
        }
    }

    @Test("Two servers do not reconcile at once", arguments: Backend.allCases)
    func leased(_ backend: Backend) async throws {
        try await Shop.run(on: backend) { shop in
            let tollgate = shop.server.tollgate
            let wall = tollgate.clocks.wall()
            let lease = Lease(
                name: "reconcile/stripe",
                holder: "another server",
                until: wall.advanced(by: 60_000)
            )
            #expect(try await tollgate.store.leases.take(lease, now: wall))
            #expect(try await tollgate.stripe.reconcile() == nil)
            try await tollgate.store.leases.release(lease)
            #expect(try await tollgate.stripe.reconcile() != nil)
        }
    }

    /// Sells two hundred coins by an invoice and a hundred by a payment, with no checkout.
    private static func sellWithoutCheckout(_ shop: Shop, to buyer: String) async throws {
        _ = try await shop.call(
            "POST",
            "/v1/invoiceitems",
            "customer=\(buyer)&pricing[price]=price_coins_100&quantity=2"
        )
        let method = try await shop.call(
            "POST",
            "/v1/payment_methods/pm_card_visa/attach",
            "customer=\(buyer)"
        )
        let card = try #require(method["id"].string)
        let invoice = try #require(
            try await shop.call(
                "POST",
                "/v1/invoices",
                "customer=\(buyer)&pending_invoice_items_behavior=include"
            )["id"].string
        )
        _ = try await shop.call("POST", "/v1/invoices/\(invoice)/finalize", "")
        let paid = try await shop.call(
            "POST",
            "/v1/invoices/\(invoice)/pay",
            "payment_method=\(card)"
        )
        #expect(paid["status"].string == "paid")
        for words in ["metadata[tollgate_lines]=price_coins_100:1", "metadata[sku]=coins_100"] {
            let intent = try await shop.call(
                "POST",
                "/v1/payment_intents",
                "amount=1000&currency=usd&customer=\(buyer)&payment_method=\(card)&confirm=true"
                    + "&\(words)"
            )
            #expect(intent["status"].string == "succeeded")
        }
    }

    @Test(
        "What was sold without a checkout counts, told by webhooks or found later",
        arguments: [true, false]
    )
    func withoutCheckout(_ hasWebhook: Bool) async throws {
        try await Shop.run(hasWebhook: hasWebhook) { shop in
            let tollgate = shop.server.tollgate
            let id = try await shop.server.customer()
            // A first checkout makes the customer known to Stripe.
            try await shop.buy("coins_100", for: id)
            let buyer = try await shop.stripeCustomer(of: id)
            try await Self.sellWithoutCheckout(shop, to: buyer)
            if hasWebhook {
                await shop.stripe.settle()
                await tollgate.fetchWanted()
            } else {
                _ = try await tollgate.stripe.reconcile()
            }
            // The payment that names no price is nobody's coins.
            #expect(try await shop.coins(of: id) == 400)
            let before = try await shop.server.rowCounts()
            _ = try await tollgate.stripe.reconcile(reach: .everything)
            #expect(try await shop.server.rowCounts()["purchase"] == before["purchase"])
            #expect(try await shop.coins(of: id) == 400)
            // The invoice is paid back in whole, found by the payment that paid it.
            var refunded = 0
            for try await invoice in shop.api.lists.invoices() where invoice.subscription == nil {
                for try await link in shop.api.lists.invoicePayments(ofInvoice: invoice.id) {
                    let intent = try #require(link.paymentIntent?.id)
                    _ = try await shop.call("POST", "/v1/refunds", "payment_intent=\(intent)")
                    refunded += 1
                }
            }
            #expect(refunded == 1)
            if hasWebhook {
                await shop.stripe.settle()
                await tollgate.fetchWanted()
            } else {
                _ = try await tollgate.stripe.reconcile()
            }
            #expect(try await shop.coins(of: id) == 200)
        }
    }

    @Test("Found weeks later, what was bought and disputed keeps its own dates")
    func foundLate() async throws {
        @Sendable func sellsPasses(_ catalog: inout TollgateCore.Catalog) {
            for index in catalog.products.indices
            where catalog.products[index].id == "pass_30_days" {
                catalog.products[index].stripePriceIDs = ["price_pass"]
            }
        }
        try await Shop.run(catalog: sellsPasses, hasWebhook: false) { shop in
            let id = try await shop.server.customer()
            try await shop.buy("pass_30_days", for: id)
            try await shop.wait(days: 9)
            let charges = try await shop.call("GET", "/v1/charges", "")
            let charge = try #require(charges["data"].array?.first?["id"].string)
            try await shop.stripe.dispute(charge: charge)
            // The second pass is paid twenty hours after its page was opened.
            let page = try await shop.server.post(
                "/v1/checkout_sessions",
                "{\"customer\":\"\(id)\",\"product\":\"pass_30_days\"}"
            )
            try await shop.wait(hours: 20)
            _ = try await shop.stripe.pay(checkoutSession: page.json["id"].string ?? "")
            try await shop.wait(days: 29, hours: 23)
            _ = try await shop.server.tollgate.stripe.reconcile()
            #expect(try await shop.entitlements(of: id) == ["pro"])
            try await shop.wait(hours: 2)
            #expect(try await shop.entitlements(of: id) == [])
        }
    }

    @Test("An import takes payments by the word that the account has for what they paid for")
    func importedPayments() async throws {
        try await Shop.run(hasWebhook: false) { shop in
            let buyer = try await shop.api.createCustomer(
                email: "jenny@example.com",
                metadata: ["app_user_id": "reader-1"],
                idempotencyKey: UUID().uuidString
            ).value.id
            try await Self.sellWithoutCheckout(shop, to: buyer)
            let tollgate = shop.server.tollgate
            let found = try #require(try await tollgate.stripeImport.run(priceKey: "sku"))
            #expect(found.objects.new == 3)
            #expect(try await shop.coins(of: "reader-1") == 400)
            let again = try #require(try await tollgate.stripeImport.run(priceKey: "sku"))
            #expect(again.objects.new == 0)
            #expect(try await shop.coins(of: "reader-1") == 400)
        }
    }

    @Test("D8: an import leaves an email address with a line break at Stripe")
    func importedEmails() async throws {
        try await Shop.run(hasWebhook: false) { shop in
            for (user, email) in [("one", "a@example.com\nBcc: b@example.com"), ("two", "a@b.c")] {
                _ = try await shop.api.createCustomer(
                    email: email,
                    metadata: ["app_user_id": user],
                    idempotencyKey: UUID().uuidString
                )
            }
            let found = try #require(try await shop.server.tollgate.stripeImport.run())
            #expect(found.customers.new == 2)
            for (user, email) in [("one", nil), ("two", "a@b.c")] as [(String, String?)] {
                let customer = try await shop.server.get("/v1/customers/\(user)")
                #expect(customer.status == 200 && customer.json["email"].string == email)
            }
        }
    }

    @Test("An account that existed before is brought in, twice without effect")
    func imported() async throws {
        try await Shop.run(hasWebhook: false) { shop in
            // Three customers of a shop that knew nothing of Tollgate.
            func customer(_ metadata: [String: String]) async throws -> String {
                try await shop.api.createCustomer(
                    email: "jenny@example.com",
                    metadata: metadata,
                    idempotencyKey: UUID().uuidString
                ).value.id
            }
            let named = try await customer(["app_user_id": "reader-1"])
            let listed = try await customer([:])
            let stranger = try await customer([:])
            for (buyer, price, mode) in [
                (named, "price_pro_yearly", Stripe.CheckoutSession.Mode.subscription),
                (named, "price_coins_100", .payment), (listed, "price_lifetime", .payment),
                (stranger, "price_coins_100", .payment),
            ] {
                let session = try await shop.api.createCheckoutSession(
                    Stripe.NewCheckoutSession(
                        mode: mode,
                        lines: [.init(price: price)],
                        successURL: "https://example.com/done",
                        customer: buyer
                    ),
                    idempotencyKey: UUID().uuidString
                )
                _ = try await shop.stripe.pay(checkoutSession: session.value.id)
            }
            try await shop.stripe.refund(customer: named, amount: 500)
            let tollgate = shop.server.tollgate
            let found = try #require(
                try await tollgate.stripeImport.run(users: [listed: "reader-2"])
            )
            #expect(found.customers.seen == 3 && found.customers.new == 2)
            #expect(found.strangers == 1)
            // Half of the newest charge, the coins', was refunded.
            #expect(try await shop.coins(of: "reader-1") == 100)
            #expect(try await shop.entitlements(of: "reader-1") == ["archive", "pro"])
            #expect(try await shop.entitlements(of: "reader-2") == ["archive", "pro"])
            let before = try await shop.server.rowCounts()
            let again = try #require(
                try await tollgate.stripeImport.run(users: [listed: "reader-2"])
            )
            #expect(again.customers.new == 0 && again.objects.new == 0)
            #expect(try await shop.server.rowCounts() == before)
        }
    }

    @Test("RULES §5.4: an import ends a refunded pass on the day of its refund, not on its own")
    func importedRefunds() async throws {
        try await Shop.run(
            catalog: { catalog in
                for index in catalog.products.indices
                where catalog.products[index].id == "pass_30_days" {
                    catalog.products[index].stripePriceIDs = ["price_pass_30_days"]
                }
            },
            hasWebhook: false
        ) { shop in
            let buyer = try await shop.api.createCustomer(
                email: "jenny@example.com",
                metadata: ["app_user_id": "reader-1"],
                idempotencyKey: UUID().uuidString
            ).value.id
            func buyPass() async throws {
                let session = try await shop.api.createCheckoutSession(
                    Stripe.NewCheckoutSession(
                        mode: .payment,
                        lines: [.init(price: "price_pass_30_days")],
                        successURL: "https://example.com/done",
                        customer: buyer
                    ),
                    idempotencyKey: UUID().uuidString
                )
                _ = try await shop.stripe.pay(checkoutSession: session.value.id)
            }
            try await buyPass()
            try await shop.wait(days: 10)
            try await shop.stripe.refund(customer: buyer)
            try await shop.wait(days: 2)
            try await buyPass()
            try await shop.wait(days: 20)
            _ = try #require(try await shop.server.tollgate.stripeImport.run())
            #expect(try await shop.entitlements(of: "reader-1") == ["pro"])
            try await shop.wait(days: 9)
            #expect(try await shop.entitlements(of: "reader-1") == ["pro"])
            try await shop.wait(days: 2)
            #expect(try await shop.entitlements(of: "reader-1") == [])
        }
    }
}

private final class Counter: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
