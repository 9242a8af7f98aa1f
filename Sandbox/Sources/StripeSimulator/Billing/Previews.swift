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
        for name in ["schedule", "schedule_details"] where call.parameters.has(name) {
            throw APIError.invalid("The sandbox previews no schedules.", param: name)
        }
        let subscription = try call.parameters.string("subscription")
        let customer = try call.parameters.string("customer")
        if let customer { _ = try find(.customer, customer, param: "customer") }
        var shown: JSON
        if let subscription {
            shown = try previewChange(of: subscription, &call.parameters)
        } else {
            shown = try previewStart(of: customer, &call.parameters)
        }
        call.parameters.ignore(
            "automatic_tax",
            "currency",
            "customer_details",
            "issuer",
            "preview_mode"
        )
        shown["id"] = .string("upcoming_" + newID(.invoice))
        shown["status"] = "draft"
        return shown
    }

    private static let nothingUpcoming = APIError.invalid(
        "No upcoming invoices for customer",
        code: "invoice_upcoming_none"
    )

    /// What a subscription's next invoice would be if it were changed so.
    private mutating func previewChange(
        of subscription: String,
        _ parameters: inout Parameters
    ) throws -> JSON {
        let before = try find(.subscription, subscription, param: "subscription")
        let customer = before["customer"].text
        let discounts = try readDiscounts(
            &parameters,
            customer: customer,
            currency: before["currency"].string
        )
        if let discounts {
            let redeemed = discounts.map {
                redeem($0, customer: customer, subscription: subscription)
            }
            change(.subscription, subscription) { $0["discounts"] = JSON(redeemed) }
        }
        for line in try readPreviewItems(&parameters, subscription: subscription) {
            addPendingItem(line, customer: customer)
        }
        try parameters.object("subscription_details") { part in
            try previewChanges(of: subscription, &part)
        }
        // A change that is billed at once shows that invoice, else the next renewal's.
        let latest = get(.subscription, subscription)?["latest_invoice"].reference
        let isNew = latest != before["latest_invoice"].reference
        let shown = isNew ? get(.invoice, latest) : upcomingInvoice(of: subscription)
        guard let shown else { throw Self.nothingUpcoming }
        return shown
    }

    private mutating func previewChanges(
        of subscription: String,
        _ part: inout Parameters
    ) throws {
        let behavior = try part.string("proration_behavior") ?? "create_prorations"
        let date = try part.int("proration_date")
        if try part.bool("cancel_at_period_end") == true { throw Self.nothingUpcoming }
        typealias Change = (
            id: String?, price: JSON?, quantity: Int?, isDeleted: Bool, taxRates: [JSON]?
        )
        let changes = try part.objects("items") { item -> Change in
            item.ignore("billing_thresholds", "clear_usage", "discounts", "metadata")
            let hasPrice = item.has("price") || item.has("price_data")
            return (
                try item.string("id"), hasPrice ? try price(in: &item) : nil,
                try item.int("quantity", in: 0...1_000_000), try item.bool("deleted") ?? false,
                try readTaxRates(&item, "tax_rates")
            )
        }
        for change in changes ?? [] {
            if let item = change.id, change.isDeleted {
                try removeItem(item, of: subscription, behavior: behavior)
            } else if let item = change.id {
                setTaxRates(change.taxRates, of: item, in: subscription)
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
                    SubscriptionOrder.Item(
                        price: price,
                        quantity: change.quantity ?? 1,
                        taxRates: change.taxRates ?? []
                    ),
                    to: subscription,
                    behavior: behavior
                )
            }
        }
        if let rates = try readTaxRates(&part, "default_tax_rates") {
            change(.subscription, subscription) { $0["default_tax_rates"] = .array(rates) }
        }
        part.ignore("billing_cycle_anchor", "trial_end", "cancel_at", "start_date", "metadata")
    }

    /// What the first invoice of a subscription would be that does not exist yet.
    private mutating func previewStart(
        of known: String?,
        _ parameters: inout Parameters
    ) throws -> JSON {
        let customer = known ?? addCustomer()["id"].text
        if known == nil { put(.customer, addCustomer(id: customer)) }
        let instant = now(for: customer)
        let pending = try readPreviewItems(&parameters, subscription: nil)
        let order = try parameters.object("subscription_details") { part in
            try readStart(of: customer, &part)
        }
        guard var order else {
            throw APIError.missing(
                parameter: known == nil ? "customer" : "subscription_details[items]"
            )
        }
        order.discounts =
            try readDiscounts(
                &parameters,
                customer: known,
                currency: order.items.first?.price["currency"].string
            ) ?? []
        let ids = order.items.map { _ in newID(.subscriptionItem) }
        var subscription = subscriptionObject("", order, items: [], instant: instant)
        subscription["discounts"] = JSON(order.discounts.map { redeem($0, customer: customer) })
        var invoice = addInvoice(
            InvoiceOrder(
                customer: customer,
                subscription: subscription,
                reason: "upcoming",
                currency: subscription["currency"].text,
                lines: firstLines(order, subscription: nil, items: ids) + pending
                    + takePendingItems(of: customer, subscription: nil),
                periodStart: instant,
                periodEnd: instant,
                finalizesByItself: false
            )
        )
        invoice["parent"]["subscription_details"]["subscription"] = .null
        if known == nil { invoice["customer"] = .null }
        return invoice
    }

    private mutating func readStart(
        of customer: String,
        _ part: inout Parameters
    ) throws -> SubscriptionOrder {
        guard let items = try readItems(&part, "items"), !items.isEmpty else {
            throw APIError.missing(parameter: part.name("items"))
        }
        var order = SubscriptionOrder(customer: customer, items: items)
        let instant = now(for: customer)
        order.trialEnd = try part.instant("trial_end", now: instant).flatMap {
            $0 > instant ? $0 : nil
        }
        order.taxRates = try readTaxRates(&part, "default_tax_rates") ?? []
        order.proratesToAnchor = try part.string("proration_behavior") != "none"
        var noted: JSON = ["metadata": [:]]
        try part.metadata(into: &noted)
        order.metadata = noted["metadata"]
        part.ignore(
            "billing_cycle_anchor",
            "billing_mode",
            "cancel_at",
            "cancel_at_period_end",
            "start_date"
        )
        return order
    }

    /// Reads `invoice_items`: what else would stand on the invoice.
    private mutating func readPreviewItems(
        _ parameters: inout Parameters,
        subscription: String?
    ) throws -> [InvoiceLine] {
        try parameters.objects("invoice_items") { part in
            let quantity = try part.int("quantity", in: 0...1_000_000) ?? 1
            let amount = try part.int("amount")
            var price: JSON = .null
            if part.has("price") || part.has("price_data") {
                price = try self.price(in: &part)
            } else {
                let currency = try part.required("currency")
                guard amount != nil else { throw APIError.missing(parameter: part.name("amount")) }
                price = ["currency": .string(currency), "unit_amount_decimal": .null]
            }
            let line = InvoiceLine(
                amount: amount ?? Self.amount(of: price, quantity),
                description: try part.string("description") ?? productName(of: price),
                price: price,
                quantity: quantity,
                start: now,
                end: now,
                subscription: subscription,
                taxRates: try readTaxRates(&part, "tax_rates") ?? []
            )
            part.ignore("discountable", "discounts", "metadata", "period", "tax_behavior")
            return line
        } ?? []
    }
}
