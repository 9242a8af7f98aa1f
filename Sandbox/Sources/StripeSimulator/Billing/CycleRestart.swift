// `billing_cycle_anchor` now: every period begins anew.
// https://docs.stripe.com/billing/subscriptions/billing-cycle

extension Subscriptions {
    /// Begins every item's period at the present: what is left of the old ones is credited, the new
    /// ones are billed in full at once.
    ///
    /// - Parameters:
    ///   - before: the subscription as it was before the request.
    ///   - behavior: with `none` nothing is credited.
    /// - Returns: how the payment went.
    static func restartCycle(
        _ world: inout World,
        of id: String,
        before: JSON,
        behavior: String,
        holds: Bool
    ) throws -> PaymentAttempt? {
        guard var after = world.get(.subscription, id) else { return nil }
        let customer = after["customer"].text
        let instant = world.now(for: customer)
        let old = before["items"].elements
        var lines: [InvoiceLine] = []
        var items: [JSON] = []
        for var item in after["items"].elements {
            let cycle = BillingCycle(anchor: instant, recurring: item["price"]["recurring"])
            item["current_period_start"] = .int(instant)
            item["current_period_end"] = .int(cycle.next(after: instant))
            let previous = old.first { $0["id"] == item["id"] }
            if let previous, before["status"].string != "trialing" {
                lines += Proration.lines(
                    world,
                    from: previous,
                    to: item,
                    subscription: before,
                    at: instant,
                    startsAnew: true,
                    credits: behavior != "none"
                )
            } else {
                lines.append(renewalLine(world, item, subscription: after, customer: customer))
            }
            items.append(item)
        }
        let restarted = items
        after["billing_cycle_anchor"] = .int(instant)
        after["items"]["data"] = .array(restarted)
        world.put(.subscription, after)
        return try SubscriptionItems.settle(
            &world,
            lines,
            of: id,
            customer: customer,
            now: true,
            holds: holds
        )
    }
}
