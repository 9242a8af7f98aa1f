extension World {
    /// The events that can be brought about by name; each is the end of a small story.
    static let triggers: [String] = [
        "charge.dispute.created", "charge.failed", "charge.refunded", "charge.succeeded",
        "checkout.session.async_payment_failed", "checkout.session.async_payment_succeeded",
        "checkout.session.completed", "checkout.session.expired", "customer.created",
        "customer.deleted", "customer.subscription.created", "customer.subscription.deleted",
        "customer.subscription.paused", "customer.subscription.trial_will_end",
        "customer.subscription.updated", "customer.updated", "invoice.created",
        "invoice.finalized", "invoice.paid", "invoice.payment_failed",
        "invoice.payment_succeeded", "payment_intent.created", "payment_intent.payment_failed",
        "payment_intent.succeeded", "payment_method.attached", "price.created",
        "product.created", "refund.created",
    ]

    /// Plays the story that ends in an event, with objects of its own.
    mutating func trigger(_ event: String) throws {
        guard Self.triggers.contains(event) else {
            throw APIError.invalid(
                "The event “\(event)” is not supported. Supported are: "
                    + Self.triggers.joined(separator: ", ") + "."
            )
        }
        let subject = event.split(separator: ".").first.map(String.init) ?? ""
        switch (event, subject) {
        case ("customer.updated", _):
            let customer = triggerCustomer()
            change(.customer, customer, event: "customer.updated") { $0["name"] = "Jenny Rosen" }
        case ("customer.deleted", _):
            let customer = triggerCustomer()
            if let object = get(.customer, customer) { emit("customer.deleted", object) }
            put(.customer, delete(.customer, customer))
        case ("customer.created", _): _ = triggerCustomer()
        case ("product.created", _), ("price.created", _): _ = triggerPrice(recurring: false)
        case ("payment_method.attached", _):
            let method = addPaymentMethod(CardDetails(card: .success))["id"].text
            attachUnchecked(method, to: triggerCustomer())
        case ("checkout.session.expired", _): expireSession(try triggerSession(recurring: false))
        case (_, "checkout"), (_, "charge"), (_, "payment_intent"), (_, "refund"):
            try triggerPayment(event)
        default: try triggerSubscription(event)
        }
        perform(at: now)
    }

    private mutating func triggerCustomer() -> String {
        add(.customer, addCustomer(email: "trigger@example.com"), event: "customer.created")["id"]
            .text
    }

    private mutating func triggerPrice(recurring: Bool) -> JSON {
        let product = add(.product, addProduct(name: "Triggered"), event: "product.created")
        var cycle: JSON = .null
        if recurring {
            cycle = .object(
                nulls: "meter trial_period_days",
                ["interval": "month", "interval_count": 1, "usage_type": "licensed"]
            )
        }
        let price = addPrice(
            product: product["id"].text,
            currency: "usd",
            unitAmount: 2_000,
            recurring: cycle
        )
        return add(.price, price, event: "price.created")
    }

    private mutating func triggerSession(recurring: Bool) throws -> String {
        let line = checkoutLine(triggerPrice(recurring: recurring), quantity: 1)
        var session = try blankSession(
            mode: recurring ? "subscription" : "payment",
            uiMode: "hosted_page",
            customer: nil,
            email: nil,
            lines: [line]
        )
        session["success_url"] = "https://example.com/success"
        put(.checkoutSession, session)
        return session["id"].text
    }

    private mutating func triggerPayment(_ event: String) throws {
        let fails = ["charge.failed", "payment_intent.payment_failed"].contains(event)
        let card: TestCard? =
            switch event {
            case "checkout.session.async_payment_succeeded": .named("pm_card_sepaDebit")
            case "checkout.session.async_payment_failed": .named("pm_card_sepaDebitFails")
            case "charge.dispute.created": .named("pm_card_createDispute")
            default: fails ? .named("pm_card_chargeDeclined") : .success
            }
        var details = CardDetails(card: card ?? .success)
        details.email = "trigger@example.com"
        let session = try triggerSession(recurring: false)
        _ = try pay(session: session, CheckoutForm(details: details))
        let intent = get(.checkoutSession, session)?["payment_intent"].string
        if event.hasPrefix("checkout.session.async"), let intent { settlePayment(intent) }
        if ["charge.refunded", "refund.created"].contains(event),
            let charge = get(.paymentIntent, intent)?["latest_charge"].string
        {
            _ = try refund(charge: charge)
        }
    }

    private mutating func triggerSubscription(_ event: String) throws {
        let customer = triggerCustomer()
        let isFailing = event == "invoice.payment_failed"
        let card = isFailing ? TestCard.named("pm_card_chargeCustomerFail") : .success
        setDefaultCard(CardDetails(card: card ?? .success), customer: customer)
        var order = SubscriptionOrder(
            customer: customer,
            items: [SubscriptionOrder.Item(price: triggerPrice(recurring: true))]
        )
        if event == "customer.subscription.trial_will_end" { order.trialEnd = now + 2 * 86_400 }
        let id = try subscribe(order)["id"].text
        switch event {
        case "customer.subscription.updated":
            change(.subscription, id, event: event) { $0["metadata"] = ["triggered": "true"] }
        case "customer.subscription.deleted": cancelNow(id, reason: "cancellation_requested")
        case "customer.subscription.paused": pause(id)
        default: break
        }
    }
}
