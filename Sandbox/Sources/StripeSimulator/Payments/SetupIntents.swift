/// Setup intents: payment methods saved for later payments.
/// https://docs.stripe.com/api/setup_intents
enum SetupIntents {
    /// Makes a setup intent. https://docs.stripe.com/api/setup_intents/object
    static func add(_ world: inout World, customer: String?, metadata: JSON = [:]) -> JSON {
        var setup = world.blank(
            .setupIntent,
            created: world.now(for: customer),
            nulls: """
                allowed_payment_method_types application attach_to_self automatic_payment_methods \
                cancellation_reason customer_account description excluded_payment_method_types \
                flow_directions last_setup_error latest_attempt managed_payments mandate \
                next_action on_behalf_of payment_method payment_method_configuration_details \
                payment_method_options single_use_mandate
                """,
            [
                "customer": JSON(customer), "metadata": metadata, "payment_method_types": ["card"],
                "status": "requires_payment_method", "usage": "off_session",
            ]
        )
        setup["client_secret"] = .string("\(setup["id"].text)_secret_\(world.random.token(24))")
        return world.add(.setupIntent, setup, event: "setup_intent.created")
    }

    static let routes: [Route] = [
        .post("setup_intents") { world, call in
            let customer = try call.parameters.string("customer")
            if let customer { _ = try world.find(.customer, customer, param: "customer") }
            try PaymentIntents.refuseMethodTypes(&call)
            let method = try PaymentIntents.readMethod(&world, &call.parameters)
            let confirms = try call.parameters.bool("confirm") ?? false
            let confirmation = try PaymentIntents.confirmation(&call.parameters)
            var setup = add(&world, customer: customer)
            try call.parameters.patch(&setup, "description", "usage")
            try call.parameters.metadata(into: &setup)
            call.parameters.ignore("automatic_payment_methods", "allowed_payment_method_types")
            if let method { PaymentIntents.setMethod(method, of: &setup) }
            world.put(.setupIntent, setup)
            try call.parameters.finish()
            if confirms { try confirm(&world, setup["id"].text, confirmation) }
            return try world.find(.setupIntent, setup["id"].text)
        },
        .get("setup_intents") { world, call in
            let customer = try call.parameters.string("customer")
            return try world.list(.setupIntent, &call) { setup in
                customer.map { setup["customer"].string == $0 } ?? true
            }
        },
        .get("setup_intents/:id") { world, call in
            call.parameters.ignore("client_secret")
            return try world.find(.setupIntent, call.ids[0])
        },
        .post("setup_intents/:id/confirm") { world, call in
            var setup = try findOpen(world, call.ids[0], "confirm")
            if let method = try PaymentIntents.readMethod(&world, &call.parameters) {
                PaymentIntents.setMethod(method, of: &setup)
            }
            call.parameters.ignore("allowed_payment_method_types")
            world.put(.setupIntent, setup)
            let confirmation = try PaymentIntents.confirmation(&call.parameters)
            try call.parameters.finish()
            try confirm(&world, call.ids[0], confirmation)
            return try world.find(.setupIntent, call.ids[0])
        },
        .post("setup_intents/:id") { world, call in
            var setup = try findOpen(world, call.ids[0], "update")
            if let customer = try call.parameters.string("customer") {
                setup["customer"] = try world.find(.customer, customer, param: "customer")["id"]
            }
            if let method = try PaymentIntents.readMethod(&world, &call.parameters) {
                PaymentIntents.setMethod(method, of: &setup)
            }
            try call.parameters.patch(&setup, "description")
            try call.parameters.metadata(into: &setup)
            call.parameters.ignore("allowed_payment_method_types", "payment_method_options")
            world.put(.setupIntent, setup)
            return setup
        },
        .post("setup_intents/:id/cancel") { world, call in
            _ = try findOpen(world, call.ids[0], "cancel")
            let reason = try call.parameters.string("cancellation_reason")
            let canceled = world.change(.setupIntent, call.ids[0]) { setup in
                setup["status"] = "canceled"
                setup["cancellation_reason"] = JSON(reason)
            }
            world.emit("setup_intent.canceled", canceled)
            return canceled
        },
    ]

    private static func findOpen(_ world: World, _ id: String, _ verb: String) throws -> JSON {
        let setup = try world.find(.setupIntent, id)
        guard !["succeeded", "canceled"].contains(setup["status"].text) else {
            throw APIError.invalid(
                "You cannot \(verb) this SetupIntent because it has a status of "
                    + "\(setup["status"].text).",
                code: "setup_intent_unexpected_state"
            )
        }
        return setup
    }

    private static func confirm(_ world: inout World, _ id: String, _ confirmation: Confirmation)
        throws
    {
        let setup = try world.find(.setupIntent, id)
        guard let method = world.get(.paymentMethod, setup["payment_method"].reference) else {
            throw APIError.invalid(
                "You cannot confirm this SetupIntent because it's missing a payment method.",
                code: "setup_intent_unexpected_state"
            )
        }
        let card = PaymentMethods.card(of: method)
        if card.challenge != .never {
            let action = PaymentIntents.challenge(
                of: id,
                at: world.baseURL,
                returnURL: confirmation.returnURL
            )
            let waiting = world.change(.setupIntent, id) { setup in
                setup["status"] = "requires_action"
                setup["next_action"] = action
            }
            world.emit("setup_intent.requires_action", waiting)
            return
        }
        try complete(&world, id, with: method)
    }

    /// The holder answers the challenge that the setup of a card waits for.
    static func authenticate(_ world: inout World, _ id: String, passes: Bool) throws -> JSON {
        let setup = try findOpen(world, id, "authenticate")
        guard setup["status"].string == "requires_action",
            let method = world.get(.paymentMethod, setup["payment_method"].reference)
        else {
            throw APIError.invalid("This SetupIntent does not wait for its holder.")
        }
        guard passes else {
            fail(&world, id, .notAuthenticated)
            return try world.find(.setupIntent, id)
        }
        world.change(.paymentMethod, method["id"].text) { $0["_set_up"] = true }
        try complete(&world, id, with: method)
        return try world.find(.setupIntent, id)
    }

    private static func complete(_ world: inout World, _ id: String, with method: JSON) throws {
        let card = PaymentMethods.card(of: method)
        if card.declinesAttachment, let decline = card.decline {
            let failed = fail(&world, id, decline)
            throw APIError.card(decline, details: ["setup_intent": failed])
        }
        let setup = try world.find(.setupIntent, id)
        if let customer = setup["customer"].string {
            PaymentMethods.attachUnchecked(&world, method["id"].text, to: customer)
        }
        let done = world.change(.setupIntent, id) { setup in
            setup["status"] = "succeeded"
            setup["next_action"] = .null
            setup["last_setup_error"] = .null
        }
        world.emit("setup_intent.succeeded", done)
        Subscriptions.noteSetUp(&world, by: done)
    }

    @discardableResult
    private static func fail(_ world: inout World, _ id: String, _ decline: Decline) -> JSON {
        let failed = world.change(.setupIntent, id) { setup in
            setup["status"] = "requires_payment_method"
            setup["payment_method"] = .null
            setup["next_action"] = .null
            setup["last_setup_error"] = .object(
                nulls: "param",
                [
                    "type": "card_error", "code": .string(decline.code),
                    "decline_code": .string(decline.declineCode),
                    "message": .string(decline.message),
                ]
            )
        }
        world.emit("setup_intent.setup_failed", failed)
        return failed
    }
}
