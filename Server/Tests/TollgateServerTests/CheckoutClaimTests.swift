import AppStoreSimulator
import Crypto
import Foundation
import StripeSimulator
import Testing
import TollgateService
import TollgateAPI
import TollgateCore
import TollgateSimulation

/// N1: names of different kinds never meet.
@Suite("What was bought signed out")
struct CheckoutClaimTests {
    private static let secret = "a secret that the SDK keeps"
    private static let reference = Base64URL.encode(
        Data(SHA256.hash(data: Data(secret.utf8)))
    )

    private static let token = VisitorToken.token(
        hash: SHA256.hash(data: Data(VisitorToken.hashedText(of: secret).utf8))
    ).uuidString.lowercased()

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

    private func claim(
        _ shop: Shop,
        _ customer: String,
        _ secret: String = secret
    ) async throws -> Answer {
        try await claim(shop.server, customer, secret)
    }

    private func claim(
        _ server: TestServer,
        _ customer: String,
        _ secret: String = secret
    ) async throws -> Answer {
        try await server.post(
            "/v1/checkout_claims",
            as: server.session(of: customer),
            "{\"secret\":\"\(secret)\"}"
        )
    }

    /// A visitor buys a plan in the App Store, and its notification arrives.
    ///
    /// - Returns: what the device of that Apple account shows.
    private func buyInTheAppStore(_ server: TestServer) async throws -> String {
        let account = try await server.appStore.createCustomer()
        let bought = try await server.appStore.buy(
            "com.example.app.pro.monthly",
            customer: account.id,
            appAccountToken: Self.token
        )
        try await server.deliverNotifications()
        return bought.jws
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

    @Test("Whoever shows what others see, in place of the secret, has nothing of it (N1)")
    func seen() async throws {
        try await Shop.run { shop in
            try await visit(shop, "buy_coins_100")
            _ = try await buyInTheAppStore(shop.server)
            let thief = try await shop.server.customer("thief")
            for seen in [Self.reference, Self.token] {
                let claimed = try await claim(shop, thief, seen)
                #expect(claimed.json["purchases"].array?.isEmpty == true)
            }
            #expect(try await shop.coins(of: thief) == 0)
            #expect(try await shop.server.access(of: thief).isEmpty)
            let buyer = try await shop.server.customer()
            #expect(try await claim(shop, buyer).json["purchases"].array?.count == 2)
            #expect(try await shop.coins(of: buyer) == 100)
            #expect(try await shop.server.access(of: buyer).keys.sorted() == ["pro"])
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

    // MARK: - In the App Store

    @Test(
        "A plan that was bought signed out in the App Store is theirs who shows the secret, with all renewals",
        arguments: Backend.allCases
    )
    func inTheAppStore(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let jws = try await buyInTheAppStore(server)
            let buyer = try await server.customer()
            let other = try await server.customer("user-2")
            // Another customer's device of the same Apple account shows it, and takes nothing.
            let shown = try await server.present(
                jws,
                mode: "observed",
                session: server.session(of: other)
            )
            #expect(shown.status == 409 && shown.code == "owned_elsewhere")
            #expect(try await claim(server, buyer).json["purchases"].array?.count == 1)
            #expect(try await server.access(of: buyer)["pro"] != nil)
            #expect(try await claim(server, other).code == "already_claimed")
            let restored = try await server.present(
                jws,
                mode: "restored",
                session: server.session(of: other)
            )
            #expect(restored.status == 409 && restored.code == "owned_elsewhere")
            try await server.pass(days: 32)
            #expect(try await server.access(of: buyer)["pro"] != nil)
            #expect(try await server.access(of: other).isEmpty)
        }
    }

    @Test("A claim may come before the App Store has told of the purchase")
    func inTheAppStoreBefore() async throws {
        try await TestServer.run { server in
            let buyer = try await server.customer()
            #expect(try await claim(server, buyer).status == 200)
            _ = try await buyInTheAppStore(server)
            #expect(try await server.access(of: buyer)["pro"] != nil)
        }
    }

    @Test(
        "Where the secret went with the device, the first who restores the plan has it",
        arguments: Backend.allCases
    )
    func restoredWithoutTheSecret(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let jws = try await buyInTheAppStore(server)
            let first = try await server.customer()
            let session = try await server.session(of: first)
            let restored = try await server.present(jws, mode: "restored", session: session)
            #expect(restored.status == 200 && restored.json["customer"].string == first)
            #expect(try await server.access(of: first)["pro"] != nil)
            let second = try await server.customer("user-2")
            let late = try await server.present(
                jws,
                mode: "restored",
                session: server.session(of: second)
            )
            #expect(late.status == 409 && late.code == "owned_elsewhere")
            // The secret comes too late for it.
            #expect(try await claim(server, second).json["purchases"].array?.isEmpty == true)
            #expect(try await server.access(of: second).isEmpty)
            try await server.pass(days: 32)
            #expect(try await server.access(of: first)["pro"] != nil)
        }
    }

    /// The plan gives 50 coins for each year.
    @Test(
        "Whose plan it was before restores what they bought again signed out, with its coins",
        arguments: [TollgateCore.Catalog.Ownership.keep, .share, .transfer],
        [true, false]
    )
    func restoredByWhoHadItBefore(
        _ ownership: TollgateCore.Catalog.Ownership,
        _ hadAToken: Bool
    ) async throws {
        try await TestServer.run(catalog: { $0.ownership = ownership }) { server in
            let own = UUID()
            let ann = try await server.customer("ann", token: own)
            let account = try await server.appStore.createCustomer()
            let first = try await server.appStore.buy(
                "com.example.app.pro.yearly",
                customer: account.id,
                appAccountToken: hadAToken ? own.uuidString.lowercased() : nil
            )
            try await server.deliverNotifications()
            let bought = try await server.present(first.jws, session: server.session(of: ann))
            #expect(bought.status == 200)
            try await server.appStore.cancel(first.originalTransactionID)
            try await server.pass(days: 400)
            #expect(try await server.access(of: ann).isEmpty)
            // Signed out; the secret goes with the phone.
            let again = try await server.appStore.buy(
                "com.example.app.pro.yearly",
                customer: account.id,
                appAccountToken: Self.token
            )
            try await server.deliverNotifications()
            #expect(again.originalTransactionID == first.originalTransactionID)
            let restored = try await server.present(
                again.jws,
                mode: "restored",
                session: server.session(of: ann)
            )
            #expect(restored.status == 200)
            #expect(try await server.access(of: ann)["pro"] != nil)
            let coins = try await server.get("/v1/customers/\(ann)/coins")
            #expect(coins.json["balance"].integer == 100)
        }
    }

    @Test("What is only shown by whose plan it was before waits for the secret")
    func shownByWhoHadItBefore() async throws {
        try await TestServer.run { server in
            let own = UUID()
            let ann = try await server.customer("ann", token: own)
            let account = try await server.appStore.createCustomer()
            let first = try await server.appStore.buy(
                "com.example.app.pro.monthly",
                customer: account.id,
                appAccountToken: own.uuidString.lowercased()
            )
            try await server.appStore.cancel(first.originalTransactionID)
            try await server.pass(days: 40)
            let again = try await server.appStore.buy(
                "com.example.app.pro.monthly",
                customer: account.id,
                appAccountToken: Self.token
            )
            try await server.deliverNotifications()
            _ = try await server.present(
                again.jws,
                mode: "observed",
                session: server.session(of: ann)
            )
            let buyer = try await server.customer()
            #expect(try await claim(server, buyer).json["purchases"].array?.count == 1)
            #expect(try await server.access(of: buyer)["pro"] != nil)
            #expect(try await server.access(of: ann).isEmpty)
        }
    }

    @Test("A token that a backend chose waits for its customer, whoever restores the plan")
    func anothersToken() async throws {
        try await TestServer.run { server in
            let token = UUID()
            let account = try await server.appStore.createCustomer()
            let bought = try await server.appStore.buy(
                "com.example.app.pro.monthly",
                customer: account.id,
                appAccountToken: token.uuidString.lowercased()
            )
            try await server.deliverNotifications()
            let other = try await server.session(of: server.customer("user-2"))
            let restored = try await server.present(bought.jws, mode: "restored", session: other)
            #expect(restored.status == 409 && restored.code == "owned_elsewhere")
            let buyer = try await server.customer(token: token)
            #expect(try await server.access(of: buyer)["pro"] != nil)
        }
    }
}
