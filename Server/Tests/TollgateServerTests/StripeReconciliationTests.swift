import Foundation
import Storage
import StripeAPI
import StripeSimulator
import Synchronization
import Testing
import TollgateCore
import TollgateService
import TollgateTesting

@Suite("Nothing of Stripe's is missed")
struct StripeReconciliationTests {
    @Test("While no webhook arrives, one pass brings all of it", arguments: Backend.allCases)
    func outage(_ backend: Backend) async throws {
        try await Shop.run(on: backend, hasWebhook: false) { shop in
            let tollgate = shop.server.tollgate
            let id = try await shop.server.customer()
            try await shop.buy("pro_yearly", for: id)
            try await shop.buy("coins_100", for: id, quantity: 2)
            let first = try #require(try await tollgate.reconcileStripe())
            #expect(first.objects.new > 0)
            #expect(first.completeTo == Shop.start)
            #expect(try await tollgate.stripeCompleteTo() == Instant(milliseconds: Shop.start))
            #expect(try await shop.coins(of: id) == 250)
            #expect(try await shop.entitlements(of: id) == ["archive", "pro"])
            // The second time only the events since then are read, and nothing is new.
            let before = try await shop.server.rowCounts()
            let again = try #require(try await tollgate.reconcileStripe())
            #expect(again.objects.seen == 0 && again.events.new == 0)
            #expect(try await shop.server.rowCounts() == before)
            // A refund and the end of the plan are found in the events.
            try await shop.wait(days: 3)
            try await shop.stripe.refund(customer: shop.stripeCustomer(of: id))
            try await shop.stripe.cancel(
                subscription: shop.subscription().id,
                atPeriodEnd: false
            )
            let later = try #require(try await tollgate.reconcileStripe())
            #expect(later.objects.seen == 0 && later.events.new > 0)
            #expect(try await shop.entitlements(of: id) == [])
            #expect(try await shop.coins(of: id) == 50)
            // After a month Stripe has forgotten, so every object is read.
            try await shop.wait(days: 40)
            let full = try #require(try await tollgate.reconcileStripe())
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
                try await shop.server.tollgate.reconcileStripe(isFull: true)
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
                try await tollgate.reconcileStripe { _ in
                    if count.next() == stop { withUnsafeCurrentTask { $0?.cancel() } }
                }
            }
            // One that was done before it was cancelled ends as well.
            _ = try? await interrupted.value
            let found = try await tollgate.reconcileStripe()
            #expect(found != nil)
            #expect(try await shop.coins(of: id) == 300)
            #expect(try await shop.entitlements(of: id) == ["pro"])
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
            #expect(try await tollgate.store.take(lease, now: wall))
            #expect(try await tollgate.reconcileStripe() == nil)
            try await tollgate.store.release(lease)
            #expect(try await tollgate.reconcileStripe() != nil)
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
                try await tollgate.importStripe(users: [listed: "reader-2"])
            )
            #expect(found.customers.seen == 3 && found.customers.new == 2)
            #expect(found.strangers == 1)
            // Half of the newest charge, the coins', was refunded.
            #expect(try await shop.coins(of: "reader-1") == 100)
            #expect(try await shop.entitlements(of: "reader-1") == ["archive", "pro"])
            #expect(try await shop.entitlements(of: "reader-2") == ["archive", "pro"])
            let before = try await shop.server.rowCounts()
            let again = try #require(try await tollgate.importStripe(users: [listed: "reader-2"]))
            #expect(again.customers.new == 0 && again.objects.new == 0)
            #expect(try await shop.server.rowCounts() == before)
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
