// How an intent is confirmed: with which card, who is asked, and where they come back.
// https://docs.stripe.com/payments/paymentintents/lifecycle

/// What a request says about how an intent is to be confirmed.
struct Confirmation: Hashable, Sendable {
    /// Nobody is there to be asked.
    var offSession = false
    /// Where the holder comes back to after the bank's page; `nil`: the client asks them.
    var returnURL: String?
    /// The payment is to fail rather than wait for the holder.
    var refusesChallenge = false
}

extension PaymentIntents {
    static func confirmation(_ parameters: inout Parameters) throws -> Confirmation {
        var confirmation = Confirmation()
        // Beside true and false it may say for what: `one_off`, `recurring`.
        confirmation.offSession =
            try parameters.string("off_session").map { $0 != "false" } ?? false
        confirmation.refusesChallenge = try parameters.bool("error_on_requires_action") ?? false
        let usesClient = try parameters.bool("use_stripe_sdk") ?? false
        if let url = try parameters.string("return_url") {
            guard Parameters.isLink(url) else {
                throw APIError.invalid(
                    "Invalid URL: An explicit scheme (such as https) must be provided.",
                    code: "url_invalid",
                    param: parameters.name("return_url")
                )
            }
            confirmation.returnURL = usesClient ? nil : url
        }
        parameters.ignore("mandate", "mandate_data", "payment_method_options", "radar_options")
        return confirmation
    }

    /// The payment method that a request names (`payment_method`) or describes
    /// (`payment_method_data`); `nil`: neither.
    static func readMethod(_ world: inout World, _ parameters: inout Parameters) throws -> JSON? {
        let described = try parameters.object("payment_method_data") { part in
            try PaymentMethods.add(&world, from: &part)
        }
        guard let id = try parameters.string("payment_method") else { return described }
        guard described == nil else {
            throw APIError.invalid(
                "You may only specify one of these parameters: payment_method, "
                    + "payment_method_data.",
                param: parameters.name("payment_method_data")
            )
        }
        return try PaymentMethods.find(&world, id)
    }

    /// Gives an open intent another payment method, which undoes what was asked about the old one.
    static func setMethod(_ method: JSON, of intent: inout JSON) {
        intent["payment_method"] = method["id"]
        intent["status"] = "requires_confirmation"
        intent["next_action"] = .null
    }

    /// What an intent waits for whose card wants its holder.
    static func challenge(of id: String, at baseURL: String, returnURL: String?) -> JSON {
        guard let returnURL else {
            return [
                "type": "use_stripe_sdk",
                "use_stripe_sdk": ["type": "three_d_secure_redirect"],
            ]
        }
        return [
            "type": "redirect_to_url",
            "redirect_to_url": [
                "url": .string("\(baseURL)/redirect/authenticate/\(id)"),
                "return_url": .string(returnURL),
            ],
        ]
    }

    /// Confirms a payment intent; what it pays for is paid if the money comes at once.
    static func confirm(_ world: inout World, _ id: String, _ confirmation: Confirmation) throws {
        let intent = try world.find(.paymentIntent, id)
        let confirmable = ["requires_payment_method", "requires_confirmation", "requires_action"]
        guard confirmable.contains(intent["status"].text) else {
            throw unexpectedState(intent, "confirm")
        }
        guard let method = world.get(.paymentMethod, intent["payment_method"].reference) else {
            throw APIError.invalid(
                "You cannot confirm this PaymentIntent because it's missing a payment method.",
                code: "payment_intent_unexpected_state"
            )
        }
        let outcome = attempt(&world, id, with: method, confirmation)
        conclude(&world, id, outcome)
        if case .declined(let decline) = outcome { throw refusal(world, decline, intent: id) }
    }

    /// What an attempt on an intent means for the card it was made with and the invoice it pays.
    static func conclude(_ world: inout World, _ id: String, _ outcome: PaymentAttempt) {
        guard let intent = world.get(.paymentIntent, id) else { return }
        let invoice = world.get(.invoice, intent["_invoice"].string)
            .flatMap { $0["status"].string == "open" ? $0 : nil }
        let method = intent["payment_method"].reference
        switch outcome {
        case .succeeded:
            if let customer = intent["customer"].string, let method,
                !intent["setup_future_usage"].isNull
            {
                PaymentMethods.attachUnchecked(&world, method, to: customer)
            }
            guard let invoice else { return }
            keep(&world, method, for: invoice)
            Invoices.markPaid(&world, invoice["id"].text, intent: id)
        case .processing:
            guard let invoice else { return }
            keep(&world, method, for: invoice)
            awaitMoney(&world, for: invoice)
        case .declined:
            if let invoice { Invoices.noteFailure(&world, invoice["id"].text, isManual: true) }
        case .requiresAction: break
        }
    }

    /// Makes the card that paid an invoice its subscription's, if the subscription says so.
    private static func keep(_ world: inout World, _ method: String?, for invoice: JSON) {
        guard let method, let subscription = Invoices.subscription(world, of: invoice),
            subscription["payment_settings"]["save_default_payment_method"].string
                == "on_subscription"
        else { return }
        world.change(.subscription, subscription["id"].text) {
            $0["default_payment_method"] = .string(method)
        }
    }

    /// A bank debit of an invoice is under way: a new subscription begins on trust.
    /// https://docs.stripe.com/billing/subscriptions/overview#subscription-statuses
    static func awaitMoney(_ world: inout World, for invoice: JSON) {
        world.change(.invoice, invoice["id"].text) { $0["attempted"] = true }
        guard let subscription = Invoices.subscription(world, of: invoice),
            subscription["status"].string == "incomplete"
        else { return }
        world.change(.subscription, subscription["id"].text, event: "customer.subscription.updated")
        {
            $0["status"] = "active"
        }
        ActiveEntitlements.refresh(&world, of: invoice["customer"].text)
    }

    // MARK: - The bank's challenge

    /// The holder answers the challenge that an intent waits for.
    ///
    /// - Returns: the intent, a payment's or a card's setup.
    static func authenticate(_ world: inout World, _ id: String, passes: Bool) throws -> JSON {
        guard let intent = world.get(.paymentIntent, id) else {
            return try SetupIntents.authenticate(&world, id, passes: passes)
        }
        guard intent["status"].string == "requires_action",
            let method = world.get(.paymentMethod, intent["payment_method"].reference)
        else { throw unexpectedState(intent, "authenticate") }
        if passes {
            conclude(&world, id, attempt(&world, id, with: method, isAuthenticated: true))
        } else {
            failChallenge(&world, intent: id)
            conclude(&world, id, .declined(.notAuthenticated))
        }
        return try world.find(.paymentIntent, id)
    }

    /// The challenge was not passed.
    static func failChallenge(_ world: inout World, intent id: String) {
        let failed = world.change(.paymentIntent, id) { intent in
            intent["status"] = "requires_payment_method"
            intent["next_action"] = .null
            intent["payment_method"] = .null
            intent["last_payment_error"] = .object(
                nulls: "param",
                [
                    "type": "invalid_request_error",
                    "code": .string(Decline.notAuthenticated.code),
                    "message": .string(Decline.notAuthenticated.message),
                ]
            )
        }
        world.emit("payment_intent.payment_failed", failed)
    }
}
