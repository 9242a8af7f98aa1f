// Bank debits: the money, or its refusal, comes days after the payer has left.
// https://docs.stripe.com/payments/sepa-debit/accept-a-payment

extension World {
    /// The debit is under way; nothing is known yet.
    mutating func startProcessing(_ id: String, with method: JSON) -> PaymentAttempt {
        guard let intent = get(.paymentIntent, id) else { return .declined(.processing) }
        let made = addCharge(for: intent, method: method, decline: nil, isCaptured: false)
        let charge = change(.charge, made["id"].text) { charge in
            charge["status"] = "pending"
            charge["paid"] = false
            charge["captured"] = true
        }
        let pending = change(.paymentIntent, id) { intent in
            intent["status"] = "processing"
            intent["payment_method"] = method["id"]
            intent["latest_charge"] = charge["id"]
            intent["next_action"] = .null
        }
        emit("charge.pending", charge)
        emit("payment_intent.processing", pending)
        let customer = intent["customer"].string
        let delay = policy.debitDays.map { $0 * 86_400 } ?? Self.card(of: method).settlementDelay
        schedule(.settlePayment(id), at: now(for: customer) + (delay ?? 0), for: customer)
        return .processing
    }

    /// The bank's answer to a debit has come.
    mutating func settlePayment(_ id: String) {
        guard let intent = get(.paymentIntent, id), intent["status"].string == "processing" else {
            return
        }
        let method = get(.paymentMethod, intent["payment_method"].reference) ?? .null
        let decline = Self.card(of: method).decline
        let charge = change(.charge, intent["latest_charge"].text) { charge in
            charge["status"] = decline == nil ? "succeeded" : "failed"
            charge["paid"] = .bool(decline == nil)
            charge["amount_captured"] = decline == nil ? charge["amount"] : 0
            charge["failure_code"] = JSON(decline?.code)
            charge["failure_message"] = JSON(decline?.message)
        }
        let done = change(.paymentIntent, id) { intent in
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
        if decline == nil { settle(charge) }
        emit(decline == nil ? "charge.succeeded" : "charge.failed", charge)
        emit(decline == nil ? "payment_intent.succeeded" : "payment_intent.payment_failed", done)
        if decline == nil {
            creditInPart(id)
            conclude(id, .succeeded)
        } else if let invoice = done["_invoice"].string {
            // A subscription that began on trust goes on; a renewal has failed as by card.
            let isFirst = get(.invoice, invoice)?["billing_reason"].string == "subscription_create"
            noteFailure(invoice, isManual: isFirst, keepsStatus: isFirst)
        }
        guard
            let session = all(.checkoutSession).last(where: {
                $0["payment_intent"].reference == id
            })
        else { return }
        let settled = change(.checkoutSession, session["id"].text) { session in
            if decline == nil { session["payment_status"] = "paid" }
        }
        emit(
            decline == nil
                ? "checkout.session.async_payment_succeeded"
                : "checkout.session.async_payment_failed",
            settled
        )
    }
}
