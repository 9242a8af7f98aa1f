/// What a new invoice is for.
struct InvoiceOrder {
    var customer: String
    var subscription: JSON?
    var reason: String
    var currency: String
    var lines: [InvoiceLine]
    var periodStart: Int
    var periodEnd: Int
    var finalizesByItself = true
    /// `nil`: the subscription's.
    var collectionMethod: String?
    /// Until when it may be paid where it is sent; `nil`: as long as the subscription gives.
    var dueDate: Int?
    /// For lines without rates of their own; `nil`: the subscription's.
    var taxRates: [JSON]?
    /// `true` where the customer's balance changes the amount due.
    ///
    /// It does not change invoices that Checkout makes: "The credit balance doesn't apply to invoices created by Checkout
    /// Sessions with invoice_creation enabled." (https://docs.stripe.com/billing/customer/balance)
    var appliesBalance = true
}

/// Invoices: what customers owe, from the draft to its payment.
/// https://docs.stripe.com/api/invoices
enum Invoices {
    /// Makes a draft and announces it. https://docs.stripe.com/api/invoices/object
    static func add(_ world: inout World, _ order: InvoiceOrder) -> JSON {
        let id = world.newID(.invoice)
        let lines = order.lines.flatMap { Prices.tierLines(world, $0) }.map {
            lineObject(&world, $0, invoice: id)
        }
        var invoice = draft(&world, order, id: id, lines: lines)
        Discounts.takeOff(world, &invoice)
        tax(&invoice)
        let balance =
            order.appliesBalance ? world.get(.customer, order.customer)?["balance"].count ?? 0 : 0
        sum(&invoice, balance: balance)
        if order.finalizesByItself {
            let instant = invoice["created"].count
            let isSent = invoice["collection_method"].string == "send_invoice"
            invoice["automatically_finalizes_at"] = .int(instant + 3_600)
            invoice["next_payment_attempt"] = isSent ? .null : .int(instant + 3_600)
            world.schedule(.finalizeInvoice(id), at: instant + 3_600, for: order.customer)
        }
        return world.add(.invoice, invoice, event: "invoice.created")
    }

    /// The object, before discounts, taxes and what is due.
    private static func draft(
        _ world: inout World,
        _ order: InvoiceOrder,
        id: String,
        lines: [JSON]
    ) -> JSON {
        let instant = world.now(for: order.customer)
        let customer = world.get(.customer, order.customer) ?? .null
        let subtotal = order.lines.map(\.amount).reduce(0, +)
        let subscription = order.subscription
        let method =
            order.collectionMethod ?? subscription?["collection_method"].string
            ?? "charge_automatically"
        let isSent = method == "send_invoice"
        let days = subscription?["days_until_due"].int ?? 0
        return world.blank(
            .invoice,
            id: id,
            created: instant,
            nulls: """
                account_tax_ids amount_paid_off_stripe application automatically_finalizes_at \
                custom_fields customer_account customer_tax_ids default_payment_method \
                default_source description effective_at ending_balance footer from_invoice \
                hosted_invoice_url invoice_pdf last_finalization_error latest_revision \
                next_payment_attempt number on_behalf_of receipt_number rendering shipping_cost \
                shipping_details statement_descriptor status_details threshold_reason \
                webhooks_delivered_at
                """,
            [
                "account_country": "US", "account_name": "Tollgate sandbox", "amount_due": 0,
                "amount_overpaid": 0, "amount_paid": 0, "amount_remaining": 0, "amount_shipping": 0,
                "attempt_count": 0, "attempted": false, "auto_advance": true,
                "automatic_tax": .object(
                    nulls: "disabled_reason liability provider status",
                    ["enabled": false]
                ),
                "billing_reason": .string(order.reason),
                "collection_method": .string(method),
                "due_date": isSent ? .int(order.dueDate ?? instant + days * 86_400) : .null,
                "currency": .string(order.currency), "customer": .string(order.customer),
                "customer_address": customer["address"], "customer_email": customer["email"],
                "customer_name": customer["name"], "customer_phone": customer["phone"],
                "customer_shipping": customer["shipping"],
                "customer_tax_exempt": customer["tax_exempt"],
                "default_tax_rates": .array(
                    order.taxRates ?? subscription?["default_tax_rates"].elements ?? []
                ),
                "discounts": subscription?["discounts"] ?? [],
                "issuer": .object(nulls: "account", ["type": "self"]),
                "lines": JSON.list(lines, url: "/v1/invoices/\(id)/lines"),
                "parent": parent(of: order),
                "payment_settings": .object(
                    nulls: "default_mandate payment_method_options payment_method_types",
                    [:]
                ),
                "period_start": .int(order.periodStart), "period_end": .int(order.periodEnd),
                "post_payment_credit_notes_amount": 0, "pre_payment_credit_notes_amount": 0,
                "starting_balance": 0, "status": "draft",
                "_applies_balance": .bool(order.appliesBalance),
                "status_transitions": .object(
                    nulls: "finalized_at marked_uncollectible_at paid_at voided_at",
                    [:]
                ),
                "subtotal": .int(subtotal), "subtotal_excluding_tax": .int(subtotal),
                "test_clock": customer["test_clock"], "total": .int(subtotal),
                "total_discount_amounts": [], "total_excluding_tax": .int(subtotal),
                "total_pretax_credit_amounts": [], "total_taxes": [],
            ]
        )
    }

