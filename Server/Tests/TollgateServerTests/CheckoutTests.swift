import HTTPTypes
import Foundation
import Testing
import TollgateSimulation

@Suite("Checkout")
struct CheckoutTests {
    @Test("A Checkout Session sells what the catalog says, to the customer's Stripe customer")
    func create() async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            let answer = try await server.post(
                "/v1/checkout_sessions",
                "{\"customer\":\"\(id)\",\"product\":\"coins_100\",\"quantity\":3}"
            )
            #expect(answer.status == 200)
            #expect(answer.json["id"].string == "cs_test_1")
            #expect(answer.json["url"].string == "https://checkout.stripe.test/cs_test_1")
            #expect(answer.json["expires_at"].integer == TestServer.start / 1000 + 86_400)
            let made = try #require(server.stripe.seen.last)
            #expect(made.form["mode"] == "payment")
            #expect(made.form["line_items[0][price]"] == "price_coins_100")
            #expect(made.form["line_items[0][quantity]"] == "3")
            #expect(made.form["customer"] == "cus_1")
            #expect(made.form["client_reference_id"] == id)
            #expect(
                made.form["success_url"]
                    == "https://billing.example.com/checkout_redirect/success?session_id={CHECKOUT_SESSION_ID}"
            )
            #expect(
                made.form["cancel_url"] == "https://billing.example.com/checkout_redirect/cancel"
            )
            // The Stripe customer is made once and kept.
            _ = try await server.post(
                "/v1/checkout_sessions",
                "{\"customer\":\"\(id)\",\"product\":\"pro_monthly\"}"
            )
            #expect(server.stripe.seen.filter { $0.path == "/v1/customers" }.count == 1)
            #expect(server.stripe.seen.last?.form["mode"] == "subscription")
            #expect(server.stripe.seen.last?.form["customer"] == "cus_1")
            #expect(server.stripe.seen.allSatisfy { $0.idempotencyKey?.isEmpty == false })
        }
    }

    @Test("The same checkout asked for twice reaches Stripe once; another key is another checkout")
    func repeated() async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            let body = "{\"customer\":\"\(id)\",\"product\":\"coins_100\"}"
            var ids: [String?] = []
            for key in ["one", "one", "two"] {
                let answer = try await server.post(
                    "/v1/checkout_sessions",
                    body,
                    idempotencyKey: key
                )
                ids.append(answer.json["id"].string)
            }
            #expect(ids[0] == ids[1] && ids[1] != ids[2])
            let keys = server.stripe.seen.filter { $0.path == "/v1/checkout/sessions" }
                .map(\.idempotencyKey)
            #expect(keys.count == 2)
            #expect(keys[0] != keys[1])
        }
    }

    @Test("A session's customer buys for themselves")
    func withSession() async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            let session = try await server.session(of: id)
            let answer = try await server.post(
                "/v1/checkout_sessions",
                as: session,
                "{\"buy_button\":\"buy_coins_100\"}"
            )
            #expect(answer.status == 200)
            #expect(server.stripe.sessions.first?.reference == id)
        }
    }

    @Test(
        "What cannot be sold is refused, and Stripe is not asked",
        arguments: [
            ("\"product\":\"nothing\"", 404, "resource_missing"),
            ("\"buy_button\":\"nothing\"", 404, "resource_missing"),
            ("\"product\":\"reader\"", 400, "parameter_invalid"),
            ("\"product\":\"coins_100\",\"quantity\":0", 400, "parameter_invalid"),
            ("\"product\":\"coins_100\",\"quantity\":101", 400, "parameter_invalid"),
            ("\"product\":\"coins_100\",\"quantity\":1.5", 400, "parameter_invalid"),
            ("\"quantity\":1", 400, "parameter_missing"),
        ]
    )
    func cannotBeSold(_ fields: String, _ status: Int, _ code: String) async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            let answer = try await server.post(
                "/v1/checkout_sessions",
                "{\"customer\":\"\(id)\",\(fields)}"
            )
            #expect(answer.status == status)
            #expect(answer.code == code)
            #expect(server.stripe.seen.isEmpty)
        }
    }

    @Test("The secret key must say for whom")
    func secretKeyNamesTheCustomer() async throws {
        try await TestServer.run { server in
            let answer = try await server.post(
                "/v1/checkout_sessions",
                "{\"product\":\"coins_100\"}"
            )
            #expect(answer.status == 400 && answer.code == "parameter_missing")
            #expect(answer.json["error"]["param"].string == "customer")
        }
    }

    private static let foreignAddresses = [
        "//evil.example", "https://evil.example/", "https://billing.example.com.evil.example/x",
        "https://billing.example.com@evil.example/x", "https://billing.example.com:8443/x",
        "http://billing.example.com/x", "javascript:alert(1)", "data:text/html,x",
        "https://billing.example.com/\\\\evil.example", "\\\\\\\\evil.example",
        "https://billing.example.com", "https://billing.example.com/x?session_id=cs_1",
        "https://billing.example.com/x#y", "",
        "https://billing.example.com/x\\ny", " https://billing.example.com/x",
        "HTTPS://EVIL.EXAMPLE/", "https://billing.example.com/{CHECKOUT_SESSION_ID}",
        "https://xn--blling-9za.example.com/x", "/x", "https:///billing.example.com/x",
        "https://evil.example/https://billing.example.com/",
        "app.example://billing.example.com/x", "https://BILLING.example.com.evil.example/",
    ]

    @Test("B1: nobody is sent to a page that is not this server's", arguments: foreignAddresses)
    func foreignReturnAddresses(_ address: String) async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            let session = try await server.session(of: id)
            for param in ["success_url", "cancel_url"] {
                let answer = try await server.post(
                    "/v1/checkout_sessions",
                    "{\"customer\":\"\(id)\",\"product\":\"coins_100\",\"\(param)\":\"\(address)\"}"
                )
                #expect(answer.status == 422 && answer.code == "redirect_forbidden")
                #expect(answer.json["error"]["param"].string == param)
                let button = try await server.post(
                    "/v1/buy_buttons/buy_coins_100/checkout",
                    as: TestServer.publishableKey,
                    "{\"\(param)\":\"\(address)\"}"
                )
                #expect(button.status == 422 && button.code == "redirect_forbidden")
            }
            let portal = try await server.post(
                "/v1/portal_sessions",
                as: session,
                "{\"return_url\":\"\(address)\"}"
            )
            #expect(portal.status == 422 && portal.code == "redirect_forbidden")
            #expect(!server.stripe.seen.contains { $0.path.contains("checkout") })
        }
    }

    @Test("A page of this server is a good place to come back to")
    func ownReturnAddress() async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            let answer = try await server.post(
                "/v1/checkout_sessions",
                """
                {"customer":"\(id)","product":"coins_100",\
                "success_url":"https://billing.example.com/demo"}
                """
            )
            #expect(answer.status == 200)
            #expect(
                server.stripe.seen.last?.form["success_url"]
                    == "https://billing.example.com/demo?session_id={CHECKOUT_SESSION_ID}"
            )
        }
    }

    @Test("A buy button has what is needed to draw it")
    func buyButton() async throws {
        try await TestServer.run { server in
            let answer = try await server.get(
                "/v1/buy_buttons/buy_coins_100",
                as: TestServer.publishableKey
            )
            #expect(answer.status == 200)
            #expect(answer.json["active"].bool == true)
            #expect(answer.json["call_to_action"].string == "Buy 100 coins")
            #expect(answer.json["line_item_group"]["amount_total"].string == "1000")
            #expect(answer.json["product"]["id"].string == "coins_100")
            #expect(answer.json["product"]["interval"] == .null)
            #expect(
                answer.json["checkout_url"].string
                    == "https://billing.example.com/buy/buy_coins_100"
            )
            #expect(answer.json["storefronts"][0].string == "USA")
            let plan = try await server.get(
                "/v1/buy_buttons/buy_pro_monthly",
                as: TestServer.publishableKey
            )
            #expect(plan.json["product"]["interval"].string == "month")
            #expect(plan.json["product"]["interval_count"].integer == 1)
            let missing = try await server.get(
                "/v1/buy_buttons/nothing",
                as: TestServer.publishableKey
            )
            #expect(missing.status == 404 && missing.code == "resource_missing")
        }
    }

    @Test("A visitor checks out without a session, and is told later by the reference")
    func buyButtonCheckout() async throws {
        try await TestServer.run { server in
            let path = "/v1/buy_buttons/buy_coins_100/checkout"
            let bare = try await server.send(.post, path, as: TestServer.publishableKey)
            #expect(bare.status == 200)
            #expect(server.stripe.sessions.last?.customer == nil)
            _ = try await server.post(
                path,
                as: TestServer.publishableKey,
                "{\"client_reference_id\":\"\(Self.reference)\"}"
            )
            #expect(server.stripe.sessions.last?.reference == Self.reference)
            #expect(server.stripe.seen.last?.form["customer_creation"] == "always")
            // Nobody's purchase is put down to a customer by their name.
            for name in ["user-1", "", "abc"] {
                let forged = try await server.post(
                    path,
                    as: TestServer.publishableKey,
                    "{\"client_reference_id\":\"\(name)\"}"
                )
                #expect(forged.status == 400 && forged.code == "parameter_invalid")
            }
            let id = try await server.customer()
            _ = try await server.post(
                path,
                as: TestServer.publishableKey,
                session: server.session(of: id),
                "{}"
            )
            #expect(server.stripe.sessions.last?.reference == id)
        }
    }

    /// base64url(SHA-256("a secret of the visitor's")).
    private static let reference = "Nz5bQ0Jx8t5o0n3l2WcJ1xk3v1c8yqU7m4h9sZrT6aE"

    @Test("A button is active, and sells, in the configured storefronts only")
    func storefronts() async throws {
        try await TestServer.run { server in
            for (storefront, isOffered) in [("USA", true), ("usa", true), ("DEU", false)] {
                let button = try await server.get(
                    "/v1/buy_buttons/buy_coins_100?storefront=\(storefront)",
                    as: TestServer.publishableKey
                )
                #expect(button.json["active"].bool == isOffered)
                let checkout = try await server.post(
                    "/v1/buy_buttons/buy_coins_100/checkout",
                    as: TestServer.publishableKey,
                    "{\"storefront\":\"\(storefront)\"}"
                )
                #expect(checkout.status == (isOffered ? 200 : 403))
                if !isOffered { #expect(checkout.code == "storefront_unsupported") }
            }
        }
    }

    @Test("A buy button's own address leads to a fresh page of Checkout")
    func checkoutAddress() async throws {
        try await TestServer.run { server in
            var browser = server.browser
            let page = try await browser.send(
                "/buy/buy_coins_100?client_reference_id=\(Self.reference)"
            )
            #expect(page.status == 303)
            #expect(page.location == "https://checkout.stripe.test/cs_test_1")
            #expect(server.stripe.sessions.last?.reference == Self.reference)
            #expect(try await browser.send("/buy/nothing").status == 404)
            #expect(try await browser.send("/buy/buy_coins_100?storefront=DEU").status == 403)
            server.stripe.setReachable(false)
            let closed = try await browser.send("/buy/buy_coins_100")
            #expect(closed.status == 503 && closed.text.contains("You were not charged"))
        }
    }

    @Test("While Stripe is out of reach nothing is promised")
    func stripeOutOfReach() async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            server.stripe.setReachable(false)
            let answer = try await server.post(
                "/v1/checkout_sessions",
                "{\"customer\":\"\(id)\",\"product\":\"coins_100\"}"
            )
            #expect(answer.status == 503 && answer.code == "store_unavailable")
        }
    }

    @Test("The return page believes Stripe, not the address", arguments: Backend.allCases)
    func returnPage(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let id = try await server.customer()
            _ = try await server.post(
                "/v1/checkout_sessions",
                "{\"customer\":\"\(id)\",\"product\":\"coins_100\"}"
            )
            let before = try await server.rowCounts()
            for session in ["cs_test_1", "cs_test_unknown", "nonsense", "", "cs_../customers"] {
                let page = try await server.get(
                    "/checkout_redirect/success?session_id=\(session)&paid=true",
                    as: nil
                )
                #expect(page.status == 200)
                #expect(page.text.contains("being processed"))
            }
            #expect(try await server.rowCounts() == before)
            #expect(
                try await server.get("/v1/customers/\(id)/coins").json["balance"].integer == 0
            )

            server.stripe.pay("cs_test_1")
            for _ in 0..<2 {
                let page = try await server.get(
                    "/checkout_redirect/success?session_id=cs_test_1",
                    as: nil
                )
                #expect(page.text.contains("Thank you"))
            }
            let (body, signature) = server.stripe.event(
                "checkout.session.completed",
                about: try #require(server.stripe.sessions.first),
                at: TestServer.start / 1000
            )
            let event = try await server.send(
                .post,
                "/webhooks/stripe",
                as: nil,
                body: body,
                headers: ["Stripe-Signature": signature]
            )
            #expect(event.status == 200)
            #expect(
                try await server.get("/v1/customers/\(id)/coins").json["balance"].integer == 100
            )
        }
    }

    @Test("While Stripe is out of reach the return page waits for the webhook")
    func returnPageWithoutStripe() async throws {
        try await TestServer.run { server in
            server.stripe.setReachable(false)
            let page = try await server.get(
                "/checkout_redirect/success?session_id=cs_test_1",
                as: nil
            )
            #expect(page.status == 200)
            #expect(page.text.contains("being processed"))
        }
    }
}
