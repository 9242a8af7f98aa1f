extension PaymentIntents {
    static let routes: [Route] = [
        .post("payment_intents") { world, call in
            let amount = try call.parameters.int("amount", in: 0...99_999_999)
            guard let amount else { throw APIError.missing(parameter: "amount") }
            let currency = try call.parameters.required("currency").lowercased()
            try checkMinimum(amount, currency)
            let customer = try call.parameters.string("customer")
            if let customer { _ = try world.find(.customer, customer, param: "customer") }
            try refuseMethodTypes(&call)
            let usage = try call.parameters.choice(
                "setup_future_usage",
                of: ["on_session", "off_session"]
            )
            let capture = try call.parameters.choice(
                "capture_method",
                of: ["automatic", "automatic_async", "manual"]
            )
            let method = try readMethod(&world, &call.parameters)
            let confirms = try call.parameters.bool("confirm") ?? false
            let confirmation = try Self.confirmation(&call.parameters)
            var intent = add(
                &world,
                amount: amount,
                currency: currency,
                customer: customer,
                setupFutureUsage: usage,
                captureMethod: capture ?? "automatic"
            )
            let id = intent["id"].text
            try call.parameters.patch(
                &intent,
                "description",
                "receipt_email",
                "statement_descriptor",
                "statement_descriptor_suffix",
                "transfer_group"
            )
            try call.parameters.metadata(into: &intent)
            call.parameters.ignore(
                "automatic_payment_methods",
                "allowed_payment_method_types",
                "shipping",
                "confirmation_method"
            )
            if let method { setMethod(method, of: &intent) }
            world.put(.paymentIntent, intent)
            try call.parameters.finish()
            if confirms { try confirm(&world, id, confirmation) }
            return world.get(.paymentIntent, id) ?? intent
        },
        .get("payment_intents") { world, call in
            let customer = try call.parameters.string("customer")
            return try world.list(.paymentIntent, &call) { intent in
                customer.map { intent["customer"].string == $0 } ?? true
            }
        },
        .get("payment_intents/search") { world, call in try world.search(.paymentIntent, &call) },
        .get("payment_intents/:id") { world, call in
            call.parameters.ignore("client_secret")
            return try world.find(.paymentIntent, call.ids[0])
        },
        .post("payment_intents/:id") { world, call in
            var intent = try world.find(.paymentIntent, call.ids[0])
            let names = ["amount", "payment_method", "payment_method_data"]
            if names.contains(where: { call.parameters.has($0) }) {
                try requireOpen(intent, "update")
            }
            try refuseMethodTypes(&call)
            if let amount = try call.parameters.int("amount", in: 0...99_999_999) {
                try checkMinimum(amount, intent["currency"].text)
                intent["amount"] = .int(amount)
            }
            if let customer = try call.parameters.string("customer") {
                _ = try world.find(.customer, customer, param: "customer")
                intent["customer"] = .string(customer)
            }
            if let method = try readMethod(&world, &call.parameters) {
                setMethod(method, of: &intent)
            }
            try call.parameters.patch(
                &intent,
                "description",
                "receipt_email",
                "setup_future_usage",
                "statement_descriptor",
                "statement_descriptor_suffix",
                "transfer_group"
            )
            call.parameters.ignore(
                "allowed_payment_method_types",
                "payment_method_options",
                "shipping"
            )
            try call.parameters.metadata(into: &intent)
            world.put(.paymentIntent, intent)
            return intent
        },
        .post("payment_intents/:id/confirm") { world, call in
            var intent = try world.find(.paymentIntent, call.ids[0])
            try requireOpen(intent, "confirm")
            if let method = try readMethod(&world, &call.parameters) {
                setMethod(method, of: &intent)
            }
            try call.parameters.patch(&intent, "receipt_email", "setup_future_usage")
            call.parameters.ignore("allowed_payment_method_types", "shipping")
            world.put(.paymentIntent, intent)
            let confirmation = try Self.confirmation(&call.parameters)
            try call.parameters.finish()
            try confirm(&world, call.ids[0], confirmation)
            return try world.find(.paymentIntent, call.ids[0])
        },
        .post("payment_intents/:id/cancel") { world, call in
            let intent = try world.find(.paymentIntent, call.ids[0])
            try requireOpen(intent, "cancel")
            let reason = try call.parameters.string("cancellation_reason")
            cancel(&world, call.ids[0], reason: reason ?? "requested_by_customer")
            return try world.find(.paymentIntent, call.ids[0])
        },
        .post("payment_intents/:id/capture") { world, call in
            let intent = try world.find(.paymentIntent, call.ids[0])
            guard intent["status"].string == "requires_capture" else {
                throw unexpectedState(intent, "capture")
            }
            let amount = try call.parameters.int(
                "amount_to_capture",
                in: 1...max(1, intent["amount"].count)
            )
            return capture(&world, intent, amount: amount ?? intent["amount"].count)
        },
    ]

    /// What is paid or given up stays as it is.
    private static func requireOpen(_ intent: JSON, _ verb: String) throws {
        guard !["succeeded", "canceled"].contains(intent["status"].text) else {
            throw unexpectedState(intent, verb)
        }
    }

    static func unexpectedState(_ intent: JSON, _ verb: String) -> APIError {
        var error = APIError.invalid(
            "You cannot \(verb) this PaymentIntent because it has a status of "
                + "\(intent["status"].text).",
            code: "payment_intent_unexpected_state"
        )
        error.details["payment_intent"] = intent
        return error
    }

    private static func capture(_ world: inout World, _ intent: JSON, amount: Int) -> JSON {
        let charge = world.change(
            .charge,
            intent["latest_charge"].text,
            event: "charge.captured"
        ) { charge in
            charge["captured"] = true
            charge["amount_captured"] = .int(amount)
            charge["amount_refunded"] = .int(charge["amount"].count - amount)
        }
        Charges.settle(&world, charge)
        let done = world.change(.paymentIntent, intent["id"].text) { intent in
            intent["status"] = "succeeded"
            intent["amount_received"] = .int(amount)
            intent["amount_capturable"] = 0
        }
        world.emit("payment_intent.succeeded", done)
        InvoicePayments.creditInPart(&world, done["id"].text)
        // A session that held the money is paid now; no event of its own says so.
        let session = world.all(.checkoutSession).last {
            $0["payment_intent"].reference == done["id"].text
        }
        if let session {
            world.change(.checkoutSession, session["id"].text) { $0["payment_status"] = "paid" }
        }
        return done
    }

    /// Charges below a currency's minimum are refused.
    /// https://docs.stripe.com/currencies#minimum-and-maximum-charge-amounts
    static func checkMinimum(_ amount: Int, _ currency: String) throws {
        guard amount < minimumCharge(currency) else { return }
        throw APIError.invalid(
            "Amount must be at least the minimum charge amount for \(currency).",
            code: "amount_too_small",
            param: "amount"
        )
    }

    static func minimumCharge(_ currency: String) -> Int {
        let minimums = [
            "gbp": 30, "jpy": 50, "krw": 50, "mxn": 1_000, "dkk": 250, "nok": 300, "sek": 300,
            "pln": 200, "ron": 200, "aed": 200, "myr": 200, "hkd": 400, "czk": 1_500,
            "huf": 17_500, "thb": 1_000,
        ]
        return minimums[currency, default: 50]
    }

    /// `payment_method_types` is not writable since 2026-09-30.endive.
    static func refuseMethodTypes(_ call: inout Call) throws {
        guard call.parameters.has("payment_method_types") else { return }
        guard call.apiVersion < "2026-09-30" else {
            throw APIError.invalid(
                "payment_method_types is no longer supported; use allowed_payment_method_types.",
                code: "payment_method_types_no_longer_supported",
                param: "payment_method_types"
            )
        }
        call.parameters.ignore("payment_method_types")
    }
}
