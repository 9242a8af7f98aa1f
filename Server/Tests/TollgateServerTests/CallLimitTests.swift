import HTTPTypes
import NIOHTTP1
import Testing
import TollgateSimulation

/// L2: what makes this server call a store is limited.
@Suite("Addresses that ask Stripe for whoever opens them")
struct CallLimitTests {
    @Test("A visitor who opens Checkout all the time is told to wait, and Stripe is not asked")
    func visits() async throws {
        try await TestServer.run { server in
            var browser = server.browser
            for _ in 0..<20 {
                #expect(try await browser.send("/buy/buy_coins_100").status == 303)
            }
            let asked = server.stripe.sessions.count
            #expect(asked == 20)
            let refused = try await browser.send("/buy/buy_coins_100")
            #expect(refused.status == 429)
            #expect(refused.headers.first(name: "Retry-After") == "3")
            #expect(refused.text.contains("Too many visits at once"))
            #expect(server.stripe.sessions.count == asked)
            // The app's own calls go on.
            let id = try await server.customer()
            let checkout = try await server.post(
                "/v1/checkout_sessions",
                "{\"customer\":\"\(id)\",\"product\":\"coins_100\"}"
            )
            #expect(checkout.status == 200)
            server.wall.advance(seconds: 3)
            #expect(try await browser.send("/buy/buy_coins_100").status == 303)
            #expect(try await browser.send("/buy/buy_coins_100").status == 429)
        }
    }

    @Test("The return page asks Stripe sixty times a minute at most, and says so to a person")
    func returns() async throws {
        try await TestServer.run { server in
            var browser = server.browser
            let path = "/checkout_redirect/success?session_id=cs_test_nothing"
            for _ in 0..<60 { #expect(try await browser.send(path).status == 200) }
            let asked = server.stripe.seen.count
            let refused = try await browser.send(path)
            #expect(refused.status == 429)
            #expect(refused.text.contains("What was paid for is not lost"))
            #expect(server.stripe.seen.count == asked)
            server.wall.advance(seconds: 60)
            #expect(try await browser.send(path).status == 200)
        }
    }

    @Test("Each customer asks for their own checkouts; the app's backend is never limited")
    func questions() async throws {
        try await TestServer.run { server in
            let path = "/v1/checkout_sessions/cs_test_nothing"
            let eager = try await server.session(of: server.customer("eager"))
            let other = try await server.session(of: server.customer("other"))
            for _ in 0..<60 { #expect(try await server.get(path, as: eager).status == 404) }
            let refused = try await server.get(path, as: eager)
            #expect(refused.status == 429)
            #expect(refused.json["error"]["code"].string == "rate_limited")
            #expect(refused.json["error"]["type"].string == "rate_limit_error")
            #expect(try await server.get(path, as: other).status == 404)
            for _ in 0..<70 { #expect(try await server.get(path).status == 404) }
            // Who is not signed in is counted by network address.
            let key = TestServer.publishableKey
            for _ in 0..<60 { #expect(try await server.get(path, as: key).status == 404) }
            #expect(try await server.get(path, as: key).status == 429)
            #expect(try await server.get(path, as: key, session: other).status == 404)
        }
    }

    /// Everything else by which who is signed in makes this server call a store.
    private static let calls = [
        ("/v1/checkout_sessions", "{\"product\":\"coins_100\"}"),
        ("/v1/buy_buttons/buy_coins_100/checkout", "{}"),
        ("/v1/app_store/receipts", "{\"receipt_data\":\"x\"}"),
    ]

    @Test("A customer has a store called twenty times a minute", arguments: calls)
    func customers(_ path: String, _ body: String) async throws {
        try await TestServer.run { server in
            let eager = try await server.session(of: server.customer("eager"))
            let other = try await server.session(of: server.customer("other"))
            for _ in 0..<20 {
                #expect(try await server.post(path, as: eager, body).status != 429)
            }
            let asked = server.stripe.seen.count
            let refused = try await server.post(path, as: eager, body)
            #expect(refused.status == 429 && refused.code == "rate_limited")
            #expect(refused.headers[.retryAfter] == "3")
            #expect(server.stripe.seen.count == asked)
            #expect(try await server.post(path, as: other, body).status != 429)
            server.wall.advance(seconds: 3)
            #expect(try await server.post(path, as: eager, body).status != 429)
        }
    }

    @Test("Who is not signed in is counted by address, with the pages that lead to Checkout")
    func visitors() async throws {
        try await TestServer.run { server in
            let path = "/v1/buy_buttons/buy_coins_100/checkout"
            for _ in 0..<20 {
                let answer = try await server.post(path, as: TestServer.publishableKey)
                #expect(answer.status == 200)
            }
            let refused = try await server.post(path, as: TestServer.publishableKey)
            #expect(refused.status == 429 && refused.headers[.retryAfter] == "3")
            var browser = server.browser
            #expect(try await browser.send("/buy/buy_coins_100").status == 429)
            #expect(server.stripe.sessions.count == 20)
        }
    }

    @Test("Many customers at one address are counted together, and the app's backend by its key")
    func addressesAndKeys() async throws {
        try await TestServer.run { server in
            let (path, body) = ("/v1/app_store/receipts", "{\"receipt_data\":\"x\"}")
            for number in 0..<15 {
                let session = try await server.session(of: server.customer("user-\(number)"))
                for _ in 0..<20 {
                    #expect(try await server.post(path, as: session, body).status == 400)
                }
            }
            let session = try await server.session(of: server.customer("late"))
            #expect(try await server.post(path, as: session, body).status == 429)
            let backend = "{\"receipt_data\":\"x\",\"customer\":\"late\"}"
            for _ in 0..<1200 {
                #expect(try await server.post(path, backend).status == 400)
            }
            let refused = try await server.post(path, backend)
            #expect(refused.status == 429 && refused.headers[.retryAfter] == "1")
        }
    }

    @Test("The portal asks Stripe sixty times a minute, and changes something twenty times")
    func portal() async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            var browser = try await server.portal(of: id)
            for _ in 0..<20 {
                #expect(try await browser.send("/portal/stripe").status == 303)
            }
            let refused = try await browser.send("/portal/stripe")
            #expect(refused.status == 429)
            #expect(refused.headers.first(name: "Retry-After") == "3")
            let change = try await browser.send("/portal/change", form: ["action": "cancel"])
            #expect(change.status == 429)
            // One visit brought us here.
            for _ in 0..<59 { #expect(try await browser.send("/portal").status == 200) }
            #expect(try await browser.send("/portal").status == 429)
            server.wall.advance(seconds: 60)
            #expect(try await browser.send("/portal").status == 200)
        }
    }
}
