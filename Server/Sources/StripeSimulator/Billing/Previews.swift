extension World {
    /// What the next invoice of a subscription would be, as things stand.
    func upcomingInvoice(of id: String) -> JSON? {
        guard let subscription = get(.subscription, id), !isOver(subscription),
            let end = subscription["items"].elements.compactMap({ $0["current_period_end"].int })
                .min()
        else { return nil }
        var world = self
        let customer = subscription["customer"].text
        var lines = subscription["items"].elements
            .filter { $0["current_period_end"].count <= end }.map { item in
                let cycle = BillingCycle(
                    anchor: subscription["billing_cycle_anchor"].count,
                    recurring: item["price"]["recurring"]
                )
                var next = item
                next["current_period_start"] = .int(end)
                next["current_period_end"] = .int(cycle.next(after: end))
                return renewalLine(next, subscription: subscription, customer: customer)
            }
        lines += takePendingItems(of: customer, subscription: id)
        var discounted = subscription
        discounted["discounts"] = liveDiscounts(of: subscription, at: end)
        var invoice = world.addInvoice(
            InvoiceOrder(
                customer: customer,
                subscription: discounted,
                reason: "upcoming",
                currency: subscription["currency"].text,
                lines: lines,
                periodStart: subscription["items"].elements.first?["current_period_start"].int
                    ?? end,
                periodEnd: end,
                finalizesByItself: false
            )
        )
        invoice["created"] = .int(end)
        invoice["next_payment_attempt"] = .int(end + 3_600)
        return invoice
    }

    /// Some days before a renewal its invoice is announced; it has no id yet.
    mutating func announceRenewal(of id: String) {
        guard let subscription = get(.subscription, id), subscription["cancel_at"].isNull,
            ["active", "trialing"].contains(subscription["status"].text),
            let end = subscription["items"].elements.compactMap({ $0["current_period_end"].int })
                .min(), subscription["_announced_renewal"].int != end,
            end - policy.upcomingDays * 86_400 <= now(for: subscription["customer"].string),
            var invoice = upcomingInvoice(of: id)
        else { return }
        change(.subscription, id) { $0["_announced_renewal"] = .int(end) }
        invoice.remove("id")
        emit("invoice.upcoming", invoice)
    }

    static let previewRoutes: [Route] = [
        .post("invoices/create_preview") { world, call in
            // Everything happens to a copy; what comes out is shown and forgotten.
            var copy = world
            let invoice = try copy.preview(&call)
            world.random = copy.random
            return invoice
        }
    ]

    private mutating func preview(_ call: inout Call) throws -> JSON {
        let subscription = try call.parameters.string("subscription")
        if let customer = try call.parameters.string("customer") {
            _ = try find(.customer, customer, param: "customer")
        }
        guard let subscription else { throw APIError.missing(parameter: "subscription") }
        let before = try find(.subscription, subscription, param: "subscription")
        try call.parameters.object("subscription_details") { part in
            let behavior = try part.string("proration_behavior") ?? "create_prorations"
            let date = try part.int("proration_date")
            let cancels = try part.bool("cancel_at_period_end")
            let changes = try part.objects("items") {
                item -> (id: String?, price: JSON?, quantity: Int?, isDeleted: Bool) in
                (
                    id: try item.string("id"),
                    price: item.has("price") ? try price(in: &item) : nil,
                    quantity: try item.int("quantity", in: 0...1_000_000),
                    isDeleted: try item.bool("deleted") ?? false
                )
            }
            for change in changes ?? [] {
                if let item = change.id, change.isDeleted {
                    try removeItem(item, of: subscription, behavior: behavior)
                } else if let item = change.id {
                    try changeItem(
                        item,
                        of: subscription,
                        price: change.price,
                        quantity: change.quantity,
                        behavior: behavior,
                        prorationDate: date
                    )
                } else if let price = change.price {
                    try addItem(
                        SubscriptionOrder.Item(price: price, quantity: change.quantity ?? 1),
                        to: subscription,
                        behavior: behavior
                    )
                }
            }
            if cancels == true {
                throw APIError.invalid(
                    "No upcoming invoices for customer",
                    code: "invoice_upcoming_none"
                )
            }
            part.ignore("billing_cycle_anchor", "trial_end", "cancel_at", "start_date")
        }
        call.parameters.ignore("automatic_tax", "currency", "preview_mode", "discounts")
        // A change that is billed at once shows that invoice, else the next renewal's.
        let latest = get(.subscription, subscription)?["latest_invoice"].reference
        let isNew = latest != before["latest_invoice"].reference
        let shown: JSON? = isNew ? get(.invoice, latest) : upcomingInvoice(of: subscription)
        guard var invoice = shown else {
            throw APIError.invalid(
                "No upcoming invoices for customer",
                code: "invoice_upcoming_none"
            )
        }
        invoice["id"] = .string("upcoming_" + newID(.invoice))
        invoice["status"] = "draft"
        return invoice
    }
}
