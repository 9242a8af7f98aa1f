extension SubscriptionItems {
    /// Puts an item on another price or quantity and settles the difference.
    /// - Parameters:
    ///   - behavior: `create_prorations`, `always_invoice` or `none`.
    ///   - holds: whether a payment that fails leaves the subscription's status alone.
    ///   - settles: whether the difference is settled here at all.
    /// - Returns: how the payment went, if there was one.
    @discardableResult
    static func change(
        _ world: inout World,
        _ itemID: String,
        of id: String,
        price: JSON?,
        quantity: Int?,
        behavior: String,
        prorationDate: Int? = nil,
        holds: Bool = false,
        settles: Bool = true
    ) throws -> PaymentAttempt? {
        guard let before = world.get(.subscription, id),
            let old = before["items"].elements.first(where: { $0["id"].string == itemID })
        else { throw APIError.noSuch("subscription_item", itemID, param: "items[0][id]") }
        let customer = before["customer"].text
        let instant = prorationDate ?? world.now(for: customer)
        var item = old
        if let price { try setPrice(world, price, on: &item, of: before) }
        if let quantity { item["quantity"] = .int(quantity) }
        let changesInterval =
            old["price"]["recurring"]["interval"] != item["price"]["recurring"]["interval"]
            || old["price"]["recurring"]["interval_count"]
                != item["price"]["recurring"]["interval_count"]
        let isTrialing = before["status"].string == "trialing"
        let isClassic = Subscriptions.isClassic(before)
        let becomesPaid =
            Prices.amount(of: old["price"], 1) == 0 && Prices.amount(of: item["price"], 1) > 0
        let startsAnew = isClassic && (changesInterval || becomesPaid)
        var after = before
        let cycle = BillingCycle(
            anchor: startsAnew ? instant : before["billing_cycle_anchor"].count,
            recurring: item["price"]["recurring"]
        )
        if startsAnew || changesInterval, !isTrialing {
            // Flexible: the anchor stays, and the item's period now runs to the anchor's next day of
            // the new kind, for its share of the price. Classic: everything begins anew here.
            after["billing_cycle_anchor"] = .int(cycle.anchor)
            item["current_period_start"] = .int(instant)
            item["current_period_end"] = .int(cycle.next(after: instant))
        }
        let changed = item
        after["items"]["data"] = .array(
            before["items"].elements.map { $0["id"].string == itemID ? changed : $0 }
        )
        world.put(.subscription, after)
        let isOther = changed["price"] != old["price"] || changed["quantity"] != old["quantity"]
        guard settles, isOther, behavior != "none" || startsAnew, !isTrialing else { return nil }
        let lines = Proration.lines(
            world,
            from: old,
            to: changed,
            subscription: before,
            at: instant,
            startsAnew: startsAnew,
            credits: behavior != "none"
        )
        return try settle(
            &world,
            lines,
            of: id,
            customer: customer,
            now: behavior == "always_invoice" || startsAnew || changesInterval,
            holds: holds
        )
    }

    private static func setPrice(
        _ world: World,
        _ price: JSON,
        on item: inout JSON,
        of subscription: JSON
    ) throws {
        try Currencies.require(subscription["currency"].text, of: price, param: "price")
        let others = subscription["items"].elements.filter { $0["id"] != item["id"] }
        try Currencies.requireDistinct(
            (others.map { $0["price"] } + [price]).map { $0["id"].text },
            param: "price"
        )
        item["price"] = price
        item["plan"] = Prices.plan(of: price)
        item["quantity"] = 1  // Unless a quantity is sent along.
        item["_features"] = JSON(Features.ids(world, of: price))
    }

    /// Leaves lines for the next invoice, or bills them at once.
    ///
    /// - Parameter holds: whether a payment that fails leaves the subscription's status alone.
    /// - Returns: how the payment went, if there was one.
    @discardableResult
    static func settle(
        _ world: inout World,
        _ lines: [InvoiceLine],
        of id: String,
        customer: String,
        now isImmediate: Bool,
        holds: Bool = false
    ) throws -> PaymentAttempt? {
        guard !lines.isEmpty else { return nil }
        for line in lines { InvoiceItems.add(&world, line, customer: customer) }
        guard isImmediate else { return nil }
        let instant = world.now(for: customer)
        let subscription = world.get(.subscription, id) ?? .null
        let pending = InvoiceItems.takePending(world, of: customer, subscription: id)
        let invoice = Invoices.add(
            &world,
            InvoiceOrder(
                customer: customer,
                subscription: subscription,
                reason: "subscription_update",
                currency: subscription["currency"].text,
                lines: pending,
                periodStart: instant,
                periodEnd: instant,
                finalizesByItself: false
            )
        )
        let invoiceID = invoice["id"].text
        InvoiceItems.assign(&world, pending, to: invoiceID)
        world.change(.subscription, id) { $0["latest_invoice"] = .string(invoiceID) }
        if holds { world.change(.invoice, invoiceID) { $0["_holds_status"] = true } }
        Invoices.finalize(&world, invoiceID)
        return Invoices.collect(&world, invoiceID, offSession: true)
    }
}
