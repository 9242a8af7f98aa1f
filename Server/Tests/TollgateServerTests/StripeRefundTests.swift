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
            for try await dispute in shop.api.lists.disputes() { disputes.append(dispute) }
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
            for try await dispute in shop.api.lists.disputes() {
                try await shop.stripe.close(dispute: dispute.id, isWon: true)
            }
            await shop.server.tollgate.fetchWanted()
            #expect(try await shop.coins(of: id) == 50)
        }
    }

    // https://docs.stripe.com/invoicing/partial-payments
    @Test(
        "Of an invoice that was paid in parts, the refund of each part takes its share back",
        arguments: [0, 1]
    )
    func paidInParts(_ refunded: Int) async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer()
            try await shop.buy("coins_100", for: id)
            let customer = try await shop.stripeCustomer(of: id)
            let invoice = try #require(
                try await shop.call("POST", "/v1/invoices", "customer=\(customer)")["id"].string
            )
            _ = try await shop.call(
                "POST",
                "/v1/invoiceitems",
                "customer=\(customer)&invoice=\(invoice)&quantity=3"
                    + "&pricing[price]=price_coins_100"
            )
            _ = try await shop.call("POST", "/v1/invoices/\(invoice)/finalize", "")
            var payments: [String] = []
            for amount in [1000, 2000] {
                let payment = try await shop.call(
                    "POST",
                    "/v1/payment_intents",
                    "amount=\(amount)&currency=usd&customer=\(customer)&confirm=true"
                        + "&payment_method=pm_card_visa&return_url=https://example.com"
                )
                payments.append(try #require(payment["id"].string))
                let paid = try await shop.call(
                    "POST",
                    "/v1/invoices/\(invoice)/attach_payment",
                    "payment_intent=\(payments.last ?? "")"
                )
                #expect(paid["status"].string == (amount == 1000 ? "open" : "paid"))
            }
            await shop.stripe.settle()
            await shop.server.tollgate.fetchWanted()
            #expect(try await shop.coins(of: id) == 400)
            let back = [100, 200][refunded]
            _ = try await shop.call("POST", "/v1/refunds", "payment_intent=\(payments[refunded])")
            await shop.stripe.settle()
            await shop.server.tollgate.fetchWanted()
            #expect(try await shop.coins(of: id) == Int64(400 - back))
            // Whatever is read once more says nothing new.
            let again = try await shop.server.tollgate.stripe.reconcile(reach: .everything)
            #expect(again?.objects.new == 0)
            #expect(try await shop.coins(of: id) == Int64(400 - back))
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
