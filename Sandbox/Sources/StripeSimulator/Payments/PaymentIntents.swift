/// How an attempt to take money went.
enum PaymentAttempt: Hashable, Sendable {
    case succeeded
    /// The bank answers days later.
    case processing
    case declined(Decline)
    /// The holder must pass a challenge first.
    case requiresAction
}

/// Payment intents: payments from their beginning to their success.
/// https://docs.stripe.com/api/payment_intents
enum PaymentIntents {
    /// Makes a payment intent and announces it. https://docs.stripe.com/api/payment_intents/object
    static func add(
        _ world: inout World,
        amount: Int,
        currency: String,
        customer: String?,
        description: String? = nil,
        metadata: JSON = [:],
        setupFutureUsage: String? = nil,
        captureMethod: String = "automatic"
    ) -> JSON {
        var intent = world.blank(
            .paymentIntent,
            created: world.now(for: customer),
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
        intent["client_secret"] = .string("\(intent["id"].text)_secret_\(world.random.token(24))")
        return world.add(.paymentIntent, intent, event: "payment_intent.created")
    }

    /// Tries to take the money of `id` with a payment method.
    /// - Parameter isAuthenticated: the holder has passed the challenge just now.
    static func attempt(
        _ world: inout World,
        _ id: String,
        with method: JSON,
        _ confirmation: Confirmation = Confirmation(),
        isAuthenticated: Bool = false
    ) -> PaymentAttempt {
        let card = PaymentMethods.card(of: method)
        let offSession = confirmation.offSession
        let isSetUp = method["_set_up"].bool == true
        if !isAuthenticated, card.needsChallenge(offSession: offSession, isSetUp: isSetUp) {
            guard !offSession, !confirmation.refusesChallenge else {
                return decline(&world, id, with: method, .authenticationRequired)
            }
            let action = challenge(of: id, at: world.baseURL, returnURL: confirmation.returnURL)
            let intent = world.change(.paymentIntent, id) { intent in
                intent["status"] = "requires_action"
                intent["payment_method"] = method["id"]
                intent["next_action"] = action
            }
            world.emit("payment_intent.requires_action", intent)
            return .requiresAction
        }
        if card.settlementDelay != nil { return startProcessing(&world, id, with: method) }
        let isAttached = method["customer"].string != nil
        if let decline = card.decline, isAttached || !card.declinesOnlyOnceAttached {
            return Self.decline(&world, id, with: method, decline)
        }
        if isAuthenticated {
            world.change(.paymentMethod, method["id"].text) { $0["_set_up"] = true }
        }
        return succeed(&world, id, with: method)
    }

    private static func succeed(
        _ world: inout World,
        _ id: String,
        with method: JSON
    ) -> PaymentAttempt {
        guard let intent = world.get(.paymentIntent, id) else { return .declined(.processing) }
        let isHeld = intent["capture_method"].string == "manual"
        let charge = Charges.add(
            &world,
            for: intent,
            method: method,
            decline: nil,
            isCaptured: !isHeld
        )
        let done = world.change(.paymentIntent, id) { intent in
            intent["status"] = isHeld ? "requires_capture" : "succeeded"
            intent["payment_method"] = method["id"]
            intent["latest_charge"] = charge["id"]
            intent["amount_received"] = isHeld ? 0 : intent["amount"]
            intent["amount_capturable"] = isHeld ? intent["amount"] : 0
            intent["next_action"] = .null
            intent["last_payment_error"] = .null
        }
        world.emit("charge.succeeded", charge)
        world.emit(
            isHeld ? "payment_intent.amount_capturable_updated" : "payment_intent.succeeded",
            done
        )
        if isHeld {
            let customer = intent["customer"].string
            world.schedule(.expireHold(id), at: world.now(for: customer) + hold, for: customer)
        } else {
            InvoicePayments.creditInPart(&world, id)
        }
        if PaymentMethods.card(of: method).disputeReason != nil {
            let customer = intent["customer"].string
            world.schedule(
                .openDispute(charge: charge["id"].text),
                at: world.now(for: customer),
                for: customer
            )
        }
        return .succeeded
    }

    /// The seconds for which a card's money is held.
    ///
    /// https://docs.stripe.com/payments/place-a-hold-on-a-payment-method: seven days where the payer is
    /// there.
    private static let hold = 7 * 86_400

    /// Lets go of money that nobody captured: the payment is canceled.
    static func expireHold(_ world: inout World, _ id: String) {
        guard let intent = world.get(.paymentIntent, id),
            intent["status"].string == "requires_capture"
        else { return }
        let charge = world.get(.charge, intent["latest_charge"].reference) ?? .null
        world.emit("charge.expired", charge)
        cancel(&world, id, reason: "automatic")
    }

    private static func decline(
        _ world: inout World,
        _ id: String,
        with method: JSON,
        _ decline: Decline
    ) -> PaymentAttempt {
        guard let intent = world.get(.paymentIntent, id) else { return .declined(decline) }
        let charge = Charges.add(
            &world,
            for: intent,
            method: method,
            decline: decline,
            isCaptured: false
        )
        let shown = method.stripped
        let failed = world.change(.paymentIntent, id) { intent in
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
        world.emit("charge.failed", charge)
        world.emit("payment_intent.payment_failed", failed)
        return .declined(decline)
    }

    /// The refusal that a caller sees for a declined attempt.
    static func refusal(_ world: World, _ decline: Decline, intent id: String) -> APIError {
        let intent = world.get(.paymentIntent, id) ?? .null
        return .card(
            decline,
            details: ["payment_intent": intent, "charge": intent["latest_charge"]]
        )
    }

    /// Cancels an intent that took nothing.
    static func cancel(_ world: inout World, _ id: String, reason: String) {
        guard let intent = world.get(.paymentIntent, id),
            !["succeeded", "canceled"].contains(intent["status"].text)
        else { return }
        let instant = world.now(for: intent["customer"].string)
        let canceled = world.change(.paymentIntent, id) { intent in
            intent["status"] = "canceled"
            intent["canceled_at"] = .int(instant)
            intent["cancellation_reason"] = .string(reason)
        }
        world.emit("payment_intent.canceled", canceled)
    }
}
