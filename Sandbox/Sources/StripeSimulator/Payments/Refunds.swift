/// Refunds: money given back for a charge. https://docs.stripe.com/api/refunds
enum Refunds {
    /// Gives money back.
    ///
    /// Subscriptions and entitlements stay as they are. https://docs.stripe.com/api/refunds/create
    static func create(
        _ world: inout World,
        charge id: String,
        amount: Int? = nil,
        reason: String? = nil,
        metadata: JSON = [:]
    ) throws -> JSON {
        let charge = try world.find(.charge, id, param: "charge")
        let amount = try refundable(amount, of: charge)
        let method = world.get(.paymentMethod, charge["payment_method"].string) ?? .null
        let outcome = PaymentMethods.card(of: method).refund
        let customer = charge["customer"].string
        var refund = world.blank(
            .refund,
            created: world.now(for: customer),
            nulls: """
                customer_account description failure_balance_transaction failure_reason \
                instructions_email next_action pending_reason presentment_details receipt_number \
                source_transfer_reversal transfer_reversal
                """,
            [
                "amount": .int(amount), "charge": .string(id), "currency": charge["currency"],
                "customer": charge["customer"], "metadata": metadata,
                "payment_intent": charge["payment_intent"],
                "payment_method": charge["payment_method"], "reason": JSON(reason),
                "destination_details": [
                    "type": "card",
                    "card": .object(
                        nulls: "reference",
                        ["reference_status": "pending", "type": "refund"]
                    ),
                ],
                "status": outcome == .pendsFirst ? "pending" : "succeeded",
            ]
        )
        refund["pending_reason"] = outcome == .pendsFirst ? "processing" : .null
        refund["balance_transaction"] =
            Balance.addTransaction(&world, amount: -amount, fee: 0, type: "refund", source: refund)[
                "id"
            ]
        world.put(.refund, refund)
        let changed = count(&world, of: amount, on: id)
        world.emit("refund.created", refund)
        world.emit(
            "charge.refunded",
            changed,
            previous: World.previousAttributes(charge, changed) ?? [:]
        )
        world.schedule(
            .settleRefund(refund["id"].text),
            at: world.now(for: customer) + 86_400,
            for: customer
        )
        return refund
    }

    /// The amount that a refund gives back: all that is left, unless a smaller one is named.
    private static func refundable(_ amount: Int?, of charge: JSON) throws -> Int {
        let id = charge["id"].text
        let remaining = charge["amount_captured"].count - charge["amount_refunded"].count
        guard charge["paid"].bool == true, charge["captured"].bool == true else {
            throw APIError.invalid("This charge has not been paid.", param: "charge")
        }
        guard charge["refunded"].bool != true, remaining > 0 else {
            throw APIError.invalid(
                "Charge \(id) has already been refunded.",
                code: "charge_already_refunded"
            )
        }
        guard charge["_lost"].bool != true else {
            throw APIError.invalid(
                "Charge \(id) has been charged back; cannot issue a refund.",
                code: "charge_disputed"
            )
        }
        let amount = amount ?? remaining
        guard amount <= remaining else {
            throw APIError.invalid(
                "Refund amount (\(amount)) is greater than unrefunded amount on charge "
                    + "(\(remaining))",
                param: "amount"
            )
        }
        return amount
    }

    /// Adds to what a charge has given back; negative if a refund failed.
    private static func count(_ world: inout World, of amount: Int, on charge: String) -> JSON {
        world.change(.charge, charge) { charge in
            let total = charge["amount_refunded"].count + amount
            charge["amount_refunded"] = .int(total)
            charge["refunded"] = .bool(total >= charge["amount"].count)
        }
    }

    /// What the bank says later: a pending refund arrives, one that is to fail, fails, and any
    /// other gets the reference by which the cardholder's bank finds it.
    /// https://docs.stripe.com/refunds#tracing-refunds
    static func settle(_ world: inout World, _ id: String) {
        guard let refund = world.get(.refund, id) else { return }
        let method = world.get(.paymentMethod, refund["payment_method"].string) ?? .null
        switch (refund["status"].text, PaymentMethods.card(of: method).refund) {
        case ("succeeded", .failsLater): fail(&world, id)
        case ("pending", _), ("succeeded", _): trace(&world, id)
        default: break
        }
    }

