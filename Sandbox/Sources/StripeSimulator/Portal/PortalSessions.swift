/// Portal sessions: visits to the customer portal, and its configurations.
/// https://docs.stripe.com/api/customer_portal/sessions
enum PortalSessions {
    static let routes: [Route] = [
        .post("billing_portal/sessions") { world, call in try create(&world, &call) },
        .post("billing_portal/configurations") { world, call in
            var configuration = configuration(
                &world,
                isDefault: world.all(.portalConfiguration).isEmpty
            )
            guard call.parameters.has("features") else {
                throw APIError.missing(parameter: "features")
            }
            try read(&call.parameters, into: &configuration)
            return world.add(
                .portalConfiguration,
                configuration,
                event: "billing_portal.configuration.created"
            )
        },
        .get("billing_portal/configurations") { world, call in
            let isActive = try call.parameters.bool("active")
            let isDefault = try call.parameters.bool("is_default")
            return try world.list(.portalConfiguration, &call) { configuration in
                (isActive.map { configuration["active"].bool == $0 } ?? true)
                    && (isDefault.map { configuration["is_default"].bool == $0 } ?? true)
            }
        },
        .get("billing_portal/configurations/:id") { world, call in
            try world.find(.portalConfiguration, call.ids[0])
        },
        .post("billing_portal/configurations/:id") { world, call in
            var configuration = try world.find(.portalConfiguration, call.ids[0])
            try read(&call.parameters, into: &configuration)
            configuration["updated"] = .int(world.now)
            let changed = configuration
            return world.change(
                .portalConfiguration,
                call.ids[0],
                event: "billing_portal.configuration.updated"
            ) { $0 = changed }
        },
        .post("customer_sessions") { world, call in try createCustomerSession(&world, &call) },
    ]

    private static func create(_ world: inout World, _ call: inout Call) throws -> JSON {
        let customer = try call.parameters.required("customer")
        _ = try world.find(.customer, customer, param: "customer")
        let chosen = try call.parameters.string("configuration")
        if let chosen { _ = try world.find(.portalConfiguration, chosen, param: "configuration") }
        let standard = world.all(.portalConfiguration).first { $0["is_default"].bool == true }
        guard let configuration = chosen ?? standard?["id"].string else {
            throw APIError.invalid(
                "No configuration provided and your test mode default configuration has not been "
                    + "created. Provide a configuration or create your default by saving your "
                    + "customer portal settings in test mode."
            )
        }
        let returnURL =
            try call.parameters.string("return_url")
            ?? world.get(.portalConfiguration, configuration)?["default_return_url"].string
        if let returnURL, !Parameters.isLink(returnURL) {
            throw APIError.invalid("Invalid URL", code: "url_invalid", param: "return_url")
        }
        var session = world.blank(
            .portalSession,
            created: world.now(for: customer),
            nulls: "after_expiration customer_account flow locale on_behalf_of",
            [
                "configuration": .string(configuration), "customer": .string(customer),
                "return_url": JSON(returnURL), "_token": .string(world.random.token(40)),
            ]
        )
        try call.parameters.patch(&session, "locale")
        if let flow = call.parameters.verbatim("flow_data") { session["flow"] = Self.flow(flow) }
        call.parameters.ignore("on_behalf_of")
        session.remove("metadata")
        session["url"] = .string("\(world.baseURL)/p/session/\(session["_token"].text)")
        world.put(.portalSession, session)
        world.emit("billing_portal.session.created", session)
        return session
    }

    private static func flow(_ sent: JSON) -> JSON {
        var flow: JSON = .object(
            nulls: """
                customer_update subscription_cancel subscription_pause subscription_update \
                subscription_update_confirm
                """,
            sent.members ?? [:]
        )
        if flow["after_completion"].isNull {
            flow["after_completion"] = .object(
                nulls: "hosted_confirmation redirect",
                ["type": "portal_homepage"]
            )
        }
        return flow
    }

