import AppStoreAPI
import AppStoreConnector
import Crypto
import AppStoreSimulator
import Foundation
import HTTPTypes
import SandboxClock
import Stores
import StripeConnector
import Testing
import TollgateAssembly
import TollgateAPI
import TollgateCore
import TollgateService
import TollgateSimulation

@Suite("Webhooks")
struct WebhookTests {
    @Test("A notification is taken in once; again changes nothing", arguments: Backend.allCases)
    func duplicates(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let id = try await server.customerWithCoins()
            let before = try await server.rowCounts()
            for _ in 0..<3 {
                let again = try await server.deliverNewestNotification()
                #expect(again.status == 200)
                #expect(again.json["received"].bool == true)
            }
            #expect(try await server.rowCounts() == before)
            let coins = try await server.get("/v1/customers/\(id)/coins")
            #expect(coins.json["balance"].integer == 100)
        }
    }

    @Test("A notification of which nothing follows is answered 200 and kept")
    func testNotification() async throws {
        try await TestServer.run { server in
            _ = try await server.appStore.requestTestNotification()
            #expect(try await server.deliverNewestNotification().status == 200)
        }
    }

    @Test(
        "What the App Store did not sign for this app leaves nothing",
        arguments: Backend.allCases
    )
    func forgeries(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let genuine = try await Self.purchase(in: server.appStore)
            let stranger = try await Self.purchase(
                in: TestServer.simulatedAppStore(
                    VirtualClock(now: TestServer.start),
                    isStranger: true
                )
            )
            let otherApp = try await Self.purchase(
                in: TestServer.simulatedAppStore(
                    VirtualClock(now: TestServer.start),
                    bundleID: "com.example.other",
                    isStranger: true
                )
            )
            let parts = genuine.split(separator: ".").map(String.init)
            let transaction = try await server.appStore.buy(
                "com.example.app.lifetime",
                customer: server.appStore.createCustomer().id
            )
            let before = try await server.rowCounts()
            for (payload, status, code) in [
                (stranger, 400, "jws_untrusted"),
                (otherApp, 400, "jws_untrusted"),
                ("\(parts[0]).\(parts[1]).\(Self.changed(parts[2]))", 400, "jws_signature"),
                ("\(parts[0]).\(parts[1])", 400, "jws_encoding"),
                ("\(parts[0]).\(parts[1]).\(parts[2])=", 400, "jws_encoding"),
                ("e30.\(parts[1]).\(parts[2])", 400, "jws_alg"),
                (transaction.jws, 400, "jws_type"),
                ("", 400, "jws_encoding"),
            ] {
                let answer = try await server.deliver(payload)
                #expect(answer.status == status)
                #expect(answer.code == code)
            }
            for (body, code) in [
                ("{}", "json"), ("[]", "json"), ("{\"signedPayload\":1}", "json"), ("no", "json"),
                ("{\"signedPayload\":\"a\",\"signedPayload\":\"b\"}", "json"),
            ] {
                let answer = try await server.send(
                    .post,
                    "/webhooks/app_store",
                    as: nil,
                    body: Array(body.utf8)
                )
                #expect(answer.status == 400)
                #expect(answer.code == code)
            }
            #expect(try await server.rowCounts() == before)
        }
    }

    @Test("A payload signed more than five minutes ahead of the stores' clock is refused")
    func signedInTheFuture() async throws {
        try await TestServer.run { server in
            let skewed = Clocks(
                now: { Instant(milliseconds: TestServer.start - 300_001) },
                wall: server.tollgate.clocks.wall
            )
            let tollgate = server.tollgate
            let behind = Tollgate(
                configuration: tollgate.configuration,
                store: tollgate.store,
                appStore: tollgate.appStore.verifier,
                stripe: tollgate.stripe.client,
                clocks: skewed,
                randomBytes: tollgate.random.bytes,
                signer: tollgate.signer,
                logger: tollgate.logger
            )
            let payload = try await Self.purchase(in: server.appStore)
            let body = Array("{\"signedPayload\":\"\(payload)\"}".utf8)
            await #expect {
                try await behind.appStore.receive(ReceivedMessage(body))
            } throws: { Refusal(telling: $0).error.code == "jws_date" }
        }
    }

    @Test("Apple's body is at most 128 KB, Stripe's 1 MB")
    func limits() async throws {
        try await TestServer.run { server in
            for (path, limit) in [
                ("/webhooks/app_store", 128 << 10), ("/webhooks/stripe", 1 << 20),
            ] {
                let fits = try await server.send(
                    .post,
                    path,
                    as: nil,
                    body: Array(repeating: UInt8(ascii: " "), count: limit)
                )
                #expect(fits.status == 400)
                let tooLarge = try await server.send(
                    .post,
                    path,
                    as: nil,
                    body: Array(repeating: UInt8(ascii: " "), count: limit + 1)
                )
                #expect(tooLarge.status == 413)
                #expect(tooLarge.code == "body_too_large")
            }
        }
    }

    @Test("A packed body is refused unread")
    func contentEncoding() async throws {
        try await TestServer.run { server in
            for path in ["/webhooks/app_store", "/webhooks/stripe", "/v1/customers"] {
                let answer = try await server.send(
                    .post,
                    path,
                    json: "{}",
                    headers: ["Content-Encoding": "gzip"]
                )
                #expect(answer.status == 415)
                #expect(answer.code == "unsupported_media_type")
            }
        }
    }

    @Test(
        "A paid Checkout Session credits its coins once, however often it is told",
        arguments: Backend.allCases
    )
    func stripeEvents(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let id = try await server.customer()
            _ = try await server.post(
                "/v1/checkout_sessions",
                "{\"customer\":\"\(id)\",\"product\":\"coins_100\",\"quantity\":2}"
            )
            let session = try #require(server.stripe.sessions.first)
            server.stripe.pay(session.id)
            let paid = try #require(server.stripe.sessions.first)
            let now = TestServer.start / 1000
            for event in ["evt_1", "evt_1", "evt_2"] {
                let (body, signature) = server.stripe.event(
                    "checkout.session.completed",
                    about: paid,
                    id: event,
                    at: now
                )
                let answer = try await Self.send(body, signature, server)
                #expect(answer.status == 200)
                #expect(answer.json["received"].bool == true)
            }
            let coins = try await server.get("/v1/customers/\(id)/coins")
            #expect(coins.json["balance"].integer == 200)
        }
    }

    @Test("What Stripe did not sign, or not lately, leaves nothing")
    func forgedStripeEvents() async throws {
        try await TestServer.run { server in
            let session = FakeStripe.Session(
                id: "cs_1",
                mode: "payment",
                reference: "user-1",
                price: "price_coins_100",
                quantity: 1,
                metadata: ["tollgate_lines": "price_coins_100:1"],
                isPaid: true
            )
            let now = TestServer.start / 1000
            func event(at seconds: Int64 = now, secret: String = TestServer.webhookSecret)
                -> (body: [UInt8], signature: String)
            {
                server.stripe.event(
                    "checkout.session.completed",
                    about: session,
                    at: seconds,
                    secret: secret
                )
            }
            let before = try await server.rowCounts()
            let good = event()
            for (body, signature, code) in [
                (good.body, nil, "stripe_signature"),
                (good.body, "", "stripe_signature"),
                (good.body, good.signature.replacing("v1=", with: "v0="), "stripe_signature"),
                (good.body + Array(" ".utf8), good.signature, "stripe_signature"),
                (good.body, event(secret: "whsec_other").signature, "stripe_signature"),
                (event(at: now - 301).body, event(at: now - 301).signature, "stripe_timestamp"),
            ] as [([UInt8], String?, String)] {
                let answer = try await Self.send(body, signature, server)
                #expect(answer.status == 400)
                #expect(answer.code == code)
            }
            let junk = Array("{}".utf8)
            let signed = FakeStripe.signature(of: junk, at: now, secret: TestServer.webhookSecret)
            let answer = try await Self.send(junk, signed, server)
            #expect(answer.status == 400 && answer.code == "malformed_body")
            #expect(try await server.rowCounts() == before)
            let late = event(at: now - 300)
            #expect(try await Self.send(late.body, late.signature, server).status == 200)
        }
    }

    @Test("A key of Stripe's other mode replaces nothing, however often it is taken in")
    func otherModeOfStripe() async throws {
        try await TestServer.run { server async throws in
            let stripe = server.tollgate.stripe
            let body = Array("{}".utf8)
            func code(_ secret: String) async throws -> String? {
                let now = TestServer.start / 1000
                let signed = FakeStripe.signature(of: body, at: now, secret: secret)
                return try await Self.send(body, signed, server).code
            }
            for _ in 0..<2 {
                #expect(!stripe.replaceKeys("sk_live_2", webhookSecrets: ["whsec_live"]))
                #expect(!stripe.replaceKeys(nil, webhookSecrets: ["whsec_live"]))
            }
            // Signed, and no event.
            #expect(try await code(TestServer.webhookSecret) == "malformed_body")
            #expect(try await code("whsec_live") == "stripe_signature")
            #expect(stripe.replaceKeys("rk_test_2", webhookSecrets: ["whsec_new"]))
            #expect(try await code(TestServer.webhookSecret) == "stripe_signature")
            #expect(try await code("whsec_new") == "malformed_body")
        }
    }

    private static func purchase(in store: SimulatedAppStore) async throws -> String {
        let buyer = try await store.createCustomer()
        _ = try await store.buy("com.example.app.lifetime", customer: buyer.id)
        return try #require(await store.notifications().last?.signedPayload)
    }

    /// Another signature of the same length.
    private static func changed(_ signature: String) -> String {
        let first = signature.hasPrefix("A") ? "B" : "A"
        return first + signature.dropFirst()
    }

    private static func send(
        _ body: [UInt8],
        _ signature: String?,
        _ server: TestServer
    ) async throws -> Answer {
        try await server.send(
            .post,
            "/webhooks/stripe",
            as: nil,
            body: body,
            headers: signature.map { ["Stripe-Signature": $0] } ?? [:]
        )
    }
}