    private static func parent(of invoice: InvoiceOrder) -> JSON {
        guard let subscription = invoice.subscription else { return .null }
        return [
            "type": "subscription_details", "quote_details": .null,
            "subscription_details": .object(
                nulls: "subscription_proration_date",
                ["subscription": subscription["id"], "metadata": subscription["metadata"]]
            ),
        ]
    }

    /// Sums up what is due after the customer's balance; a negative balance is credit.
    static func sum(_ invoice: inout JSON, balance: Int) {
        let total = invoice["total"].count
        let due = max(0, total + balance)
        invoice["starting_balance"] = .int(balance)
        invoice["amount_due"] = .int(due)
        invoice["amount_remaining"] = .int(due)
    }

    /// Adds lines to a draft.
    static func addLines(_ world: inout World, _ lines: [InvoiceLine], to id: String) {
        let objects = lines.map { lineObject(&world, $0, invoice: id) }
        let balance =
            world.get(.customer, world.get(.invoice, id)?["customer"].reference)?["balance"].count
            ?? 0
        var invoice = world.get(.invoice, id) ?? .null
        let subtotal = invoice["subtotal"].count + lines.map(\.amount).reduce(0, +)
        invoice["lines"]["data"] = .array(invoice["lines"].elements + objects)
        for name in ["subtotal", "subtotal_excluding_tax", "total", "total_excluding_tax"] {
            invoice[name] = .int(subtotal)
        }
        Discounts.takeOff(world, &invoice)
        tax(&invoice)
        sum(&invoice, balance: balance)
        let changed = invoice
        world.change(.invoice, id, event: "invoice.updated") { $0 = changed }
    }

    /// Draft → open, with a number; what is due becomes final.
    static func finalize(_ world: inout World, _ id: String) {
        guard let draft = world.get(.invoice, id), draft["status"].string == "draft" else { return }
        let customer = draft["customer"].text
        let instant = world.now(for: customer)
        let holder = world.get(.customer, customer) ?? .null
        let sequence = holder["next_invoice_sequence"].int ?? 1
        let digits = String(sequence)
        let number =
            holder["invoice_prefix"].text + "-"
            + String(repeating: "0", count: max(0, 4 - digits.count))
            + digits
        let applies = draft["_applies_balance"].bool != false
        let balance = applies ? holder["balance"].count : 0
        let total = draft["total"].count
        let left = min(0, total + balance)  // Credit that is left over; a debt is in the sum.
        if holder["deleted"].bool != true {
            world.change(.customer, customer, event: balance == left ? nil : "customer.updated") {
                $0["next_invoice_sequence"] = .int(sequence + 1)
                if applies { $0["balance"] = .int(left) }
                if $0["currency"].isNull { $0["currency"] = draft["currency"] }
            }
            if balance != left {
                CustomerBalance.note(
                    &world,
                    of: customer,
                    movedBy: left - balance,
                    type: "applied_to_invoice",
                    invoice: id
                )
            }
        }
        let baseURL = world.baseURL
        let open = world.change(.invoice, id) { invoice in
            sum(&invoice, balance: balance)
            invoice["ending_balance"] = .int(left)
            invoice["status"] = "open"
            invoice["number"] = .string(number)
            invoice["effective_at"] = .int(instant)
            invoice["automatically_finalizes_at"] = .null
            invoice["status_transitions"]["finalized_at"] = .int(instant)
            invoice["hosted_invoice_url"] = .string("\(baseURL)/i/\(id)")
            invoice["invoice_pdf"] = .string("\(baseURL)/i/\(id)/pdf")
        }
        Discounts.useUp(&world, open["discounts"])
        world.emit("invoice.finalized", open)
        guard open["collection_method"].string == "send_invoice", open["amount_due"].count > 0,
            let due = open["due_date"].int
        else { return }
        _ = intent(&world, for: open)
        world.schedule(.invoiceDue(id), at: max(instant, due), for: customer)
    }

