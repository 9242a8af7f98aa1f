extension World {
    /// Puts an item on another price or quantity and settles the difference.
    /// - Parameters:
    ///   - behavior: `create_prorations`, `always_invoice` or `none`.
    ///   - holds: whether a payment that fails leaves the subscription's status alone.
    ///   - settles: whether the difference is settled here at all.
    /// - Returns: how the payment went, if there was one.
    @discardableResult
    mutating func changeItem(
        _ itemID: String,
        of id: String,
        price: JSON?,
        quantity: Int?,
        behavior: String,
        prorationDate: Int? = nil,
        holds: Bool = false,
        settles: Bool = true
    ) throws -> PaymentAttempt? {
        guard let before = get(.subscription, id),
            let old = before["items"].elements.first(where: { $0["id"].string == itemID })
        else { throw APIError.noSuch("subscription_item", itemID, param: "items[0][id]") }
        let customer = before["customer"].text
        let instant = prorationDate ?? now(for: customer)
        var item = old
        if let price { try put(price, on: &item, of: before) }
        if let quantity { item["quantity"] = .int(quantity) }
        let changesInterval =
            old["price"]["recurring"]["interval"] != item["price"]["recurring"]["interval"]
            || old["price"]["recurring"]["interval_count"]
                != item["price"]["recurring"]["interval_count"]
        let isTrialing = before["status"].string == "trialing"
        let isClassic = Self.isClassic(before)
        let becomesPaid =
            Self.amount(of: old["price"], 1) == 0 && Self.amount(of: item["price"], 1) > 0
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
        put(.subscription, after)
        let isOther = changed["price"] != old["price"] || changed["quantity"] != old["quantity"]
        guard settles, isOther, behavior != "none" || startsAnew, !isTrialing else { return nil }
        let lines = prorationLines(
            from: old,
            to: changed,
            subscription: before,
            at: instant,
            startsAnew: startsAnew,
            credits: behavior != "none"
        )
        return try settle(
            lines,
            of: id,
            customer: customer,
            now: behavior == "always_invoice" || startsAnew || changesInterval,
            holds: holds
        )
    }

    private func put(_ price: JSON, on item: inout JSON, of subscription: JSON) throws {
        try Self.requireCurrency(subscription["currency"].text, of: price, param: "price")
        let others = subscription["items"].elements.filter { $0["id"] != item["id"] }
        try Self.requireDistinct(
            (others.map { $0["price"] } + [price]).map { $0["id"].text },
            param: "price"
        )
        item["price"] = price
        item["plan"] = Self.plan(of: price)
        item["quantity"] = 1  // Unless a quantity is sent along.
        item["_features"] = JSON(features(of: price))
    }

    /// Credit for the unused time of the old price, debit for the remaining time of the new one.
    func prorationLines(
        from old: JSON,
        to new: JSON,
        subscription: JSON,
        at instant: Int,
        startsAnew: Bool,
        credits: Bool = true
    ) -> [InvoiceLine] {
        let end = old["current_period_end"].count
        guard instant < end else { return [] }
        let day = CalendarDate(instant).words
        func line(_ item: JSON, amount: Int, words: String, end: Int) -> InvoiceLine {
            InvoiceLine(
                amount: amount,
                description: "\(words) \(productName(of: item["price"])) after \(day)",
                price: item["price"],
                quantity: item["quantity"].int ?? 1,
                start: instant,
                end: end,
                subscription: subscription["id"].string,
                subscriptionItem: item["id"].string,
                isProration: true,
                metadata: subscription["metadata"],
                taxRates: item["tax_rates"].elements
            )
        }
        let newAmount = Self.amount(of: new["price"], new["quantity"].int ?? 1)
        var lines: [InvoiceLine] = []
        if credits {
            var credit = line(
                old,
                amount: -unusedAmount(of: old, in: subscription, at: instant),
                words: "Unused time on",
                end: end
            )
            credit.prorationDetails = ["credited_items": creditedItems(old)]
            lines.append(credit)
        }
        if startsAnew {
            var debit = line(
                new,
                amount: newAmount,
                words: "Remaining time on",
                end: new["current_period_end"].count
            )
            debit.description = InvoiceLine.description(
                debit.quantity,
                productName(of: new["price"]),
                new["price"]
            )
            debit.isProration = false
            lines.append(debit)
        } else {
            lines.append(
                line(
                    new,
                    amount: remainingAmount(of: new, since: old, in: subscription, at: instant),
                    words: "Remaining time on",
                    end: new["current_period_end"].count
                )
            )
        }
        return lines
    }

    /// The price of the rest of an item's period: its share of the whole period that ends then.
    private func remainingAmount(
        of new: JSON,
        since old: JSON,
        in subscription: JSON,
        at instant: Int
    ) -> Int {
        let end = new["current_period_end"].count
        let cycle = BillingCycle(
            anchor: subscription["billing_cycle_anchor"].count,
            recurring: new["price"]["recurring"]
        )
        return Proration.share(
            of: netAmount(of: new, in: subscription, at: instant),
            from: instant,
            start: cycle.start(ofPeriodEndingAt: end) ?? old["current_period_start"].count,
            end: end
        )
    }

    /// The invoice line that a credit gives back.
    private func creditedItems(_ item: JSON) -> JSON {
        for invoice in all(.invoice).reversed() {
            let line = invoice["lines"].elements.first { line in
                let details = line["parent"]["subscription_item_details"]
                return details["subscription_item"] == item["id"]
                    && details["proration"].bool == false && line["amount"].count > 0
            }
            if let line {
                return ["invoice": invoice["id"], "invoice_line_items": [line["id"]]]
            }
        }
        return .null
    }

    /// Leaves lines for the next invoice, or bills them at once.
    ///
    /// - Parameter holds: whether a payment that fails leaves the subscription's status alone.
    /// - Returns: how the payment went, if there was one.
    @discardableResult
    mutating func settle(
        _ lines: [InvoiceLine],
        of id: String,
        customer: String,
        now isImmediate: Bool,
        holds: Bool = false
    ) throws -> PaymentAttempt? {
        guard !lines.isEmpty else { return nil }
        for line in lines { addPendingItem(line, customer: customer) }
        guard isImmediate else { return nil }
        let instant = now(for: customer)
        let subscription = get(.subscription, id) ?? .null
        let pending = takePendingItems(of: customer, subscription: id)
        let invoice = addInvoice(
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
        assignPendingItems(pending, to: invoiceID)
        change(.subscription, id) { $0["latest_invoice"] = .string(invoiceID) }
        if holds { change(.invoice, invoiceID) { $0["_holds_status"] = true } }
        finalize(invoiceID)
        return collect(invoiceID, offSession: true)
    }

    /// Plans the end of a subscription for the earliest end of an item's period, or takes that back.
    ///
    /// https://docs.stripe.com/changelog/basil/2025-07-30/cancel-at-enums
    mutating func setCancelAtPeriodEnd(_ subscription: inout JSON, _ cancels: Bool) {
        let instant = now(for: subscription["customer"].string)
        let end = subscription["items"].elements.compactMap { $0["current_period_end"].int }.min()
        subscription["cancel_at_period_end"] = .bool(cancels)
        subscription["cancel_at"] = cancels ? JSON(end) : .null
        subscription["canceled_at"] = cancels ? .int(instant) : .null
        subscription["cancellation_details"]["reason"] = cancels ? "cancellation_requested" : .null
    }
}
