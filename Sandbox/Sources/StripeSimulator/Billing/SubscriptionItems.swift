/// Subscription items: the products of a running subscription.
/// https://docs.stripe.com/api/subscription_items
enum SubscriptionItems {
    /// Adds a product to a running subscription, for the rest of its period.
    ///
    /// - Parameter holds: whether a payment that fails leaves the subscription's status alone.
    /// - Returns: the item's id, and how the payment went, if there was one.
    @discardableResult
    static func add(
        _ world: inout World,
        _ item: SubscriptionOrder.Item,
        to id: String,
        behavior: String,
        holds: Bool = false
    ) throws -> (id: String, outcome: PaymentAttempt?) {
        let before = try world.find(.subscription, id, param: "subscription")
        let currency = before["currency"].text
        try Currencies.require(currency, of: item.price, param: "price")
        try Currencies.requireDistinct(
            (before["items"].elements.map { $0["price"] } + [item.price]).map { $0["id"].text },
            param: "price"
        )
        let customer = before["customer"].text
        let instant = world.now(for: customer)
        let cycle = BillingCycle(
            anchor: before["billing_cycle_anchor"].count,
            recurring: item.price["recurring"]
        )
        let end = cycle.next(after: instant)
        let itemID = world.newID(.subscriptionItem)
        let object = Subscriptions.itemObject(
            world,
            itemID,
            item,
            subscription: id,
            start: instant,
            end: end,
            created: instant
        )
        world.change(.subscription, id) { subscription in
            subscription["items"]["data"] = .array(subscription["items"].elements + [object])
        }
        guard behavior != "none", before["status"].string != "trialing" else {
            return (itemID, nil)
        }
        let length = cycle.boundary(1) - cycle.anchor
        let amount = Proration.share(
            of: Proration.netAmount(world, of: object, in: before, at: instant),
            from: instant,
            start: end - length,
            end: end
        )
        let line = InvoiceLine(
            amount: amount,
            description: "Remaining time on \(Products.name(world, of: item.price)) after "
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
            &world,
            [line],
            of: id,
            customer: customer,
            now: behavior == "always_invoice",
            holds: holds
        )
        return (itemID, outcome)
    }

    /// Takes a product out of a running subscription.
    static func remove(_ world: inout World, _ itemID: String, of id: String, behavior: String)
        throws
    {
        let before = try world.find(.subscription, id)
        guard let item = before["items"].elements.first(where: { $0["id"].string == itemID }) else {
            throw APIError.noSuch("subscription_item", itemID, param: "items[0][id]")
        }
        guard before["items"].elements.count > 1 else {
            throw APIError.invalid("A subscription must have at least one active plan.")
        }
        world.change(.subscription, id) { subscription in
            subscription["items"]["data"] = .array(
                subscription["items"].elements.filter { $0["id"].string != itemID }
            )
        }
        guard behavior != "none", before["status"].string != "trialing" else { return }
        let customer = before["customer"].text
        let credit = Proration.lines(
            world,
            from: item,
            to: item,
            subscription: before,
            at: world.now(for: customer),
            startsAnew: false
        ).prefix(1)
        try settle(
            &world,
            Array(credit),
            of: id,
            customer: customer,
            now: behavior == "always_invoice"
        )
    }

    /// Gives an item other rates; `nil` leaves them.
    static func setTaxRates(
        _ world: inout World,
        _ rates: [JSON]?,
        of item: String,
        in subscription: String
    ) {
        guard let rates else { return }
        world.change(.subscription, subscription) { subscription in
            subscription["items"]["data"] = .array(
                subscription["items"].elements.map { one in
                    var one = one
                    if one["id"].string == item { one["tax_rates"] = .array(rates) }
                    return one
                }
            )
        }
    }

    private static func holder(_ world: World, of item: String) -> JSON? {
        world.all(.subscription).first { subscription in
            subscription["items"].elements.contains { $0["id"].string == item }
        }
    }

    private static func find(_ world: World, _ id: String) throws -> (
        item: JSON, subscription: JSON
    ) {
        guard let holder = holder(world, of: id),
            let item = holder["items"].elements.first(where: { $0["id"].string == id })
        else { throw APIError.noSuch("subscription_item", id) }
        return (item, holder)
    }

    /// What a change of one item comes to whose payment went so.
    private static func conclude(
        _ world: inout World,
        _ outcome: PaymentAttempt?,
        of id: String,
        before: JSON,
        _ behavior: PaymentBehavior
    ) throws {
        guard let outcome else { return }
        if behavior == .errorIfIncomplete { try PendingUpdates.refuse(outcome) }
        if behavior == .pendingIfIncomplete, outcome != .succeeded {
            PendingUpdates.hold(&world, of: id, before: before)
        }
    }

    static let routes: [Route] = [
        .get("subscription_items") { world, call in
            let id = try call.parameters.required("subscription")
            let subscription = try world.find(.subscription, id, param: "subscription")
            return try call.page(
                subscription["items"].elements,
                url: "/v1/subscription_items"
            )
        },
        .get("subscription_items/:id") { world, call in try find(world, call.ids[0]).item },
        .post("subscription_items") { world, call in
            let id = try call.parameters.required("subscription")
            let before = try world.find(.subscription, id, param: "subscription")
            let behavior = try call.parameters.string("proration_behavior")
            let price = try Prices.price(&world, in: &call.parameters)
            let quantity = try call.parameters.int("quantity", in: 0...1_000_000) ?? 1
            var noted: JSON = ["metadata": [:]]
            try call.parameters.metadata(into: &noted)
            let rates = try TaxRates.read(world, &call.parameters, "tax_rates") ?? []
            let payment = try Subscriptions.paymentBehavior(&call.parameters)
            call.parameters.ignore("proration_date")
            let (item, outcome) = try add(
                &world,
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
            let added = try find(world, item).item
            try conclude(&world, outcome, of: id, before: before, payment)
            Subscriptions.announceChange(&world, of: before)
            return added
        },
        .post("subscription_items/:id") { world, call in
            let (_, before) = try find(world, call.ids[0])
            let behavior = try call.parameters.string("proration_behavior")
            let date = try call.parameters.int("proration_date")
            let changesPrice = call.parameters.has("price") || call.parameters.has("price_data")
            let price = changesPrice ? try Prices.price(&world, in: &call.parameters) : nil
            let quantity = try call.parameters.int("quantity", in: 0...1_000_000)
            let payment = try Subscriptions.paymentBehavior(&call.parameters)
            let rates = try TaxRates.read(world, &call.parameters, "tax_rates")
            call.parameters.ignore("off_session", "metadata")
            let id = before["id"].text
            setTaxRates(&world, rates, of: call.ids[0], in: id)
            let outcome = try change(
                &world,
                call.ids[0],
                of: id,
                price: price,
                quantity: quantity,
                behavior: behavior ?? "create_prorations",
                prorationDate: date,
                holds: payment == .pendingIfIncomplete
            )
            try conclude(&world, outcome, of: id, before: before, payment)
            Subscriptions.announceChange(&world, of: before)
            return try find(world, call.ids[0]).item
        },
        .delete("subscription_items/:id") { world, call in
            let (_, before) = try find(world, call.ids[0])
            let behavior = try call.parameters.string("proration_behavior")
            call.parameters.ignore("clear_usage", "payment_behavior", "proration_date")
            try remove(
                &world,
                call.ids[0],
                of: before["id"].text,
                behavior: behavior ?? "create_prorations"
            )
            Subscriptions.announceChange(&world, of: before)
            return [
                "id": .string(call.ids[0]), "object": "subscription_item", "deleted": true,
            ]
        },
    ]
}
