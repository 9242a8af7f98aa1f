/// Customers: the people and companies who pay. https://docs.stripe.com/api/customers
enum Customers {
    /// Makes a customer. https://docs.stripe.com/api/customers/object
    static func add(
        _ world: inout World,
        id: String? = nil,
        email: String? = nil,
        name: String? = nil,
        testClock: String? = nil
    ) -> JSON {
        let created =
            testClock.flatMap { world.get(.testClock, $0)?["frozen_time"].int } ?? world.now
        return world.blank(
            .customer,
            id: id,
            created: created,
            nulls: """
                address business_name currency customer_account default_source description discount \
                email individual_name name phone shipping test_clock
                """,
            [
                "balance": 0, "delinquent": false, "email": JSON(email), "name": JSON(name),
                "invoice_prefix": .string(world.random.token(8).uppercased()),
                "invoice_settings": .object(
                    nulls: "custom_fields default_payment_method footer rendering_options",
                    [:]
                ),
                "next_invoice_sequence": 1, "preferred_locales": [], "tax_exempt": "none",
                "test_clock": JSON(testClock),
            ]
        )
    }

    static let routes: [Route] = [
        .post("customers") { world, call in
            let clock = try call.parameters.string("test_clock")
            if let clock { _ = try world.find(.testClock, clock, param: "test_clock") }
            var customer = add(&world, testClock: clock)
            let id = customer["id"].text
            world.put(.customer, customer)
            let method = try call.parameters.string("payment_method")
            // A magic id stands for the payment method that it becomes, wherever it is named.
            let attached = try method.map {
                (
                    sent: $0,
                    id: try PaymentMethods.attach(&world, $0, to: id, param: "payment_method")["id"]
                        .text
                )
            }
            try read(world, &call.parameters, into: &customer, attached: attached)
            world.put(.customer, customer)
            world.emit("customer.created", customer)
            let balance = customer["balance"].count
            if balance != 0 {
                CustomerBalance.note(&world, of: id, movedBy: balance, type: "initial")
            }
            return world.get(.customer, id) ?? customer
        },
        .get("customers") { world, call in
            let email = try call.parameters.string("email")
            let clock = try call.parameters.string("test_clock")
            return try world.list(.customer, &call) { customer in
                (email.map { customer["email"].string == $0 } ?? true)
                    && (clock.map { customer["test_clock"].string == $0 } ?? true)
            }
        },
        .get("customers/search") { world, call in try world.search(.customer, &call) },
        .get("customers/:id") { world, call in
            if let mark = world.get(.customer, call.ids[0]), mark["deleted"].bool == true {
                return mark
            }
            return try world.find(.customer, call.ids[0])
        },
        .post("customers/:id") { world, call in
            let before = try world.find(.customer, call.ids[0])
            var customer = before
            try read(world, &call.parameters, into: &customer)
            let changed = customer
            world.change(.customer, call.ids[0], event: "customer.updated") { $0 = changed }
            let move = customer["balance"].count - before["balance"].count
            if move != 0 {
                CustomerBalance.note(&world, of: call.ids[0], movedBy: move, type: "adjustment")
            }
            return try world.find(.customer, call.ids[0])
        },
        .delete("customers/:id") { world, call in
            let customer = try world.find(.customer, call.ids[0])
            for subscription in world.all(.subscription)
            where subscription["customer"].string == call.ids[0]
                && !Subscriptions.isOver(subscription)
            {
                Subscriptions.cancelNow(
                    &world,
                    subscription["id"].text,
                    reason: "cancellation_requested"
                )
            }
            world.emit("customer.deleted", customer)
            let mark = world.delete(.customer, call.ids[0])
            world.put(.customer, mark)  // Stripe goes on answering for deleted customers.
            return mark
        },
        .get("customers/:id/payment_methods") { world, call in
            _ = try world.find(.customer, call.ids[0])
            _ = try call.parameters.string("type")
            call.parameters.ignore("allow_redisplay")
            let customer = call.ids[0]
            return try world.list(
                .paymentMethod,
                &call,
                url: "/v1/customers/\(customer)/payment_methods"
            ) { $0["customer"].string == customer }
        },
        .get("customers/:id/entitlements") { world, call in
            _ = try world.find(.customer, call.ids[0])
            let customer = call.ids[0]
            return try world.list(
                .activeEntitlement,
                &call,
                url: "/v1/customers/\(customer)/entitlements"
            ) { $0["_customer"].string == customer }
        },
    ]

    /// Reads what a create and an update have in common.
    ///
    /// - Parameter attached: the payment method that the same request attaches, and how it named it.
    private static func read(
        _ world: World,
        _ parameters: inout Parameters,
        into customer: inout JSON,
        attached: (sent: String, id: String)? = nil
    ) throws {
        try parameters.patch(
            &customer,
            "name",
            "email",
            "phone",
            "description",
            "individual_name",
            "business_name"
        )
        try parameters.metadata(into: &customer)
        if let address = try parameters.address("address") { customer["address"] = address }
        if let balance = try parameters.int("balance") { customer["balance"] = .int(balance) }
        if let prefix = try parameters.string("invoice_prefix") {
            customer["invoice_prefix"] = .string(prefix)
        }
        if let exempt = try parameters.choice("tax_exempt", of: ["none", "exempt", "reverse"]) {
            customer["tax_exempt"] = .string(exempt)
        }
        if let locales = try parameters.strings("preferred_locales") {
            customer["preferred_locales"] = JSON(locales)
        }
        let shipping = try parameters.object("shipping") { part in
            var shipping = JSON.object(nulls: "address carrier name phone tracking_number", [:])
            if let address = try part.address("address") { shipping["address"] = address }
            try part.patch(&shipping, "name", "phone", "carrier", "tracking_number")
            return shipping
        }
        if let shipping { customer["shipping"] = shipping }
        let id = customer["id"].text
        var settings = customer["invoice_settings"]
        try parameters.object("invoice_settings") { part in
            if let sent = try part.raw("default_payment_method") {
                let method = sent == attached?.sent ? attached?.id ?? sent : sent
                if !method.isEmpty {
                    let found = try world.find(
                        .paymentMethod,
                        method,
                        param: part.name("default_payment_method")
                    )
                    guard found["customer"].string == id else {
                        throw APIError.invalid(
                            "The customer does not have a payment method with the ID \(method). The "
                                + "payment method must be attached to the customer.",
                            code: "resource_missing",
                            param: part.name("default_payment_method")
                        )
                    }
                }
                settings["default_payment_method"] = method.isEmpty ? .null : .string(method)
            }
            try part.patch(&settings, "footer")
            part.ignore("custom_fields", "rendering_options")
        }
        customer["invoice_settings"] = settings
        parameters.ignore("tax", "tax_id_data", "next_invoice_sequence", "cash_balance")
    }

    /// A new card for all of a customer's subscriptions.
    static func setDefaultCard(_ world: inout World, _ details: CardDetails, customer: String) {
        let method = PaymentMethods.add(&world, details)["id"].text
        PaymentMethods.attachUnchecked(&world, method, to: customer)
        world.change(.customer, customer, event: "customer.updated") {
            $0["invoice_settings"]["default_payment_method"] = .string(method)
        }
        for subscription in world.all(.subscription)
        where subscription["customer"].string == customer && !Subscriptions.isOver(subscription)
            && !subscription["default_payment_method"].isNull
        {
            world.change(
                .subscription,
                subscription["id"].text,
                event: "customer.subscription.updated"
            ) {
                $0["default_payment_method"] = .string(method)
            }
        }
    }
}
