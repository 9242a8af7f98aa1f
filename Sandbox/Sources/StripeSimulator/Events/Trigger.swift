extension StripeSimulator {
    /// The types of events that `trigger` can bring about, each the end of a small story.
    public static let triggers: [String] = Trigger.events
}

/// Small stories, each of which ends in an event of a given type.
/// https://docs.stripe.com/cli/trigger
enum Trigger {
    /// The events that can be brought about by name; each is the end of a small story.
    static let events: [String] = [
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
    static func run(_ world: inout World, _ event: String) throws {
        guard events.contains(event) else {
            throw APIError.invalid(
                "The event “\(event)” is not supported. Supported are: "
                    + events.joined(separator: ", ") + "."
            )
        }
        let before = world.tables[.event]?.order.count ?? 0
        try play(&world, event)
        world.perform(at: world.now)
        guard world.all(.event).dropFirst(before).contains(where: { $0["type"].string == event })
        else {
            throw APIError.invalid(
                "The story was played, but “\(event)” did not come of it: this sandbox is set so "
                    + "that it does not happen."
            )
        }
    }

    private static func play(_ world: inout World, _ event: String) throws {
        let subject = event.split(separator: ".").first.map(String.init) ?? ""
        switch (event, subject) {
        case ("customer.updated", _):
            let customer = makeCustomer(&world)
            world.change(.customer, customer, event: "customer.updated") {
                $0["name"] = "Jenny Rosen"
            }
        case ("customer.deleted", _):
            let customer = makeCustomer(&world)
            if let object = world.get(.customer, customer) {
                world.emit("customer.deleted", object)
            }
            world.put(.customer, world.delete(.customer, customer))
        case ("customer.created", _): _ = makeCustomer(&world)
        case ("product.created", _), ("price.created", _): _ = makePrice(&world, recurring: false)
        case ("payment_method.attached", _):
            let method = PaymentMethods.add(&world, CardDetails(card: .success))["id"].text
            PaymentMethods.attachUnchecked(&world, method, to: makeCustomer(&world))
        case ("checkout.session.expired", _):
            CheckoutSessions.expire(&world, try makeSession(&world, recurring: false))
        case (_, "subscription_schedule"): try playSchedule(&world, event)
        case (_, "refund"), ("charge.refund.updated", _): try playRefund(&world, event)
        case ("payment_intent.requires_action", _), ("payment_intent.canceled", _):
            try playIntent(&world, event)
        case (_, "checkout"), (_, "charge"), (_, "payment_intent"): try playPayment(&world, event)
        case ("invoiceitem.created", _):
            try tell(
                &world,
                "invoiceitems",
                ["customer": makeCustomer(&world), "amount": "500", "currency": "usd"]
            )
        case ("customer.subscription.pending_update_applied", _),
            ("customer.subscription.pending_update_expired", _):
            try playPendingUpdate(&world, event)
        case (_, "entitlements"): try playEntitlements(&world)
        default: try playSubscription(&world, event)
        }
    }

    static func makeCustomer(_ world: inout World) -> String {
        let customer = Customers.add(&world, email: "trigger@example.com")
        return world.add(.customer, customer, event: "customer.created")["id"].text
    }

    static func makePrice(_ world: inout World, recurring: Bool) -> JSON {
        let made = Products.add(&world, name: "Triggered")
        let product = world.add(.product, made, event: "product.created")
        var cycle: JSON = .null
        if recurring {
            cycle = .object(
                nulls: "meter trial_period_days",
                ["interval": "month", "interval_count": 1, "usage_type": "licensed"]
            )
        }
        let price = Prices.add(
            &world,
            product: product["id"].text,
            currency: "usd",
            unitAmount: 2_000,
            recurring: cycle
        )
        return world.add(.price, price, event: "price.created")
    }

    private static func makeSession(_ world: inout World, recurring: Bool) throws -> String {
        let line = CheckoutSessions.lineItem(
            &world,
            makePrice(&world, recurring: recurring),
            quantity: 1
        )
        var session = try CheckoutSessions.blankSession(
            &world,
            mode: recurring ? "subscription" : "payment",
            uiMode: "hosted_page",
            customer: nil,
            email: nil,
            lines: [line]
        )
        session["success_url"] = "https://example.com/success"
        world.put(.checkoutSession, session)
        return session["id"].text
    }

    private static func playPayment(_ world: inout World, _ event: String) throws {
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
        let session = try makeSession(&world, recurring: false)
        _ = try CheckoutSessions.pay(&world, session: session, CheckoutForm(details: details))
        let intent = world.get(.checkoutSession, session)?["payment_intent"].string
        if event.hasPrefix("checkout.session.async"), let intent {
            PaymentIntents.settlePayment(&world, intent)
        }
        guard let charge = world.get(.paymentIntent, intent)?["latest_charge"].string else {
            return
        }
        switch event {
        case "charge.refunded": _ = try Refunds.create(&world, charge: charge)
        case "charge.updated":
            try tell(&world, "charges/\(charge)", ["metadata[triggered]": "true"])
        case "charge.dispute.updated", "charge.dispute.closed", "charge.dispute.funds_reinstated":
            try answerDispute(&world, of: charge, isWon: event != "charge.dispute.closed")
        default: break
        }
    }

    /// The merchant sends evidence, and the bank decides by it.
    private static func answerDispute(_ world: inout World, of charge: String, isWon: Bool) throws {
        world.perform(at: world.now)  // The dispute is opened as soon as the payment is through.
        let dispute = world.all(.dispute).last { $0["charge"].string == charge }
        try tell(
            &world,
            "disputes/\(dispute?["id"].string ?? "")",
            ["evidence[uncategorized_text]": isWon ? "winning_evidence" : "losing_evidence"]
        )
    }

    private static func playSubscription(_ world: inout World, _ event: String) throws {
        let customer = makeCustomer(&world)
        let card: TestCard? =
            switch event {
            case "invoice.payment_failed": .named("pm_card_chargeCustomerFail")
            case "invoice.payment_action_required": .named("pm_card_authenticationRequired")
            default: .success
            }
        Customers.setDefaultCard(&world, CardDetails(card: card ?? .success), customer: customer)
        if event == "invoice.upcoming" { return try playRenewal(&world) }
        var order = SubscriptionOrder(
            customer: customer,
            items: [SubscriptionOrder.Item(price: makePrice(&world, recurring: true))]
        )
        if event == "customer.subscription.trial_will_end" {
            order.trialEnd = world.now + 2 * 86_400
        }
        if event == "invoice.voided" {
            let price = makePrice(&world, recurring: true)["id"].text
            let made = try tell(
                &world,
                "subscriptions",
                [
                    "customer": customer, "items[0][price]": price,
                    "payment_behavior": "default_incomplete",
                ]
            )
            try tell(&world, "invoices/\(made["latest_invoice"].text)/void")
            return
        }
        let made = try Subscriptions.create(&world, order)
        let id = made["id"].text
        switch event {
        case "invoice.updated":
            let invoice = world.get(.subscription, id)?["latest_invoice"].reference ?? ""
            try tell(&world, "invoices/\(invoice)", ["metadata[triggered]": "true"])
        case "customer.subscription.updated":
            world.change(.subscription, id, event: event) { $0["metadata"] = ["triggered": "true"] }
        case "customer.subscription.deleted":
            Subscriptions.cancelNow(&world, id, reason: "cancellation_requested")
        case "customer.subscription.paused": Subscriptions.pause(&world, id)
        case "customer.subscription.resumed":
            Subscriptions.pause(&world, id)
            try tell(&world, "subscriptions/\(id)/resume")
        default: break
        }
    }
}
