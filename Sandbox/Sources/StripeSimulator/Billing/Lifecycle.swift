// What time does to subscriptions. https://docs.stripe.com/billing/subscriptions/overview

extension Subscriptions {
    /// When the next of an item's periods ends.
    private static func nextEnd(of subscription: JSON) -> Int? {
        subscription["items"].elements.compactMap { $0["current_period_end"].int }.min()
    }

    /// Puts the next thing that time does to a subscription on the agenda.
    static func scheduleNext(_ world: inout World, of id: String) {
        guard let subscription = world.get(.subscription, id), !isOver(subscription) else { return }
        let customer = subscription["customer"].text
        let instant = world.now(for: customer)
        if let cancelAt = subscription["cancel_at"].int,
            subscription["cancel_at_period_end"].bool != true
        {
            world.schedule(.cancelSubscription(id), at: cancelAt, for: customer)
        }
        if let end = nextEnd(of: subscription) {
            world.schedule(.rollPeriod(subscription: id), at: end, for: customer)
            let notice = end - world.policy.upcomingDays * 86_400
            if world.policy.upcomingDays > 0, notice > instant {
                world.schedule(.announceRenewal(subscription: id), at: notice, for: customer)
            }
        }
        if let trialEnd = subscription["trial_end"].int, trialEnd > instant,
            subscription["_announced_trial_end"].int != trialEnd
        {
            let notice = max(instant, trialEnd - 3 * 86_400)
            world.schedule(.announceTrialEnd(subscription: id), at: notice, for: customer)
        }
    }

    static func announceTrialEnd(_ world: inout World, of id: String) {
        guard let subscription = world.get(.subscription, id), !isOver(subscription),
            let end = subscription["trial_end"].int,
            subscription["_announced_trial_end"].int != end,
            end - 3 * 86_400 <= world.now(for: subscription["customer"].string)
        else { return }
        world.change(.subscription, id) { $0["_announced_trial_end"] = .int(end) }
        world.emit("customer.subscription.trial_will_end", subscription)
    }

    /// A period is over: the subscription ends, or the next period begins and is billed.
    static func rollPeriod(_ world: inout World, of id: String) {
        // Where a phase of a schedule ends with the period, what follows is billed by the next one.
        if let schedule = world.get(.subscription, id)?["schedule"].string {
            SubscriptionSchedules.advanceIfDue(&world, schedule)
        }
        guard let before = world.get(.subscription, id),
            ["active", "trialing", "past_due", "unpaid"].contains(before["status"].text),
            let end = nextEnd(of: before)
        else { return }
        let customer = before["customer"].text
        let instant = world.now(for: customer)
        guard end <= instant else { return }
        if before["cancel_at_period_end"].bool == true
            || before["cancel_at"].int.map({ $0 <= end }) ?? false
        {
            cancelNow(&world, id, at: end, reason: "cancellation_requested")
            return
        }
        if before["status"].string == "trialing", endsWithTrial(&world, before) { return }
        renew(&world, before, at: end)
        scheduleNext(&world, of: id)
    }

    /// A trial that nobody can pay for ends the subscription, or pauses it, by its settings.
    private static func endsWithTrial(_ world: inout World, _ subscription: JSON) -> Bool {
        let id = subscription["id"].text
        let method = PaymentMethods.defaultMethod(
            world,
            of: subscription["customer"].text,
            subscription: subscription
        )
        guard method == nil else { return false }
        switch subscription["trial_settings"]["end_behavior"]["missing_payment_method"].string {
        case "cancel":
            cancelNow(&world, id, reason: nil)
            return true
        case "pause":
            pause(&world, id)
            return true
        default: return false
        }
    }

    static func pause(_ world: inout World, _ id: String) {
        guard let before = world.get(.subscription, id) else { return }
        let paused = world.change(.subscription, id) { $0["status"] = "paused" }
        world.emit(
            "customer.subscription.updated",
            paused,
            previous: ["status": before["status"]]
        )
        world.emit("customer.subscription.paused", paused)
        ActiveEntitlements.refresh(&world, of: paused["customer"].text)
    }

    private static func renew(_ world: inout World, _ before: JSON, at boundary: Int) {
        let id = before["id"].text
        let customer = before["customer"].text
        let previousStart = before["items"].elements.first?["current_period_start"].int ?? boundary
        var lines: [InvoiceLine] = []
        var items: [JSON] = []
        for var item in before["items"].elements {
            if item["current_period_end"].count <= boundary {
                let cycle = BillingCycle(
                    anchor: before["billing_cycle_anchor"].count,
                    recurring: item["price"]["recurring"]
                )
                item["current_period_start"] = .int(boundary)
                item["current_period_end"] = .int(cycle.next(after: boundary))
                item["_features"] = JSON(Features.ids(world, of: item["price"]))
                lines.append(renewalLine(world, item, subscription: before, customer: customer))
            }
            items.append(item)
        }
        lines += InvoiceItems.takePending(world, of: customer, subscription: id)
        let rolled = items
        var after = before
        after["items"]["data"] = .array(rolled)
        after["discounts"] = Discounts.live(world, of: before, at: boundary)
        if before["status"].string == "trialing" { after["status"] = "active" }
        world.put(.subscription, after)
        let invoice = Invoices.add(
            &world,
            InvoiceOrder(
                customer: customer,
                subscription: after,
                reason: "subscription_cycle",
                currency: before["currency"].text,
                lines: lines,
                periodStart: previousStart,
                periodEnd: boundary,
                finalizesByItself: before["status"].string != "unpaid"
            )
        )
        InvoiceItems.assign(&world, lines, to: invoice["id"].text)
        after["latest_invoice"] = invoice["id"]
        world.put(.subscription, after)
        if let previous = World.previousAttributes(before, after) {
            world.emit("customer.subscription.updated", after, previous: previous)
        }
        ActiveEntitlements.refresh(
            &world,
            of: customer,
            always: world.policy.announcesUnchangedEntitlements
        )
    }

