extension World {
    /// Starts a subscription and bills its first period.
    /// https://docs.stripe.com/api/subscriptions/object
    mutating func subscribe(_ order: SubscriptionOrder) throws -> JSON {
        let isSent = order.collectionMethod == "send_invoice"
        guard !isSent || order.daysUntilDue != nil else {
            throw APIError.missing(parameter: "days_until_due")
        }
        let instant = now(for: order.customer)
        let id = newID(.subscription)
        let itemIDs = order.items.map { _ in newID(.subscriptionItem) }
        let items = zip(order.items, itemIDs).map { item, itemID in
            itemObject(
                itemID,
                item,
                subscription: id,
                start: instant,
                end: firstPeriodEnd(order, item),
                created: instant
            )
        }
        let lines =
            firstLines(order, subscription: id, items: itemIDs)
            + takePendingItems(of: order.customer, subscription: nil)
        var subscription = subscriptionObject(id, order, items: items, instant: instant)
        let isTrialing = order.trialEnd != nil
        let begins = order.paidBy != nil || isSent
        subscription["discounts"] = JSON(
            order.discounts.map {
                redeem($0, customer: order.customer, subscription: id, session: order.session)
            }
        )
        subscription["status"] = isTrialing ? "trialing" : begins ? "active" : "incomplete"
        if lines.allSatisfy({ $0.amount <= 0 }) {
            subscription["pending_setup_intent"] = JSON(pendingSetup(for: order))
        }
        put(.subscription, subscription)
        scheduleNext(of: id)
        emit("customer.subscription.created", subscription)
        let invoice = addInvoice(
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
        assignPendingItems(lines, to: invoiceID)
        change(.subscription, id) { $0["latest_invoice"] = .string(invoiceID) }
        try billFirst(invoiceID, order)
        if get(.subscription, id)?["status"].string == "incomplete" {
            schedule(
                .expireIncomplete(subscription: id),
                at: instant + 23 * 3_600,
                for: order.customer
            )
        }
        refreshEntitlements(of: order.customer)
        return get(.subscription, id) ?? subscription
    }

    /// Finalizes the first invoice and has it paid, as far as that happens within the request.
    private mutating func billFirst(_ invoice: String, _ order: SubscriptionOrder) throws {
        let due = get(.invoice, invoice)?["amount_due"].count ?? 0
        if let intent = order.paidBy {
            finalize(invoice)
            link(intent, to: invoice)
            markPaid(invoice, intent: intent)
            return
        }
        // One that is sent stays a draft for an hour, so that it can still be changed.
        guard order.collectionMethod == "charge_automatically" || due == 0 else { return }
        finalize(invoice)
        let waits = order.paymentBehavior == "default_incomplete" && order.trialEnd == nil
        guard waits, due > 0, let open = get(.invoice, invoice) else {
            return try payFirst(invoice, order)
        }
        _ = intent(for: open)
    }

    private mutating func payFirst(_ invoice: String, _ order: SubscriptionOrder) throws {
        let method = order.paymentMethod.flatMap { get(.paymentMethod, $0) }
        let due = get(.invoice, invoice)?["amount_due"].count ?? 0
        if due > 0, method == nil, defaultPaymentMethod(of: order.customer) == nil {
            throw APIError.invalid(
                "This customer has no attached payment source or default payment method. Please "
                    + "consider adding a default payment method.",
                code: "resource_missing"
            )
        }
        let outcome = collect(invoice, with: method, offSession: order.offSession)
        if order.paymentBehavior == "error_if_incomplete" { try refuse(outcome) }
    }

    func itemObject(
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
                "discounts": [], "metadata": item.metadata, "plan": Self.plan(of: item.price),
                "price": item.price, "quantity": .int(item.quantity),
                "subscription": .string(subscription), "tax_rates": .array(item.taxRates),
                "_features": JSON(features(of: item.price)),
            ]
        )
    }

    mutating func subscriptionObject(
        _ id: String,
        _ order: SubscriptionOrder,
        items: [JSON],
        instant: Int
    ) -> JSON {
        let ends = items.map { $0["current_period_end"].count }
        let cancelAt = order.cancelAtPeriodEnd ? ends.min() : order.cancelAt
        return blank(
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
                "test_clock": JSON(testClock(of: order.customer)),
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

    func isOver(_ subscription: JSON) -> Bool {
        ["canceled", "incomplete_expired"].contains(subscription["status"].text)
    }

    static func isClassic(_ subscription: JSON) -> Bool {
        subscription["billing_mode"]["type"].string == "classic"
    }
}
