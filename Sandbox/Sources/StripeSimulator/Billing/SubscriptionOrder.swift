/// What is to become a subscription.
struct SubscriptionOrder: Sendable {
    struct Item: Sendable {
        var price: JSON
        var quantity = 1
        var metadata: JSON = [:]
        var taxRates: [JSON] = []
    }

    var customer: String
    var items: [Item]
    /// One-time prices on the first invoice.
    var extras: [Item] = []
    var metadata: JSON = [:]
    /// For items without rates of their own.
    var taxRates: [JSON] = []
    var description: String?
    var trialEnd: Int?
    var missingPaymentMethod = "create_invoice"
    var anchor: Int?
    var proratesToAnchor = true
    var cancelAt: Int?
    var cancelAtPeriodEnd = false
    var paymentMethod: String?
    var paymentBehavior = "allow_incomplete"
    var collectionMethod = "charge_automatically"
    /// How long a customer may take to pay an invoice that was sent.
    var daysUntilDue: Int?
    var offSession = false
    var billingMode = "flexible"
    var discounts: [DiscountChoice] = []
    /// The Checkout session through which it came.
    var session: String?
    /// The intent with which a Checkout session has paid the first invoice already.
    var paidBy: String?
    var savesPaymentMethod = false
}

extension SubscriptionOrder {
    /// The lines of the first invoice, and the period that each item is paid for.
    static func firstLines(
        _ world: World,
        _ order: SubscriptionOrder,
        subscription: String?,
        items ids: [String]
    ) -> [InvoiceLine] {
        let instant = world.now(for: order.customer)
        var lines: [InvoiceLine] = []
        for (index, item) in order.items.enumerated() {
            let end = firstPeriodEnd(world, order, item)
            let full = Prices.amount(of: item.price, item.quantity)
            let name = Products.name(world, of: item.price)
            var line = InvoiceLine(
                amount: full,
                description: InvoiceLine.description(item.quantity, name, item.price),
                price: item.price,
                quantity: item.quantity,
                start: instant,
                end: end,
                subscription: subscription,
                subscriptionItem: index < ids.count ? ids[index] : nil,
                metadata: order.metadata,
                taxRates: item.taxRates
            )
            if order.trialEnd != nil {
                line.amount = 0
                line.description = "Trial period for \(name)"
            } else if let anchor = order.anchor, anchor > instant {
                let cycle = BillingCycle(anchor: instant, recurring: item.price["recurring"])
                line.amount =
                    order.proratesToAnchor
                    ? Proration.share(
                        of: full,
                        from: cycle.boundary(1) - (end - instant),
                        start: instant,
                        end: cycle.boundary(1)
                    ) : 0
                line.isProration = true
            }
            lines.append(line)
        }
        for item in order.extras {
            lines.append(
                InvoiceLine(
                    amount: Prices.amount(of: item.price, item.quantity),
                    description: Products.name(world, of: item.price),
                    price: item.price,
                    quantity: item.quantity,
                    start: instant,
                    end: instant,
                    taxRates: item.taxRates
                )
            )
        }
        return lines
    }

    static func firstPeriodEnd(
        _ world: World,
        _ order: SubscriptionOrder,
        _ item: SubscriptionOrder.Item
    ) -> Int {
        let instant = world.now(for: order.customer)
        if let trialEnd = order.trialEnd { return trialEnd }
        return BillingCycle(
            anchor: order.anchor ?? instant,
            recurring: item.price["recurring"]
        ).next(after: instant)
    }
}
