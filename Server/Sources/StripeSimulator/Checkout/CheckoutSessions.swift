extension World {
    static let checkoutRoutes: [Route] = [
        .post("checkout/sessions") { world, call in try world.createSession(&call) },
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
            world.expireSession(call.ids[0])
            return try world.find(.checkoutSession, call.ids[0])
        },
        .get("checkout/sessions/:id/line_items") { world, call in
            let session = try world.find(.checkoutSession, call.ids[0])
            return try Self.page(
                session["_line_items"].elements,
                &call,
                url: "/v1/checkout/sessions/\(call.ids[0])/line_items"
            )
        },
    ]

    /// Ends a session that nobody paid.
    mutating func expireSession(_ id: String) {
        guard let session = get(.checkoutSession, id), session["status"].string == "open" else {
            return
        }
        if let intent = session["_payment_intent"].string {
            cancelIntent(intent, reason: "expired")
        }
        let expired = change(.checkoutSession, id) { session in
            session["status"] = "expired"
            session["url"] = .null
        }
        emit("checkout.session.expired", expired)
    }

    mutating func expireSessionIfDue(_ id: String) {
        guard let session = get(.checkoutSession, id),
            session["expires_at"].count <= now(for: session["customer"].reference)
        else { return }
        expireSession(id)
    }

    /// One line of what is bought. https://docs.stripe.com/api/checkout/sessions/line_items
    mutating func checkoutLine(_ price: JSON, quantity: Int) -> JSON {
        let amount = price["unit_amount"].count * quantity
        return .object(
            nulls: "adjustable_quantity metadata",
            [
                "id": .string("li_" + random.token(24)), "object": "item",
                "amount_discount": 0, "amount_subtotal": .int(amount), "amount_tax": 0,
                "amount_total": .int(amount), "currency": price["currency"],
                "description": .string(productName(of: price)), "discounts": [], "price": price,
                "quantity": .int(quantity), "taxes": [],
            ]
        )
    }
}
