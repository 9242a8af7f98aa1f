// Bank debits: the money, or its refusal, comes days after the payer has left.
// https://docs.stripe.com/payments/sepa-debit/accept-a-payment

extension PaymentIntents {
    /// The debit is under way; nothing is known yet.
    static func startProcessing(
        _ world: inout World,
        _ id: String,
        with method: JSON
    ) -> PaymentAttempt {
        guard let intent = world.get(.paymentIntent, id) else { return .declined(.processing) }
        let made = Charges.add(&world, for: intent, method: method, decline: nil, isCaptured: false)
        let charge = world.change(.charge, made["id"].text) { charge in
            charge["status"] = "pending"
            charge["paid"] = false
            charge["captured"] = true
        }
        let pending = world.change(.paymentIntent, id) { intent in
            intent["status"] = "processing"
            intent["payment_method"] = method["id"]
            intent["latest_charge"] = charge["id"]
            intent["next_action"] = .null
        }
        world.emit("charge.pending", charge)
        world.emit("payment_intent.processing", pending)
        let customer = intent["customer"].string
        let delay =
            world.policy.debitDays.map { $0 * 86_400 }
            ?? PaymentMethods.card(of: method).settlementDelay
        world.schedule(
            .settlePayment(id),
            at: world.now(for: customer) + (delay ?? 0),
            for: customer
        )
        return .processing
    }

    /// The bank's answer to a debit has come.
    static func settlePayment(_ world: inout World, _ id: String) {
        guard let intent = world.get(.paymentIntent, id), intent["status"].string == "processing"
        else {
            return
        }
        let method = world.get(.paymentMethod, intent["payment_method"].reference) ?? .null
        let decline = PaymentMethods.card(of: method).decline
        let charge = world.change(.charge, intent["latest_charge"].text) { charge in
            charge["status"] = decline == nil ? "succeeded" : "failed"
            charge["paid"] = .bool(decline == nil)
            charge["amount_captured"] = decline == nil ? charge["amount"] : 0
            charge["failure_code"] = JSON(decline?.code)
            charge["failure_message"] = JSON(decline?.message)
        }
        let done = world.change(.paymentIntent, id) { intent in
            intent["status"] = decline == nil ? "succeeded" : "requires_payment_method"
            intent["amount_received"] = decline == nil ? intent["amount"] : 0
            if let decline {
                intent["last_payment_error"] = .object(
                    nulls: "param decline_code",
                    [
                        "type": "card_error", "code": .string(decline.code),
                        "message": .string(decline.message), "charge": charge["id"],
                    ]
                )
            }
        }
        if decline == nil { Charges.settle(&world, charge) }
        world.emit(decline == nil ? "charge.succeeded" : "charge.failed", charge)
        world.emit(
            decline == nil ? "payment_intent.succeeded" : "payment_intent.payment_failed",
            done
        )
        if decline == nil {
            InvoicePayments.creditInPart(&world, id)
            conclude(&world, id, .succeeded)
        } else if let invoice = done["_invoice"].string {
            // A subscription that began on trust goes on; a renewal has failed as by card.
            let isFirst =
                world.get(.invoice, invoice)?["billing_reason"].string == "subscription_create"
            Invoices.noteFailure(&world, invoice, isManual: isFirst, keepsStatus: isFirst)
        }
        guard
            let session = world.all(.checkoutSession).last(where: {
                $0["payment_intent"].reference == id
            })
        else { return }
        let settled = world.change(.checkoutSession, session["id"].text) { session in
            if decline == nil { session["payment_status"] = "paid" }
        }
        world.emit(
            decline == nil
                ? "checkout.session.async_payment_succeeded"
                : "checkout.session.async_payment_failed",
            settled
        )
    }
}
