import Foundation
import StripeSimulator
import TollgateCore

/// What customers must have by Stripe's own books, read from its API.
///
/// Shares nothing with the engine that is judged by it but the catalog's list of products.
struct StripeTruth {
    private var subscriptions: [Subscription] = []
    private var invoices: [Invoice] = []
    private var sessions: [Session] = []
    private var payments: [InvoicePayment] = []
    private var refunds: [Movement] = []
    private var disputes: [Movement] = []
    private var lines: [String: [LineItem]] = [:]

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
    private struct Subscription: Decodable {
        struct Items: Decodable {
            var data: [Item]
        }
        struct Item: Decodable {
            var price: Reference
            var current_period_start: Int64
            var current_period_end: Int64
        }
        var id: String
        var customer: String
        var status: String
        var items: Items
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    private struct Invoice: Decodable {
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
                }
                var subscription_item_details: Details?
                var invoice_item_details: Details?
            }
            var quantity: Int64
            var pricing: Pricing
            var period: Period
            var parent: Parent

            var isProration: Bool {
                (parent.subscription_item_details ?? parent.invoice_item_details)?.proration
                    ?? false
            }
        }
        struct Parent: Decodable {
            struct Details: Decodable {
                var subscription: String?
            }
            var subscription_details: Details?
        }
        var id: String
        var customer: String
        var status: String
        var amount_paid: Int64
        var lines: Lines
        var parent: Parent?
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    private struct Session: Decodable {
        var id: String
        var customer: String?
        var mode: String
        var status: String
        var payment_status: String
        var created: Int64
        var amount_total: Int64?
        var payment_intent: String?
    }

    private struct LineItem: Decodable {
        var price: Reference
        var quantity: Int64
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    private struct InvoicePayment: Decodable {
        struct Payment: Decodable {
            var payment_intent: String?
        }
        var invoice: String
        var payment: Payment
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    private struct Movement: Decodable {
        var payment_intent: String?
        var amount: Int64
        var status: String
        var created: Int64
    }

    // MARK: - Reading

    init(of stripe: StripeSimulator, keeping known: StripeTruth?) async throws {
        subscriptions = try await Self.all("subscriptions", of: stripe, "status=all&")
        invoices = try await Self.all("invoices", of: stripe, "status=paid&")
        sessions = try await Self.all("checkout/sessions", of: stripe, "status=complete&")
        payments = try await Self.all("invoice_payments", of: stripe)
        refunds = try await Self.all("refunds", of: stripe)
        disputes = try await Self.all("disputes", of: stripe)
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

    /// - Parameters:
    ///   - customer: Stripe's id.
    ///   - now: UNIX milliseconds.
    func read(customer: String, at now: Int64, in catalog: Catalog) -> Truth {
        var truth = Truth()
        func product(_ price: String) -> Catalog.Product? {
            catalog.products.first { $0.stripePriceIDs.contains(price) }
        }
        for subscription in subscriptions where subscription.customer == customer {
            for item in subscription.items.data where gives(subscription, item, now / 1000) {
                truth.has.formUnion(product(item.price.id)?.entitlements ?? [])
            }
        }
        for invoice in invoices
        where invoice.customer == customer && invoice.parent?.subscription_details != nil {
            let taken = takenBack(ofInvoice: invoice.id)
            for line in invoice.lines.data {
                let coins = product(line.pricing.price_details.price)?.coins ?? 0
                // Parts of a period bring and take parts of its coins; the books do not say of which.
                guard !line.isProration else {
                    if coins > 0 { truth.areCoinsSure = false }
                    continue
                }
                credit(coins * line.quantity, taken.amount, of: invoice.amount_paid, &truth)
            }
        }
        for session in sessions
        where session.customer == customer && session.mode == "payment"
            && session.payment_status != "unpaid"
        {
            let taken = takenBack(ofPayment: session.payment_intent ?? session.id)
            let total = session.amount_total ?? 0
            for line in lines[session.id] ?? [] {
                guard let sold = product(line.price.id) else { continue }
                credit(sold.coins * line.quantity, taken.amount, of: total, &truth)
                let isGone = total > 0 && taken.amount >= total
                switch sold.kind {
                case .nonRenewing:
                    for _ in 0..<line.quantity {
                        truth.passes.append(
                            Truth.Pass(
                                product: sold.id,
                                bought: session.created * 1000,
                                cut: isGone ? taken.last * 1000 : nil
                            )
                        )
                    }
                    // When it was gone is a matter of seconds to days, by which the passes after
                    // it move.
                    if isGone { truth.unsure.formUnion(sold.entitlements) }
                case .consumable: break
                default: if !isGone { truth.has.formUnion(sold.entitlements) }
                }
            }
        }
        return truth
    }

    private func gives(_ subscription: Subscription, _ item: Subscription.Item, _ now: Int64)
        -> Bool
    {
        switch subscription.status {
        case "active", "trialing": return true
        case "past_due":
            let paid = invoices.filter {
                $0.parent?.subscription_details?.subscription == subscription.id
            }.flatMap(\.lines.data)
                .filter { !$0.isProration && $0.pricing.price_details.price == item.price.id }
                .map(\.period.end).max()
            let unpaidSince = min(item.current_period_start, paid ?? item.current_period_start)
            return now < unpaidSince + 3 * 86_400
        default: return false
        }
    }

    private func credit(
        _ coins: Int64,
        _ taken: Int64,
        of amount: Int64,
        _ truth: inout Truth
    ) {
        truth.coins += coins
        if amount > 0 { truth.coins -= coins * min(taken, amount) / amount }
    }

    private func takenBack(ofInvoice id: String) -> (amount: Int64, last: Int64) {
        let intents = payments.filter { $0.invoice == id }.compactMap(\.payment.payment_intent)
        return intents.reduce((0, 0)) { sum, intent in
            let taken = takenBack(ofPayment: intent)
            return (sum.0 + taken.amount, max(sum.1, taken.last))
        }
    }

    private func takenBack(ofPayment intent: String) -> (amount: Int64, last: Int64) {
        let back =
            refunds.filter { ["pending", "succeeded"].contains($0.status) }
            + disputes.filter {
                ["lost", "needs_response", "under_review"].contains($0.status)
            }
        let own = back.filter { $0.payment_intent == intent }
        return (own.reduce(0) { $0 + $1.amount }, own.map(\.created).max() ?? 0)
    }
}
