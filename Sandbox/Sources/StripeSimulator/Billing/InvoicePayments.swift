/// Invoice payments: an invoice that is paid in parts has a payment intent for each.
/// https://docs.stripe.com/invoicing/partial-payments
enum InvoicePayments {
    static let routes: [Route] = [
        .post("invoices/:id/attach_payment") { world, call in
            let id = call.ids[0]
            try Invoices.requireOpen(world, id)
            let intent = try world.find(
                .paymentIntent,
                try call.parameters.required("payment_intent")
            )
            try call.parameters.finish()
            return try attach(&world, intent, to: id)
        },
        .get("invoice_payments") { world, call in
            let invoice = try call.parameters.string("invoice")
            let status = try call.parameters.string("status")
            let intent = try call.parameters.object("payment") { part in
                _ = try part.required("type")
                return try part.string("payment_intent")
            }
            return try world.list(.invoicePayment, &call) { payment in
                (invoice.map { payment["invoice"].string == $0 } ?? true)
                    && (status.map { payment["status"].string == $0 } ?? true)
                    && (intent.map { payment["payment"]["payment_intent"].string == $0 } ?? true)
            }
        },
        .get("invoice_payments/:id") { world, call in try world.find(.invoicePayment, call.ids[0])
        },
    ]

    private static func attach(_ world: inout World, _ intent: JSON, to id: String) throws -> JSON {
        let invoice = try world.find(.invoice, id)
        guard intent["currency"] == invoice["currency"],
            intent["customer"].reference == invoice["customer"].reference
        else {
            throw APIError.invalid(
                "The PaymentIntent must have the customer and the currency of the invoice.",
                param: "payment_intent"
            )
        }
        guard intent["status"].text != "canceled", intent["_invoice"].isNull else {
            throw APIError.invalid(
                "This PaymentIntent is canceled, or it pays an invoice already.",
                param: "payment_intent"
            )
        }
        world.change(.paymentIntent, intent["id"].text) { $0["_invoice_in_part"] = .string(id) }
        addPayment(
            &world,
            of: invoice,
            by: intent["id"].text,
            intent["amount"].count,
            isDefault: false
        )
        if intent["status"].string == "succeeded" { creditInPart(&world, intent["id"].text) }
        return try world.find(.invoice, id)
    }

    /// A payment intent has succeeded: what it pays in part is paid as far as the money goes.
    static func creditInPart(_ world: inout World, _ intent: String) {
        guard let paid = world.get(.paymentIntent, intent),
            let id = paid["_invoice_in_part"].string,
            let before = world.get(.invoice, id), before["status"].string == "open",
            let payment = world.all(.invoicePayment).last(where: {
                $0["payment"]["payment_intent"].string == intent
            })
        else { return }
        let remaining = before["amount_remaining"].count
        let amount = min(paid["amount_received"].count, remaining)
        let instant = world.now(for: before["customer"].string)
        let done = world.change(.invoicePayment, payment["id"].text) { payment in
            payment["status"] = "paid"
            payment["amount_paid"] = .int(amount)
            payment["status_transitions"]["paid_at"] = .int(instant)
        }
        let credited = world.change(.invoice, id) { invoice in
            invoice["amount_paid"] = .int(invoice["amount_paid"].count + amount)
            invoice["amount_remaining"] = .int(remaining - amount)
        }
        world.emit("invoice_payment.paid", done)
        guard amount < remaining else { return Invoices.markPaid(&world, id, intent: nil) }
        if let previous = World.previousAttributes(before, credited) {
            world.emit("invoice.updated", credited, previous: previous)
        }
        // The default payment is for the rest.
        guard let rest = before["_payment_intent"].string else { return }
        world.change(.paymentIntent, rest) { $0["amount"] = credited["amount_remaining"] }
        let open = world.all(.invoicePayment).last {
            $0["payment"]["payment_intent"].string == rest
        }
        if let open {
            world.change(.invoicePayment, open["id"].text) {
                $0["amount_requested"] = credited["amount_remaining"]
            }
        }
    }

    /// Notes which intent pays an invoice. https://docs.stripe.com/api/invoice-payment/object
    static func link(_ world: inout World, _ intent: String, to id: String) {
        world.change(.invoice, id) { $0["_payment_intent"] = .string(intent) }
        world.change(.paymentIntent, intent) { $0["_invoice"] = .string(id) }
        guard let invoice = world.get(.invoice, id) else { return }
        addPayment(
            &world,
            of: invoice,
            by: intent,
            invoice["amount_remaining"].count,
            isDefault: true
        )
    }

    /// Adds what says that `intent` pays `amount` of an invoice, or will.
    static func addPayment(
        _ world: inout World,
        of invoice: JSON,
        by intent: String,
        _ amount: Int,
        isDefault: Bool
    ) {
        var payment = world.blank(
            .invoicePayment,
            created: world.now(for: invoice["customer"].string),
            nulls: "amount_paid",
            [
                "amount_requested": .int(amount), "currency": invoice["currency"],
                "invoice": invoice["id"], "is_default": .bool(isDefault), "status": "open",
                "payment": ["type": "payment_intent", "payment_intent": .string(intent)],
                "status_transitions": .object(nulls: "canceled_at paid_at", [:]),
            ]
        )
        payment.remove("metadata")
        world.put(.invoicePayment, payment)
    }
}
