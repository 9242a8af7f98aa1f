extension StripeSimulator {
    /// The types of events that `trigger` can bring about, each the end of a small story.
    public static let triggers: [String] = World.triggers
}

extension World {
    /// The events that can be brought about by name; each is the end of a small story.
    static let triggers: [String] = [
        "charge.dispute.closed", "charge.dispute.created", "charge.dispute.funds_reinstated",
        "charge.dispute.funds_withdrawn", "charge.dispute.updated", "charge.failed",
        "charge.pending", "charge.refund.updated", "charge.refunded", "charge.succeeded",
        "charge.updated", "checkout.session.async_payment_failed",
        "checkout.session.async_payment_succeeded", "checkout.session.completed",
        "checkout.session.expired", "customer.created", "customer.deleted",
        "customer.subscription.created", "customer.subscription.deleted",
        "customer.subscription.paused", "customer.subscription.pending_update_applied",
        "customer.subscription.pending_update_expired", "customer.subscription.resumed",
        "customer.subscription.trial_will_end", "customer.subscription.updated",
        "customer.updated", "entitlements.active_entitlement_summary.updated", "invoice.created",
        "invoice.finalized", "invoice.paid", "invoice.payment_action_required",
        "invoice.payment_failed", "invoice.payment_succeeded", "invoice.upcoming",
        "invoice.updated", "invoice.voided", "invoice_payment.paid", "invoiceitem.created",
        "payment_intent.canceled", "payment_intent.created", "payment_intent.payment_failed",
        "payment_intent.processing", "payment_intent.requires_action",
        "payment_intent.succeeded", "payment_method.attached", "price.created",
        "product.created", "refund.created", "refund.failed", "refund.updated",
        "subscription_schedule.aborted", "subscription_schedule.canceled",
        "subscription_schedule.completed", "subscription_schedule.created",
        "subscription_schedule.expiring", "subscription_schedule.released",
        "subscription_schedule.updated",
    ]

    /// Plays the story that ends in an event, with objects of its own.
    mutating func trigger(_ event: String) throws {
        guard Self.triggers.contains(event) else {
            throw APIError.invalid(
                "The event “\(event)” is not supported. Supported are: "
                    + Self.triggers.joined(separator: ", ") + "."
            )
        }
        let before = tables[.event]?.order.count ?? 0
        try play(event)
        perform(at: now)
        guard all(.event).dropFirst(before).contains(where: { $0["type"].string == event }) else {
            throw APIError.invalid(
                "The story was played, but “\(event)” did not come of it: this sandbox is set so "
                    + "that it does not happen."
            )
        }
    }

    private mutating func play(_ event: String) throws {
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
        case (_, "subscription_schedule"): try triggerSchedule(event)
        case (_, "refund"), ("charge.refund.updated", _): try triggerRefund(event)
        case ("payment_intent.requires_action", _), ("payment_intent.canceled", _):
            try triggerIntent(event)
        case (_, "checkout"), (_, "charge"), (_, "payment_intent"): try triggerPayment(event)
        case ("invoiceitem.created", _):
            try tell(
                "invoiceitems",
                ["customer": triggerCustomer(), "amount": "500", "currency": "usd"]
            )
        case ("customer.subscription.pending_update_applied", _),
            ("customer.subscription.pending_update_expired", _):
            try triggerPendingUpdate(event)
        case (_, "entitlements"): try triggerEntitlements()
        default: try triggerSubscription(event)
        }
    }

    mutating func triggerCustomer() -> String {
        add(.customer, addCustomer(email: "trigger@example.com"), event: "customer.created")["id"]
            .text
    }

    mutating func triggerPrice(recurring: Bool) -> JSON {
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
            case "checkout.session.async_payment_succeeded", "charge.pending",
                "payment_intent.processing":
                .named("pm_card_sepaDebit")
            case "checkout.session.async_payment_failed": .named("pm_card_sepaDebitFails")
            case _ where event.hasPrefix("charge.dispute"): .named("pm_card_createDispute")
            default: fails ? .named("pm_card_chargeDeclined") : .success
            }
        var details = CardDetails(card: card ?? .success)
        details.email = "trigger@example.com"
        let session = try triggerSession(recurring: false)
        _ = try pay(session: session, CheckoutForm(details: details))
        let intent = get(.checkoutSession, session)?["payment_intent"].string
        if event.hasPrefix("checkout.session.async"), let intent { settlePayment(intent) }
        guard let charge = get(.paymentIntent, intent)?["latest_charge"].string else { return }
        switch event {
        case "charge.refunded": _ = try refund(charge: charge)
        case "charge.updated": try tell("charges/\(charge)", ["metadata[triggered]": "true"])
        case "charge.dispute.updated", "charge.dispute.closed", "charge.dispute.funds_reinstated":
            try answerDispute(of: charge, isWon: event != "charge.dispute.closed")
        default: break
        }
    }

    /// The merchant sends evidence, and the bank decides by it.
    private mutating func answerDispute(of charge: String, isWon: Bool) throws {
        perform(at: now)  // The dispute is opened as soon as the payment is through.
        let dispute = all(.dispute).last { $0["charge"].string == charge }
        try tell(
            "disputes/\(dispute?["id"].string ?? "")",
            ["evidence[uncategorized_text]": isWon ? "winning_evidence" : "losing_evidence"]
        )
    }

    private mutating func triggerSubscription(_ event: String) throws {
        let customer = triggerCustomer()
        let card: TestCard? =
            switch event {
            case "invoice.payment_failed": .named("pm_card_chargeCustomerFail")
            case "invoice.payment_action_required": .named("pm_card_authenticationRequired")
            default: .success
            }
        setDefaultCard(CardDetails(card: card ?? .success), customer: customer)
        if event == "invoice.upcoming" { return try triggerRenewal() }
        var order = SubscriptionOrder(
            customer: customer,
            items: [SubscriptionOrder.Item(price: triggerPrice(recurring: true))]
        )
        if event == "customer.subscription.trial_will_end" { order.trialEnd = now + 2 * 86_400 }
        if event == "invoice.voided" {
            let price = triggerPrice(recurring: true)["id"].text
            let made = try tell(
                "subscriptions",
                [
                    "customer": customer, "items[0][price]": price,
                    "payment_behavior": "default_incomplete",
                ]
            )
            try tell("invoices/\(made["latest_invoice"].text)/void")
            return
        }
        let made = try subscribe(order)
        let id = made["id"].text
        switch event {
        case "invoice.updated":
            let invoice = get(.subscription, id)?["latest_invoice"].reference ?? ""
            try tell("invoices/\(invoice)", ["metadata[triggered]": "true"])
        case "customer.subscription.updated":
            change(.subscription, id, event: event) { $0["metadata"] = ["triggered": "true"] }
        case "customer.subscription.deleted": cancelNow(id, reason: "cancellation_requested")
        case "customer.subscription.paused": pause(id)
        case "customer.subscription.resumed":
            pause(id)
            try tell("subscriptions/\(id)/resume")
        default: break
        }
    }
}
