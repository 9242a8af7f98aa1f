// What time does to subscriptions. https://docs.stripe.com/billing/subscriptions/overview

extension World {
    /// When the next of an item's periods ends.
    private func nextEnd(of subscription: JSON) -> Int? {
        subscription["items"].elements.compactMap { $0["current_period_end"].int }.min()
    }

    /// Puts the next thing that time does to a subscription on the agenda.
    mutating func scheduleNext(of id: String) {
        guard let subscription = get(.subscription, id), !isOver(subscription) else { return }
        let customer = subscription["customer"].text
        let instant = now(for: customer)
        if let cancelAt = subscription["cancel_at"].int,
            subscription["cancel_at_period_end"].bool != true
        {
            schedule(.cancelSubscription(id), at: cancelAt, for: customer)
        }
        if let end = nextEnd(of: subscription) {
            schedule(.rollPeriod(subscription: id), at: end, for: customer)
            let notice = end - policy.upcomingDays * 86_400
            if policy.upcomingDays > 0, notice > instant {
                schedule(.announceRenewal(subscription: id), at: notice, for: customer)
            }
        }
        if let trialEnd = subscription["trial_end"].int, trialEnd > instant,
            subscription["_announced_trial_end"].int != trialEnd
        {
            let notice = max(instant, trialEnd - 3 * 86_400)
            schedule(.announceTrialEnd(subscription: id), at: notice, for: customer)
        }
    }

    mutating func announceTrialEnd(of id: String) {
        guard let subscription = get(.subscription, id), !isOver(subscription),
            let end = subscription["trial_end"].int,
            subscription["_announced_trial_end"].int != end,
            end - 3 * 86_400 <= now(for: subscription["customer"].string)
        else { return }
        change(.subscription, id) { $0["_announced_trial_end"] = .int(end) }
        emit("customer.subscription.trial_will_end", subscription)
    }

    /// A period is over: the subscription ends, or the next period begins and is billed.
    mutating func rollPeriod(of id: String) {
        // Where a phase of a schedule ends with the period, what follows is billed by the next one.
        if let schedule = get(.subscription, id)?["schedule"].string {
            advanceScheduleIfDue(schedule)
        }
        guard let before = get(.subscription, id),
            ["active", "trialing", "past_due", "unpaid"].contains(before["status"].text),
            let end = nextEnd(of: before)
        else { return }
        let customer = before["customer"].text
        let instant = now(for: customer)
        guard end <= instant else { return }
        if before["cancel_at_period_end"].bool == true
            || before["cancel_at"].int.map({ $0 <= end }) ?? false
        {
            cancelNow(id, at: end, reason: "cancellation_requested")
            return
        }
        if before["status"].string == "trialing", endsWithTrial(before) { return }
        renew(before, at: end)
        scheduleNext(of: id)
    }

    /// A trial that nobody can pay for ends the subscription, or pauses it, by its settings.
    private mutating func endsWithTrial(_ subscription: JSON) -> Bool {
        let id = subscription["id"].text
        guard
            defaultPaymentMethod(of: subscription["customer"].text, subscription: subscription)
                == nil
        else { return false }
        switch subscription["trial_settings"]["end_behavior"]["missing_payment_method"].string {
        case "cancel":
            cancelNow(id, reason: nil)
            return true
        case "pause":
            pause(id)
            return true
        default: return false
        }
    }

    mutating func pause(_ id: String) {
        guard let before = get(.subscription, id) else { return }
        let paused = change(.subscription, id) { $0["status"] = "paused" }
        emit(
            "customer.subscription.updated",
            paused,
            previous: ["status": before["status"]]
        )
        emit("customer.subscription.paused", paused)
        refreshEntitlements(of: paused["customer"].text)
    }