    static func renewalLine(
        _ world: World,
        _ item: JSON,
        subscription: JSON,
        customer: String
    ) -> InvoiceLine {
        let quantity = item["quantity"].int ?? 1
        let start = item["current_period_start"].count
        let end = item["current_period_end"].count
        var amount = Prices.amount(of: item["price"], quantity)
        var paidEnd = end
        // A cancellation inside the new period shortens it, and what it costs, pro rata.
        if let cancelAt = subscription["cancel_at"].int, cancelAt > start, cancelAt < end {
            amount = Proration.share(
                of: amount,
                from: end - (cancelAt - start),
                start: start,
                end: end
            )
            paidEnd = cancelAt
        }
        return InvoiceLine(
            amount: amount,
            description: InvoiceLine.description(
                quantity,
                Products.name(world, of: item["price"]),
                item["price"]
            ),
            price: item["price"],
            quantity: quantity,
            start: start,
            end: paidEnd,
            subscription: subscription["id"].string,
            subscriptionItem: item["id"].string,
            metadata: subscription["metadata"],
            taxRates: item["tax_rates"].elements
        )
    }

    static func cancelIfDue(_ world: inout World, _ id: String) {
        guard let subscription = world.get(.subscription, id), !isOver(subscription),
            let cancelAt = subscription["cancel_at"].int,
            cancelAt <= world.now(for: subscription["customer"].string)
        else { return }
        cancelNow(&world, id, at: cancelAt, reason: "cancellation_requested")
    }

    /// Ends a subscription.
    ///
    /// Its open and draft invoices are no longer collected.
    /// - Parameter reason: why, unless the request said so itself; `nil` leaves it open.
    static func cancelNow(
        _ world: inout World,
        _ id: String,
        at instant: Int? = nil,
        reason: String?
    ) {
        guard let before = world.get(.subscription, id), !isOver(before) else { return }
        let customer = before["customer"].text
        let end = instant ?? world.now(for: customer)
        let canceled = world.change(.subscription, id) { subscription in
            subscription["status"] = "canceled"
            subscription["ended_at"] = .int(end)
            if subscription["canceled_at"].isNull { subscription["canceled_at"] = .int(end) }
            if subscription["cancellation_details"]["reason"].isNull {
                subscription["cancellation_details"]["reason"] = JSON(reason)
            }
        }
        for invoice in world.all(.invoice)
        where invoice["parent"]["subscription_details"]["subscription"].string == id
            && ["draft", "open"].contains(invoice["status"].text)
        {
            world.change(.invoice, invoice["id"].text, event: "invoice.updated") { invoice in
                invoice["auto_advance"] = false
                invoice["next_payment_attempt"] = .null
            }
        }
        world.emit("customer.subscription.deleted", canceled)
        SubscriptionSchedules.end(&world, of: canceled, isUnpaid: reason == "payment_failed")
        ActiveEntitlements.refresh(&world, of: customer)
    }

    /// The first invoice was not paid within 23 hours.
    static func expireIncomplete(_ world: inout World, _ id: String) {
        guard let subscription = world.get(.subscription, id),
            subscription["status"].string == "incomplete"
        else { return }
        if let invoice = subscription["latest_invoice"].reference,
            world.get(.invoice, invoice)?["status"].string == "open"
        {
            Invoices.close(&world, invoice, as: "void")
        } else {
            expire(&world, id)
        }
    }

    static func expire(_ world: inout World, _ id: String) {
        guard let subscription = world.get(.subscription, id), !isOver(subscription) else { return }
        let instant = world.now(for: subscription["customer"].string)
        world.change(.subscription, id, event: "customer.subscription.updated") { subscription in
            subscription["status"] = "incomplete_expired"
            subscription["ended_at"] = .int(instant)
        }
        ActiveEntitlements.refresh(&world, of: subscription["customer"].text)
    }

    /// Plans the end of a subscription for the earliest end of an item's period, or takes that back.
    ///
    /// https://docs.stripe.com/changelog/basil/2025-07-30/cancel-at-enums
    static func setCancelAtPeriodEnd(_ world: World, _ subscription: inout JSON, _ cancels: Bool) {
        let instant = world.now(for: subscription["customer"].string)
        let end = subscription["items"].elements.compactMap { $0["current_period_end"].int }.min()
        subscription["cancel_at_period_end"] = .bool(cancels)
        subscription["cancel_at"] = cancels ? JSON(end) : .null
        subscription["canceled_at"] = cancels ? .int(instant) : .null
        subscription["cancellation_details"]["reason"] = cancels ? "cancellation_requested" : .null
    }

    /// Announces what changed since `before`, if anything did.
    static func announceChange(_ world: inout World, of before: JSON) {
        let id = before["id"].text
        scheduleNext(&world, of: id)
        guard let after = world.get(.subscription, id),
            let previous = World.previousAttributes(before, after)
        else { return }
        world.emit("customer.subscription.updated", after, previous: previous)
        ActiveEntitlements.refresh(&world, of: after["customer"].text)
    }
}
