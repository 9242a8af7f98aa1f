// An invoice that is paid in parts: each part is a payment intent of its own.
// https://docs.stripe.com/invoicing/partial-payments

extension World {
    static let attachedPaymentRoutes: [Route] = [
        .post("invoices/:id/attach_payment") { world, call in
            let id = call.ids[0]
            try world.requireOpen(id)
            let intent = try world.find(
                .paymentIntent,
                try call.parameters.required("payment_intent")
            )
            try call.parameters.finish()
            return try world.attach(intent, to: id)
        }
    ]

    private mutating func attach(_ intent: JSON, to id: String) throws -> JSON {
        let invoice = try find(.invoice, id)
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
        change(.paymentIntent, intent["id"].text) { $0["_invoice_in_part"] = .string(id) }
        addPayment(of: invoice, by: intent["id"].text, intent["amount"].count, isDefault: false)
        if intent["status"].string == "succeeded" { creditInPart(intent["id"].text) }
        return try find(.invoice, id)
    }

    /// A payment intent has succeeded: what it pays in part is paid as far as the money goes.
    mutating func creditInPart(_ intent: String) {
        guard let paid = get(.paymentIntent, intent),
            let id = paid["_invoice_in_part"].string,
            let before = get(.invoice, id), before["status"].string == "open",
            let payment = all(.invoicePayment).last(where: {
                $0["payment"]["payment_intent"].string == intent
            })
        else { return }
        let remaining = before["amount_remaining"].count
        let amount = min(paid["amount_received"].count, remaining)
        let instant = now(for: before["customer"].string)
        let done = change(.invoicePayment, payment["id"].text) { payment in
            payment["status"] = "paid"
            payment["amount_paid"] = .int(amount)
            payment["status_transitions"]["paid_at"] = .int(instant)
        }
        let credited = change(.invoice, id) { invoice in
            invoice["amount_paid"] = .int(invoice["amount_paid"].count + amount)
            invoice["amount_remaining"] = .int(remaining - amount)
        }
        emit("invoice_payment.paid", done)
        guard amount < remaining else { return markPaid(id, intent: nil) }
        if let previous = Self.previousAttributes(before, credited) {
            emit("invoice.updated", credited, previous: previous)
        }
        // The default payment is for the rest.
        guard let rest = before["_payment_intent"].string else { return }
        change(.paymentIntent, rest) { $0["amount"] = credited["amount_remaining"] }
        let open = all(.invoicePayment).last { $0["payment"]["payment_intent"].string == rest }
        if let open {
            change(.invoicePayment, open["id"].text) {
                $0["amount_requested"] = credited["amount_remaining"]
            }
        }
    }
}
