import Foundation
import StrictJSON
import StripeAPI
import StripeSimulator
import Testing
import TollgateAPI
import TollgateCore
import TollgateService
import TollgateSimulation

/// Every status of a Stripe subscription, and what it means here.
@Suite("The life of a Stripe subscription")
struct StripeLifecycleTests {
    private func post(
        _ shop: Shop,
        _ path: [String],
        _ parameters: Stripe.Parameters
    ) async throws -> Stripe.Subscription {
        let answer: Stripe.Answer<Stripe.Subscription> = try await shop.api.post(
            path,
            parameters,
            idempotencyKey: UUID().uuidString
        )
        await shop.stripe.settle()
        await shop.server.tollgate.fetchWanted()
        return answer.value
    }

    private func subscribe(
        _ shop: Shop,
        _ id: String,
        _ more: Stripe.Parameters = [:],
        card: String? = "4242424242424242"
    ) async throws -> Stripe.Subscription {
        // A first visit to Checkout makes the customer at Stripe.
        _ = try await shop.server.post(
            "/v1/checkout_sessions",
            "{\"customer\":\"\(id)\",\"product\":\"coins_100\"}"
        )
        let customer = try await shop.stripeCustomer(of: id)
        if let card { try await shop.stripe.setDefaultCard(card, customer: customer) }
        var parameters = more
        parameters.add("customer", .string(customer))
        parameters.add("items", .list([.hash(["price": .string("price_pro_monthly")])]))
        return try await post(shop, ["subscriptions"], parameters)
    }

