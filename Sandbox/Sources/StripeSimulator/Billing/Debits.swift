// What an item costs and was billed for, from which prorations are reckoned.
// https://docs.stripe.com/billing/subscriptions/billing-mode

extension World {
    /// What was billed for an item and the time it was for.
    struct Debit: Hashable, Sendable {
        /// Net of discounts.
        var amount: Int
        var start: Int
        var end: Int
    }

    static func isClassic(_ subscription: JSON) -> Bool {
        subscription["billing_mode"]["type"].string == "classic"
    }

    /// What a full period of an item costs, less the item's share of the discounts that still apply.
    func netAmount(of item: JSON, in subscription: JSON, at instant: Int) -> Int {
        let others = subscription["items"].elements.filter { $0["id"] != item["id"] }
        let items = [item] + others
        var amounts = items.map { Self.amount(of: $0["price"], $0["quantity"].int ?? 1) }
        for reference in liveDiscounts(of: subscription, at: instant).elements {
            let discount = get(.discount, reference.reference) ?? .null
            let coupon = get(.coupon, discount["source"]["coupon"].reference) ?? .null
            let products = coupon["_applies_to"]["products"].array?.compactMap(\.string)
            let discounted = zip(items, amounts).map { item, amount -> Int in
                let product = item["price"]["product"].reference ?? ""
                return products.map { $0.contains(product) } ?? true ? amount : 0
            }
            let shares = Self.shares(of: coupon, on: discounted)
            for (index, share) in shares.enumerated() { amounts[index] -= share }
        }
        return max(0, amounts[0])
    }

    /// What the unused time of an item is worth.
    ///
    /// Classic billing gives back what the price says; flexible billing what was billed last for
    /// that time, which is another amount where an earlier change was not prorated.
    func unusedAmount(of item: JSON, in subscription: JSON, at instant: Int) -> Int {
        guard Self.isClassic(subscription) else {
            guard let debit = latestDebit(of: item, in: subscription, after: instant) else {
                return 0
            }
            return Proration.share(
                of: debit.amount,
                from: instant,
                start: debit.start,
                end: debit.end
            )
        }
        return Proration.share(
            of: netAmount(of: item, in: subscription, at: instant),
            from: instant,
            start: item["current_period_start"].count,
            end: item["current_period_end"].count
        )
    }

    /// The latest bill for an item's time after `instant`, on an invoice or waiting for one.
    ///
    /// Lines of one invoice for the same time are one bill: a graduated price has one for each tier.
    private func latestDebit(of item: JSON, in subscription: JSON, after instant: Int) -> Debit? {
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
        for invoice in all(.invoice)
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
        for pending in all(.invoiceItem)
        where pending["invoice"].isNull
            && pending["parent"]["subscription_details"]["subscription_item"] == item["id"]
        {
            consider(pending["amount"].count, pending["period"], of: nil)
        }
        return latest
    }
}
