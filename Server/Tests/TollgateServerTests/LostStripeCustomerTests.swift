import StripeAPI
import StripeConnector
import StripeSimulator
import Testing
import TollgateAssembly
import TollgateService
import TollgateSimulation

@Suite("A Stripe customer that Stripe no longer knows")
struct LostStripeCustomerTests {
    @Test(
        "The next checkout makes a new customer; purchases of the deleted one stay",
        arguments: Backend.allCases,
        [true, false]
    )
    func deleted(_ backend: Backend, hasWebhook: Bool) async throws {
        try await Shop.run(on: backend, hasWebhook: hasWebhook) { shop in
            let id = try await shop.server.customer()
            func buy(_ product: String) async throws {
                let session = try await shop.buy(product, for: id)
                try await shop.server.tollgate.stripe.reads.fulfil(checkoutSession: session)
            }
            try await buy("coins_100")
            let first = try await shop.stripeCustomer(of: id)
            _ = try await shop.call("DELETE", "/v1/customers/\(first)", "")
            await shop.stripe.settle()
            try await buy("coins_100")
            let second = try await shop.stripeCustomer(of: id)
            #expect(first != second)
            #expect(try await shop.coins(of: id) == 200)
            try await buy("pro_monthly")
            #expect(try await shop.subscription().customer.id == second)
            #expect(try await shop.entitlements(of: id) == ["pro"])
        }
    }

    @Test("Repeating a checkout with one Idempotency-Key opens one page for the new customer")
    func repeated() async throws {
        try await Shop.run(hasWebhook: false) { shop in
            let id = try await shop.server.customer()
            try await shop.buy("coins_100", for: id)
            let first = try await shop.stripeCustomer(of: id)
            _ = try await shop.call("DELETE", "/v1/customers/\(first)", "")
            var sessions: Set<String?> = []
            for _ in 0..<2 {
                let answer = try await shop.server.post(
                    "/v1/checkout_sessions",
                    "{\"customer\":\"\(id)\",\"product\":\"coins_100\"}",
                    idempotencyKey: "one"
                )
                #expect(answer.status == 200)
                sessions.insert(answer.json["id"].string)
            }
            #expect(sessions.count == 1)
        }
    }

    @Test("A database that moved from test keys to live ones sells to new customers")
    func otherKeys() async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            let body = "{\"customer\":\"\(id)\",\"product\":\"coins_100\"}"
            #expect(try await server.post("/v1/checkout_sessions", body).status == 200)
            server.stripe.loseCustomers()
            for _ in 0..<2 {
                #expect(try await server.post("/v1/checkout_sessions", body).status == 200)
                #expect(server.stripe.sessions.last?.customer == "cus_2")
            }
            let made = server.stripe.seen.filter { $0.path == "/v1/customers" }
            #expect(made.count == 2)
            // Under the first key Stripe would answer with the customer that is gone.
            #expect(made[0].idempotencyKey != made[1].idempotencyKey)
        }
    }

    @Test("The portal leads to the customer that exists, and says so where none does")
    func portal() async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer()
            try await shop.buy("pro_monthly", for: id)
            let first = try await shop.stripeCustomer(of: id)
            _ = try await shop.call("DELETE", "/v1/customers/\(first)", "")
            await shop.stripe.settle()
            var browser = try await shop.server.portal(of: id)
            let gone = try await browser.open("/portal/stripe")
            #expect(gone.status == 200 && gone.text.contains("can no longer be done"))
            #expect(!gone.text.contains("Invoices cannot be shown"))
            try await shop.buy("coins_100", for: id)
            let left = try await browser.send("/portal/stripe")
            #expect(left.location?.hasPrefix("http://127.0.0.1:") == true)
        }
    }
}
