extension World {
    /// Makes a setup intent. https://docs.stripe.com/api/setup_intents/object
    mutating func addSetupIntent(customer: String?, metadata: JSON = [:]) -> JSON {
        var setup = blank(
            .setupIntent,
            created: now(for: customer),
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
        setup["client_secret"] = .string("\(setup["id"].text)_secret_\(random.token(24))")
        return add(.setupIntent, setup, event: "setup_intent.created")
    }

    static let setupIntentRoutes: [Route] = [
        .post("setup_intents") { world, call in
            let customer = try call.parameters.string("customer")
            if let customer { _ = try world.find(.customer, customer, param: "customer") }
            try Self.refuseMethodTypes(&call)
            let method = try world.readMethod(&call.parameters)
            let confirms = try call.parameters.bool("confirm") ?? false
            let confirmation = try Self.confirmation(&call.parameters)
            var setup = world.addSetupIntent(customer: customer)
            try call.parameters.patch(&setup, "description", "usage")
            try call.parameters.metadata(into: &setup)
            call.parameters.ignore("automatic_payment_methods", "allowed_payment_method_types")
            if let method { world.setMethod(method, of: &setup) }
            world.put(.setupIntent, setup)
            try call.parameters.finish()
            if confirms { try world.confirmSetup(setup["id"].text, confirmation) }
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
            var setup = try world.findOpenSetup(call.ids[0], "confirm")
            if let method = try world.readMethod(&call.parameters) {
                world.setMethod(method, of: &setup)
            }
            call.parameters.ignore("allowed_payment_method_types")
            world.put(.setupIntent, setup)
            let confirmation = try Self.confirmation(&call.parameters)
            try call.parameters.finish()
            try world.confirmSetup(call.ids[0], confirmation)
            return try world.find(.setupIntent, call.ids[0])
        },
        .post("setup_intents/:id") { world, call in
            var setup = try world.findOpenSetup(call.ids[0], "update")
            if let customer = try call.parameters.string("customer") {
                setup["customer"] = try world.find(.customer, customer, param: "customer")["id"]
            }
            if let method = try world.readMethod(&call.parameters) {
                world.setMethod(method, of: &setup)
            }
            try call.parameters.patch(&setup, "description")
            try call.parameters.metadata(into: &setup)
            call.parameters.ignore("allowed_payment_method_types", "payment_method_options")
            world.put(.setupIntent, setup)
            return setup
        },
        .post("setup_intents/:id/cancel") { world, call in
            _ = try world.findOpenSetup(call.ids[0], "cancel")
            let reason = try call.parameters.string("cancellation_reason")
            let canceled = world.change(.setupIntent, call.ids[0]) { setup in
                setup["status"] = "canceled"
                setup["cancellation_reason"] = JSON(reason)
            }
            world.emit("setup_intent.canceled", canceled)
            return canceled
        },
    ]

    private func findOpenSetup(_ id: String, _ verb: String) throws -> JSON {
        let setup = try find(.setupIntent, id)
        guard !["succeeded", "canceled"].contains(setup["status"].text) else {
            throw APIError.invalid(
                "You cannot \(verb) this SetupIntent because it has a status of "
                    + "\(setup["status"].text).",
                code: "setup_intent_unexpected_state"
            )
        }
        return setup
    }

    private mutating func confirmSetup(_ id: String, _ confirmation: Confirmation) throws {
        let setup = try find(.setupIntent, id)
        guard let method = get(.paymentMethod, setup["payment_method"].reference) else {
            throw APIError.invalid(
                "You cannot confirm this SetupIntent because it's missing a payment method.",
                code: "setup_intent_unexpected_state"
            )
        }
        let card = Self.card(of: method)
        if card.challenge != .never {
            let action = Self.challenge(of: id, at: baseURL, returnURL: confirmation.returnURL)
            let waiting = change(.setupIntent, id) { setup in
                setup["status"] = "requires_action"
                setup["next_action"] = action
            }
            emit("setup_intent.requires_action", waiting)
            return
        }
        try completeSetup(id, with: method)
    }

    /// The holder answers the challenge that the setup of a card waits for.
    mutating func authenticateSetup(_ id: String, passes: Bool) throws -> JSON {
        let setup = try findOpenSetup(id, "authenticate")
        guard setup["status"].string == "requires_action",
            let method = get(.paymentMethod, setup["payment_method"].reference)
        else {
            throw APIError.invalid("This SetupIntent does not wait for its holder.")
        }
        guard passes else {
            failSetup(id, .notAuthenticated)
            return try find(.setupIntent, id)
        }
        change(.paymentMethod, method["id"].text) { $0["_set_up"] = true }
        try completeSetup(id, with: method)
        return try find(.setupIntent, id)
    }

    private mutating func completeSetup(_ id: String, with method: JSON) throws {
        let card = Self.card(of: method)
        if card.declinesAttachment, let decline = card.decline {
            let failed = failSetup(id, decline)
            throw APIError.card(decline, details: ["setup_intent": failed])
        }
        let setup = try find(.setupIntent, id)
        if let customer = setup["customer"].string {
            attachUnchecked(method["id"].text, to: customer)
        }
        let done = change(.setupIntent, id) { setup in
            setup["status"] = "succeeded"
            setup["next_action"] = .null
            setup["last_setup_error"] = .null
        }
        emit("setup_intent.succeeded", done)
        subscriptionIsSetUp(by: done)
    }

    @discardableResult
    private mutating func failSetup(_ id: String, _ decline: Decline) -> JSON {
        let failed = change(.setupIntent, id) { setup in
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
        emit("setup_intent.setup_failed", failed)
        return failed
    }
}
