import Foundation
import Stores
import StripeAPI
import StripeConnector
import StripeSimulator
import Testing
import TollgateAssembly
import TollgateCore
import TollgateService
import TollgateSimulation

@Suite("Importing from RevenueCat: Stripe")
struct RevenueCatStripeTests {
    @Test("A subscription's id names the buyer at Stripe, and is read; a checkout's id names them")
    func stripe() async throws {
        try await Shop.run(hasWebhook: false) { shop in
            let (subscriber, plan) = try await Self.buy("price_pro_yearly", .subscription, shop)
            let (_, checkout) = try await Self.buy("price_lifetime", .payment, shop)
            var file = RevenueCatFile(origin: Shop.start)
            // One row for each period, all with the subscription's id.
            for year in 0..<2 {
                file.add(
                    "prod_pro",
                    plan,
                    of: "anna",
                    store: "stripe",
                    starts: Double(year - 1) * 365,
                    ends: Double(year) * 365,
                    isSandbox: true
                )
            }
            file.add(
                "prod_life",
                checkout,
                of: "ben",
                store: "stripe",
                ends: nil,
                isSandbox: true
            )
            for (id, user) in [("sub_none", "carl"), ("txn_1", "dora")] {
                file.add(
                    "prod_pro",
                    id,
                    of: user,
                    store: "stripe",
                    starts: -10,
                    ends: -5,
                    isSandbox: true
                )
            }
            let tollgate = shop.server.tollgate
            let report = try #require(
                try await file.bringIn(to: tollgate) { $0.includesSandbox = true }
            )
            #expect(report.purchases == 1 && report.named == 1)
            #expect(report.unmatched.map(\.line) == [5, 6])
            #expect(report.unmatched.first?.reason.contains("Stripe knows no") == true)
            #expect(report.unmatched[1].reason.contains("--users"))
            #expect(try await shop.entitlements(of: "anna") == ["archive", "pro"])
            #expect(try await shop.coins(of: "anna") == 0)
            // What was paid once comes with the rest of the account.
            #expect(report.differences.map(\.appUserID) == ["ben"])
            _ = try #require(try await tollgate.stripeImport.run())
            #expect(try await shop.entitlements(of: "ben") == ["archive", "pro"])
            let again = try #require(
                try await file.bringIn(to: tollgate) { $0.includesSandbox = true }
            )
            #expect(again.new == 0 && again.differences.isEmpty)
            var second = RevenueCatFile(origin: Shop.start)
            second.add(
                "prod_pro",
                plan,
                of: "eve",
                store: "stripe",
                ends: 365,
                isSandbox: true
            )
            let refused = try #require(
                try await second.bringIn(to: tollgate) { $0.includesSandbox = true }
            )
            #expect(refused.unmatched.map(\.line) == [2])
            #expect(refused.unmatched.first?.reason.contains(subscriber) == true)
            #expect(refused.differences.map(\.appUserID) == ["eve"])
        }
    }

    @Test("A name that cannot be one here is refused with its reason, not as another customer's")
    func refusedName() async throws {
        try await Shop.run(hasWebhook: false) { shop in
            let (_, checkout) = try await Self.buy("price_lifetime", .payment, shop)
            var file = RevenueCatFile(origin: Shop.start)
            file.add(
                "prod_life",
                checkout,
                of: String(repeating: "x", count: 256),
                store: "stripe",
                starts: -2,
                ends: -1,
                isSandbox: true
            )
            let report = try #require(
                try await file.bringIn(to: shop.server.tollgate) { $0.includesSandbox = true }
            )
            #expect(report.unmatched.map(\.line) == [2])
            #expect(report.unmatched.first?.reason.contains("255 bytes") == true)
        }
    }

    /// Buys in a shop that knows nothing of Tollgate; returns Stripe's customer, and the id of the
    /// subscription or the checkout.
    private static func buy(
        _ price: String,
        _ mode: Stripe.CheckoutSession.Mode,
        _ shop: Shop
    ) async throws -> (customer: String, id: String) {
        let buyer = try await shop.api.createCustomer(
            email: "reader@example.com",
            metadata: [:],
            idempotencyKey: UUID().uuidString
        ).value.id
        let session = try await shop.api.createCheckoutSession(
            Stripe.NewCheckoutSession(
                mode: mode,
                lines: [.init(price: price)],
                successURL: "https://example.com/done",
                customer: buyer
            ),
            idempotencyKey: UUID().uuidString
        ).value.id
        _ = try await shop.stripe.pay(checkoutSession: session)
        guard mode == .subscription else { return (buyer, session) }
        return (buyer, try await shop.subscription().id)
    }
}