    /// A sent invoice is due: who has not paid it is late.
    /// https://docs.stripe.com/api/subscriptions/object#subscription_object-status
    static func becomeDue(_ world: inout World, _ id: String) {
        guard let invoice = world.get(.invoice, id), invoice["status"].string == "open",
            let due = invoice["due_date"].int, due <= world.now(for: invoice["customer"].string),
            let subscription = subscription(world, of: invoice), !Subscriptions.isOver(subscription)
        else { return }
        if subscription["status"].string == "active" {
            world.change(
                .subscription,
                subscription["id"].text,
                event: "customer.subscription.updated"
            ) {
                $0["status"] = "past_due"
            }
        }
        let deadline = due + (world.policy.retryDays.last ?? 0) * 86_400
        world.schedule(.endDunning(invoice: id), at: deadline, for: invoice["customer"].string)
    }

    /// The time after the due date is over too.
    static func endDunningIfDue(_ world: inout World, _ id: String) {
        guard let invoice = world.get(.invoice, id), invoice["status"].string == "open",
            let subscription = subscription(world, of: invoice),
            subscription["status"].string == "past_due"
        else { return }
        endDunning(&world, of: subscription["id"].text)
    }

    /// The hour after the creation of a renewal's invoice is over.
    ///
    /// While an endpoint has not taken `invoice.created`, Stripe waits up to 72 hours.
    static func finalizeIfDue(_ world: inout World, _ id: String) {
        guard let invoice = world.get(.invoice, id), invoice["status"].string == "draft",
            invoice["auto_advance"].bool == true
        else { return }
        let customer = invoice["customer"].text
        let instant = world.now(for: customer)
        let isUnanswered = world.deliveries.contains { delivery in
            let event = world.get(.event, delivery.event) ?? .null
            return event["type"].string == "invoice.created" && delivery.attempts > 0
                && event["data"]["object"]["id"].string == id
        }
        if isUnanswered, instant < invoice["created"].count + 72 * 3_600 {
            world.schedule(.finalizeInvoice(id), at: instant + 3_600, for: customer)
            return
        }
        let subscription = world.get(
            .subscription,
            invoice["parent"]["subscription_details"]["subscription"].reference
        )
        guard subscription?["status"].string != "unpaid" else { return }
        if pausesCollection(&world, of: subscription, for: id) { return }
        finalize(&world, id)
        _ = collect(&world, id, offSession: true)
        if let sent = world.get(.invoice, id), sent["collection_method"].string == "send_invoice",
            sent["status"].string == "open"
        {
            world.emit("invoice.sent", sent)
        }
    }

    /// What `pause_collection` does with an invoice instead of collecting it.
    private static func pausesCollection(
        _ world: inout World,
        of subscription: JSON?,
        for invoice: String
    ) -> Bool {
        switch subscription?["pause_collection"]["behavior"].string {
        case "keep_as_draft":
            world.change(.invoice, invoice) { $0["auto_advance"] = false }
        case "mark_uncollectible":
            finalize(&world, invoice)
            close(&world, invoice, as: "uncollectible")
        case "void":
            finalize(&world, invoice)
            close(&world, invoice, as: "void")
        default: return false
        }
        return true
    }

    /// Ends an open invoice without money.
    static func close(_ world: inout World, _ id: String, as status: String) {
        guard let invoice = world.get(.invoice, id) else { return }
        let instant = world.now(for: invoice["customer"].string)
        let closed = world.change(.invoice, id) { invoice in
            invoice["status"] = .string(status)
            invoice["auto_advance"] = false
            invoice["next_payment_attempt"] = .null
            invoice["status_transitions"][
                status == "void" ? "voided_at" : "marked_uncollectible_at"
            ] = .int(instant)
        }
        world.emit(status == "void" ? "invoice.voided" : "invoice.marked_uncollectible", closed)
        let applied = invoice["ending_balance"].count - invoice["starting_balance"].count
        if status == "void", applied != 0, let customer = invoice["customer"].string {
            CustomerBalance.move(
                &world,
                of: customer,
                by: -applied,
                type: "unapplied_from_invoice",
                currency: invoice["currency"].text,
                invoice: id
            )
        }
        if let intent = invoice["_payment_intent"].string {
            PaymentIntents.cancel(
                &world,
                intent,
                reason: status == "void" ? "void_invoice" : "failed_invoice"
            )
        }
        for payment in world.all(.invoicePayment)
        where payment["invoice"].string == id && payment["status"].string == "open" {
            world.change(.invoicePayment, payment["id"].text) { payment in
                payment["status"] = "canceled"
                payment["status_transitions"]["canceled_at"] = .int(instant)
            }
        }
        noteSettled(&world, closed)
    }
}
