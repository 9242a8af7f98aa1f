/// Charges: single attempts to take money. https://docs.stripe.com/api/charges
enum Charges {
    /// Makes the charge of one attempt. https://docs.stripe.com/api/charges/object
    static func add(
        _ world: inout World,
        for intent: JSON,
        method: JSON,
        decline: Decline?,
        isCaptured: Bool
    ) -> JSON {
        let amount = intent["amount"].count
        let isPaid = decline == nil
        let id = world.newID(.charge)
        let charge = world.blank(
            .charge,
            id: id,
            created: world.now(for: intent["customer"].string),
            nulls: """
                application application_fee application_fee_amount authorization_code \
                balance_transaction calculated_statement_descriptor failure_balance_transaction \
                fraud_details level3 on_behalf_of presentment_details radar_options receipt_number \
                refunds review shipping source source_transfer statement_descriptor \
                statement_descriptor_suffix transfer transfer_data transfer_group
                """,
            [
                "amount": .int(amount), "amount_captured": .int(isCaptured ? amount : 0),
                "amount_refunded": 0, "billing_details": method["billing_details"],
                "captured": .bool(isCaptured), "currency": intent["currency"],
                "customer": intent["customer"], "description": intent["description"],
                "disputed": false, "failure_code": JSON(decline?.code),
                "failure_message": JSON(decline?.message), "metadata": intent["metadata"],
                "outcome": outcome(decline), "paid": .bool(isPaid),
                "payment_intent": intent["id"], "payment_method": method["id"],
                "payment_method_details": methodDetails(method, amount),
                "receipt_email": intent["receipt_email"],
                "receipt_url": isPaid ? .string("\(world.baseURL)/receipts/\(id)") : .null,
                "refunded": false, "status": isPaid ? "succeeded" : "failed",
            ]
        )
        world.put(.charge, charge)
        if isCaptured { settle(&world, charge) }
        return world.get(.charge, id) ?? charge
    }

    /// Books what a captured charge brings, less the fee.
    static func settle(_ world: inout World, _ charge: JSON) {
        let transaction = Balance.addTransaction(
            &world,
            amount: charge["amount_captured"].count,
            fee: fee(of: charge["amount_captured"].count),
            type: "charge",
            source: charge
        )
        world.change(.charge, charge["id"].text) { $0["balance_transaction"] = transaction["id"] }
    }

    /// What is kept of a charge: 2.9 % and thirty.
    static func fee(of amount: Int) -> Int { (amount * 29 + 500) / 1_000 + 30 }

    private static func outcome(_ decline: Decline?) -> JSON {
        guard let decline else {
            return .object(
                nulls: "advice_code network_advice_code network_decline_code reason rule",
                [
                    "network_status": "approved_by_network", "risk_level": "normal",
                    "risk_score": 20, "seller_message": "Payment complete.", "type": "authorized",
                ]
            )
        }
        return .object(
            nulls: "advice_code network_advice_code network_decline_code rule",
            [
                "network_status": "declined_by_network", "reason": .string(decline.declineCode),
                "risk_level": "normal", "risk_score": 20,
                "seller_message": "The bank did not return any further details with this decline.",
                "type": decline == .blocked ? "blocked" : "issuer_declined",
            ]
        )
    }

    private static func methodDetails(_ method: JSON, _ amount: Int) -> JSON {
        guard method["type"].string != "sepa_debit" else {
            var details = method["sepa_debit"]
            details.remove("generated_from")
            details["mandate"] = .null
            return ["type": "sepa_debit", "sepa_debit": details]
        }
        return ["type": "card", "card": cardDetails(method, amount)]
    }

    private static func cardDetails(_ method: JSON, _ amount: Int) -> JSON {
        var details = method["card"]
        for name in ["display_brand", "generated_from", "networks", "three_d_secure_usage"] {
            details.remove(name)
        }
        details["network"] = details["brand"]
        details["amount_authorized"] = .int(amount)
        for name in ["installments", "mandate", "network_token", "three_d_secure"] {
            details[name] = .null
        }
        return details
    }

    static let routes: [Route] = [
        .get("charges") { world, call in
            let customer = try call.parameters.string("customer")
            let intent = try call.parameters.string("payment_intent")
            return try world.list(.charge, &call) { charge in
                (customer.map { charge["customer"].string == $0 } ?? true)
                    && (intent.map { charge["payment_intent"].string == $0 } ?? true)
            }
        },
        .get("charges/search") { world, call in try world.search(.charge, &call) },
        .get("charges/:id") { world, call in try world.find(.charge, call.ids[0]) },
        .post("charges/:id") { world, call in
            var charge = try world.find(.charge, call.ids[0])
            try call.parameters.patch(&charge, "description", "receipt_email")
            try call.parameters.metadata(into: &charge)
            let changed = charge
            return world.change(.charge, call.ids[0], event: "charge.updated") { $0 = changed }
        },
    ]
}
