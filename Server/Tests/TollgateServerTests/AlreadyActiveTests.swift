import Storage
import TollgateService
import SandboxClock
import AppStoreSimulator
import Foundation
import HTTPTypes
import Testing
import TollgateCore
import TollgateSimulation

@Suite("What the customer has already")
struct AlreadyActiveTests {
    static let day: Int64 = 86_400_000

    @Test(
        "Purchase, Checkout and buy button are refused, with the end of what is there",
        arguments: Backend.allCases
    )
    func refused(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let buyer = try await Buyer(server)
            let free = try await server.post(
                "/v1/app_store/purchases",
                as: buyer.session,
                "{\"product\":\"pro_monthly\"}"
            )
            #expect(free.status == 200)
            #expect(free.json["app_store_product_id"].string == ProductTypeTests.monthly)
            #expect(free.json["app_account_token"].string == buyer.token)
            _ = try await buyer.buys(ProductTypeTests.monthly)
            let until = try await server.get("/v1/customers/\(buyer.id)/entitlements")
                .json["data"][0]["until"].integer
            let answers = [
                try await server.post(
                    "/v1/app_store/purchases",
                    as: buyer.session,
                    "{\"product\":\"\(ProductTypeTests.monthly)\"}"
                ),
                try await server.post(
                    "/v1/checkout_sessions",
                    "{\"customer\":\"\(buyer.id)\",\"product\":\"pro_monthly\"}"
                ),
                try await server.post(
                    "/v1/buy_buttons/buy_pro_monthly/checkout",
                    as: buyer.session
                ),
                // Stripe would bill a second plan of the group beside the first.
                try await server.post(
                    "/v1/checkout_sessions",
                    "{\"customer\":\"user-1\",\"product\":\"pro_yearly\"}"
                ),
            ]
            for answer in answers {
                #expect(answer.status == 409 && answer.code == "already_active")
                #expect(answer.json["error"]["until"].integer == until)
            }
            #expect(server.stripe.sessions.isEmpty)
            // The App Store changes one plan of a group into the other.
            let upgrade = try await server.post(
                "/v1/app_store/purchases",
                as: buyer.session,
                "{\"product\":\"pro_yearly\"}"
            )
            #expect(upgrade.status == 200)
        }
    }

    @Test("What is owned for ever is refused without an end")
    func forEver() async throws {
        try await TestServer.run { server in
            let buyer = try await Buyer(server)
            _ = try await buyer.buys("com.example.app.lifetime")
            let answer = try await server.post(
                "/v1/checkout_sessions",
                "{\"customer\":\"\(buyer.id)\",\"product\":\"lifetime\"}"
            )
            #expect(answer.status == 409 && answer.code == "already_active")
            #expect(answer.json["error"].object?["until"] == .some(.null))
        }
    }

    @Test("A pass is refused by default; what the store delivers anyway lasts after it")
    func stacksAnyway() async throws {
        try await TestServer.run(catalog: { $0.setPass(.refuse) }) { server in
            let buyer = try await Buyer(server)
            _ = try await buyer.buys("com.example.app.pass30")
            let refused = try await server.post(
                "/v1/app_store/purchases",
                as: buyer.session,
                "{\"product\":\"pass_30_days\"}"
            )
            #expect(refused.status == 409)
            #expect(
                refused.json["error"]["until"].integer == TestServer.start + 30 * Self.day
            )
            _ = try await buyer.buys("com.example.app.pass30")
            let list = try await server.get("/v1/customers/\(buyer.id)/entitlements")
            #expect(list.json["data"][0]["until"].integer == TestServer.start + 60 * Self.day)
            try await server.pass(days: 61)
            let free = try await server.post(
                "/v1/app_store/purchases",
                as: buyer.session,
                "{\"product\":\"pass_30_days\"}"
            )
            #expect(free.status == 200)
        }
    }

    @Test("With while_active: extend a second pass is sold, and consumables always are")
    func extends() async throws {
        try await TestServer.run(catalog: { $0.setPass(.extend) }) { server in
            let buyer = try await Buyer(server)
            for product in ["com.example.app.pass30", "com.example.app.coins100"] {
                _ = try await buyer.buys(product)
                let again = try await server.post(
                    "/v1/app_store/purchases",
                    as: buyer.session,
                    "{\"product\":\"\(product)\"}"
                )
                #expect(again.status == 200)
            }
        }
    }

    @Test("Only who is signed in, and only for what is sold in the App Store, may ask")
    func refusedQuestions() async throws {
        try await TestServer.run { server in
            let body = "{\"product\":\"pro_monthly\"}"
            let visitor = try await server.post(
                "/v1/app_store/purchases",
                as: TestServer.publishableKey,
                body
            )
            #expect(visitor.status == 401 && visitor.code == "no_session_present")
            let session = try await server.session(of: server.customer())
            let unknown = try await server.post(
                "/v1/app_store/purchases",
                as: session,
                "{\"product\":\"nothing\"}"
            )
            #expect(unknown.status == 404 && unknown.code == "resource_missing")
        }
    }
}

extension TollgateCore.Catalog {
    fileprivate mutating func setPass(_ whileActive: Product.WhileActive) {
        for index in products.indices where products[index].id == "pass_30_days" {
            products[index].whileActive = whileActive
        }
    }
}
