/// How an attempt to take money went.
enum PaymentAttempt: Hashable, Sendable {
    case succeeded
    /// The bank answers days later.
    case processing
    case declined(Decline)
    /// The holder must pass a challenge first.
    case requiresAction
}

extension World {
    /// Makes a payment intent and announces it. https://docs.stripe.com/api/payment_intents/object
    mutating func addIntent(
        amount: Int,
        currency: String,
        customer: String?,
        description: String? = nil,
        metadata: JSON = [:],
        setupFutureUsage: String? = nil,
        captureMethod: String = "automatic"
    ) -> JSON {
        var intent = blank(
            .paymentIntent,
            created: now(for: customer),
            nulls: """
                allowed_payment_method_types amount_details application application_fee_amount \
                automatic_payment_methods canceled_at cancellation_reason customer_account \
                excluded_payment_method_types hooks last_payment_error latest_charge \
                managed_payments next_action on_behalf_of payment_details payment_method \
                payment_method_configuration_details payment_record presentment_details processing \
                receipt_email review shipping source statement_descriptor \
                statement_descriptor_suffix transfer_data transfer_group
                """,
            [
                "amount": .int(amount), "amount_capturable": 0, "amount_received": 0,
                "capture_method": .string(captureMethod), "confirmation_method": "automatic",
                "currency": .string(currency), "customer": JSON(customer),
                "description": JSON(description), "metadata": metadata,
                "payment_method_options": [
                    "card": .object(
                        nulls: "installments mandate_options network",
                        ["request_three_d_secure": "automatic"]
                    )
                ],
                "payment_method_types": ["card"], "setup_future_usage": JSON(setupFutureUsage),
                "status": "requires_payment_method",
            ]
        )
        intent["client_secret"] = .string("\(intent["id"].text)_secret_\(random.token(24))")
        return add(.paymentIntent, intent, event: "payment_intent.created")
    }

    /// Tries to take the money of `id` with a payment method.
    /// - Parameter isAuthenticated: the holder has passed the challenge just now.
    mutating func attempt(
        _ id: String,
        with method: JSON,
        _ confirmation: Confirmation = Confirmation(),
        isAuthenticated: Bool = false
    ) -> PaymentAttempt {
        let card = Self.card(of: method)
        let offSession = confirmation.offSession
        let isSetUp = method["_set_up"].bool == true
        if !isAuthenticated, card.needsChallenge(offSession: offSession, isSetUp: isSetUp) {
            guard !offSession, !confirmation.refusesChallenge else {
                return decline(id, with: method, .authenticationRequired)
            }
            let action = Self.challenge(of: id, at: baseURL, returnURL: confirmation.returnURL)
            let intent = change(.paymentIntent, id) { intent in
                intent["status"] = "requires_action"
                intent["payment_method"] = method["id"]
                intent["next_action"] = action
            }
            emit("payment_intent.requires_action", intent)
            return .requiresAction
        }
        if card.settlementDelay != nil { return startProcessing(id, with: method) }
        let isAttached = method["customer"].string != nil
        if let decline = card.decline, isAttached || !card.declinesOnlyOnceAttached {
            return self.decline(id, with: method, decline)
        }
        if isAuthenticated { change(.paymentMethod, method["id"].text) { $0["_set_up"] = true } }
        return succeed(id, with: method)
    }

    private mutating func succeed(_ id: String, with method: JSON) -> PaymentAttempt {
        guard let intent = get(.paymentIntent, id) else { return .declined(.processing) }
        let isHeld = intent["capture_method"].string == "manual"
        let charge = addCharge(for: intent, method: method, decline: nil, isCaptured: !isHeld)
        let done = change(.paymentIntent, id) { intent in
            intent["status"] = isHeld ? "requires_capture" : "succeeded"
            intent["payment_method"] = method["id"]
            intent["latest_charge"] = charge["id"]
            intent["amount_received"] = isHeld ? 0 : intent["amount"]
            intent["amount_capturable"] = isHeld ? intent["amount"] : 0
            intent["next_action"] = .null
            intent["last_payment_error"] = .null
        }
        emit("charge.succeeded", charge)
        emit(isHeld ? "payment_intent.amount_capturable_updated" : "payment_intent.succeeded", done)
        if !isHeld { creditInPart(id) }
        if Self.card(of: method).disputeReason != nil {
            let customer = intent["customer"].string
            schedule(
                .openDispute(charge: charge["id"].text),
                at: now(for: customer),
                for: customer
            )
        }
        return .succeeded
    }

    private mutating func decline(
        _ id: String,
        with method: JSON,
        _ decline: Decline
    ) -> PaymentAttempt {
        guard let intent = get(.paymentIntent, id) else { return .declined(decline) }
        let charge = addCharge(for: intent, method: method, decline: decline, isCaptured: false)
        let shown = method.stripped
        let failed = change(.paymentIntent, id) { intent in
            intent["status"] = "requires_payment_method"
            intent["payment_method"] = .null
            intent["latest_charge"] = charge["id"]
            intent["next_action"] = .null
            intent["last_payment_error"] = .object(
                nulls: "advice_code param",
                [
                    "type": "card_error", "code": .string(decline.code),
                    "decline_code": .string(decline.declineCode),
                    "message": .string(decline.message), "charge": charge["id"],
                    "doc_url": .string("https://stripe.com/docs/error-codes/card-declined"),
                    "param": JSON(decline.parameter), "payment_method": shown,
                ]
            )
        }
        emit("charge.failed", charge)
        emit("payment_intent.payment_failed", failed)
        return .declined(decline)
    }

    /// The refusal that a caller sees for a declined attempt.
    func refusal(_ decline: Decline, intent id: String) -> APIError {
        let intent = get(.paymentIntent, id) ?? .null
        return .card(
            decline,
            details: ["payment_intent": intent, "charge": intent["latest_charge"]]
        )
    }

    /// Cancels an intent that took nothing.
    mutating func cancelIntent(_ id: String, reason: String) {
        guard let intent = get(.paymentIntent, id),
            !["succeeded", "canceled"].contains(intent["status"].text)
        else { return }
        let instant = now(for: intent["customer"].string)
        let canceled = change(.paymentIntent, id) { intent in
            intent["status"] = "canceled"
            intent["canceled_at"] = .int(instant)
            intent["cancellation_reason"] = .string(reason)
        }
        emit("payment_intent.canceled", canceled)
    }
}
