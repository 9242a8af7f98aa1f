/// What becomes of a change to a subscription when its invoice is not paid at once.
enum PaymentBehavior: String {
    case allowIncomplete = "allow_incomplete"
    case defaultIncomplete = "default_incomplete"
    case errorIfIncomplete = "error_if_incomplete"
    case pendingIfIncomplete = "pending_if_incomplete"
}

/// Pending updates: changes of a subscription whose payment must succeed first.
/// https://docs.stripe.com/billing/subscriptions/pending-updates
enum PendingUpdates {
    /// Refuses a change whose payment did not succeed; the request then leaves no trace.
    static func refuse(_ outcome: PaymentAttempt) throws {
        switch outcome {
        case .succeeded, .processing: return
        case .declined(let decline):
            var error = APIError.card(decline)
            error.keepsChanges = false
            throw error
        case .requiresAction:
            var error = APIError.card(.authenticationRequired)
            error.code = "subscription_payment_intent_requires_action"
            error.keepsChanges = false
            throw error
        }
    }

    /// Puts a change off until its invoice is paid: the subscription stays what it was.
    static func hold(_ world: inout World, of id: String, before: JSON) {
        guard let changed = world.get(.subscription, id) else { return }
        let instant = world.now(for: before["customer"].string)
        let ends = before["items"].elements.compactMap { $0["current_period_end"].int }
        let expiry = ([instant + 23 * 3_600] + ends + [before["trial_end"].int].compactMap { $0 })
            .filter { $0 > instant }.min()
        var held = before
        held["latest_invoice"] = changed["latest_invoice"]
        held["pending_update"] = .object(
            nulls: """
                billing_cycle_anchor cancel_at_period_end discount discounts metadata trial_end \
                trial_from_plan
                """,
            [
                "expires_at": JSON(expiry),
                "subscription_items": .array(
                    changed["items"].elements.map { item in
                        .object(
                            nulls: "billing_thresholds",
                            [
                                "id": item["id"], "object": "subscription_item",
                                "price": item["price"], "plan": item["plan"],
                                "quantity": item["quantity"], "created": item["created"],
                                "metadata": item["metadata"], "subscription": .string(id),
                                "current_period_start": item["current_period_start"],
                                "current_period_end": item["current_period_end"],
                                "tax_rates": [], "discounts": [], "_features": item["_features"],
                            ]
                        )
                    }
                ),
            ]
        )
        held["_pending_items"] = changed["items"]["data"]
        world.put(.subscription, held)
        Subscriptions.scheduleNext(&world, of: id)
        if let expiry {
            world.schedule(
                .expireUpdate(subscription: id),
                at: expiry,
                for: before["customer"].string
            )
        }
    }

    /// The invoice of a change that was put off has been paid: the change is made.
    static func apply(_ world: inout World, paidBy invoice: JSON) {
        guard let subscription = Invoices.subscription(world, of: invoice),
            !Subscriptions.isOver(subscription),
            !subscription["pending_update"].isNull,
            subscription["latest_invoice"].reference == invoice["id"].string
        else { return }
        let id = subscription["id"].text
        let changed = world.change(.subscription, id, event: "customer.subscription.updated") {
            $0["items"]["data"] = $0["_pending_items"]
            $0["_pending_items"] = .null
            $0["pending_update"] = .null
        }
        world.emit("customer.subscription.pending_update_applied", changed)
        Subscriptions.scheduleNext(&world, of: id)
        ActiveEntitlements.refresh(&world, of: subscription["customer"].text)
    }

    /// The change was not paid for in time: it is forgotten and its invoice void.
    static func expire(_ world: inout World, of id: String) {
        guard let subscription = world.get(.subscription, id), !Subscriptions.isOver(subscription),
            let expiry = subscription["pending_update"]["expires_at"].int,
            expiry <= world.now(for: subscription["customer"].string)
        else { return }
        let changed = world.change(.subscription, id, event: "customer.subscription.updated") {
            $0["_pending_items"] = .null
            $0["pending_update"] = .null
        }
        world.emit("customer.subscription.pending_update_expired", changed)
        if let invoice = subscription["latest_invoice"].reference,
            world.get(.invoice, invoice)?["status"].string == "open"
        {
            Invoices.close(&world, invoice, as: "void")
        }
    }
}