    private mutating func renew(_ before: JSON, at boundary: Int) {
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
                item["_features"] = JSON(features(of: item["price"]))
                lines.append(renewalLine(item, subscription: before, customer: customer))
            }
            items.append(item)
        }
        lines += takePendingItems(of: customer, subscription: id)
        let rolled = items
        var after = before
        after["items"]["data"] = .array(rolled)
        after["discounts"] = liveDiscounts(of: before, at: boundary)
        if before["status"].string == "trialing" { after["status"] = "active" }
        put(.subscription, after)
        let invoice = addInvoice(
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
        assignPendingItems(lines, to: invoice["id"].text)
        after["latest_invoice"] = invoice["id"]
        put(.subscription, after)
        if let previous = Self.previousAttributes(before, after) {
            emit("customer.subscription.updated", after, previous: previous)
        }
        refreshEntitlements(of: customer, always: policy.announcesUnchangedEntitlements)
    }

    func renewalLine(_ item: JSON, subscription: JSON, customer: String) -> InvoiceLine {
        let quantity = item["quantity"].int ?? 1
        let start = item["current_period_start"].count
        let end = item["current_period_end"].count
        var amount = Self.amount(of: item["price"], quantity)
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
                productName(of: item["price"]),
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

    mutating func cancelIfDue(_ id: String) {
        guard let subscription = get(.subscription, id), !isOver(subscription),
            let cancelAt = subscription["cancel_at"].int,
            cancelAt <= now(for: subscription["customer"].string)
        else { return }
        cancelNow(id, at: cancelAt, reason: "cancellation_requested")
    }

    /// Ends a subscription.
    ///
    /// Its open and draft invoices are no longer collected.
    /// - Parameter reason: why, unless the request said so itself; `nil` leaves it open.
    mutating func cancelNow(_ id: String, at instant: Int? = nil, reason: String?) {
        guard let before = get(.subscription, id), !isOver(before) else { return }
        let customer = before["customer"].text
        let end = instant ?? now(for: customer)
        let canceled = change(.subscription, id) { subscription in
            subscription["status"] = "canceled"
            subscription["ended_at"] = .int(end)
            if subscription["canceled_at"].isNull { subscription["canceled_at"] = .int(end) }
            if subscription["cancellation_details"]["reason"].isNull {
                subscription["cancellation_details"]["reason"] = JSON(reason)
            }
        }
        for invoice in all(.invoice)
        where invoice["parent"]["subscription_details"]["subscription"].string == id
            && ["draft", "open"].contains(invoice["status"].text)
        {
            change(.invoice, invoice["id"].text, event: "invoice.updated") { invoice in
                invoice["auto_advance"] = false
                invoice["next_payment_attempt"] = .null
            }
        }
        emit("customer.subscription.deleted", canceled)
        endSchedule(of: canceled, isUnpaid: reason == "payment_failed")
        refreshEntitlements(of: customer)
    }

    /// The first invoice was not paid within 23 hours.
    mutating func expireIncomplete(_ id: String) {
        guard let subscription = get(.subscription, id),
            subscription["status"].string == "incomplete"
        else { return }
        if let invoice = subscription["latest_invoice"].reference,
            get(.invoice, invoice)?["status"].string == "open"
        {
            close(invoice, as: "void")
        } else {
            expire(id)
        }
    }

    mutating func expire(_ id: String) {
        guard let subscription = get(.subscription, id), !isOver(subscription) else { return }
        let instant = now(for: subscription["customer"].string)
        change(.subscription, id, event: "customer.subscription.updated") { subscription in
            subscription["status"] = "incomplete_expired"
            subscription["ended_at"] = .int(instant)
        }
        refreshEntitlements(of: subscription["customer"].text)
    }

    /// Plans the end of a subscription for the earliest end of an item's period, or takes that back.
    ///
    /// https://docs.stripe.com/changelog/basil/2025-07-30/cancel-at-enums
    mutating func setCancelAtPeriodEnd(_ subscription: inout JSON, _ cancels: Bool) {
        let instant = now(for: subscription["customer"].string)
        let end = subscription["items"].elements.compactMap { $0["current_period_end"].int }.min()
        subscription["cancel_at_period_end"] = .bool(cancels)
        subscription["cancel_at"] = cancels ? JSON(end) : .null
        subscription["canceled_at"] = cancels ? .int(instant) : .null
        subscription["cancellation_details"]["reason"] = cancels ? "cancellation_requested" : .null
    }

    /// Announces what changed since `before`, if anything did.
    mutating func announceChange(of before: JSON) {
        let id = before["id"].text
        scheduleNext(of: id)
        guard let after = get(.subscription, id),
            let previous = Self.previousAttributes(before, after)
        else { return }
        emit("customer.subscription.updated", after, previous: previous)
        refreshEntitlements(of: after["customer"].text)
    }
}
