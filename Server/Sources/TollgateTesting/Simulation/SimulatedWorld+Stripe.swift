import Foundation
import StripeSimulator
import TollgateCore

extension SimulatedWorld {
    private struct Impossible: Error {}

    /// Makes the coupons that the shop gives out.
    func openShop() async throws {
        for coupon in SimulatedShop.coupons {
            _ = try await play.call("POST", "/v1/coupons", [("id", coupon.id)] + coupon.form)
        }
    }

    mutating func performAtStripe(_ act: WorldAct, _ step: Scenario.Step) async throws {
        guard let person = play.people[step.customer] else { return }
        let customer = try await play.stripeCustomer(person, isOrdering: act.isOrder)
        switch act {
        case .subscribe(let order): try await subscribe(order, customer, person)
        case .checkout(let order, let card): try await checkout(order, card, customer, person)
        case .addItem(let product, let proration):
            let id = try await newestSubscription(of: customer).id
            _ = try await play.call(
                "POST",
                "/v1/subscription_items",
                [
                    ("subscription", id), ("price", try play.price(product)),
                    ("proration_behavior", proration),
                ]
            )
        case .removeItem:
            let items = try await newestSubscription(of: customer).items
            guard items.count > 1, let last = items.last else { throw Impossible() }
            _ = try await play.call("DELETE", "/v1/subscription_items/\(last)")
        case .refundCharge(let back, let amount):
            let charge = try await charge(back, of: customer)
            try await play.world.stripe.refund(charge: charge, amount: amount)
        case .dispute(let back):
            try await play.world.stripe.dispute(charge: try await charge(back, of: customer))
        case .endDispute(let isWon):
            let charges = try await list("/v1/charges", "customer=\(customer)&limit=100")
                .compactMap { $0["id"] as? String }
            let open = try await list("/v1/disputes", "limit=100").last { dispute in
                let status = dispute["status"] as? String ?? ""
                return ["needs_response", "under_review"].contains(status)
                    && charges.contains(dispute["charge"] as? String ?? "")
            }
            guard let id = open?["id"] as? String else { throw Impossible() }
            try await play.world.stripe.close(dispute: id, isWon: isWon)
        default: break
        }
    }

    // MARK: - Orders

    /// The plans of an order, and what is sold once with them.
    private func parts(
        of order: WorldAct.StripeOrder
    ) throws -> (plans: [String], extras: [String]) {
        let plans = order.products.filter { catalog.product(id: $0)?.kind == .autoRenewable }
        let extras = order.products.filter { !plans.contains($0) }
        return (try plans.map(play.price), try extras.map(play.price))
    }

    /// https://docs.stripe.com/api/subscriptions/create
    private func subscribe(
        _ order: WorldAct.StripeOrder,
        _ customer: String,
        _ person: ScenarioCustomer
    ) async throws {
        let (plans, extras) = try parts(of: order)
        var form = [("customer", customer), ("metadata[app_user_id]", person.id)]
        for (index, price) in plans.enumerated() {
            form.append(("items[\(index)][price]", price))
            form.append(("items[\(index)][quantity]", "\(order.quantity)"))
        }
        for (index, price) in extras.enumerated() {
            form.append(("add_invoice_items[\(index)][price]", price))
            form.append(("add_invoice_items[\(index)][quantity]", "\(order.quantity)"))
        }
        if let coupon = order.coupon { form.append(("discounts[0][coupon]", coupon)) }
        if let days = order.daysUntilDue {
            form += [("collection_method", "send_invoice"), ("days_until_due", "\(days)")]
        } else {
            let method = try await play.call(
                "POST",
                "/v1/payment_methods/pm_card_visa/attach",
                [("customer", customer)]
            )
            form.append(("default_payment_method", method["id"] as? String ?? ""))
        }
        if order.isConfirmedLater { form.append(("payment_behavior", "default_incomplete")) }
        _ = try await play.call("POST", "/v1/subscriptions", form)
    }

    /// https://docs.stripe.com/api/checkout/sessions/create
    private func checkout(
        _ order: WorldAct.StripeOrder,
        _ card: String,
        _ customer: String,
        _ person: ScenarioCustomer
    ) async throws {
        let (plans, extras) = try parts(of: order)
        var form = [
            ("mode", plans.isEmpty ? "payment" : "subscription"), ("customer", customer),
            ("client_reference_id", person.id), ("metadata[app_user_id]", person.id),
            ("success_url", "https://app.example.com/checkout_redirect/success"),
        ]
        if !plans.isEmpty { form.append(("subscription_data[metadata][app_user_id]", person.id)) }
        for (index, price) in (plans + extras).enumerated() {
            form.append(("line_items[\(index)][price]", price))
            form.append(("line_items[\(index)][quantity]", "\(order.quantity)"))
        }
        if let coupon = order.coupon { form.append(("discounts[0][coupon]", coupon)) }
        if order.createsInvoice { form.append(("invoice_creation[enabled]", "true")) }
        let session = try await play.call("POST", "/v1/checkout/sessions", form)
        _ = try await play.world.stripe.pay(
            checkoutSession: session["id"] as? String ?? "",
            card: card
        )
    }

    // MARK: - What is there

    private func list(_ path: String, _ query: String) async throws -> [[String: Any]] {
        try await play.call("GET", path, query: query)["data"] as? [[String: Any]] ?? []
    }

    /// Of all paid charges of a customer, the one that `back` others follow.
    private func charge(_ back: Int, of customer: String) async throws -> String {
        let paid = try await list("/v1/charges", "customer=\(customer)&limit=100")
            .filter { $0["paid"] as? Bool == true }
        guard back < paid.count, let id = paid[back]["id"] as? String else { throw Impossible() }
        return id
    }

    private func newestSubscription(
        of customer: String
    ) async throws -> (id: String, items: [String]) {
        let found = try await play.subscription(of: customer)
        let items = (found["items"] as? [String: Any])?["data"] as? [[String: Any]] ?? []
        return (found["id"] as? String ?? "", items.compactMap { $0["id"] as? String })
    }
}

extension WorldAct {
    /// Whether something is bought anew.
    fileprivate var isOrder: Bool {
        switch self {
        case .subscribe, .checkout: true
        default: false
        }
    }
}
