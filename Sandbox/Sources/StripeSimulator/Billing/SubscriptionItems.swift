extension World {
    /// Adds a product to a running subscription, for the rest of its period.
    ///
    /// - Parameter holds: whether a payment that fails leaves the subscription's status alone.
    /// - Returns: the item's id, and how the payment went, if there was one.
    @discardableResult
    mutating func addItem(
        _ item: SubscriptionOrder.Item,
        to id: String,
        behavior: String,
        holds: Bool = false
    ) throws -> (id: String, outcome: PaymentAttempt?) {
        let before = try find(.subscription, id, param: "subscription")
        let currency = before["currency"].text
        try Self.requireCurrency(currency, of: item.price, param: "price")
        try Self.requireDistinct(
            (before["items"].elements.map { $0["price"] } + [item.price]).map { $0["id"].text },
            param: "price"
        )
        let customer = before["customer"].text
        let instant = now(for: customer)
        let cycle = BillingCycle(
            anchor: before["billing_cycle_anchor"].count,
            recurring: item.price["recurring"]
        )
        let end = cycle.next(after: instant)
        let itemID = newID(.subscriptionItem)
        let object = itemObject(
            itemID,
            item,
            subscription: id,
            start: instant,
            end: end,
            created: instant
        )
        change(.subscription, id) { subscription in
            subscription["items"]["data"] = .array(subscription["items"].elements + [object])
        }
        guard behavior != "none", before["status"].string != "trialing" else {
            return (itemID, nil)
        }
        let length = cycle.boundary(1) - cycle.anchor
        let amount = Proration.share(
            of: netAmount(of: object, in: before, at: instant),
            from: instant,
            start: end - length,
            end: end
        )
        let line = InvoiceLine(
            amount: amount,
            description: "Remaining time on \(productName(of: item.price)) after "
                + CalendarDate(instant).words,
            price: item.price,
            quantity: item.quantity,
            start: instant,
            end: end,
            subscription: id,
            subscriptionItem: itemID,
            isProration: true,
            metadata: before["metadata"],
            taxRates: item.taxRates
        )
        let outcome = try settle(
            [line],
            of: id,
            customer: customer,
            now: behavior == "always_invoice",
            holds: holds
        )
        return (itemID, outcome)
    }

    /// Takes a product out of a running subscription.
    mutating func removeItem(_ itemID: String, of id: String, behavior: String) throws {
        let before = try find(.subscription, id)
        guard let item = before["items"].elements.first(where: { $0["id"].string == itemID }) else {
            throw APIError.noSuch("subscription_item", itemID, param: "items[0][id]")
        }
        guard before["items"].elements.count > 1 else {
            throw APIError.invalid("A subscription must have at least one active plan.")
        }
        change(.subscription, id) { subscription in
            subscription["items"]["data"] = .array(
                subscription["items"].elements.filter { $0["id"].string != itemID }
            )
        }
        guard behavior != "none", before["status"].string != "trialing" else { return }
        let customer = before["customer"].text
        let credit = prorationLines(
            from: item,
            to: item,
            subscription: before,
            at: now(for: customer),
            startsAnew: false
        ).prefix(1)
        try settle(Array(credit), of: id, customer: customer, now: behavior == "always_invoice")
    }

    /// Gives an item other rates; `nil` leaves them.
    mutating func setTaxRates(_ rates: [JSON]?, of item: String, in subscription: String) {
        guard let rates else { return }
        change(.subscription, subscription) { subscription in
            subscription["items"]["data"] = .array(
                subscription["items"].elements.map { one in
                    var one = one
                    if one["id"].string == item { one["tax_rates"] = .array(rates) }
                    return one
                }
            )
        }
    }

    private func holder(of item: String) -> JSON? {
        all(.subscription).first { subscription in
            subscription["items"].elements.contains { $0["id"].string == item }
        }
    }

    private func findItem(_ id: String) throws -> (item: JSON, subscription: JSON) {
        guard let holder = holder(of: id),
            let item = holder["items"].elements.first(where: { $0["id"].string == id })
        else { throw APIError.noSuch("subscription_item", id) }
        return (item, holder)
    }

    /// What a change of one item comes to whose payment went so.
    private mutating func conclude(
        _ outcome: PaymentAttempt?,
        of id: String,
        before: JSON,
        _ behavior: PaymentBehavior
    ) throws {
        guard let outcome else { return }
        if behavior == .errorIfIncomplete { try refuse(outcome) }
        if behavior == .pendingIfIncomplete, outcome != .succeeded {
            holdUpdate(of: id, before: before)
        }
    }

    static let subscriptionItemRoutes: [Route] = [
        .get("subscription_items") { world, call in
            let id = try call.parameters.required("subscription")
            let subscription = try world.find(.subscription, id, param: "subscription")
            return try call.page(
                subscription["items"].elements,
                url: "/v1/subscription_items"
            )
        },
        .get("subscription_items/:id") { world, call in try world.findItem(call.ids[0]).item },
        .post("subscription_items") { world, call in
            let id = try call.parameters.required("subscription")
            let before = try world.find(.subscription, id, param: "subscription")
            let behavior = try call.parameters.string("proration_behavior")
            let price = try world.price(in: &call.parameters)
            let quantity = try call.parameters.int("quantity", in: 0...1_000_000) ?? 1
            var noted: JSON = ["metadata": [:]]
            try call.parameters.metadata(into: &noted)
            let rates = try world.readTaxRates(&call.parameters, "tax_rates") ?? []
            let payment = try world.paymentBehavior(&call.parameters)
            call.parameters.ignore("proration_date")
            let (item, outcome) = try world.addItem(
                SubscriptionOrder.Item(
                    price: price,
                    quantity: quantity,
                    metadata: noted["metadata"],
                    taxRates: rates
                ),
                to: id,
                behavior: behavior ?? "create_prorations",
                holds: payment == .pendingIfIncomplete
            )
            // One that waits for its payment is answered as it will be.
            let added = try world.findItem(item).item
            try world.conclude(outcome, of: id, before: before, payment)
            world.announceChange(of: before)
            return added
        },
        .post("subscription_items/:id") { world, call in
            let (_, before) = try world.findItem(call.ids[0])
            let behavior = try call.parameters.string("proration_behavior")
            let date = try call.parameters.int("proration_date")
            let changesPrice = call.parameters.has("price") || call.parameters.has("price_data")
            let price = changesPrice ? try world.price(in: &call.parameters) : nil
            let quantity = try call.parameters.int("quantity", in: 0...1_000_000)
            let payment = try world.paymentBehavior(&call.parameters)
            let rates = try world.readTaxRates(&call.parameters, "tax_rates")
            call.parameters.ignore("off_session", "metadata")
            let id = before["id"].text
            world.setTaxRates(rates, of: call.ids[0], in: id)
            let outcome = try world.changeItem(
                call.ids[0],
                of: id,
                price: price,
                quantity: quantity,
                behavior: behavior ?? "create_prorations",
                prorationDate: date,
                holds: payment == .pendingIfIncomplete
            )
            try world.conclude(outcome, of: id, before: before, payment)
            world.announceChange(of: before)
            return try world.findItem(call.ids[0]).item
        },
        .delete("subscription_items/:id") { world, call in
            let (_, before) = try world.findItem(call.ids[0])
            let behavior = try call.parameters.string("proration_behavior")
            call.parameters.ignore("clear_usage", "payment_behavior", "proration_date")
            try world.removeItem(
                call.ids[0],
                of: before["id"].text,
                behavior: behavior ?? "create_prorations"
            )
            world.announceChange(of: before)
            return [
                "id": .string(call.ids[0]), "object": "subscription_item", "deleted": true,
            ]
        },
    ]
}
