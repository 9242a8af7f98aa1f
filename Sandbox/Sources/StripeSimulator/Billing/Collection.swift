extension Invoices {
    /// Takes the money for an open invoice, or notes that it could not be had.
    /// - Parameters:
    ///   - method: what pays; by default the subscription's or the customer's.
    ///   - offSession: nobody is there to be asked.
    ///   - isManual: somebody asked for it, so that it is taken also where it was to be sent, and no
    ///     attempt of the schedule.
    static func collect(
        _ world: inout World,
        _ id: String,
        with method: JSON? = nil,
        offSession: Bool,
        isManual: Bool = false
    ) -> PaymentAttempt {
        guard let invoice = world.get(.invoice, id), invoice["status"].string == "open" else {
            return .succeeded
        }
        guard invoice["amount_due"].count > 0 else {
            markPaid(&world, id, intent: nil)
            return .succeeded
        }
        guard isManual || invoice["collection_method"].string == "charge_automatically" else {
            return .succeeded  // Sent to the customer, who pays by the hosted page.
        }
        let intent = intent(&world, for: invoice)
        let subscription = subscription(world, of: invoice)
        let chosen =
            method
            ?? world.get(.paymentMethod, invoice["default_payment_method"].reference)
            ?? PaymentMethods.defaultMethod(
                world,
                of: invoice["customer"].text,
                subscription: subscription
            )
        guard let chosen else {
            world.change(.invoice, id) { $0["attempted"] = true }
            noteFailure(&world, id, isManual: isManual)
            return .declined(.generic)
        }
        let outcome = PaymentIntents.attempt(
            &world,
            intent,
            with: chosen,
            Confirmation(offSession: offSession)
        )
        switch outcome {
        case .succeeded: markPaid(&world, id, intent: intent)
        case .requiresAction:
            let waiting = world.change(.invoice, id) { invoice in
                invoice["attempted"] = true
                invoice["attempt_count"] = .int(invoice["attempt_count"].count + 1)
            }
            world.emit("invoice.payment_action_required", waiting)
        case .declined: noteFailure(&world, id, isManual: isManual)
        case .processing: PaymentIntents.awaitMoney(&world, for: invoice)
        }
        return outcome
    }

    static func subscription(_ world: World, of invoice: JSON) -> JSON? {
        world.get(
            .subscription,
            invoice["parent"]["subscription_details"]["subscription"].reference
        )
    }

    /// The payment intent of an invoice, made when it is first needed.
    static func intent(_ world: inout World, for invoice: JSON) -> String {
        if let intent = invoice["_payment_intent"].string { return intent }
        let isFirst = invoice["billing_reason"].string == "subscription_create"
        let intent = PaymentIntents.add(
            &world,
            amount: invoice["amount_remaining"].count,
            currency: invoice["currency"].text,
            customer: invoice["customer"].string,
            description: isFirst ? "Subscription creation" : "Subscription update",
            setupFutureUsage: isFirst ? "off_session" : nil
        )
        InvoicePayments.link(&world, intent["id"].text, to: invoice["id"].text)
        return intent["id"].text
    }

    /// An open invoice has been paid, by `intent` or because nothing was due.
    static func markPaid(
        _ world: inout World,
        _ id: String,
        intent: String?,
        outOfBand: Bool = false
    ) {
        guard let before = world.get(.invoice, id) else { return }
        let instant = world.now(for: before["customer"].string)
        let paid = world.change(.invoice, id) { invoice in
            invoice["status"] = "paid"
            invoice["amount_paid"] = outOfBand ? 0 : invoice["amount_due"]
            invoice["amount_remaining"] = 0
            if outOfBand { invoice["amount_paid_off_stripe"] = invoice["amount_due"] }
            invoice["attempted"] = true
            invoice["next_payment_attempt"] = .null
            invoice["auto_advance"] = false
            invoice["status_transitions"]["paid_at"] = .int(instant)
            if intent != nil { invoice["attempt_count"] = .int(invoice["attempt_count"].count + 1) }
        }
        if let previous = World.previousAttributes(before, paid) {
            world.emit("invoice.updated", paid, previous: previous)
        }
        world.emit("invoice.paid", paid)
        world.emit("invoice.payment_succeeded", paid)
        let payment = world.all(.invoicePayment).last {
            $0["invoice"].string == id && $0["is_default"].bool == true
        }
        if intent != nil, let payment {
            let done = world.change(.invoicePayment, payment["id"].text) { payment in
                payment["status"] = "paid"
                payment["amount_paid"] = payment["amount_requested"]
                payment["status_transitions"]["paid_at"] = .int(instant)
            }
            world.emit("invoice_payment.paid", done)
        }
        noteSettled(&world, paid)
    }

    /// An attempt failed: the next one is planned, or the subscription ends.
    ///
    /// - Parameters:
    ///   - isManual: whether somebody asked for it. After the first attempt such ones do not move the
    ///     schedule. https://docs.stripe.com/api/invoices/object#invoice_object-attempt_count
    ///   - keepsStatus: whether the subscription stays as it is.
    static func noteFailure(
        _ world: inout World,
        _ id: String,
        isManual: Bool = false,
        keepsStatus: Bool = false
    ) {
        guard let before = world.get(.invoice, id) else { return }
        let instant = world.now(for: before["customer"].string)
        let isBesideSchedule = isManual && before["attempt_count"].count > 0
        let count = before["attempt_count"].count + (isBesideSchedule ? 0 : 1)
        let first = before["_first_attempt"].int ?? instant
        let isRenewal = before["billing_reason"].string == "subscription_cycle"
        let isRetried =
            isRenewal && count <= world.policy.retryDays.count
            && before["collection_method"].string == "charge_automatically"
        let next =
            isBesideSchedule
            ? before["next_payment_attempt"].int
            : isRetried ? first + world.policy.retryDays[count - 1] * 86_400 : nil
        let failed = world.change(.invoice, id) { invoice in
            invoice["attempted"] = true
            invoice["attempt_count"] = .int(count)
            invoice["_first_attempt"] = .int(first)
            invoice["next_payment_attempt"] = JSON(next)
        }
        world.emit("invoice.payment_failed", failed)
        if let previous = World.previousAttributes(before, failed) {
            world.emit("invoice.updated", failed, previous: previous)
        }
        if let next, !isBesideSchedule {
            world.schedule(.retryPayment(invoice: id), at: next, for: before["customer"].string)
        }
        guard let subscription = subscription(world, of: before),
            !Subscriptions.isOver(subscription), !keepsStatus
        else { return }
        let subscriptionID = subscription["id"].text
        if subscription["status"].string == "active", before["_holds_status"].bool != true {
            world.change(.subscription, subscriptionID, event: "customer.subscription.updated") {
                $0["status"] = "past_due"
            }
        }
        guard isRenewal, next == nil, !isBesideSchedule else { return }
        endDunning(&world, of: subscriptionID)
    }

    /// Nothing more is tried: the account's settings say what becomes of the subscription.
    static func endDunning(_ world: inout World, of id: String) {
        switch world.policy.dunningEnd {
        case .canceled: Subscriptions.cancelNow(&world, id, reason: "payment_failed")
        case .pastDue: break
        case .unpaid:
            let unpaid = world.change(.subscription, id, event: "customer.subscription.updated") {
                $0["status"] = "unpaid"
            }
            ActiveEntitlements.refresh(&world, of: unpaid["customer"].text)
        }
    }

    static func retryPaymentIfDue(_ world: inout World, of id: String) {
        guard let invoice = world.get(.invoice, id), invoice["status"].string == "open",
            let next = invoice["next_payment_attempt"].int,
            next <= world.now(for: invoice["customer"].string)
        else { return }
        _ = collect(&world, id, offSession: true)
    }

    /// What an invoice that is paid, void or written off means for its subscription.
    static func noteSettled(_ world: inout World, _ invoice: JSON) {
        guard let subscription = subscription(world, of: invoice),
            subscription["latest_invoice"].reference == invoice["id"].string
        else { return }
        let id = subscription["id"].text
        if invoice["status"].string == "paid" { PendingUpdates.apply(&world, paidBy: invoice) }
        switch (subscription["status"].text, invoice["status"].text) {
        case ("incomplete", "paid"), ("past_due", _), ("unpaid", _):
            let instant = world.now(for: subscription["customer"].string)
            world.change(.subscription, id, event: "customer.subscription.updated") {
                subscription in
                let isTrialing = subscription["trial_end"].int.map { $0 > instant } ?? false
                subscription["status"] = isTrialing ? "trialing" : "active"
            }
            ActiveEntitlements.refresh(&world, of: invoice["customer"].text)
        case ("incomplete", "void"): Subscriptions.expire(&world, id)
        default: break
        }
    }

    /// Reads `collection_method` and the days that belong to `send_invoice`.
    ///
    /// - Parameter standing: the method that stays where none is sent.
    static func readCollectionMethod(
        _ parameters: inout Parameters,
        standing: String = "charge_automatically"
    ) throws -> (method: String, daysUntilDue: Int?) {
        let methods = ["charge_automatically", "send_invoice"]
        let method = try parameters.choice("collection_method", of: methods) ?? standing
        let days = try parameters.int("days_until_due", in: 0...1_000)
        guard method == "send_invoice" || days == nil else {
            throw APIError.invalid(
                "You can only set `days_until_due` if `collection_method` is `send_invoice`.",
                param: "days_until_due"
            )
        }
        return (method, days)
    }
}
