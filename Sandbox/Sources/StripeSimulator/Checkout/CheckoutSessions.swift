/// Checkout Sessions: one visit of a customer to the hosted payment page.
/// https://docs.stripe.com/api/checkout/sessions
enum CheckoutSessions {
    static let routes: [Route] = [
        .post("checkout/sessions") { world, call in try create(&world, &call) },
        .get("checkout/sessions") { world, call in
            var filters: [String: String] = [:]
            for name in ["customer", "payment_intent", "payment_link", "subscription", "status"] {
                filters[name] = try call.parameters.string(name)
            }
            call.parameters.ignore("customer_details")
            let wanted = filters
            return try world.list(.checkoutSession, &call) { session in
                wanted.allSatisfy { session[$0.key].string == $0.value }
            }
        },
        .get("checkout/sessions/:id") { world, call in
            try world.find(.checkoutSession, call.ids[0])
        },
        .post("checkout/sessions/:id") { world, call in
            var session = try world.find(.checkoutSession, call.ids[0])
            try call.parameters.metadata(into: &session)
            world.put(.checkoutSession, session)
            return session
        },
        .post("checkout/sessions/:id/expire") { world, call in
            let session = try world.find(.checkoutSession, call.ids[0])
            guard session["status"].string == "open" else {
                throw APIError.invalid(
                    "Only Checkout Sessions with a status in [\"open\"] can be expired. This "
                        + "Checkout Session has a status of \(session["status"].text)."
                )
            }
            expire(&world, call.ids[0])
            return try world.find(.checkoutSession, call.ids[0])
        },
        .get("checkout/sessions/:id/line_items") { world, call in
            let session = try world.find(.checkoutSession, call.ids[0])
            return try call.page(
                session["_line_items"].elements,
                url: "/v1/checkout/sessions/\(call.ids[0])/line_items"
            )
        },
    ]

    /// Ends a session that nobody paid.
    static func expire(_ world: inout World, _ id: String) {
        guard let session = world.get(.checkoutSession, id), session["status"].string == "open"
        else {
            return
        }
        if let intent = session["_payment_intent"].string {
            PaymentIntents.cancel(&world, intent, reason: "expired")
        }
        let expired = world.change(.checkoutSession, id) { session in
            session["status"] = "expired"
            session["url"] = .null
        }
        world.emit("checkout.session.expired", expired)
    }

    static func expireIfDue(_ world: inout World, _ id: String) {
        guard let session = world.get(.checkoutSession, id),
            session["expires_at"].count <= world.now(for: session["customer"].reference)
        else { return }
        expire(&world, id)
    }

    /// One line of what is bought. https://docs.stripe.com/api/checkout/sessions/line_items
    static func lineItem(
        _ world: inout World,
        _ price: JSON,
        quantity: Int,
        taxRates: [JSON] = []
    ) -> JSON {
        let amount = Prices.amount(of: price, quantity)
        var line = JSON.object(
            nulls: "adjustable_quantity metadata",
            [
                "id": .string("li_" + world.random.token(24)), "object": "item",
                "amount_discount": 0, "amount_subtotal": .int(amount), "amount_tax": 0,
                "amount_total": .int(amount), "currency": price["currency"],
                "description": .string(Products.name(world, of: price)), "discounts": [],
                "price": price,
                "quantity": .int(quantity), "taxes": [], "_tax_rates": .array(taxRates),
            ]
        )
        tax(&line)
        return line
    }

    /// Sums a line up: what is left after its discount, and the taxes on that.
    static func tax(_ line: inout JSON) {
        let net = line["amount_subtotal"].count - line["amount_discount"].count
        let rates = line["_tax_rates"].elements
        let shares = TaxShare.of(net, rates: rates)
        line["taxes"] = .array(
            shares.map {
                [
                    "amount": .int($0.amount), "rate": $0.rate,
                    "taxability_reason": "not_available", "taxable_amount": .int($0.base),
                ]
            }
        )
        line["amount_tax"] = .int(shares.map(\.amount).reduce(0, +))
        line["amount_total"] = .int(net + TaxShare.added(to: net, rates: rates))
    }

    /// Sums a session up by its lines.
    static func sum(_ session: inout JSON, _ lines: [JSON]) {
        func total(_ name: String) -> JSON { .int(lines.map { $0[name].count }.reduce(0, +)) }
        session["_line_items"] = .array(lines)
        session["amount_subtotal"] = total("amount_subtotal")
        session["amount_total"] = total("amount_total")
        session["total_details"]["amount_discount"] = total("amount_discount")
        session["total_details"]["amount_tax"] = total("amount_tax")
    }
}
