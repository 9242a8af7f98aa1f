extension CheckoutSessions {
    /// Makes a session from the parameters of a request.
    /// https://docs.stripe.com/api/checkout/sessions/create
    static func create(_ world: inout World, _ call: inout Call) throws -> JSON {
        let modes = ["payment", "subscription", "setup"]
        guard let mode = try call.parameters.choice("mode", of: modes) else {
            throw APIError.missing(parameter: "mode")
        }
        try PaymentIntents.refuseMethodTypes(&call)
        let uiMode = try uiMode(&call)
        let customer = try call.parameters.string("customer")
        let email = try call.parameters.string("customer_email")
        if let customer {
            _ = try world.find(.customer, customer, param: "customer")
            guard email == nil else {
                throw APIError.invalid(
                    "You may only specify one of these parameters: customer, customer_email.",
                    param: "customer_email"
                )
            }
        }
        let lines = try readLines(&world, &call.parameters, mode: mode)
        if mode == "subscription", let customer, let currency = lines.first?["currency"].string {
            try Currencies.require(world, currency, of: customer)
        }
        var session = try blankSession(
            &world,
            mode: mode,
            uiMode: uiMode,
            customer: customer,
            email: email,
            lines: lines
        )
        try readPages(&call.parameters, into: &session, uiMode: uiMode)
        try readDetails(world, &call.parameters, into: &session, mode: mode)
        let instant = world.now(for: customer)
        if let expiry = try call.parameters.int("expires_at") {
            guard (instant + 1_800...instant + 86_400).contains(expiry) else {
                throw APIError.invalid(
                    "The `expires_at` timestamp must be between 30 minutes and 24 hours from "
                        + "Checkout Session creation.",
                    param: "expires_at"
                )
            }
            session["expires_at"] = .int(expiry)
        }
        let chosen = try Discounts.read(
            world,
            &call.parameters,
            customer: customer,
            currency: session["currency"].string
        )
        if let chosen, !chosen.isEmpty {
            guard !call.parameters.has("allow_promotion_codes"),
                session["allow_promotion_codes"].isNull
            else {
                throw APIError.invalid(
                    "You may only specify one of these parameters: allow_promotion_codes, "
                        + "discounts.",
                    param: "discounts"
                )
            }
            apply(chosen[0], to: &session)
        }
        ignoreAppearance(&call.parameters)
        world.put(.checkoutSession, session)
        world.schedule(
            .expireSession(session["id"].text),
            at: session["expires_at"].count,
            for: customer
        )
        return session
    }

    /// Takes a coupon off what a session costs.
    static func apply(_ choice: DiscountChoice, to session: inout JSON) {
        let products = choice.coupon["_applies_to"]["products"].array?.compactMap(\.string)
        var lines = session["_line_items"].elements
        let amounts = lines.map { line -> Int in
            let product = line["price"]["product"].reference ?? ""
            return products.map { $0.contains(product) } ?? true ? line["amount_subtotal"].count : 0
        }
        let shares = Discounts.shares(of: choice.coupon, on: amounts)
        for (index, share) in shares.enumerated() {
            lines[index]["amount_discount"] = .int(share)
            tax(&lines[index])
        }
        sum(&session, lines)
        session["discounts"] = [
            [
                "coupon": choice.promotionCode == nil ? choice.coupon["id"] : .null,
                "promotion_code": JSON(choice.promotionCode),
            ]
        ]
        session["_coupon"] = choice.coupon["id"]
        session["_promotion_code"] = JSON(choice.promotionCode)
    }

    /// The names changed with 2026-03-25.dahlia; each version refuses the other's.
    private static func uiMode(_ call: inout Call) throws -> String {
        let isOld = call.apiVersion < "2026-03-25"
        let modes =
            isOld
            ? ["hosted", "embedded", "custom"]
            : ["hosted_page", "embedded_page", "elements", "form"]
        return try call.parameters.choice("ui_mode", of: modes) ?? modes[0]
    }

    private static func readLines(
        _ world: inout World,
        _ parameters: inout Parameters,
        mode: String
    ) throws -> [JSON] {
        let lines = try parameters.objects("line_items") { part in
            let price = try Prices.price(&world, in: &part)
            let quantity = try part.int("quantity", in: 1...999_999) ?? 1
            if mode == "payment", !price["recurring"].isNull {
                throw APIError.invalid(
                    "You specified `payment` mode but passed a recurring price. Either switch to "
                        + "`subscription` mode or use only one-time prices.",
                    param: "line_items"
                )
            }
            if !price["custom_unit_amount"].isNull, mode != "payment" || quantity > 1 {
                throw APIError.invalid(
                    "A price with `custom_unit_amount` is only for one of it, in `payment` mode.",
                    param: part.name("price")
                )
            }
            let rates = try TaxRates.read(world, &part, "tax_rates") ?? []
            part.ignore("dynamic_tax_rates", "metadata")
            var line = lineItem(&world, price, quantity: quantity, taxRates: rates)
            let adjustable = try part.object("adjustable_quantity") { inner in
                JSON.object([
                    "enabled": JSON(try inner.bool("enabled") ?? false),
                    "minimum": JSON(try inner.int("minimum")),
                    "maximum": JSON(try inner.int("maximum")),
                ])
            }
            if let adjustable { line["adjustable_quantity"] = adjustable }
            return line
        }
        let found = lines ?? []
        guard mode == "setup" || !found.isEmpty else {
            throw APIError.missing(parameter: "line_items")
        }
        if mode == "subscription", found.allSatisfy({ $0["price"]["recurring"].isNull }) {
            throw APIError.invalid(
                "You must provide at least one recurring price in `subscription` mode when using "
                    + "prices.",
                param: "line_items"
            )
        }
        guard Set(found.map { $0["currency"] }).count <= 1 else {
            throw APIError.invalid(
                "All line items must have the same currency.",
                param: "line_items"
            )
        }
        return found
    }

    /// A session of these lines, with every member that is not said otherwise.
    /// https://docs.stripe.com/api/checkout/sessions/object
    static func blankSession(
        _ world: inout World,
        mode: String,
        uiMode: String,
        customer: String?,
        email: String?,
        lines: [JSON]
    ) throws -> JSON {
        let id = world.newID(.checkoutSession)
        let instant = world.now(for: customer)
        let known = world.get(.customer, customer)
        let isHosted = uiMode.hasPrefix("hosted")
        let isSetup = mode == "setup"
        let address = known?["email"].string ?? email
        var session = world.blank(
            .checkoutSession,
            id: id,
            created: instant,
            nulls: """
                after_expiration allow_promotion_codes allowed_payment_method_types \
                billing_address_collection branding_settings cancel_url client_reference_id \
                client_secret collected_information consent consent_collection currency_conversion \
                customer_account discounts excluded_payment_method_types integration_identifier \
                invoice invoice_creation locale managed_payments name_collection optional_items \
                origin_context payment_intent payment_link payment_method_configuration_details \
                permissions presentment_details recovered_from redirect_on_completion return_url \
                saved_payment_method_options setup_intent shipping_address_collection \
                shipping_cost submit_type subscription success_url tax_id_collection wallet_options
                """,
            [
                "adaptive_pricing": ["enabled": false],
                "amount_subtotal": .null, "amount_total": .null,
                "automatic_tax": .object(nulls: "liability provider status", ["enabled": false]),
                "currency": lines.first?["currency"] ?? .null, "custom_fields": [],
                "custom_text": .object(
                    nulls: "after_submit shipping_address submit terms_of_service_acceptance",
                    [:]
                ),
                "customer": JSON(customer),
                "customer_creation": mode == "payment"
                    ? "if_required" : mode == "setup" ? .null : "always",
                "customer_details": address.map {
                    .object(
                        nulls: "address business_name individual_name name phone tax_ids",
                        [
                            "email": .string($0), "name": known?["name"] ?? .null,
                            "tax_exempt": "none",
                        ]
                    )
                } ?? .null,
                "customer_email": JSON(email), "expires_at": .int(instant + 86_400),
                "mode": .string(mode),
                "payment_method_collection": mode == "subscription" ? "always" : "if_required",
                "payment_method_options": ["card": ["request_three_d_secure": "automatic"]],
                "payment_method_types": ["card"],
                "payment_status": isSetup ? "no_payment_required" : "unpaid",
                "phone_number_collection": ["enabled": false], "shipping_options": [],
                "status": "open",
                "total_details": isSetup
                    ? .null : ["amount_discount": 0, "amount_shipping": 0, "amount_tax": 0],
                "ui_mode": .string(uiMode),
                "url": isHosted ? .string("\(world.baseURL)/c/pay/\(id)") : .null,
                "client_secret": isHosted
                    ? .null : .string("\(id)_secret_\(world.random.token(40))"),
                "_line_items": [],
            ]
        )
        if !isSetup { sum(&session, lines) }
        return session
    }

    private static func readPages(
        _ parameters: inout Parameters,
        into session: inout JSON,
        uiMode: String
    ) throws {
        try parameters.patch(&session, "success_url", "cancel_url", "return_url")
        for name in ["success_url", "cancel_url", "return_url"] {
            guard let url = session[name].string else { continue }
            guard Parameters.isLink(url) else {
                throw APIError.invalid(
                    "Invalid URL: An explicit scheme (such as https) must be provided.",
                    code: "url_invalid",
                    param: name
                )
            }
        }
        if uiMode.hasPrefix("hosted"), session["success_url"].isNull {
            throw APIError.missing(parameter: "success_url")
        }
    }

    private static func readDetails(
        _ world: World,
        _ parameters: inout Parameters,
        into session: inout JSON,
        mode: String
    ) throws {
        try parameters.metadata(into: &session)
        if let reference = try parameters.string("client_reference_id", maximum: 200) {
            session["client_reference_id"] = .string(reference)
        }
        try parameters.patch(
            &session,
            "locale",
            "submit_type",
            "billing_address_collection",
            "origin_context",
            "customer_creation",
            "payment_method_collection"
        )
        if mode == "subscription", parameters.has("customer_creation") {
            throw APIError.invalid(
                "`customer_creation` can only be used in `payment` and `setup` mode.",
                param: "customer_creation"
            )
        }
        try parameters.patchBool(&session, "allow_promotion_codes")
        try readChildren(world, &parameters, into: &session, mode: mode)
        let invoices = try parameters.object("invoice_creation") { part in
            let isEnabled = try part.bool("enabled") ?? false
            part.ignore("invoice_data")
            return isEnabled
        }
        if let invoices {
            session["invoice_creation"] = [
                "enabled": .bool(invoices),
                "invoice_data": .object(
                    nulls: """
                        account_tax_ids custom_fields description footer issuer rendering_options
                        """,
                    ["metadata": [:]]
                ),
            ]
        }
        try parameters.object("after_expiration") { part in
            session["after_expiration"] =
                part.verbatim("recovery").map { ["recovery": $0] } ?? .null
        }
    }

    /// Reads `payment_intent_data`, the fields of the payment intent to come.
    static func readIntentData(_ parameters: inout Parameters) throws -> JSON? {
        try parameters.object("payment_intent_data") { part in
            var intent: JSON = ["metadata": [:]]
            try part.metadata(into: &intent)
            try part.patch(
                &intent,
                "description",
                "receipt_email",
                "setup_future_usage",
                "capture_method",
                "statement_descriptor",
                "statement_descriptor_suffix"
            )
            part.ignore("shipping", "transfer_group")
            return intent
        }
    }

    /// Reads the fields of the session's payment intent, setup intent or subscription to come.
    private static func readChildren(
        _ world: World,
        _ parameters: inout Parameters,
        into session: inout JSON,
        mode: String
    ) throws {
        let intent = try readIntentData(&parameters)
        let setup = try parameters.object("setup_intent_data") { part in
            var setup: JSON = ["metadata": [:]]
            try part.metadata(into: &setup)
            try part.patch(&setup, "description")
            return setup
        }
        let instant = world.now(for: session["customer"].reference)
        let subscription = try parameters.object("subscription_data") { part in
            var data: JSON = ["metadata": [:]]
            try part.metadata(into: &data)
            try part.patch(&data, "description", "proration_behavior")
            data["trial_end"] = JSON(try SubscriptionOrder.trialEnd(&part, now: instant))
            data["billing_cycle_anchor"] = JSON(try part.int("billing_cycle_anchor"))
            try part.object("trial_settings") { inner in
                try inner.object("end_behavior") { behavior in
                    try behavior.patch(&data, "missing_payment_method")
                }
            }
            data["tax_rates"] = .array(try TaxRates.read(world, &part, "default_tax_rates") ?? [])
            part.ignore("billing_mode", "invoice_settings")
            return data
        }
        if intent != nil, mode != "payment" {
            throw APIError.invalid(
                "You can not pass `payment_intent_data` in `\(mode)` mode.",
                param: "payment_intent_data"
            )
        }
        if subscription != nil, mode != "subscription" {
            throw APIError.invalid(
                "You can not pass `subscription_data` in `\(mode)` mode.",
                param: "subscription_data"
            )
        }
        session["_payment_intent_data"] = intent ?? .null
        session["_setup_intent_data"] = setup ?? .null
        session["_subscription_data"] = subscription ?? .null
        let rates = subscription?["tax_rates"].elements ?? []
        guard !rates.isEmpty else { return }
        var lines = session["_line_items"].elements
        for index in lines.indices where lines[index]["_tax_rates"].elements.isEmpty {
            lines[index]["_tax_rates"] = .array(rates)
            tax(&lines[index])
        }
        sum(&session, lines)
    }

    private static func ignoreAppearance(_ parameters: inout Parameters) {
        parameters.ignore(
            "adaptive_pricing",
            "allowed_payment_method_types",
            "automatic_tax",
            "branding_settings",
            "consent_collection",
            "currency",
            "custom_fields",
            "custom_text",
            "customer_update",
            "excluded_payment_method_types",
            "name_collection",
            "optional_items",
            "payment_method_configuration",
            "payment_method_data",
            "payment_method_options",
            "permissions",
            "phone_number_collection",
            "redirect_on_completion",
            "saved_payment_method_options",
            "shipping_address_collection",
            "shipping_options",
            "tax_id_collection",
            "wallet_options"
        )
    }
}
