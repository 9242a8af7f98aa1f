import Testing
import TollgateCore

@Suite("What a statement says")
struct StatementTests {
    @Test("its parts are in no order of their own")
    func order() {
        func subscription(_ items: [StripeSubscription.Item]) -> StripeSubscription {
            StripeSubscription(status: "active", customer: "cus_1", items: items)
        }
        let items: [StripeSubscription.Item] = [
            .item(0, 30, "price_monthly", "si_1"), .item(0, 30, "price_monthly", "si_2"),
            .item(0, 30, "price_monthly", "si_3"),
        ]
        #expect(subscription(items.reversed()) == subscription(items))
        #expect(subscription(items.reversed()).items == items)

        func invoice(_ lines: [StripeInvoice.Line]) -> StripeInvoice {
            StripeInvoice(id: "in_1", isPaid: true, amount: 1, currency: "usd", lines: lines)
        }
        let lines: [StripeInvoice.Line] = [.charge(0, 30), .credit(0, 30), .full(0, 30)]
        #expect(invoice(lines.reversed()).lines == lines)

        let sold: [GooglePlayOrder.Line] = [
            .init(product: "a", plan: "monthly"), .init(product: "a", plan: "yearly"),
            .init(product: "b"),
        ]
        let refunds: [GooglePlayOrder.Refund] = [
            .init(at: .day(1), isPartial: true),
            .init(at: .day(1), isPartial: true, total: .init(micros: 2, currency: "USD")),
            .init(at: .day(2), isPartial: true),
        ]
        let order = GooglePlayOrder(
            id: "GPA.1",
            state: "PROCESSED",
            lines: sold.reversed(),
            refunds: refunds.reversed()
        )
        #expect(order.lines == sold)
        #expect(order.refunds == refunds)
    }

    @Test("a payment has one line for each price, with no nonsense in it")
    func lines() {
        func merged(_ lines: [(String, Int64)]) -> [[Int64]: String] {
            let payment = StripePayment(
                session: "cs_1",
                status: "complete",
                isPaid: true,
                customer: nil,
                reference: nil,
                lines: lines.map { .init(price: $0.0, quantity: $0.1) },
                amount: 1,
                currency: "usd",
                created: .day(0)
            )
            let pairs = (payment.lines ?? []).enumerated().map {
                ([Int64($0), $1.quantity], $1.price)
            }
            return Dictionary(uniqueKeysWithValues: pairs)
        }
        for order in permutations([("b", 1), ("c", 5), ("a", 2), ("b", 7)] as [(String, Int64)]) {
            #expect(merged(order) == [[0, 2]: "a", [1, 8]: "b", [2, 5]: "c"])
        }
        #expect(merged([("a", -1), ("b", .max)]) == [[0, 0]: "a", [1, 1_000_000]: "b"])
        #expect(merged([("a", 999_999), ("a", 2)]) == [[0, 1_000_000]: "a"])
    }

    @Test("what it leaves out is not so")
    func defaults() {
        let terms = RenewalTerms(willRenew: true)
        #expect(!terms.awaitsConsent && !terms.isInBillingRetry)
        let subscription = StripeSubscription(status: "active", customer: "cus_1", items: [])
        #expect(!subscription.cancelsAtPeriodEnd)
        let item = StripeSubscription.Item(
            id: "si_1",
            price: "price_monthly",
            quantity: 1,
            start: .day(0),
            end: .day(30)
        )
        #expect(item.isBilledInArrears == nil, "not false: older records keep their bytes")
        let period = Period(
            id: "1",
            transactionID: "1",
            product: "p",
            kind: .consumable,
            start: .day(0)
        )
        #expect(!period.isUpgraded && !period.isFamilyShared && period.quantity == 1)
    }

