import Foundation
import StripeSimulator

/// Stripe's own books, read from its API in its own words.
///
/// Shares no code with our reading of Stripe, or one mistake would hide in both.
struct StripeBooks {
    private(set) var subscriptions: [Subscription] = []
    /// The oldest first.
    private(set) var allInvoices: [Invoice] = []
    /// Those that are paid, the oldest first.
    private(set) var invoices: [Invoice] = []
    /// Those that are complete.
    private(set) var sessions: [Session] = []
    private(set) var charges: [Charge] = []
    /// Refunds and disputes, by payment, the oldest first.
    private var movements: [String: [Movement]] = [:]
    /// Payments by invoice.
    private var intents: [String: [String]] = [:]
    /// What moved the balance.
    private(set) var entries: [Entry] = []
    /// When the balance had the money of a charge.
    private var booked: [String: Int64] = [:]
    /// What Checkout Sessions in payment mode sold.
    private(set) var lines: [String: [LineItem]] = [:]

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
            var created: Int64
            var price: Reference
            var current_period_start: Int64
            var current_period_end: Int64
        }
        var id: String
        var customer: String
        var status: String
        var cancel_at: Int64?
        var ended_at: Int64?
        var collection_method: String
        var days_until_due: Int64?
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
                var unit_amount_decimal: String
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
            var quantity: Int64
            var pricing: Pricing
            var period: Period
            var parent: Parent
            var discount_amounts: [Discount]

            var price: String { pricing.price_details.price }
            var item: String? { parent.subscription_item_details?.subscription_item }
            var isProration: Bool {
                (parent.subscription_item_details ?? parent.invoice_item_details)?.proration
                    ?? false
            }
            /// In minor units; `nil` where it is no whole number.
            var unitAmount: Int64? { Int64(pricing.unit_amount_decimal) }
        }
        struct Parent: Decodable {
            struct Details: Decodable {
                var subscription: String?
            }
            var subscription_details: Details?
        }
        struct Transitions: Decodable {
            var paid_at: Int64?
        }
        var id: String
        var created: Int64
        var customer: String
        var status: String
        var attempted: Bool
        var amount_paid: Int64
        var currency: String
        var lines: Lines
        var parent: Parent?
        var status_transitions: Transitions

        var subscription: String? { parent?.subscription_details?.subscription }
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    struct Session: Decodable {
        var id: String
        var customer: String?
        var mode: String
        var payment_status: String
        var created: Int64
        var amount_total: Int64?
        var payment_intent: String?
    }

    struct LineItem: Decodable {
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

    /// A refund or a dispute.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    struct Movement: Decodable {
        var id: String
        var charge: String?
        var payment_intent: String?
        var amount: Int64
        var currency: String
        var status: String
        var created: Int64
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    struct Charge: Decodable {
        var id: String
        var customer: String?
        var payment_intent: String?
        var amount: Int64
        var currency: String
        var paid: Bool
        var created: Int64
    }

    /// A balance transaction.
    struct Entry: Decodable {
        var source: String?
        var type: String
        var created: Int64
        /// What it adds to the balance, fees taken off.
        var net: Int64
    }

    // MARK: - Reading

    init(of stripe: StripeSimulator, keeping known: StripeBooks?) async throws {
        subscriptions = try await Self.all("subscriptions", of: stripe, "status=all&")
        allInvoices = try await Self.all("invoices", of: stripe)
            .sorted { ($0.created, $0.id) < ($1.created, $1.id) }
        invoices = allInvoices.filter { $0.status == "paid" }
        sessions = try await Self.all("checkout/sessions", of: stripe, "status=complete&")
        charges = try await Self.all("charges", of: stripe)
        let payments: [InvoicePayment] = try await Self.all("invoice_payments", of: stripe)
        for payment in payments {
            guard let intent = payment.payment.payment_intent else { continue }
            intents[payment.invoice, default: []].append(intent)
        }
        let refunds: [Movement] = try await Self.all("refunds", of: stripe)
        let disputes: [Movement] = try await Self.all("disputes", of: stripe)
        for movement in (refunds + disputes).sorted(by: { ($0.created, $0.id) < ($1.created, $1.id) })
        {
            movements[movement.payment_intent ?? "", default: []].append(movement)
        }
        entries = try await Self.all("balance_transactions", of: stripe)
        for entry in entries where entry.type == "charge" {
            booked[entry.source ?? ""] = entry.created
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

    // MARK: - What belongs together

    /// Which payments an invoice was paid by.
    ///
    /// https://docs.stripe.com/api/invoice-payment/object
    func intents(ofInvoice id: String) -> [String] {
        intents[id] ?? []
    }

    /// When the money of a payment came: the balance has it then, days later where a bank is asked.
    ///
    /// https://docs.stripe.com/api/balance_transactions/object
    func paid(intent: String) -> Int64? {
        let charge = charges.first { $0.payment_intent == intent && $0.paid }
        return charge.map(paid)
    }

    func paid(_ charge: Charge) -> Int64 {
        booked[charge.id] ?? charge.created
    }

    /// What of a payment went back: refunds that are under way or done, disputes that are open or
    /// lost; an inquiry (`warning_…`) has withdrawn nothing.
    ///
    /// https://docs.stripe.com/api/refunds/object#refund_object-status
    /// https://docs.stripe.com/disputes/how-disputes-work
    func takenBack(ofIntents intents: [String]) -> [Movement] {
        let taking = [
            "pending", "succeeded", "lost", "needs_response", "under_review",
        ]
        return intents.flatMap { movements[$0] ?? [] }.filter { taking.contains($0.status) }
    }
}

extension [StripeBooks.Movement] {
    /// In minor units.
    var total: Int64 { reduce(0) { $0 + $1.amount } }

    /// When they had taken `amount`, each at its own date; `nil`: they have not.
    ///
    /// https://docs.stripe.com/api/disputes/object#dispute_object-created
    func reached(_ amount: Int64) -> Int64? {
        var sum: Int64 = 0
        for movement in self {
            sum += movement.amount
            if sum >= amount { return movement.created }
        }
        return nil
    }
}
