/// Previews: invoices as they would be. https://docs.stripe.com/api/invoices/create_preview
enum Previews {
    /// What the next invoice of a subscription would be, as things stand.
    static func upcomingInvoice(_ world: World, of id: String) -> JSON? {
        guard let subscription = world.get(.subscription, id), !Subscriptions.isOver(subscription),
            let end = subscription["items"].elements.compactMap({ $0["current_period_end"].int })
                .min()
        else { return nil }
        var copy = world
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
                return Subscriptions.renewalLine(
                    world,
                    next,
                    subscription: subscription,
                    customer: customer
                )
            }
        lines += InvoiceItems.takePending(world, of: customer, subscription: id)
        var discounted = subscription
        discounted["discounts"] = Discounts.live(world, of: subscription, at: end)
        var invoice = Invoices.add(
            &copy,
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
    static func announceRenewal(_ world: inout World, of id: String) {
        guard let subscription = world.get(.subscription, id), subscription["cancel_at"].isNull,
            ["active", "trialing"].contains(subscription["status"].text),
            let end = subscription["items"].elements.compactMap({ $0["current_period_end"].int })
                .min(), subscription["_announced_renewal"].int != end,
            end - world.policy.upcomingDays * 86_400
                <= world.now(for: subscription["customer"].string),
            var invoice = upcomingInvoice(world, of: id)
        else { return }
        world.change(.subscription, id) { $0["_announced_renewal"] = .int(end) }
        invoice.remove("id")
        world.emit("invoice.upcoming", invoice)
    }

    static let routes: [Route] = [
        .post("invoices/create_preview") { world, call in
            // Everything happens to a copy; what comes out is shown and forgotten.
            var copy = world
            let invoice = try preview(&copy, &call)
            world.random = copy.random
            return invoice
        }
    ]

    private static func preview(_ world: inout World, _ call: inout Call) throws -> JSON {
        for name in ["schedule", "schedule_details"] where call.parameters.has(name) {
            throw APIError.invalid("The sandbox previews no schedules.", param: name)
        }
        let subscription = try call.parameters.string("subscription")
        let customer = try call.parameters.string("customer")
        if let customer { _ = try world.find(.customer, customer, param: "customer") }
        var shown: JSON
        if let subscription {
            shown = try previewChange(&world, of: subscription, &call.parameters)
        } else {
            shown = try previewStart(&world, of: customer, &call.parameters)
        }
        call.parameters.ignore(
            "automatic_tax",
            "currency",
            "customer_details",
            "issuer",
            "preview_mode"
        )
        shown["id"] = .string("upcoming_" + world.newID(.invoice))
        shown["status"] = "draft"
        return shown
    }

    private static let nothingUpcoming = APIError.invalid(
        "No upcoming invoices for customer",
        code: "invoice_upcoming_none"
    )

    /// What a subscription's next invoice would be if it were changed so.
    private static func previewChange(
        _ world: inout World,
        of subscription: String,
        _ parameters: inout Parameters
    ) throws -> JSON {
        let before = try world.find(.subscription, subscription, param: "subscription")
        let customer = before["customer"].text
        let discounts = try Discounts.read(
            world,
            &parameters,
            customer: customer,
            currency: before["currency"].string
        )
        if let discounts {
            let redeemed = discounts.map {
                Discounts.redeem(&world, $0, customer: customer, subscription: subscription)
            }
            world.change(.subscription, subscription) { $0["discounts"] = JSON(redeemed) }
        }
        for line in try readPreviewItems(&world, &parameters, subscription: subscription) {
            InvoiceItems.add(&world, line, customer: customer)
        }
        try parameters.object("subscription_details") { part in
            try previewChanges(&world, of: subscription, &part)
        }
        // A change that is billed at once shows that invoice, else the next renewal's.
        let latest = world.get(.subscription, subscription)?["latest_invoice"].reference
        let isNew = latest != before["latest_invoice"].reference
        let shown = isNew ? world.get(.invoice, latest) : upcomingInvoice(world, of: subscription)
        guard let shown else { throw nothingUpcoming }
        return shown
    }

    private static func previewChanges(
        _ world: inout World,
        of subscription: String,
        _ part: inout Parameters
    ) throws {
        let behavior = try part.string("proration_behavior") ?? "create_prorations"
        let date = try part.int("proration_date")
        if try part.bool("cancel_at_period_end") == true { throw nothingUpcoming }
        typealias Change = (
            id: String?, price: JSON?, quantity: Int?, isDeleted: Bool, taxRates: [JSON]?
        )
        let changes = try part.objects("items") { item -> Change in
            item.ignore("billing_thresholds", "clear_usage", "discounts", "metadata")
            let hasPrice = item.has("price") || item.has("price_data")
            return (
                try item.string("id"), hasPrice ? try Prices.price(&world, in: &item) : nil,
                try item.int("quantity", in: 0...1_000_000), try item.bool("deleted") ?? false,
                try TaxRates.read(world, &item, "tax_rates")
            )
        }
        for change in changes ?? [] {
            if let item = change.id, change.isDeleted {
                try SubscriptionItems.remove(&world, item, of: subscription, behavior: behavior)
            } else if let item = change.id {
                SubscriptionItems.setTaxRates(&world, change.taxRates, of: item, in: subscription)
                try SubscriptionItems.change(
                    &world,
                    item,
                    of: subscription,
                    price: change.price,
                    quantity: change.quantity,
                    behavior: behavior,
                    prorationDate: date
                )
            } else if let price = change.price {
                try SubscriptionItems.add(
                    &world,
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
        if let rates = try TaxRates.read(world, &part, "default_tax_rates") {
            world.change(.subscription, subscription) { $0["default_tax_rates"] = .array(rates) }
        }
        part.ignore("billing_cycle_anchor", "trial_end", "cancel_at", "start_date", "metadata")
    }

    /// What the first invoice of a subscription would be that does not exist yet.
    private static func previewStart(
        _ world: inout World,
        of known: String?,
        _ parameters: inout Parameters
    ) throws -> JSON {
        let customer = known ?? Customers.add(&world)["id"].text
        if known == nil { world.put(.customer, Customers.add(&world, id: customer)) }
        let instant = world.now(for: customer)
        let pending = try readPreviewItems(&world, &parameters, subscription: nil)
        let order = try parameters.object("subscription_details") { part in
            try readStart(&world, of: customer, &part)
        }
        guard var order else {
            throw APIError.missing(
                parameter: known == nil ? "customer" : "subscription_details[items]"
            )
        }
        order.discounts =
            try Discounts.read(
                world,
                &parameters,
                customer: known,
                currency: order.items.first?.price["currency"].string
            ) ?? []
        let ids = order.items.map { _ in world.newID(.subscriptionItem) }
        var subscription = Subscriptions.object(&world, "", order, items: [], instant: instant)
        subscription["discounts"] = JSON(
            order.discounts.map { Discounts.redeem(&world, $0, customer: customer) }
        )
        var invoice = Invoices.add(
            &world,
            InvoiceOrder(
                customer: customer,
                subscription: subscription,
                reason: "upcoming",
                currency: subscription["currency"].text,
                lines: SubscriptionOrder.firstLines(world, order, subscription: nil, items: ids)
                    + pending
                    + InvoiceItems.takePending(world, of: customer, subscription: nil),
                periodStart: instant,
                periodEnd: instant,
                finalizesByItself: false
            )
        )
        invoice["parent"]["subscription_details"]["subscription"] = .null
        if known == nil { invoice["customer"] = .null }
        return invoice
    }

    private static func readStart(
        _ world: inout World,
        of customer: String,
        _ part: inout Parameters
    ) throws -> SubscriptionOrder {
        guard let items = try SubscriptionOrder.readItems(&world, &part, "items"), !items.isEmpty
        else {
            throw APIError.missing(parameter: part.name("items"))
        }
        var order = SubscriptionOrder(customer: customer, items: items)
        let instant = world.now(for: customer)
        order.trialEnd = try part.instant("trial_end", now: instant).flatMap {
            $0 > instant ? $0 : nil
        }
        order.taxRates = try TaxRates.read(world, &part, "default_tax_rates") ?? []
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
    private static func readPreviewItems(
        _ world: inout World,
        _ parameters: inout Parameters,
        subscription: String?
    ) throws -> [InvoiceLine] {
        try parameters.objects("invoice_items") { part in
            let quantity = try part.int("quantity", in: 0...1_000_000) ?? 1
            let amount = try part.int("amount")
            var price: JSON = .null
            if part.has("price") || part.has("price_data") {
                price = try Prices.price(&world, in: &part)
            } else {
                let currency = try part.required("currency")
                guard amount != nil else { throw APIError.missing(parameter: part.name("amount")) }
                price = ["currency": .string(currency), "unit_amount_decimal": .null]
            }
            let line = InvoiceLine(
                amount: amount ?? Prices.amount(of: price, quantity),
                description: try part.string("description") ?? Products.name(world, of: price),
                price: price,
                quantity: quantity,
                start: world.now,
                end: world.now,
                subscription: subscription,
                taxRates: try TaxRates.read(world, &part, "tax_rates") ?? []
            )
            part.ignore("discountable", "discounts", "metadata", "period", "tax_behavior")
            return line
        } ?? []
    }
}