    @Test(
        "incomplete entitles to nothing; paid in time it is active; after 23 hours it has expired"
    )
    func incomplete() async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer()
            let made = try await subscribe(
                shop,
                id,
                ["payment_behavior": .string("default_incomplete")]
            )
            #expect(made.status == .incomplete)
            #expect(try await shop.entitlements(of: id) == [])
            try await shop.wait(hours: 22)
            _ = try await shop.call(
                "POST",
                "/v1/invoices/\(try #require(made.json["latest_invoice"]?.string))/pay",
                ""
            )
            await shop.stripe.settle()
            #expect(try await shop.subscription().status == .active)
            #expect(try await shop.entitlements(of: id) == ["pro"])
        }
        try await Shop.run { shop in
            let id = try await shop.server.customer()
            _ = try await subscribe(
                shop,
                id,
                ["payment_behavior": .string("default_incomplete")]
            )
            try await shop.wait(hours: 24)
            #expect(try await shop.subscription().status == .incompleteExpired)
            #expect(try await shop.entitlements(of: id) == [])
        }
    }

    @Test("A trial entitles; at its end it is billed, or ends, or pauses, by its settings")
    func trials() async throws {
        for (ending, card, entitled) in [
            ("create_invoice", "4242424242424242" as String?, ["pro"]), ("cancel", nil, []),
            ("pause", nil, []),
        ] {
            try await Shop.run { shop in
                let id = try await shop.server.customer()
                let made = try await subscribe(
                    shop,
                    id,
                    [
                        "trial_period_days": .integer(7),
                        "trial_settings": .hash([
                            "end_behavior": .hash(["missing_payment_method": .string(ending)])
                        ]),
                    ],
                    card: card
                )
                #expect(made.status == .trialing)
                #expect(try await shop.entitlements(of: id) == ["pro"])
                try await shop.wait(days: 7)
                try await shop.wait(hours: 25)
                #expect(try await shop.entitlements(of: id) == entitled)
            }
        }
    }

    @Test(
        "past_due entitles for the configured grace, whatever becomes of it then",
        arguments: [1, 3, 6] as [Int64]
    )
    func pastDue(_ days: Int64) async throws {
        try await Shop.run(catalog: { $0.pastDueGrace = days * 86_400_000 }) { shop in
            let id = try await shop.server.customer()
            try await shop.buy("pro_monthly", for: id, card: "4000000000000341")
            try await shop.wait(days: 31)
            // The invoice is drafted for an hour, then the card fails.
            try await shop.wait(hours: 2)
            #expect(try await shop.subscription().status == .pastDue)
            #expect(try await shop.entitlements(of: id) == ["pro"])
            try await shop.wait(hours: days * 24 - 4)
            #expect(try await shop.entitlements(of: id) == ["pro"])
            try await shop.wait(hours: 3)
            #expect(try await shop.entitlements(of: id) == [])
            // A new card mends it.
            if try await shop.subscription().status == .pastDue {
                let customer = try await shop.stripeCustomer(of: id)
                try await shop.stripe.setDefaultCard("4242424242424242", customer: customer)
                try await shop.wait(days: 7)
                #expect(try await shop.subscription().status == .active)
                #expect(try await shop.entitlements(of: id) == ["pro"])
            }
        }
    }

    @Test(
        "Once no attempt is left it is canceled or unpaid, and entitles to nothing",
        arguments: ["canceled", "unpaid"]
    )
    func dunningEnds(_ status: String) async throws {
        var policy = StripeSimulator.Policy()
        policy.dunningEnd = status == "unpaid" ? .unpaid : .canceled
        try await Shop.run(policy: policy) { shop in
            let id = try await shop.server.customer()
            try await shop.buy("pro_monthly", for: id, card: "4000000000000341")
            try await shop.wait(days: 31)
            try await shop.wait(days: 10)
            #expect(try await shop.subscription().status.rawValue == status)
            #expect(try await shop.entitlements(of: id) == [])
        }
    }

    @Test("Cancelled at the end of its period it entitles until then; at once, no longer")
    func cancelled() async throws {
        for atPeriodEnd in [true, false] {
            try await Shop.run { shop in
                let id = try await shop.server.customer()
                try await shop.buy("pro_monthly", for: id)
                try await shop.stripe.cancel(
                    subscription: shop.subscription().id,
                    atPeriodEnd: atPeriodEnd
                )
                #expect(try await shop.entitlements(of: id) == (atPeriodEnd ? ["pro"] : []))
                try await shop.wait(days: 30)
                #expect(try await shop.entitlements(of: id) == (atPeriodEnd ? ["pro"] : []))
                try await shop.wait(days: 1)
                #expect(try await shop.entitlements(of: id) == [])
            }
        }
    }

    @Test("cancel_at ends it at its instant, though no webhook says so")
    func cancelAt() async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer()
            try await shop.buy("pro_monthly", for: id)
            _ = try await post(
                shop,
                ["subscriptions", shop.subscription().id],
                ["cancel_at": .integer(Shop.start / 1000 + 10 * 86_400)]
            )
            var faults = StripeSimulator.Faults()
            faults.isPaused = true
            await shop.stripe.setFaults(faults)
            try await shop.wait(days: 9)
            #expect(try await shop.entitlements(of: id) == ["pro"])
            try await shop.wait(days: 1)
            #expect(try await shop.entitlements(of: id) == [])
        }
    }

    @Test(
        "Up at once, down at once, within one second: the plan that stands is the one that counts"
    )
    func upAndDown() async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer()
            try await shop.buy("pro_monthly", for: id)
            let subscription = try await shop.subscription()
            // Each year that is billed anew buys its 50 coins, and the credit for the year that was left
            // takes them back.
            for (price, entitled, coins) in [
                ("price_pro_yearly", ["archive", "pro"], 50), ("price_pro_monthly", ["pro"], 0),
                ("price_pro_yearly", ["archive", "pro"], 50),
            ] {
                _ = try await post(
                    shop,
                    ["subscriptions", subscription.id],
                    [
                        "items": .list([
                            .hash([
                                "id": .string(subscription.items.data[0].id),
                                "price": .string(price),
                            ])
                        ])
                    ]
                )
                #expect(try await shop.entitlements(of: id) == entitled)
                #expect(try await shop.coins(of: id) == Int64(coins))
            }
            // So there were prorations in it.
            var prorations = 0
            for try await invoice in shop.api.lists.invoices() {
                prorations += invoice.lines.data.count { $0.isProration }
            }
            #expect(prorations > 0)
        }
    }

    @Test("A change that waits for its payment changes nothing before it is paid")
    func pendingUpdate() async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer()
            try await shop.buy("pro_monthly", for: id)
            let customer = try await shop.stripeCustomer(of: id)
            try await shop.stripe.setDefaultCard("4000000000000341", customer: customer)
            let before = try await shop.subscription()
            let held = try await post(
                shop,
                ["subscriptions", before.id],
                [
                    "items": .list([
                        .hash([
                            "id": .string(before.items.data[0].id),
                            "price": .string("price_pro_yearly"),
                        ])
                    ]), "payment_behavior": .string("pending_if_incomplete"),
                    "proration_behavior": .string("always_invoice"),
                ]
            )
            #expect(held.status == .active)
            #expect(held.items.data[0].price.id == "price_pro_monthly")
            #expect(try await shop.entitlements(of: id) == ["pro"])
            try await shop.stripe.setDefaultCard("4242424242424242", customer: customer)
            let invoice = try #require(held.json["latest_invoice"]?.string)
            let paid: Stripe.Answer<Stripe.Invoice> = try await shop.api.post(
                ["invoices", invoice, "pay"],
                [:],
                idempotencyKey: "pay"
            )
            #expect(paid.value.status == .paid)
            await shop.stripe.settle()
            await shop.server.tollgate.fetchWanted()
            #expect(try await shop.entitlements(of: id) == ["archive", "pro"])
        }
    }

    @Test("Paused it entitles to nothing; collection paused, it goes on")
    func paused() async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer()
            try await shop.buy("pro_monthly", for: id)
            let subscription = try await shop.subscription().id
            _ = try await post(
                shop,
                ["subscriptions", subscription],
                ["pause_collection": .hash(["behavior": .string("void")])]
            )
            try await shop.wait(days: 32)
            #expect(try await shop.entitlements(of: id) == ["pro"])
            _ = try await post(shop, ["subscriptions", subscription, "pause"], [:])
            #expect(try await shop.entitlements(of: id) == [])
            _ = try await post(shop, ["subscriptions", subscription, "resume"], [:])
            #expect(try await shop.entitlements(of: id) == ["pro"])
        }
    }

    /// As a cross-sell of Stripe's dashboard adds a product to a session that this server opened.
    @Test("What a buyer adds at Checkout is granted too, though our own words do not name it")
    func crossSold() async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer()
            // The server makes the customer at Stripe with the first purchase.
            try await shop.buy("coins_100", for: id)
            let customer = try await shop.stripeCustomer(of: id)
            let session = try await shop.call(
                "POST",
                "/v1/checkout/sessions",
                """
                mode=payment&customer=\(customer)&success_url=https://example.com/\
                &line_items[0][price]=price_coins_100&line_items[0][quantity]=1\
                &line_items[1][price]=price_lifetime&line_items[1][quantity]=1\
                &metadata[tollgate_lines]=price_coins_100:1
                """
            )
            _ = try await shop.stripe.pay(checkoutSession: session["id"].string ?? "")
            await shop.server.tollgate.fetchWanted()
            #expect(try await shop.coins(of: id) == 200)
            #expect(try await shop.entitlements(of: id) == ["archive", "pro"])
        }
    }

    @Test("A Payment Link sells the same products; who buys is named by its reference")
    func paymentLink() async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer("reader-1")
            let answer: Stripe.Answer<PaymentLink> = try await shop.api.post(
                ["payment_links"],
                [
                    "line_items": .list([
                        .hash(["price": .string("price_coins_100"), "quantity": .integer(2)])
                    ])
                ],
                idempotencyKey: "link"
            )
            var browser = shop.server.browser
            let page = try await browser.send(
                answer.value.url + "?client_reference_id=reader-1"
            )
            let session = try #require(page.location?.split(separator: "/").last)
            _ = try await shop.stripe.pay(
                checkoutSession: String(session),
                email: "jenny@example.com"
            )
            // The event of a Payment Link names no products, so they are read.
            await shop.server.tollgate.fetchWanted()
            #expect(try await shop.coins(of: id) == 200)
        }
    }

    // https://docs.stripe.com/payments/place-a-hold-on-a-payment-method
    @Test(
        "A Checkout that only holds the money gives nothing until its capture, whichever event is first",
        arguments: [true, false]
    )
    func heldMoney(_ isCapturedFirst: Bool) async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer("reader-1")
            let link = try await shop.call(
                "POST",
                "/v1/payment_links",
                "line_items[0][price]=price_coins_100&line_items[0][quantity]=2"
                    + "&payment_intent_data[capture_method]=manual"
            )
            var browser = shop.server.browser
            let url = try #require(link["url"].string)
            let page = try await browser.send(url + "?client_reference_id=reader-1")
            let session = String(try #require(page.location?.split(separator: "/").last))
            var faults = StripeSimulator.Faults()
            faults.isPaused = isCapturedFirst
            await shop.stripe.setFaults(faults)
            _ = try await shop.stripe.pay(checkoutSession: session, email: "jenny@example.com")
            await shop.server.tollgate.fetchWanted()
            let held = try await shop.call("GET", "/v1/checkout/sessions/\(session)", "")
            #expect(held["payment_status"].string == "unpaid")
            #expect(try await shop.coins(of: id) == 0)
            if !isCapturedFirst { try await shop.wait(days: 3) }
            let payment = try #require(held["payment_intent"].string)
            _ = try await shop.call("POST", "/v1/payment_intents/\(payment)/capture", "")
            faults = .init()
            faults.isReversed = isCapturedFirst
            await shop.stripe.setFaults(faults)
            await shop.stripe.settle()
            await shop.server.tollgate.fetchWanted()
            #expect(try await shop.coins(of: id) == 200)
        }
    }

    @Test("A customer deleted at Stripe has lost the plan and keeps what was bought once")
    func deletedCustomer() async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer()
            try await shop.buy("pro_monthly", for: id)
            try await shop.buy("coins_100", for: id)
            #expect(try await shop.entitlements(of: id) == ["pro"])
            let customer = try await shop.stripeCustomer(of: id)
            _ = try await shop.call("DELETE", "/v1/customers/\(customer)", "")
            await shop.stripe.settle()
            await shop.server.tollgate.fetchWanted()
            #expect(try await shop.subscription().status == .canceled)
            #expect(try await shop.entitlements(of: id) == [])
            #expect(try await shop.coins(of: id) == 100)
        }
    }
}

/// As much of a Payment Link as the test needs.
private struct PaymentLink: Stripe.Object {
    static let objectName = "payment_link"
    let url: String
    let json: JSON

    init(_ json: JSON) throws(Stripe.DecodingError) {
        url = json["url"]?.string ?? ""
        self.json = json
    }
}