    @Test("what it leaves out of Google Play is not so, and needs no acknowledgement")
    func defaultsOfGooglePlay() {
        typealias Item = GooglePlaySubscription.Item
        let plain = Item(product: "premium", renews: true)
        for flag in [\Item.isPrepaid, \.isRemoved, \.awaitsConsent] {
            #expect(plain[keyPath: flag] == nil, "not false: older records keep their bytes")
        }
        #expect(Item(product: "premium", renews: true, isPrepaid: true).isPrepaid == true)
        #expect(Item(product: "premium", renews: true, isRemoved: true).isRemoved == true)
        #expect(Item(product: "premium", renews: true, awaitsConsent: true).awaitsConsent == true)
        #expect(GooglePlaySubscription(state: "ACTIVE", start: nil, items: []).isAcknowledged)
        #expect(GooglePlayPurchase(state: "PENDING", completed: nil, lines: []).isAcknowledged)
        #expect(!GooglePlayPurchase.Line(product: "coins").isConsumed)
        #expect(!GooglePlayOrder.Refund(at: .day(0), isPartial: false).isChargeback)
    }

    @Test("a payment has failed once its bank has refused it, until somebody pays")
    func failed() {
        func payment(isPaid: Bool = false, hasFailed: Bool) -> Fact {
            .said(
                .payment(
                    StripePayment(
                        session: "cs_1",
                        status: "complete",
                        isPaid: isPaid,
                        customer: nil,
                        reference: nil,
                        lines: nil,
                        amount: 1000,
                        currency: "usd",
                        created: .day(0),
                        hasFailed: hasFailed
                    )
                ),
                on: isPaid ? 5 : 1,
                about: .stripe("pi_1")
            )
        }
        func hasFailed(_ facts: Fact...) -> Bool? { World(facts).records[0].payment?.hasFailed }
        let open = Fact.checkout("complete", paid: false, 0)
        #expect(hasFailed(open) == false, "a bank that has not answered has refused nothing")
        #expect(hasFailed(payment(hasFailed: false)) == false)
        #expect(hasFailed(payment(hasFailed: true)) == true)
        #expect(hasFailed(payment(hasFailed: true), open) == true)
        #expect(
            hasFailed(payment(hasFailed: true), payment(isPaid: true, hasFailed: false)) == false
        )
    }

    /// The words on our own session name one price; Stripe's items have what the buyer added.
    @Test("of two lists of a payment's lines the longer one counts, in either order")
    func crossSold() {
        func payment(_ prices: [String], on day: Double) -> Fact {
            .said(
                .payment(
                    StripePayment(
                        session: "cs_1",
                        status: "complete",
                        isPaid: true,
                        customer: nil,
                        reference: nil,
                        lines: prices.map { .init(price: $0, quantity: 1) },
                        amount: 4000,
                        currency: "eur",
                        created: .day(0)
                    )
                ),
                on: day,
                about: .stripe("pi_1")
            )
        }
        for added in ["price_a", "price_z"] {
            for both in [["price_coins", added], [added, "price_coins"]] {
                let facts = [payment(["price_coins"], on: 1), payment(both, on: 2)]
                for order in [facts, facts.reversed()] {
                    let lines = World(order).records[0].payment?.lines
                    #expect(lines?.map(\.price).sorted() == both.sorted())
                }
            }
        }
    }

    @Test("statuses that no later one leaves, and those in which billing has ended")
    func statuses() {
        let words = [
            "active", "trialing", "past_due", "canceled", "unpaid", "paused", "incomplete",
            "incomplete_expired",
        ]
        let final = words.filter {
            StripeSubscription(status: $0, customer: "cus_1", items: []).isFinal
        }
        #expect(final == ["canceled", "incomplete_expired"])
        #expect((1...5).filter { SubscriptionStatus(value: $0).isFailed } == [2, 3, 5])
        let refunds = [
            "pending", "requires_action", "succeeded", "failed", "canceled", "of_tomorrow",
        ]
        #expect(
            refunds.filter { StripeRefund(id: "re", amount: 1, status: $0).takesBack }
                == ["pending", "succeeded"]
        )
        let disputes = [
            "warning_needs_response", "warning_under_review", "warning_closed", "needs_response",
            "under_review", "won", "lost", "prevented",
        ]
        #expect(
            disputes.filter { StripeDispute(id: "dp", amount: 1, status: $0).takesBack }
                == ["needs_response", "under_review", "lost"]
        )
    }
}
