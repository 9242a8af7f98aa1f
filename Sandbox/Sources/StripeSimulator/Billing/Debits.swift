// What an item costs and was billed for, from which prorations are reckoned.
// https://docs.stripe.com/billing/subscriptions/billing-mode

extension Proration {
    /// What was billed for an item and the time it was for.
    struct Debit: Hashable, Sendable {
        /// Net of discounts.
        var amount: Int
        var start: Int
        var end: Int
    }

    /// What a full period of an item costs, less the item's share of the discounts that still apply.
    static func netAmount(
        _ world: World,
        of item: JSON,
        in subscription: JSON,
        at instant: Int
    ) -> Int {
        let others = subscription["items"].elements.filter { $0["id"] != item["id"] }
        let items = [item] + others
        var amounts = items.map { Prices.amount(of: $0["price"], $0["quantity"].int ?? 1) }
        for reference in Discounts.live(world, of: subscription, at: instant).elements {
            let discount = world.get(.discount, reference.reference) ?? .null
            let coupon = world.get(.coupon, discount["source"]["coupon"].reference) ?? .null
            let products = coupon["_applies_to"]["products"].array?.compactMap(\.string)
            let discounted = zip(items, amounts).map { item, amount -> Int in
                let product = item["price"]["product"].reference ?? ""
                return products.map { $0.contains(product) } ?? true ? amount : 0
            }
            let shares = Discounts.shares(of: coupon, on: discounted)
            for (index, share) in shares.enumerated() { amounts[index] -= share }
        }
        return max(0, amounts[0])
    }

    /// What the unused time of an item is worth.
    ///
    /// Classic billing gives back what the price says; flexible billing what was billed last for
    /// that time, which is another amount where an earlier change was not prorated.
    static func unusedAmount(
        _ world: World,
        of item: JSON,
        in subscription: JSON,
        at instant: Int
    ) -> Int {
        guard Subscriptions.isClassic(subscription) else {
            guard let debit = latestDebit(world, of: item, in: subscription, after: instant) else {
                return 0
            }
            return share(
                of: debit.amount,
                from: instant,
                start: debit.start,
                end: debit.end
            )
        }
        return share(
            of: netAmount(world, of: item, in: subscription, at: instant),
            from: instant,
            start: item["current_period_start"].count,
            end: item["current_period_end"].count
        )
    }

    /// The latest bill for an item's time after `instant`, on an invoice or waiting for one.
    ///
    /// Lines of one invoice for the same time are one bill: a graduated price has one for each tier.
    private static func latestDebit(
        _ world: World,
        of item: JSON,
        in subscription: JSON,
        after instant: Int
    ) -> Debit? {
        var latest: Debit?
        var source: JSON?
        func consider(_ amount: Int, _ period: JSON, of tiers: JSON?) {
            var debit = Debit(
                amount: amount,
                start: period["start"].count,
                end: period["end"].count
            )
            guard debit.amount > 0, debit.end > instant, debit.start >= latest?.start ?? .min
            else { return }
            if let latest, tiers != nil, tiers == source, latest.start == debit.start {
                debit.amount += latest.amount
            }
            (latest, source) = (debit, tiers)
        }
        for invoice in world.all(.invoice)
        where invoice["parent"]["subscription_details"]["subscription"] == subscription["id"]
            && invoice["status"].string != "void"
        {
            for line in invoice["lines"].elements
            where line["parent"]["subscription_item_details"]["subscription_item"] == item["id"] {
                let off = line["discount_amounts"].elements.map { $0["amount"].count }
                consider(
                    line["amount"].count - off.reduce(0, +),
                    line["period"],
                    of: line["_tier"].int == nil ? nil : invoice["id"]
                )
            }
        }
        for pending in world.all(.invoiceItem)
        where pending["invoice"].isNull
            && pending["parent"]["subscription_details"]["subscription_item"] == item["id"]
        {
            consider(pending["amount"].count, pending["period"], of: nil)
        }
        return latest
    }

    /// Credit for the unused time of the old price, debit for the remaining time of the new one.
    static func lines(
        _ world: World,
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
                description: "\(words) \(Products.name(world, of: item["price"])) after \(day)",
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
        let newAmount = Prices.amount(of: new["price"], new["quantity"].int ?? 1)
        var lines: [InvoiceLine] = []
        if credits {
            var credit = line(
                old,
                amount: -unusedAmount(world, of: old, in: subscription, at: instant),
                words: "Unused time on",
                end: end
            )
            credit.prorationDetails = ["credited_items": creditedItems(world, old)]
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
                Products.name(world, of: new["price"]),
                new["price"]
            )
            debit.isProration = false
            lines.append(debit)
        } else {
            let amount = remainingAmount(world, of: new, since: old, in: subscription, at: instant)
            let end = new["current_period_end"].count
            lines.append(line(new, amount: amount, words: "Remaining time on", end: end))
        }
        return lines
    }

    /// The price of the rest of an item's period: its share of the whole period that ends then.
    private static func remainingAmount(
        _ world: World,
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
        return share(
            of: netAmount(world, of: new, in: subscription, at: instant),
            from: instant,
            start: cycle.start(ofPeriodEndingAt: end) ?? old["current_period_start"].count,
            end: end
        )
    }

    /// The invoice line that a credit gives back.
    private static func creditedItems(_ world: World, _ item: JSON) -> JSON {
        for invoice in world.all(.invoice).reversed() {
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
}
