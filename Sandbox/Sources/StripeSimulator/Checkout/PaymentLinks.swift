/// Payment links: addresses that make a Checkout Session for each visit.
/// https://docs.stripe.com/api/payment-link
enum PaymentLinks {
    static let routes: [Route] = [
        .post("payment_links") { world, call in try create(&world, &call) },
        .get("payment_links") { world, call in
            let isActive = try call.parameters.bool("active")
            return try world.list(.paymentLink, &call) { link in
                isActive.map { link["active"].bool == $0 } ?? true
            }
        },
        .get("payment_links/:id") { world, call in try world.find(.paymentLink, call.ids[0]) },
        .post("payment_links/:id") { world, call in
            var link = try world.find(.paymentLink, call.ids[0])
            try call.parameters.patchBool(&link, "active")
            try call.parameters.patchBool(&link, "allow_promotion_codes")
            try call.parameters.patch(&link, "inactive_message")
            try call.parameters.metadata(into: &link)
            try readCompletion(&call.parameters, into: &link)
            let changed = link
            return world.change(.paymentLink, call.ids[0], event: "payment_link.updated") {
                $0 = changed
            }
        },
        .get("payment_links/:id/line_items") { world, call in
            let link = try world.find(.paymentLink, call.ids[0])
            return try call.page(
                link["_line_items"].elements,
                url: "/v1/payment_links/\(call.ids[0])/line_items"
            )
        },
    ]

    /// https://docs.stripe.com/api/payment-link/object.
    private static func create(_ world: inout World, _ call: inout Call) throws -> JSON {
        let lines = try call.parameters.objects("line_items") { part in
            let price = try Prices.price(&world, in: &part)
            part.ignore("adjustable_quantity")
            return CheckoutSessions.lineItem(
                &world,
                price,
                quantity: try part.int("quantity", in: 1...999_999) ?? 1
            )
        }
        guard let lines, let first = lines.first else {
            throw APIError.missing(parameter: "line_items")
        }
        let isSubscription = lines.contains { !$0["price"]["recurring"].isNull }
        var link = world.blank(
            .paymentLink,
            nulls: """
                application application_fee_amount application_fee_percent consent_collection \
                inactive_message invoice_creation managed_payments name_collection on_behalf_of \
                optional_items payment_intent_data payment_method_options payment_method_types \
                restrictions shipping_address_collection subscription_data transfer_data
                """,
            [
                "active": true, "allow_promotion_codes": false,
                "after_completion": .object(
                    nulls: "redirect",
                    [
                        "type": "hosted_confirmation",
                        "hosted_confirmation": ["custom_message": .null],
                    ]
                ),
                "automatic_tax": .object(nulls: "liability", ["enabled": false]),
                "billing_address_collection": "auto", "currency": first["currency"],
                "custom_fields": [],
                "custom_text": .object(
                    nulls: "after_submit shipping_address submit terms_of_service_acceptance",
                    [:]
                ),
                "customer_creation": isSubscription ? "always" : "if_required",
                "payment_method_collection": "always",
                "phone_number_collection": ["enabled": false], "shipping_options": [],
                "submit_type": "auto",
                "tax_id_collection": ["enabled": false, "required": "never"],
                "_line_items": .array(lines),
                "_mode": isSubscription ? "subscription" : "payment",
            ]
        )
        link.remove("created")
        link["url"] = .string("\(world.baseURL)/b/\(link["id"].text)")
        try call.parameters.metadata(into: &link)
        try call.parameters.patch(&link, "submit_type", "customer_creation", "inactive_message")
        try call.parameters.patchBool(&link, "allow_promotion_codes")
        try readCompletion(&call.parameters, into: &link)
        try readSubscriptionData(&call.parameters, into: &link)
        try readPaymentData(&call.parameters, into: &link)
        call.parameters.ignore(
            "automatic_tax",
            "billing_address_collection",
            "consent_collection",
            "custom_fields",
            "custom_text",
            "invoice_creation",
            "payment_method_collection",
            "phone_number_collection",
            "tax_id_collection"
        )
        return world.add(.paymentLink, link, event: "payment_link.created")
    }

