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
            let method = try call.parameters.string("payment_method")
            let confirms = try call.parameters.bool("confirm") ?? false
            var setup = world.addSetupIntent(customer: customer)
            try call.parameters.patch(&setup, "description", "usage")
            try call.parameters.metadata(into: &setup)
            call.parameters.ignore(
                "automatic_payment_methods",
                "return_url",
                "use_stripe_sdk",
                "payment_method_options",
                "allowed_payment_method_types"
            )
            if let method {
                setup["payment_method"] = try world.paymentMethod(method)["id"]
                setup["status"] = "requires_confirmation"
            }
            world.put(.setupIntent, setup)
            if confirms { try world.confirmSetup(setup["id"].text) }
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
            let setup = try world.find(.setupIntent, call.ids[0])
            guard !["succeeded", "canceled"].contains(setup["status"].text) else {
                throw APIError.invalid(
                    "You cannot confirm this SetupIntent because it has a status of "
                        + "\(setup["status"].text).",
                    code: "setup_intent_unexpected_state"
                )
            }
            if let method = try call.parameters.string("payment_method") {
                let id = try world.paymentMethod(method)["id"]
                world.change(.setupIntent, call.ids[0]) { $0["payment_method"] = id }
            }
            call.parameters.ignore("return_url", "use_stripe_sdk", "payment_method_options")
            try world.confirmSetup(call.ids[0])
            return try world.find(.setupIntent, call.ids[0])
        },
        .post("setup_intents/:id/cancel") { world, call in
            let setup = try world.find(.setupIntent, call.ids[0])
            guard !["succeeded", "canceled"].contains(setup["status"].text) else {
                throw APIError.invalid(
                    "You cannot cancel this SetupIntent because it has a status of "
                        + "\(setup["status"].text).",
                    code: "setup_intent_unexpected_state"
                )
            }
            let reason = try call.parameters.string("cancellation_reason")
            let canceled = world.change(.setupIntent, call.ids[0]) { setup in
                setup["status"] = "canceled"
                setup["cancellation_reason"] = JSON(reason)
            }
            world.emit("setup_intent.canceled", canceled)
            return canceled
        },
    ]

    private mutating func confirmSetup(_ id: String) throws {
        let setup = try find(.setupIntent, id)
        guard let method = get(.paymentMethod, setup["payment_method"].reference) else {
            throw APIError.invalid(
                "You cannot confirm this SetupIntent because it's missing a payment method.",
                code: "setup_intent_unexpected_state"
            )
        }
        let card = Self.card(of: method)
        if card.challenge != .never {
            let waiting = change(.setupIntent, id) { setup in
                setup["status"] = "requires_action"
                setup["next_action"] = [
                    "type": "use_stripe_sdk",
                    "use_stripe_sdk": ["type": "three_d_secure_redirect"],
                ]
            }
            emit("setup_intent.requires_action", waiting)
            return
        }
        if card.declinesAttachment, let decline = card.decline {
            let failed = change(.setupIntent, id) { $0["status"] = "requires_payment_method" }
            emit("setup_intent.setup_failed", failed)
            throw APIError.card(decline, details: ["setup_intent": failed])
        }
        if let customer = setup["customer"].string {
            attachUnchecked(method["id"].text, to: customer)
        }
        let done = change(.setupIntent, id) { $0["status"] = "succeeded" }
        emit("setup_intent.succeeded", done)
    }
}
