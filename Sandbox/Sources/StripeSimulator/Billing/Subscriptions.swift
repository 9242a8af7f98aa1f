/// Subscriptions: what customers pay for period after period.
/// https://docs.stripe.com/api/subscriptions
enum Subscriptions {
    /// Starts a subscription and bills its first period.
    /// https://docs.stripe.com/api/subscriptions/object
    static func create(_ world: inout World, _ order: SubscriptionOrder) throws -> JSON {
        let isSent = order.collectionMethod == "send_invoice"
        guard !isSent || order.daysUntilDue != nil else {
            throw APIError.missing(parameter: "days_until_due")
        }
        let instant = world.now(for: order.customer)
        let id = world.newID(.subscription)
        let itemIDs = order.items.map { _ in world.newID(.subscriptionItem) }
        let items = zip(order.items, itemIDs).map { item, itemID in
            itemObject(
                world,
                itemID,
                item,
                subscription: id,
                start: instant,
                end: SubscriptionOrder.firstPeriodEnd(world, order, item),
                created: instant
            )
        }
        let lines =
            SubscriptionOrder.firstLines(world, order, subscription: id, items: itemIDs)
            + InvoiceItems.takePending(world, of: order.customer, subscription: nil)
        var subscription = object(&world, id, order, items: items, instant: instant)
        let isTrialing = order.trialEnd != nil
        let begins = order.paidBy != nil || isSent
        subscription["discounts"] = JSON(
            order.discounts.map {
                Discounts.redeem(
                    &world,
                    $0,
                    customer: order.customer,
                    subscription: id,
                    session: order.session
                )
            }
        )
        subscription["status"] = isTrialing ? "trialing" : begins ? "active" : "incomplete"
        if lines.allSatisfy({ $0.amount <= 0 }) {
            subscription["pending_setup_intent"] = JSON(pendingSetup(&world, for: order))
        }
        world.put(.subscription, subscription)
        scheduleNext(&world, of: id)
        world.emit("customer.subscription.created", subscription)
        let invoice = Invoices.add(
            &world,
            InvoiceOrder(
                customer: order.customer,
                subscription: subscription,
                reason: "subscription_create",
                currency: subscription["currency"].text,
                lines: lines,
                periodStart: instant,
                periodEnd: instant,
                finalizesByItself: isSent
            )
        )
        let invoiceID = invoice["id"].text
        InvoiceItems.assign(&world, lines, to: invoiceID)
        world.change(.subscription, id) { $0["latest_invoice"] = .string(invoiceID) }
        try billFirst(&world, invoiceID, order)
        if world.get(.subscription, id)?["status"].string == "incomplete" {
            world.schedule(
                .expireIncomplete(subscription: id),
                at: instant + 23 * 3_600,
                for: order.customer
            )
        }
        ActiveEntitlements.refresh(&world, of: order.customer)
        return world.get(.subscription, id) ?? subscription
    }

    /// Finalizes the first invoice and has it paid, as far as that happens within the request.
    private static func billFirst(
        _ world: inout World,
        _ invoice: String,
        _ order: SubscriptionOrder
    ) throws {
        let due = world.get(.invoice, invoice)?["amount_due"].count ?? 0
        if let intent = order.paidBy {
            Invoices.finalize(&world, invoice)
            InvoicePayments.link(&world, intent, to: invoice)
            Invoices.markPaid(&world, invoice, intent: intent)
            return
        }
        // One that is sent stays a draft for an hour, so that it can still be changed.
        guard order.collectionMethod == "charge_automatically" || due == 0 else { return }
        Invoices.finalize(&world, invoice)
        let waits = order.paymentBehavior == "default_incomplete" && order.trialEnd == nil
        guard waits, due > 0, let open = world.get(.invoice, invoice) else {
            return try payFirst(&world, invoice, order)
        }
        _ = Invoices.intent(&world, for: open)
    }

