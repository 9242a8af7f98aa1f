import Foundation
import StripeSimulator
import TollgateCore

/// What customers must have by Stripe's own books, read from its API.
///
/// Shares nothing with the engine that is judged by it but the catalog's list of products.
struct StripeTruth {
    private(set) var subscriptions: [Subscription] = []
    private(set) var invoices: [Invoice] = []
    private(set) var sessions: [Session] = []
    private(set) var payments: [InvoicePayment] = []
    private(set) var refunds: [Movement] = []
    private(set) var disputes: [Movement] = []
    /// Charges for which money came.
    private(set) var charges: [Charge] = []
    /// When money came, by payment intent: a bank debit's days after its charge was made.
    ///
    /// https://docs.stripe.com/api/balance_transactions/object
    private(set) var received: [String: Int64] = [:]
    /// Of sessions.
    private(set) var lines: [String: [LineItem]] = [:]
    /// UNIX milliseconds before which another system has credited what was paid for: our choice,
    /// docs/products.md.
    var coinsSince: Int64 = .min

    // MARK: - Stripe's words

    private struct Page<Element: Decodable>: Decodable {
        var data: [Element]
        // Names as they are on the wire.
        // swift-format-ignore: AlwaysUseLowerCamelCase
        var has_more: Bool
    }