    private static func readPaymentData(
        _ parameters: inout Parameters,
        into link: inout JSON
    ) throws {
        guard let data = try CheckoutSessions.readIntentData(&parameters) else { return }
        guard link["_mode"].string == "payment" else {
            throw APIError.invalid(
                "You can not pass `payment_intent_data` in `subscription` mode.",
                param: "payment_intent_data"
            )
        }
        let unset = "capture_method description setup_future_usage statement_descriptor"
        link["payment_intent_data"] = .object(
            nulls: unset + " statement_descriptor_suffix transfer_group",
            data.members ?? [:]
        )
    }

    private static func readSubscriptionData(
        _ parameters: inout Parameters,
        into link: inout JSON
    ) throws {
        let data = try parameters.object("subscription_data") { part in
            var data: JSON = .object(
                nulls: "description trial_period_days trial_settings",
                ["metadata": [:]]
            )
            try part.metadata(into: &data)
            try part.patch(&data, "description")
            data["trial_period_days"] = JSON(try part.int("trial_period_days", in: 1...730))
            data["invoice_settings"] = ["issuer": ["type": "self"]]
            part.ignore("trial_settings", "invoice_settings")
            return data
        }
        if let data { link["subscription_data"] = data }
    }

    private static func readCompletion(
        _ parameters: inout Parameters,
        into link: inout JSON
    ) throws {
        let completion = try parameters.object("after_completion") { part in
            let type = try part.required("type")
            let redirect = try part.object("redirect") { inner in
                let url = try inner.required("url")
                guard Parameters.isLink(url) else {
                    throw APIError.invalid(
                        "Invalid URL",
                        code: "url_invalid",
                        param: inner.name("url")
                    )
                }
                return JSON.object(["url": .string(url)])
            }
            return JSON.object([
                "type": .string(type), "redirect": redirect ?? .null,
                "hosted_confirmation": part.verbatim("hosted_confirmation") ?? .null,
            ])
        }
        if let completion { link["after_completion"] = completion }
        let restrictions = try parameters.object("restrictions") { part in
            try part.object("completed_sessions") { inner in
                JSON.object(["count": 0, "limit": JSON(try inner.int("limit", in: 1...999_999))])
            }
        }
        if let sessions = restrictions ?? nil {
            link["restrictions"] = ["completed_sessions": sessions]
        }
    }

    /// A visit to a link makes a session of its own.
    /// - Returns: the session, or `nil` if the link is no longer active.
    static func visit(
        _ world: inout World,
        paymentLink id: String,
        _ query: [String: Form]
    ) throws -> JSON? {
        let link = try world.find(.paymentLink, id)
        let limit = link["restrictions"]["completed_sessions"]["limit"].int
        let completed = link["restrictions"]["completed_sessions"]["count"].count
        guard link["active"].bool == true, limit.map({ completed < $0 }) ?? true else { return nil }
        func text(_ name: String) -> String? {
            guard case .text(let value)? = query[name], !value.isEmpty else { return nil }
            return value
        }
        var session = try CheckoutSessions.blankSession(
            &world,
            mode: link["_mode"].text,
            uiMode: "hosted_page",
            customer: nil,
            email: text("prefilled_email"),
            lines: link["_line_items"].elements
        )
        session["payment_link"] = .string(id)
        session["metadata"] = link["metadata"]
        session["allow_promotion_codes"] = link["allow_promotion_codes"]
        session["success_url"] = link["after_completion"]["redirect"]["url"]
        // A reference that is too long or has other characters is dropped, without a word.
        if let reference = text("client_reference_id"), reference.count <= 200,
            reference.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) }
            )
        {
            session["client_reference_id"] = .string(reference)
        }
        if let days = link["subscription_data"]["trial_period_days"].int {
            session["_subscription_data"] = [
                "metadata": link["subscription_data"]["metadata"],
                "trial_end": .int(world.now + days * 86_400),
            ]
        }
        session["_payment_intent_data"] = link["payment_intent_data"]
        world.put(.checkoutSession, session)
        world.schedule(
            .expireSession(session["id"].text),
            at: session["expires_at"].count,
            for: nil
        )
        return session
    }
}
