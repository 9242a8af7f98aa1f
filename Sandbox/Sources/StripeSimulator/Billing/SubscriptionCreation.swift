// What a request for a new subscription says. https://docs.stripe.com/api/subscriptions/create

extension SubscriptionOrder {
    static func read(
        _ world: inout World,
        _ parameters: inout Parameters
    ) throws -> SubscriptionOrder {
        let customer = try parameters.required("customer")
        _ = try world.find(.customer, customer, param: "customer")
        guard let items = try readItems(&world, &parameters, "items"), let first = items.first
        else {
            throw APIError.missing(parameter: "items")
        }
        var order = SubscriptionOrder(customer: customer, items: items)
        order.extras = try readItems(&world, &parameters, "add_invoice_items") ?? []
        let currency = try parameters.string("currency") ?? first.price["currency"].text
        try requireOneCurrency(world, order, currency)
        try readTimes(world, &parameters, into: &order)
        try readCollection(world, &parameters, into: &order)
        order.description = try parameters.string("description")
        order.taxRates = try TaxRates.read(world, &parameters, "default_tax_rates") ?? []
        try parameters.object("billing_mode") { part in
            order.billingMode = try part.string("type") ?? "flexible"
            part.ignore("flexible")
        }
        order.discounts =
            try Discounts.read(world, &parameters, customer: customer, currency: currency) ?? []
        var noted: JSON = ["metadata": [:]]
        try parameters.metadata(into: &noted)
        order.metadata = noted["metadata"]
        parameters.ignore(
            "automatic_tax",
            "backdate_start_date",
            "invoice_settings",
            "pending_invoice_item_interval"
        )
        return order
    }

    /// Reads `items` or `add_invoice_items`.
    static func readItems(
        _ world: inout World,
        _ parameters: inout Parameters,
        _ field: String
    ) throws -> [SubscriptionOrder.Item]? {
        let items = try parameters.objects(field) { part in
            let price = try Prices.price(&world, in: &part)
            if field == "items", price["recurring"].isNull {
                throw APIError.invalid(
                    "The price specified is set to `type=one_time` but this field only accepts "
                        + "prices with `type=recurring`.",
                    param: part.name("price")
                )
            }
            var noted: JSON = ["metadata": [:]]
            try part.metadata(into: &noted)
            part.ignore("discounts", "billing_thresholds", "period")
            return SubscriptionOrder.Item(
                price: price,
                quantity: try part.int("quantity", in: 0...1_000_000) ?? 1,
                metadata: noted["metadata"],
                taxRates: try TaxRates.read(world, &part, "tax_rates") ?? []
            )
        }
        if field == "items", let items {
            try Currencies.requireDistinct(items.map(\.price["id"].text), param: field)
        }
        return items
    }

    private static func requireOneCurrency(
        _ world: World,
        _ order: SubscriptionOrder,
        _ currency: String
    ) throws {
        for (index, item) in order.items.enumerated() {
            try Currencies.require(currency, of: item.price, param: "items[\(index)][price]")
        }
        for (index, item) in order.extras.enumerated() {
            let param = "add_invoice_items[\(index)][price]"
            try Currencies.require(currency, of: item.price, param: param)
        }
        try Currencies.require(world, currency, of: order.customer)
    }

    /// Reads when the trial, the periods and the subscription end.
    private static func readTimes(
        _ world: World,
        _ parameters: inout Parameters,
        into order: inout SubscriptionOrder
    ) throws {
        let instant = world.now(for: order.customer)
        order.trialEnd = try trialEnd(&parameters, now: instant)
        if try parameters.bool("trial_from_plan") == true, order.trialEnd == nil {
            let days = order.items.compactMap { $0.price["recurring"]["trial_period_days"].int }
            order.trialEnd = days.max().flatMap { $0 > 0 ? instant + $0 * 86_400 : nil }
        }
        order.anchor = try parameters.int("billing_cycle_anchor")
        if let anchor = order.anchor, anchor <= instant {
            throw APIError.invalid(
                "billing_cycle_anchor must be in the future",
                param: "billing_cycle_anchor"
            )
        }
        order.cancelAt = try parameters.int("cancel_at")
        order.cancelAtPeriodEnd = try parameters.bool("cancel_at_period_end") ?? false
        order.proratesToAnchor = try parameters.string("proration_behavior") != "none"
        try parameters.object("trial_settings") { part in
            try part.object("end_behavior") { inner in
                order.missingPaymentMethod =
                    try inner.string("missing_payment_method") ?? "create_invoice"
            }
        }
    }

    /// Reads when a trial ends: `trial_end` or `trial_period_days`.
    static func trialEnd(_ parameters: inout Parameters, now instant: Int) throws -> Int? {
        let days = try parameters.int("trial_period_days", in: 0...730)
        let sent = try parameters.string("trial_end")
        if sent == "now" { return nil }
        if let sent {
            guard let end = Int(sent), end > instant, end <= instant + 730 * 86_400 else {
                throw APIError.invalid(
                    "Invalid timestamp: must be in the future",
                    param: "trial_end"
                )
            }
            return end
        }
        return days.flatMap { $0 > 0 ? instant + $0 * 86_400 : nil }
    }

    /// Reads how its invoices are paid.
    private static func readCollection(
        _ world: World,
        _ parameters: inout Parameters,
        into order: inout SubscriptionOrder
    ) throws {
        order.offSession = try parameters.bool("off_session") ?? false
        let behaviors = [
            "allow_incomplete", "default_incomplete", "error_if_incomplete",
            "pending_if_incomplete",
        ]
        order.paymentBehavior =
            try parameters.choice("payment_behavior", of: behaviors) ?? "allow_incomplete"
        (order.collectionMethod, order.daysUntilDue) = try Invoices.readCollectionMethod(
            &parameters
        )
        if let method = try parameters.string("default_payment_method") {
            let param = "default_payment_method"
            order.paymentMethod = try world.find(.paymentMethod, method, param: param)["id"].string
        }
        try parameters.object("payment_settings") { part in
            order.savesPaymentMethod =
                try part.string("save_default_payment_method") == "on_subscription"
            part.ignore("payment_method_options", "payment_method_types")
        }
    }
}