    /// A configuration with every feature as the Dashboard proposes it.
    static func configuration(_ world: inout World, isDefault: Bool) -> JSON {
        let reasons = [
            "too_expensive", "missing_features", "switched_service", "unused", "other",
        ]
        return world.blank(
            .portalConfiguration,
            nulls: "application default_return_url name",
            [
                "active": true, "is_default": .bool(isDefault), "updated": .int(world.now),
                "business_profile": .object(
                    nulls: "headline privacy_policy_url terms_of_service_url",
                    [:]
                ),
                "login_page": ["enabled": false, "url": .null],
                "features": [
                    "customer_update": ["enabled": false, "allowed_updates": []],
                    "invoice_history": ["enabled": true],
                    "payment_method_update": [
                        "enabled": true, "payment_method_configuration": .null,
                    ],
                    "subscription_cancel": [
                        "enabled": true, "mode": "at_period_end", "proration_behavior": "none",
                        "cancellation_reason": [
                            "enabled": false, "feedback_options": .null, "options": JSON(reasons),
                        ],
                    ],
                    "subscription_pause": [
                        "enabled": false,
                        "duration": ["type": "indefinite", "interval_options": []],
                    ],
                    "subscription_update": [
                        "enabled": false, "billing_cycle_anchor": "unchanged",
                        "default_allowed_updates": [], "products": [],
                        "proration_behavior": "none",
                        "schedule_at_period_end": ["conditions": []],
                        "trial_update_behavior": "end_trial",
                    ],
                ],
            ]
        )
    }

    private static func read(
        _ parameters: inout Parameters,
        into configuration: inout JSON
    ) throws {
        try parameters.metadata(into: &configuration)
        try parameters.patch(&configuration, "default_return_url", "name")
        try parameters.patchBool(&configuration, "active")
        for name in ["business_profile", "login_page", "features"] {
            guard let sent = parameters.verbatim(name) else { continue }
            configuration[name] = merged(configuration[name], sent)
        }
        let offered = configuration["features"]["subscription_update"]["products"].elements
        configuration["features"]["subscription_update"]["products"] = .array(
            offered.map { product in
                guard product["adjustable_quantity"].isNull else { return product }
                var product = product
                product["adjustable_quantity"] = ["enabled": false, "maximum": .null, "minimum": 1]
                return product
            }
        )
    }

    /// `changes` over `base`, member by member; lists are replaced.
    private static func merged(_ base: JSON, _ changes: JSON) -> JSON {
        guard var members = base.members, let new = changes.members else { return changes }
        for (name, value) in new { members[name] = merged(members[name] ?? .null, value) }
        return .object(members)
    }

    /// https://docs.stripe.com/api/customer_sessions.
    private static func createCustomerSession(
        _ world: inout World,
        _ call: inout Call
    ) throws -> JSON {
        let customer = try call.parameters.required("customer")
        _ = try world.find(.customer, customer, param: "customer")
        guard let sent = call.parameters.verbatim("components")?.members,
            sent.values.contains(where: { $0["enabled"].bool == true })
        else { throw APIError.missing(parameter: "components") }
        let names = [
            "active_entitlements", "buy_button", "customer_portal", "customer_sheet",
            "mobile_payment_element", "payment_element", "pricing_table",
        ]
        if let unknown = sent.keys.sorted().first(where: { !names.contains($0) }) {
            throw APIError.unknown(parameter: "components[\(unknown)]")
        }
        var components: JSON = [:]
        for name in names {
            components[name] = ["enabled": .bool(sent[name]?["enabled"].bool ?? false)]
            if ["payment_element", "customer_sheet", "mobile_payment_element"].contains(name) {
                components[name]["features"] = sent[name]?["features"] ?? .null
            }
        }
        return [
            "object": "customer_session",
            "client_secret": .string("cuss_secret_" + world.random.token(60)),
            "components": components, "created": .int(world.now), "customer": .string(customer),
            "customer_account": .null, "expires_at": .int(world.now + 1_800), "livemode": false,
        ]
    }
}
