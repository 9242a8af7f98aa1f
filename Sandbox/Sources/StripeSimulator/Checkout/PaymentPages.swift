/// Payment pages: undocumented calls by which the official command line pays a Checkout Session
/// without a browser.
enum PaymentPages {
    static let routes: [Route] = [
        .get("payment_pages/:id") { world, call in
            try page(world, call.ids[0])
        },
        .post("payment_pages/:id/confirm") { world, call in
            let id = try call.parameters.required("payment_method")
            let expected = try call.parameters.int("expected_amount")
            call.parameters.ignore("return_url", "last_displayed_line_item_group_details")
            let session = try world.find(.checkoutSession, call.ids[0])
            if let expected, expected != session["amount_total"].count {
                throw APIError.invalid(
                    "The expected amount does not match the session's.",
                    code: "checkout_amount_mismatch",
                    param: "expected_amount"
                )
            }
            let method = try PaymentMethods.find(&world, id)
            var details = CardDetails(card: PaymentMethods.card(of: method))
            details.email =
                method["billing_details"]["email"].string
                ?? session["customer_details"]["email"].string ?? "stripe@example.com"
            details.name = method["billing_details"]["name"].string
            switch try CheckoutSessions.pay(
                &world,
                session: call.ids[0],
                CheckoutForm(details: details)
            ) {
            case .completed, .requiresAuthentication: break
            case .declined(let decline): throw APIError.card(decline)
            }
            return try page(world, call.ids[0])
        },
    ]

    private static func page(_ world: World, _ id: String) throws -> JSON {
        let session = try world.find(.checkoutSession, id)
        return [
            "id": .string("ppage_" + id.suffix(24)), "object": "checkout.session",
            "session_id": .string(id), "status": session["status"],
            "payment_status": session["payment_status"], "mode": session["mode"],
            "amount_total": session["amount_total"], "currency": session["currency"],
            "customer_email": session["customer_email"], "livemode": false,
            "success_url": session["success_url"],
        ]
    }
}