    struct Reference: Decodable {
        var id: String
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    struct Subscription: Decodable {
        struct Items: Decodable {
            var data: [Item]
        }
        struct Item: Decodable {
            var id: String
            var price: Reference
        }
        var id: String
        var customer: String
        var status: String
        var ended_at: Int64?
        var items: Items
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    struct Invoice: Decodable {
        struct Lines: Decodable {
            var data: [Line]
        }
        struct Line: Decodable {
            struct Pricing: Decodable {
                struct Details: Decodable {
                    var price: String
                }
                var price_details: Details
            }
            struct Period: Decodable {
                var start: Int64
                var end: Int64
            }
            struct Parent: Decodable {
                struct Details: Decodable {
                    var proration: Bool?
                    var subscription_item: String?
                }
                var subscription_item_details: Details?
                var invoice_item_details: Details?
            }
            struct Discount: Decodable {
                var amount: Int64
            }
            var amount: Int64
            var discount_amounts: [Discount]?
            var quantity: Int64
            var pricing: Pricing
            var period: Period
            var parent: Parent

            /// The subscription's item; `nil` for what is bought once.
            var item: String? { parent.subscription_item_details?.subscription_item }
            var price: String { pricing.price_details.price }
            var isProration: Bool {
                (parent.subscription_item_details ?? parent.invoice_item_details)?.proration
                    ?? false
            }
            /// https://docs.stripe.com/billing/subscriptions/prorations: credits are negative.
            var isCredit: Bool { isProration && amount < 0 }
        }
        struct Parent: Decodable {
            struct Details: Decodable {
                var subscription: String?
            }
            var subscription_details: Details?
        }
        struct Transitions: Decodable {
            var paid_at: Int64?
            var voided_at: Int64?
            var marked_uncollectible_at: Int64?
        }
        var id: String
        var customer: String
        var status: String
        var currency: String
        var created: Int64
        var due_date: Int64?
        var amount_paid: Int64
        var status_transitions: Transitions
        var lines: Lines
        var parent: Parent?

        var subscription: String? { parent?.subscription_details?.subscription }
        var isPaid: Bool { status == "paid" }
        /// Whether nothing is asked for it any more.
        ///
        /// https://docs.stripe.com/billing/subscriptions/overview: a subscription is active again
        /// when its latest invoice is paid, void, or marked as uncollectible.
        var isSettled: Bool { isPaid || status == "void" || status == "uncollectible" }
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    struct Session: Decodable {
        var id: String
        var customer: String?
        var mode: String
        var status: String
        var payment_status: String
        var created: Int64
        var amount_total: Int64?
        var payment_intent: String?
        var invoice: String?
    }

    struct LineItem: Decodable {
        var price: Reference
        var quantity: Int64
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    struct InvoicePayment: Decodable {
        struct Payment: Decodable {
            var payment_intent: String?
        }
        var id: String
        var invoice: String
        var payment: Payment
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    struct Movement: Decodable {
        var payment_intent: String?
        var amount: Int64
        var currency: String
        var status: String
        var created: Int64
        /// Of a dispute: the withdrawal, and the reinstatement if there was one.
        var balance_transactions: [BalanceTransaction]?

        /// The withdrawal of a dispute's money, or the creation of a refund.
        var withdrawnAt: Int64 { balance_transactions?.map(\.created).min() ?? created }
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    struct Charge: Decodable {
        var id: String
        var payment_intent: String?
        var status: String
        /// Whether the money was taken; it may only be held.
        var captured: Bool
        var amount: Int64
        var currency: String
        var created: Int64
        var balance_transaction: String?
        var payment_method_details: Method?

        struct Method: Decodable {
            var type: String
        }

        /// Whether it may have been held before it was taken; a bank debit is not, it only takes days.
        var isHeldFirst: Bool { payment_method_details?.type == "card" }
    }

    struct BalanceTransaction: Decodable {
        var id: String
        var created: Int64
    }

    // MARK: - Reading

    init(of stripe: StripeSimulator, keeping known: StripeTruth?) async throws {
        subscriptions = try await Self.all("subscriptions", of: stripe, "status=all&")
        invoices = try await Self.all("invoices", of: stripe)
        sessions = try await Self.all("checkout/sessions", of: stripe, "status=complete&")
        payments = try await Self.all("invoice_payments", of: stripe)
        refunds = try await Self.all("refunds", of: stripe)
        disputes = try await Self.all("disputes", of: stripe)
        let made: [Charge] = try await Self.all("charges", of: stripe)
        // https://docs.stripe.com/payments/place-a-hold-on-a-payment-method
        charges = made.filter { $0.status == "succeeded" && $0.captured }
        let booked: [BalanceTransaction] = try await Self.all(
            "balance_transactions",
            of: stripe,
            "type=charge&"
        )
        let times = Dictionary(booked.map { ($0.id, $0.created) }) { $1 }
        for charge in charges {
            guard let intent = charge.payment_intent else { continue }
            received[intent] = charge.balance_transaction.flatMap { times[$0] } ?? charge.created
        }
        lines = known?.lines ?? [:]
        for session in sessions where session.mode == "payment" && lines[session.id] == nil {
            lines[session.id] = try await Self.all(
                "checkout/sessions/\(session.id)/line_items",
                of: stripe
            )
        }
    }

    private static func all<Element: Decodable>(
        _ path: String,
        of stripe: StripeSimulator,
        _ query: String = ""
    ) async throws -> [Element] {
        var found: [Element] = []
        var after = ""
        while true {
            let answer = await stripe.exchange(
                method: "GET",
                path: "/v1/\(path)",
                query: "\(query)limit=100\(after)",
                headers: ["authorization": "Bearer \(ScenarioWorld.stripeKey)"]
            )
            let body = Data(answer.body.utf8)
            let page = try JSONDecoder().decode(Page<Element>.self, from: body)
            found += page.data
            guard page.has_more else { return found }
            let ids = try JSONDecoder().decode(Page<Reference>.self, from: body).data
            after = "&starting_after=\(ids.last?.id ?? "")"
        }
    }

    // MARK: - What it comes to

    /// When the money of a payment counts, in UNIX seconds; `nil`: it does not.
    ///
    /// An invoice that is paid in parts counts when all of it is paid (docs/reports.md):
    /// https://docs.stripe.com/invoicing/partial-payments
    func counted(_ intent: String) -> Int64? {
        guard let received = received[intent] else { return nil }
        let link = payments.first { $0.payment.payment_intent == intent }
        let invoice = link.flatMap { link in invoices.first { $0.id == link.invoice } }
        let parts = payments.count { $0.invoice == invoice?.id }
        guard let invoice, parts > 1 else { return received }
        return invoice.isPaid ? invoice.status_transitions.paid_at ?? received : nil
    }

    /// - Parameters:
    ///   - customer: Stripe's id.
    ///   - now: UNIX milliseconds.
    func read(customer: String, at now: Int64, in catalog: Catalog) -> Truth {
        var truth = Truth()
        for subscription in subscriptions where subscription.customer == customer {
            let own = invoices.filter { $0.subscription == subscription.id }
            for item in subscription.items.data {
                let until = paidUntil(item.id, of: subscription, own)
                guard let until else { continue }
                let keys = catalog.stripe(item.price.id)?.entitlements ?? []
                // Draft invoices are finalized after an hour, which moves due dates.
                if until != .max, abs(until - now / 1000) < 7_200 { truth.unsure.formUnion(keys) }
                if now / 1000 < until { truth.has.formUnion(keys) }
            }
        }
        // What a page sold stands in its session.
        let ofPages = Set(sessions.compactMap { $0.mode == "payment" ? $0.invoice : nil })
        for invoice in invoices
        where invoice.customer == customer && invoice.isPaid && !ofPages.contains(invoice.id) {
            for line in invoice.lines.data where line.item == nil && line.amount >= 0 {
                sell(
                    line.price,
                    line.quantity,
                    paid: invoice.status_transitions.paid_at ?? invoice.created,
                    for: invoice.amount_paid,
                    back: takenBack(ofInvoice: invoice.id),
                    in: catalog,
                    &truth
                )
            }
        }
        creditPlans(of: customer, in: catalog, &truth)
        for session in sessions
        where session.customer == customer && session.mode == "payment"
            && session.payment_status != "unpaid"
        {
            for line in lines[session.id] ?? [] {
                sell(
                    line.price.id,
                    line.quantity,
                    // https://docs.stripe.com/checkout/fulfillment: to be fulfilled once it is paid.
                    paid: session.payment_intent.flatMap { received[$0] } ?? session.created,
                    for: session.amount_total ?? 0,
                    back: takenBack(ofPayment: session.payment_intent ?? session.id),
                    in: catalog,
                    &truth
                )
            }
        }
        return truth
    }

    /// What was bought once, from when it was paid (https://docs.stripe.com/checkout/fulfillment).
    private func sell(
        _ price: String,
        _ quantity: Int64,
        paid: Int64,
        for total: Int64,
        back: [Movement],
        in catalog: Catalog,
        _ truth: inout Truth
    ) {
        guard let sold = catalog.stripe(price) else { return }
        let sum = back.reduce(0) { $0 + $1.amount }
        let credit = paid * 1000 < coinsSince ? 0 : sold.coins * quantity
        truth.coins += credit
        if total > 0 { truth.coins -= credit * min(sum, total) / total }
        let gone = Self.completion(of: back, to: total)
        switch sold.kind {
        case .nonRenewing:
            let pass = Truth.Pass(
                product: sold.id,
                bought: paid * 1000,
                cut: gone.map { $0 * 1000 }
            )
            truth.passes += Array(repeating: pass, count: Int(quantity))
        case .consumable: break
        default: if gone == nil { truth.has.formUnion(sold.entitlements) }
        }
    }

    /// When all of a payment was gone: with the one that completes it; `nil`: something stays.
    ///
    /// A payment may be refunded in parts, up to its amount (https://docs.stripe.com/refunds).
    static func completion(of back: [Movement], to total: Int64) -> Int64? {
        guard total > 0 else { return nil }
        var left = total
        for movement in back {
            left -= movement.amount
            if left <= 0 { return movement.withdrawnAt }
        }
        return nil
    }

    /// What went back of an invoice's payments, the oldest first.
    func takenBack(ofInvoice id: String) -> [Movement] {
        let intents = payments.filter { $0.invoice == id }.compactMap(\.payment.payment_intent)
        return Set(intents).flatMap(takenBack(ofPayment:)).sorted {
            $0.withdrawnAt < $1.withdrawnAt
        }
    }

    /// What went back of a payment, or is about to, the oldest first.
    ///
    /// https://docs.stripe.com/refunds, https://docs.stripe.com/disputes/how-disputes-work: the
    /// money of a dispute is withdrawn when it is opened, and comes back if it is won; an inquiry
    /// withdraws nothing until it becomes a chargeback.
    func takenBack(ofPayment intent: String) -> [Movement] {
        (refunds.filter { ["pending", "succeeded"].contains($0.status) }
            + disputes.filter { ["lost", "needs_response", "under_review"].contains($0.status) })
            .filter { $0.payment_intent == intent }.sorted { $0.withdrawnAt < $1.withdrawnAt }
    }
}

extension Catalog {
    /// What is sold at a price of Stripe's.
    func stripe(_ price: String) -> Catalog.Product? {
        products.first { $0.stripePriceIDs.contains(price) }
    }
}