    private static func payFirst(
        _ world: inout World,
        _ invoice: String,
        _ order: SubscriptionOrder
    ) throws {
        let method = order.paymentMethod.flatMap { world.get(.paymentMethod, $0) }
        let due = world.get(.invoice, invoice)?["amount_due"].count ?? 0
        if due > 0, method == nil, PaymentMethods.defaultMethod(world, of: order.customer) == nil {
            throw APIError.invalid(
                "This customer has no attached payment source or default payment method. Please "
                    + "consider adding a default payment method.",
                code: "resource_missing"
            )
        }
        let outcome = Invoices.collect(&world, invoice, with: method, offSession: order.offSession)
        if order.paymentBehavior == "error_if_incomplete" { try PendingUpdates.refuse(outcome) }
    }

    static func itemObject(
        _ world: World,
        _ id: String,
        _ item: SubscriptionOrder.Item,
        subscription: String,
        start: Int,
        end: Int,
        created: Int
    ) -> JSON {
        .object(
            nulls: "billed_until billing_thresholds current_trial",
            [
                "id": .string(id), "object": "subscription_item", "created": .int(created),
                "current_period_start": .int(start), "current_period_end": .int(end),
                "discounts": [], "metadata": item.metadata, "plan": Prices.plan(of: item.price),
                "price": item.price, "quantity": .int(item.quantity),
                "subscription": .string(subscription), "tax_rates": .array(item.taxRates),
                "_features": JSON(Features.ids(world, of: item.price)),
            ]
        )
    }

    static func object(
        _ world: inout World,
        _ id: String,
        _ order: SubscriptionOrder,
        items: [JSON],
        instant: Int
    ) -> JSON {
        let ends = items.map { $0["current_period_end"].count }
        let cancelAt = order.cancelAtPeriodEnd ? ends.min() : order.cancelAt
        return world.blank(
            .subscription,
            id: id,
            created: instant,
            nulls: """
                application application_fee_percent billing_cycle_anchor_config billing_thresholds \
                customer_account default_source ended_at latest_invoice \
                managed_payments next_pending_invoice_item_invoice on_behalf_of pause_collection \
                pending_invoice_item_interval pending_setup_intent pending_update \
                presentment_details schedule status_details transfer_data
                """,
            [
                "automatic_tax": .object(nulls: "disabled_reason liability", ["enabled": false]),
                "billing_cycle_anchor": .int(order.trialEnd ?? order.anchor ?? instant),
                "billing_mode": .object(
                    nulls: "updated_at",
                    [
                        "type": .string(order.billingMode),
                        "flexible": order.billingMode == "flexible"
                            ? ["proration_discounts": "included"] : .null,
                    ]
                ),
                "billing_schedules": [], "cancel_at": JSON(cancelAt),
                "cancel_at_period_end": .bool(order.cancelAtPeriodEnd),
                "canceled_at": cancelAt == nil ? .null : .int(instant),
                "cancellation_details": .object(
                    nulls: "comment feedback feedback_option reason",
                    [:]
                ),
                "collection_method": .string(order.collectionMethod),
                "currency": order.items.first?.price["currency"] ?? "usd",
                "customer": .string(order.customer), "days_until_due": JSON(order.daysUntilDue),
                "default_payment_method": JSON(order.paymentMethod),
                "default_tax_rates": .array(order.taxRates),
                "description": JSON(order.description), "discounts": [],
                "invoice_settings": .object(
                    nulls: "account_tax_ids custom_fields description footer",
                    ["issuer": .object(nulls: "account", ["type": "self"])]
                ),
                "items": JSON.list(items, url: "/v1/subscription_items?subscription=\(id)"),
                "metadata": order.metadata,
                "payment_settings": .object(
                    nulls: "payment_method_options payment_method_types",
                    [
                        "save_default_payment_method": order.savesPaymentMethod
                            ? "on_subscription" : "off"
                    ]
                ), "start_date": .int(instant), "status": "incomplete",
                "test_clock": JSON(world.testClock(of: order.customer)),
                "trial_end": JSON(order.trialEnd),
                "trial_settings": [
                    "end_behavior": [
                        "billing_cycle_anchor": .null,
                        "missing_payment_method": .string(order.missingPaymentMethod),
                    ]
                ],
                "trial_start": order.trialEnd == nil ? .null : .int(instant),
            ]
        )
    }

    static func isOver(_ subscription: JSON) -> Bool {
        ["canceled", "incomplete_expired"].contains(subscription["status"].text)
    }

    static func isClassic(_ subscription: JSON) -> Bool {
        subscription["billing_mode"]["type"].string == "classic"
    }
}
