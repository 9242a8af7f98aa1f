import Foundation
import StripeAPI
import StripeSimulator
import Testing
import TollgateService
import TollgateCore
import TollgateSimulation

@Suite("Money that goes back through Stripe")
struct StripeRefundTests {
    @Test(
        "A refund of a plan's payment takes the plan's coins back, by its share",
        arguments: Backend.allCases
    )
    func refundOfAPlan(_ backend: Backend) async throws {
        try await Shop.run(on: backend) { shop in
            let id = try await shop.server.customer()
            try await shop.buy("pro_yearly", for: id)
            #expect(try await shop.coins(of: id) == 50)
            let customer = try await shop.stripeCustomer(of: id)
            // 79.99 in all; a half, then the rest.
            try await shop.stripe.refund(customer: customer, amount: 4000)
            await shop.server.tollgate.fetchWanted()
            #expect(try await shop.coins(of: id) == 50 - 50 * 4000 / 7999)
            try await shop.stripe.refund(customer: customer, amount: 3999)
            await shop.server.tollgate.fetchWanted()
            #expect(try await shop.coins(of: id) == 0)
            // Stripe leaves the subscription as it is, and by this catalog so do we.
            #expect(try await shop.entitlements(of: id) == ["archive", "pro"])
        }
    }

    @Test("A plan whose payment was refunded ends at once where the catalog says so")
    func refundEndsThePlan() async throws {
        try await Shop.run(catalog: { $0.refundedPlan = .end }) { shop in
            let id = try await shop.server.customer()
            try await shop.buy("pro_monthly", for: id)
            try await shop.wait(hours: 1)
            let customer = try await shop.stripeCustomer(of: id)
            try await shop.stripe.refund(customer: customer, amount: 500)
            await shop.server.tollgate.fetchWanted()
            #expect(try await shop.entitlements(of: id) == ["pro"])
            try await shop.stripe.refund(customer: customer, amount: 499)
            await shop.server.tollgate.fetchWanted()
            #expect(try await shop.entitlements(of: id) == [])
            // The next period that is paid gives it again.
            try await shop.wait(days: 31)
            try await shop.wait(hours: 2)
            #expect(try await shop.entitlements(of: id) == ["pro"])
        }
    }

    @Test("A refund that fails later gives the coins back")
    func failingRefund() async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer()
            try await shop.buy("pro_yearly", for: id, card: "4000000000005126")
            let customer = try await shop.stripeCustomer(of: id)
            try await shop.stripe.refund(customer: customer)
            await shop.server.tollgate.fetchWanted()
            #expect(try await shop.coins(of: id) == 0)
            try await shop.wait(days: 7)
            #expect(try await shop.coins(of: id) == 50)
        }
    }

    @Test("A refund is applied whole where events come in any order, twice, or only later")
    func faults() async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer()
            var faults = StripeSimulator.Faults()
            faults.isPaused = true
            await shop.stripe.setFaults(faults)
            try await shop.buy("pro_yearly", for: id)
            let customer = try await shop.stripeCustomer(of: id)
            try await shop.stripe.refund(customer: customer)
            faults = .init()
            faults.isReversed = true
            faults.repeats = 2
            await shop.stripe.setFaults(faults)
            await shop.stripe.settle()
            await shop.server.tollgate.fetchWanted()
            #expect(try await shop.coins(of: id) == 0)
            #expect(try await shop.entitlements(of: id) == ["archive", "pro"])
        }
    }

    @Test(
        "Coins bought once are clawed back by refunds and disputes, each part once",
        arguments: Backend.allCases
    )
    func partialRefunds(_ backend: Backend) async throws {
        try await Shop.run(on: backend) { shop in
            let id = try await shop.server.customer()
            try await shop.buy("coins_100", for: id, quantity: 3)
            #expect(try await shop.coins(of: id) == 300)
            let customer = try await shop.stripeCustomer(of: id)
            // 30.00 in all.
            for (amount, left) in [(1, 300 - 0), (999, 200), (1000, 100), (1000, 0)] {
                try await shop.stripe.refund(customer: customer, amount: amount)
                await shop.server.tollgate.fetchWanted()
                #expect(try await shop.coins(of: id) == Int64(left))
            }
        }
    }

    @Test(
        "A dispute freezes the coins; won gives them back, lost keeps them, with a refund too once",
        arguments: [true, false]
    )
    func disputes(_ isWon: Bool) async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer()
            try await shop.buy("coins_100", for: id, card: "4000000000000259")
            await shop.server.tollgate.fetchWanted()
            #expect(try await shop.coins(of: id) == 0)
            var disputes: [Stripe.Dispute] = []
            for try await dispute in shop.api.disputes() { disputes.append(dispute) }
            let dispute = try #require(disputes.first)
            try await shop.stripe.close(dispute: dispute.id, isWon: isWon)
            await shop.server.tollgate.fetchWanted()
            #expect(try await shop.coins(of: id) == (isWon ? 100 : 0))
        }
    }

    @Test("A dispute of a plan's payment takes its coins back until it is won")
    func disputeOfAPlan() async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer()
            try await shop.buy("pro_yearly", for: id, card: "4000000000000259")
            await shop.server.tollgate.fetchWanted()
            #expect(try await shop.coins(of: id) == 0)
            for try await dispute in shop.api.disputes() {
                try await shop.stripe.close(dispute: dispute.id, isWon: true)
            }
            await shop.server.tollgate.fetchWanted()
            #expect(try await shop.coins(of: id) == 50)
        }
    }

    @Test("What was spent before the refund is owed, and the debt is paid by the next purchase")
    func debt() async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer()
            try await shop.buy("coins_100", for: id)
            let spent = try await shop.server.post(
                "/v1/customers/\(id)/coins/spend",
                "{\"amount\":80}",
                idempotencyKey: "one"
            )
            #expect(spent.status == 200)
            try await shop.stripe.refund(customer: try await shop.stripeCustomer(of: id))
            #expect(try await shop.coins(of: id) == -80)
            try await shop.buy("coins_100", for: id)
            #expect(try await shop.coins(of: id) == 20)
        }
    }
}
