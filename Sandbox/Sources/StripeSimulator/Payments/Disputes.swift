/// Disputes: charges that cardholders question at their bank. https://docs.stripe.com/api/disputes
enum Disputes {
    static let routes: [Route] = [
        .get("disputes") { world, call in
            let charge = try call.parameters.string("charge")
            let intent = try call.parameters.string("payment_intent")
            return try world.list(.dispute, &call) { dispute in
                (charge.map { dispute["charge"].string == $0 } ?? true)
                    && (intent.map { dispute["payment_intent"].string == $0 } ?? true)
            }
        },
        .get("disputes/:id") { world, call in try world.find(.dispute, call.ids[0]) },
        .post("disputes/:id") { world, call in try update(&world, &call) },
        .post("disputes/:id/close") { world, call in
            _ = try world.find(.dispute, call.ids[0])
            close(&world, call.ids[0], isWon: false)
            return try world.find(.dispute, call.ids[0])
        },
    ]

    /// The holder of the card disputes a charge. https://docs.stripe.com/api/disputes/object
    static func open(_ world: inout World, on id: String) {
        guard let charge = world.get(.charge, id), charge["disputed"].bool != true else { return }
        let card = PaymentMethods.card(
            of: world.get(.paymentMethod, charge["payment_method"].string) ?? .null
        )
        let instant = world.now(for: charge["customer"].string)
        let dispute = world.blank(
            .dispute,
            created: instant,
            nulls: "intended_submission_method network_reason_code",
            [
                "amount": charge["amount"], "balance_transactions": [], "charge": .string(id),
                "currency": charge["currency"], "enhanced_eligibility_types": [],
                "evidence": .object(nulls: evidenceNames, ["enhanced_evidence": [:]]),
                "evidence_details": [
                    "due_by": .int(instant + 9 * 86_400), "has_evidence": false,
                    "past_due": false, "submission_count": 0, "enhanced_eligibility": [:],
                    "submission_method": .null,
                ],
                "is_charge_refundable": .bool(card.isInquiry),
                "payment_intent": charge["payment_intent"],
                "payment_method_details": [
                    "type": "card",
                    "card": .object(
                        nulls: "network_reason_code",
                        [
                            "brand": .string(card.brand),
                            "case_type": card.isInquiry ? "inquiry" : "chargeback",
                        ]
                    ),
                ],
                "reason": .string(card.disputeReason ?? "general"),
                "status": card.isInquiry ? "warning_needs_response" : "needs_response",
                "_customer": charge["customer"],
            ]
        )
        world.put(.dispute, dispute)
        world.change(.charge, id, event: "charge.updated") { $0["disputed"] = true }
        world.emit("charge.dispute.created", dispute)
        if !card.isInquiry { moveFunds(&world, dispute["id"].text, back: false) }
    }

    /// Whether nothing changes a dispute any more.
    private static func isClosed(_ dispute: JSON) -> Bool {
        ["won", "lost", "warning_closed"].contains(dispute["status"].text)
    }

    /// Ends a dispute for or against the merchant; one that has ended stays as it is.
    static func close(_ world: inout World, _ id: String, isWon: Bool) {
        guard let dispute = world.get(.dispute, id), !isClosed(dispute) else { return }
        let isInquiry = dispute["status"].text.hasPrefix("warning")
        let closed = world.change(.dispute, id) { dispute in
            dispute["status"] = isInquiry ? "warning_closed" : isWon ? "won" : "lost"
        }
        world.emit("charge.dispute.updated", closed, previous: ["status": dispute["status"]])
        world.emit("charge.dispute.closed", closed)
        guard !isInquiry else { return }
        if isWon {
            moveFunds(&world, id, back: true)
        } else {
            world.change(.charge, dispute["charge"].text) { $0["_lost"] = true }
        }
    }

    /// An inquiry becomes a chargeback: only now the money is withdrawn.
    ///
    /// - Returns: whether it was an open inquiry. https://docs.stripe.com/disputes/how-disputes-work
    static func escalate(_ world: inout World, _ id: String) -> Bool {
        guard let inquiry = world.get(.dispute, id), !isClosed(inquiry),
            inquiry["status"].text.hasPrefix("warning")
        else { return false }
        let instant = world.now(for: inquiry["_customer"].string)
        let escalated = world.change(.dispute, id) { dispute in
            dispute["status"] = "needs_response"
            dispute["is_charge_refundable"] = false
            dispute["payment_method_details"]["card"]["case_type"] = "chargeback"
            dispute["evidence_details"]["due_by"] = .int(instant + 9 * 86_400)
        }
        world.emit("charge.dispute.updated", escalated, previous: ["status": inquiry["status"]])
        moveFunds(&world, id, back: false)
        return true
    }

    private static func moveFunds(_ world: inout World, _ id: String, back: Bool) {
        guard let dispute = world.get(.dispute, id) else { return }
        let amount = dispute["amount"].count
        let transaction = Balance.addTransaction(
            &world,
            amount: back ? amount : -amount,
            fee: back ? 0 : 1_500,
            type: "adjustment",
            source: dispute,
            category: back ? "dispute_reversal" : "dispute"
        )
        let changed = world.change(.dispute, id) { dispute in
            dispute["balance_transactions"] = .array(
                dispute["balance_transactions"].elements + [transaction]
            )
        }
        world.emit(
            back ? "charge.dispute.funds_reinstated" : "charge.dispute.funds_withdrawn",
            changed
        )
    }

    static func update(_ world: inout World, _ call: inout Call) throws -> JSON {
        let id = call.ids[0]
        var dispute = try world.find(.dispute, id)
        try call.parameters.metadata(into: &dispute)
        let submits = try call.parameters.bool("submit") ?? true
        let evidence = call.parameters.verbatim("evidence")?.members ?? [:]
        guard evidence.isEmpty || !isClosed(dispute) else {
            throw APIError.invalid("This dispute is already closed.", param: "evidence")
        }
        for (name, value) in evidence { dispute["evidence"][name] = value }
        if !evidence.isEmpty {
            dispute["evidence_details"]["has_evidence"] = true
            if submits {
                dispute["evidence_details"]["submission_count"] = .int(
                    dispute["evidence_details"]["submission_count"].count + 1
                )
                dispute["status"] =
                    dispute["status"].text.hasPrefix("warning")
                    ? "warning_under_review" : "under_review"
            }
        }
        let changed = dispute
        world.change(.dispute, id, event: "charge.dispute.updated") { $0 = changed }
        // https://docs.stripe.com/testing#evidence
        switch evidence["uncategorized_text"]?.string {
        case "winning_evidence": close(&world, id, isWon: true)
        case "losing_evidence": close(&world, id, isWon: false)
        case "escalate_inquiry_evidence": _ = escalate(&world, id)
        default: break
        }
        return try world.find(.dispute, id)
    }

    private static let evidenceNames = """
        access_activity_log appeal billing_address cancellation_policy cancellation_policy_disclosure \
        cancellation_rebuttal customer_communication customer_email_address customer_name \
        customer_purchase_ip customer_signature duplicate_charge_documentation \
        duplicate_charge_explanation duplicate_charge_id product_description receipt refund_policy \
        refund_policy_disclosure refund_refusal_explanation service_date service_documentation \
        shipping_address shipping_carrier shipping_date shipping_documentation \
        shipping_tracking_number uncategorized_file uncategorized_text
        """
}
