import Crypto
import Foundation
import StripeSimulator
import Testing
import TollgateService
import TollgateAPI
import TollgateSimulation

/// N1: names of different kinds never meet.
@Suite("What was bought signed out")
struct CheckoutClaimTests {
    private static let secret = "a secret that the SDK keeps"
    private static let reference = Base64URL.encode(
        Data(SHA256.hash(data: Data(secret.utf8)))
    )

    /// A visitor presses a buy button and pays.
    private func visit(_ shop: Shop, _ button: String) async throws {
        let checkout = try await shop.server.post(
            "/v1/buy_buttons/\(button)/checkout",
            as: TestServer.publishableKey,
            "{\"client_reference_id\":\"\(Self.reference)\"}"
        )
        let url = try #require(checkout.json["url"].string)
        let id = try #require(url.split(separator: "/").last { $0.hasPrefix("cs_") })
        _ = try await shop.stripe.pay(checkoutSession: String(id), email: "jenny@example.com")
        await shop.server.tollgate.fetchWanted()
    }

    private func claim(_ shop: Shop, _ customer: String) async throws -> Answer {
        try await shop.server.post(
            "/v1/checkout_claims",
            as: shop.server.session(of: customer),
            "{\"secret\":\"\(Self.secret)\"}"
        )
    }

    @Test(
        "Whoever shows the secret first has it, once, with all renewals",
        arguments: Backend.allCases
    )
    func claimedOnce(_ backend: Backend) async throws {
        try await Shop.run(on: backend) { shop in
            try await visit(shop, "buy_coins_100")
            try await visit(shop, "buy_pro_monthly")
            let id = try await shop.server.customer()
            let other = try await shop.server.customer("user-2")
            #expect(try await shop.coins(of: id) == 0)
            let first = try await claim(shop, id)
            #expect(first.status == 200)
            #expect(first.json["customer"].string == id)
            #expect(first.json["purchases"].array?.count == 2)
            #expect(try await shop.coins(of: id) == 100)
            #expect(try await shop.entitlements(of: id) == ["pro"])
            let second = try await claim(shop, other)
            #expect(second.status == 409 && second.code == "already_claimed")
            #expect(try await shop.coins(of: other) == 0)
            #expect(try await claim(shop, id).status == 200)
            #expect(try await shop.coins(of: id) == 100)
            try await shop.wait(days: 32)
            #expect(try await shop.entitlements(of: id) == ["pro"])
            // The portal manages what is theirs now.
            var browser = try await shop.server.portal(of: id)
            #expect(try await browser.open("/portal").text.contains("Cancel"))
        }
    }

    @Test("A claim may come before the purchase is reported")
    func claimedBefore() async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer()
            #expect(try await claim(shop, id).json["purchases"].array?.isEmpty == true)
            try await visit(shop, "buy_coins_100")
            #expect(try await shop.coins(of: id) == 100)
        }
    }

    @Test("A secret that nobody could have kept is refused, and a session is needed")
    func refusals() async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            let session = try await server.session(of: id)
            let short = try await server.post(
                "/v1/checkout_claims",
                as: session,
                "{\"secret\":\"short\"}"
            )
            #expect(short.status == 400 && short.code == "parameter_invalid")
            let nobody = try await server.post(
                "/v1/checkout_claims",
                as: TestServer.publishableKey,
                "{\"secret\":\"0123456789abcdef\"}"
            )
            #expect(nobody.status == 401 && nobody.code == "no_session_present")
        }
    }

    @Test(
        "Whoever calls themselves as a purchase is called has nothing of it",
        arguments: Backend.allCases,
        [true, false]
    )
    func otherKinds(_ backend: Backend, isEarly: Bool) async throws {
        try await Shop.run(on: backend) { shop in
            // The reference stands in an address that others see.
            var thief = isEarly ? try await shop.server.customer(Self.reference) : ""
            try await visit(shop, "buy_coins_100")
            try await visit(shop, "buy_pro_monthly")
            if !isEarly { thief = try await shop.server.customer(Self.reference) }
            #expect(try await shop.coins(of: thief) == 0)
            #expect(try await shop.entitlements(of: thief) == [])
            let buyer = try await shop.server.customer()
            let claimed = try await claim(shop, buyer)
            #expect(claimed.status == 200)
            #expect(try await shop.coins(of: buyer) == 100)
            #expect(try await shop.entitlements(of: buyer) == ["pro"])
            #expect(try await shop.entitlements(of: thief) == [])
            // Each is still found by their own name.
            let found = try await shop.server.get("/v1/customers/\(Self.reference)")
            #expect(found.json["id"].string == thief)
            #expect(try await shop.server.customer(Self.reference) == thief)
        }
    }

    @Test("What was claimed is no name of its customer")
    func noName() async throws {
        try await Shop.run { shop in
            try await visit(shop, "buy_coins_100")
            #expect(try await claim(shop, shop.server.customer()).status == 200)
            let found = try await shop.server.get("/v1/customers/\(Self.reference)")
            #expect(found.status == 404)
        }
    }
}
