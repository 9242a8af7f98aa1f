// A subscription that costs nothing at first has its card set up instead.
// https://docs.stripe.com/billing/subscriptions/deferred-payment

extension Subscriptions {
    /// Makes the setup intent by which a card is still to be given or authenticated.
    ///
    /// - Returns: its id; `nil` where the card at hand needs nothing more.
    static func pendingSetup(_ world: inout World, for order: SubscriptionOrder) -> String? {
        guard order.session == nil, order.paidBy == nil,
            order.collectionMethod == "charge_automatically"
        else { return nil }
        let method =
            world.get(.paymentMethod, order.paymentMethod)
            ?? PaymentMethods.defaultMethod(world, of: order.customer)
        if let method {
            let isReady =
                PaymentMethods.card(of: method).challenge == .never
                || method["_set_up"].bool == true
            guard !isReady else { return nil }
        }
        let setup = SetupIntents.add(&world, customer: order.customer)
        let id = setup["id"].text
        guard let method else { return id }
        let action = PaymentIntents.challenge(of: id, at: world.baseURL, returnURL: nil)
        let waiting = world.change(.setupIntent, id) { setup in
            setup["status"] = "requires_action"
            setup["payment_method"] = method["id"]
            setup["next_action"] = action
        }
        world.emit("setup_intent.requires_action", waiting)
        return id
    }

    /// A card was set up: the subscription that waited for it waits no longer.
    static func noteSetUp(_ world: inout World, by setup: JSON) {
        for subscription in world.all(.subscription)
        where subscription["pending_setup_intent"].reference == setup["id"].string {
            let saves =
                subscription["payment_settings"]["save_default_payment_method"].string
                == "on_subscription"
            world.change(
                .subscription,
                subscription["id"].text,
                event: "customer.subscription.updated"
            ) { subscription in
                subscription["pending_setup_intent"] = .null
                if saves { subscription["default_payment_method"] = setup["payment_method"] }
            }
        }
    }
}