    private static func trace(_ world: inout World, _ id: String) {
        var digits = "74"
        for _ in 0..<21 { digits += String(world.random.next() % 10) }
        let reference = digits
        guard let before = world.get(.refund, id) else { return }
        let traced = world.change(.refund, id, event: "refund.updated") { refund in
            refund["status"] = "succeeded"
            refund["pending_reason"] = .null
            refund["destination_details"]["card"]["reference"] = .string(reference)
            refund["destination_details"]["card"]["reference_status"] = "available"
            refund["destination_details"]["card"]["reference_type"] = "acquirer_reference_number"
        }
        world.emit(
            "charge.refund.updated",
            traced,
            previous: World.previousAttributes(before, traced) ?? [:]
        )
    }

    private static func fail(_ world: inout World, _ id: String) {
        guard let refund = world.get(.refund, id) else { return }
        let back = Balance.addTransaction(
            &world,
            amount: refund["amount"].count,
            fee: 0,
            type: "refund_failure",
            source: refund
        )
        let failed = world.change(.refund, id) { refund in
            refund["status"] = "failed"
            refund["failure_reason"] = "expired_or_canceled_card"
            refund["failure_balance_transaction"] = back["id"]
        }
        _ = count(&world, of: -refund["amount"].count, on: refund["charge"].text)
        let previous: JSON = [
            "status": refund["status"], "failure_reason": .null,
            "failure_balance_transaction": .null,
        ]
        world.emit("refund.updated", failed, previous: previous)
        world.emit("charge.refund.updated", failed, previous: previous)
        world.emit("refund.failed", failed)
    }

    static let routes: [Route] = [
        .post("refunds") { world, call in
            var charge = try call.parameters.string("charge")
            if let intent = try call.parameters.string("payment_intent") {
                let found = try world.find(.paymentIntent, intent, param: "payment_intent")
                charge = found["latest_charge"].string
                guard found["status"].string == "succeeded" else {
                    throw APIError.invalid(
                        "This PaymentIntent (\(intent)) does not have a successful charge to refund.",
                        param: "payment_intent"
                    )
                }
            }
            guard let charge else { throw APIError.missing(parameter: "charge") }
            let amount = try call.parameters.int("amount", in: 1...99_999_999)
            let reason = try call.parameters.choice(
                "reason",
                of: ["duplicate", "fraudulent", "requested_by_customer"]
            )
            var noted: JSON = ["metadata": [:]]
            try call.parameters.metadata(into: &noted)
            call.parameters.ignore(
                "refund_application_fee",
                "reverse_transfer",
                "instructions_email"
            )
            return try create(
                &world,
                charge: charge,
                amount: amount,
                reason: reason,
                metadata: noted["metadata"]
            )
        },
        .get("refunds") { world, call in
            let charge = try call.parameters.string("charge")
            let intent = try call.parameters.string("payment_intent")
            return try world.list(.refund, &call) { refund in
                (charge.map { refund["charge"].string == $0 } ?? true)
                    && (intent.map { refund["payment_intent"].string == $0 } ?? true)
            }
        },
        .get("refunds/:id") { world, call in try world.find(.refund, call.ids[0]) },
        .post("refunds/:id") { world, call in
            var refund = try world.find(.refund, call.ids[0])
            try call.parameters.metadata(into: &refund)
            let changed = refund
            return world.change(.refund, call.ids[0], event: "refund.updated") { $0 = changed }
        },
        .get("charges/:id/refunds") { world, call in
            let charge = call.ids[0]
            return try world.list(.refund, &call, url: "/v1/charges/\(charge)/refunds") {
                $0["charge"].string == charge
            }
        },
    ]
}
