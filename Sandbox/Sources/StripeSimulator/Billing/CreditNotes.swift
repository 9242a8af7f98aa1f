/// Credit notes: what an invoice is reduced by once it is finalized.
///
/// Before it is paid what is left to pay is less; afterwards the money goes back, or onto the
/// customer's balance.
/// https://docs.stripe.com/invoicing/integration/programmatic-credit-notes
enum CreditNotes {
    static let routes: [Route] = [
        .post("credit_notes") { world, call in
            let (note, split) = try read(&world, &call.parameters)
            try call.parameters.finish()
            return try issue(&world, note, split)
        },
        .get("credit_notes") { world, call in
            let invoice = try call.parameters.string("invoice")
            let customer = try call.parameters.string("customer")
            return try world.list(.creditNote, &call) { note in
                (invoice.map { note["invoice"].string == $0 } ?? true)
                    && (customer.map { note["customer"].string == $0 } ?? true)
            }
        },
        .get("credit_notes/preview") { world, call in
            var copy = world
            return try read(&copy, &call.parameters).note
        },
        .get("credit_notes/preview/lines") { world, call in
            var copy = world
            let limit = try call.parameters.int("limit", in: 1...100) ?? 10
            let note = try read(&copy, &call.parameters).note
            let lines = note["lines"].elements
            return JSON.list(
                Array(lines.prefix(limit)),
                url: "/v1/credit_notes/preview/lines",
                hasMore: lines.count > limit
            )
        },
        .get("credit_notes/:id") { world, call in try world.find(.creditNote, call.ids[0]) },
        .get("credit_notes/:id/lines") { world, call in
            try call.page(
                try world.find(.creditNote, call.ids[0])["lines"].elements,
                url: "/v1/credit_notes/\(call.ids[0])/lines"
            )
        },
        .post("credit_notes/:id") { world, call in
            var note = try world.find(.creditNote, call.ids[0])
            try call.parameters.patch(&note, "memo")
            try call.parameters.metadata(into: &note)
            let changed = note
            return world.change(.creditNote, call.ids[0], event: "credit_note.updated") {
                $0 = changed
            }
        },
        .post("credit_notes/:id/void") { world, call in
            try void(&world, call.ids[0])
            return try world.find(.creditNote, call.ids[0])
        },
    ]

    /// How the money of a paid invoice goes back.
    struct CreditSplit: Hashable, Sendable {
        /// To the card.
        var refund = 0
        /// Onto the customer's balance.
        var credit = 0
        /// Outside of Stripe.
        var outOfBand = 0
        /// Refunds that were made already, and how much of each counts.
        var refunds: [JSON] = []

        var sum: Int {
            refund + credit + outOfBand + refunds.map { $0["amount_refunded"].count }.reduce(0, +)
        }
    }

    /// The credit note that a request describes, not issued yet.
    private static func read(
        _ world: inout World,
        _ parameters: inout Parameters
    ) throws -> (note: JSON, split: CreditSplit) {
        let id = try parameters.required("invoice")
        let invoice = try world.find(.invoice, id, param: "invoice")
        guard ["open", "paid", "uncollectible"].contains(invoice["status"].text) else {
            throw APIError.invalid(
                "You can only create a credit note for an open or paid invoice.",
                param: "invoice"
            )
        }
        let lines = try readLines(&world, &parameters, of: invoice)
        let amount = try parameters.int("amount", in: 1...99_999_999)
        guard (lines == nil) != (amount == nil) else {
            throw APIError.invalid(
                "You must pass exactly one of these parameters: amount, lines.",
                param: "amount"
            )
        }
        let shown =
            lines ?? [creditLine(&world, "custom_line_item", amount ?? 0, description: "Credit")]
        let split = try readSplit(world, &parameters)
        var note = creditNote(&world, of: invoice, lines: shown)
        let reasons = ["duplicate", "fraudulent", "order_change", "product_unsatisfactory"]
        note["reason"] = JSON(try parameters.choice("reason", of: reasons))
        try parameters.patch(&note, "memo")
        try parameters.metadata(into: &note)
        if let instant = try parameters.int("effective_at") { note["effective_at"] = .int(instant) }
        parameters.ignore("email_type")
        try requireFitting(note, split, invoice)
        return (note, split)
    }

    private static func readSplit(
        _ world: World,
        _ parameters: inout Parameters
    ) throws -> CreditSplit {
        var split = CreditSplit()
        let range = 0...99_999_999
        split.refund = try parameters.int("refund_amount", in: range) ?? 0
        split.credit = try parameters.int("credit_amount", in: range) ?? 0
        split.outOfBand = try parameters.int("out_of_band_amount", in: range) ?? 0
        split.refunds =
            try parameters.objects("refunds") { part in
                let id = try part.required("refund")
                let refund = try world.find(.refund, id, param: part.name("refund"))
                let amount = try part.int("amount_refunded", in: range)
                part.ignore("type")
                return .object(
                    nulls: "payment_record_refund",
                    [
                        "refund": .string(id), "type": "refund",
                        "amount_refunded": amount.map(JSON.int) ?? refund["amount"],
                    ]
                )
            } ?? []
        return split
    }

    private static func readLines(
        _ world: inout World,
        _ parameters: inout Parameters,
        of invoice: JSON
    ) throws -> [JSON]? {
        try parameters.objects("lines") { part in
            let type = try part.choice("type", of: ["custom_line_item", "invoice_line_item"])
            guard let type else { throw APIError.missing(parameter: part.name("type")) }
            let quantity = try part.int("quantity", in: 1...1_000_000)
            let description = try part.string("description")
            part.ignore("tax_amounts", "metadata")
            guard type == "invoice_line_item" else {
                let unit = try part.int("unit_amount", in: 0...99_999_999)
                guard let unit else { throw APIError.missing(parameter: part.name("unit_amount")) }
                let rates = try TaxRates.read(world, &part, "tax_rates") ?? []
                return creditLine(
                    &world,
                    type,
                    unit * (quantity ?? 1),
                    description: description ?? "",
                    quantity: quantity ?? 1,
                    rates: rates
                )
            }
            let id = try part.required("invoice_line_item")
            let line = invoice["lines"].elements.first { $0["id"].string == id }
            guard let line else {
                throw APIError.noSuch("line_item", id, param: part.name("invoice_line_item"))
            }
            let whole = max(1, line["quantity"].count)
            let amount = try part.int("amount", in: 0...99_999_999)
            let rates = line["_tax_rates"].elements
            return creditLine(
                &world,
                type,
                amount ?? line["amount"].count * (quantity ?? whole) / whole,
                description: description ?? line["description"].text,
                quantity: amount == nil ? quantity ?? whole : nil,
                invoiceLine: id,
                rates: rates.isEmpty ? invoice["default_tax_rates"].elements : rates
            )
        }
    }

    private static func creditLine(
        _ world: inout World,
        _ type: String,
        _ amount: Int,
        description: String,
        quantity: Int? = nil,
        invoiceLine: String? = nil,
        rates: [JSON] = []
    ) -> JSON {
        let unit = quantity.map { amount / max(1, $0) }
        return [
            "id": .string("cnli_" + world.random.token(24)), "object": "credit_note_line_item",
            "amount": .int(amount), "description": .string(description), "discount_amount": 0,
            "discount_amounts": [], "invoice_line_item": JSON(invoiceLine), "livemode": false,
            "metadata": [:], "pretax_credit_amounts": [], "quantity": JSON(quantity),
            "tax_rates": .array(rates),
            "taxes": .array(TaxShare.of(amount, rates: rates).map { $0.shown() }),
            "type": .string(type), "unit_amount": JSON(unit),
            "unit_amount_decimal": unit.map { .string(String($0)) } ?? .null,
        ]
    }

    private static func creditNote(_ world: inout World, of invoice: JSON, lines: [JSON]) -> JSON {
        let id = world.newID(.creditNote)
        let customer = invoice["customer"].text
        let subtotal = lines.map { $0["amount"].count }.reduce(0, +)
        let taxes = lines.flatMap(\.["taxes"].elements)
        func sum(_ behavior: String) -> Int {
            taxes.filter { $0["tax_behavior"].string == behavior }.map { $0["amount"].count }
                .reduce(0, +)
        }
        let total = subtotal + sum("exclusive")
        let isPaid = invoice["status"].string == "paid"
        let count = world.all(.creditNote).count { $0["invoice"] == invoice["id"] } + 1
        return world.blank(
            .creditNote,
            id: id,
            created: world.now(for: customer),
            nulls: """
                customer_account customer_balance_transaction memo out_of_band_amount reason \
                shipping_cost voided_at
                """,
            [
                "amount": .int(total), "amount_shipping": 0, "currency": invoice["currency"],
                "customer": invoice["customer"], "discount_amount": 0, "discount_amounts": [],
                "effective_at": .int(world.now(for: customer)), "invoice": invoice["id"],
                "lines": JSON.list(lines, url: "/v1/credit_notes/\(id)/lines"),
                "number": .string("\(invoice["number"].text)-CN-\(count < 10 ? "0" : "")\(count)"),
                "pdf": .string("\(world.baseURL)/i/\(invoice["id"].text)/pdf"),
                "post_payment_amount": .int(isPaid ? total : 0),
                "pre_payment_amount": .int(isPaid ? 0 : total), "pretax_credit_amounts": [],
                "refunds": [], "status": "issued", "subtotal": .int(subtotal),
                "subtotal_excluding_tax": .int(subtotal - sum("inclusive")),
                "total": .int(total),
                "total_excluding_tax": .int(total - sum("exclusive") - sum("inclusive")),
                "total_taxes": .array(taxes), "type": isPaid ? "post_payment" : "pre_payment",
            ]
        )
    }

    /// - Throws: where it gives back more than there is, or does not say how.
    private static func requireFitting(_ note: JSON, _ split: CreditSplit, _ invoice: JSON) throws {
        let amount = note["amount"].count
        let isPaid = invoice["status"].string == "paid"
        let given = invoice["post_payment_credit_notes_amount"].count
        let most =
            isPaid ? invoice["amount_paid"].count - given : invoice["amount_remaining"].count
        guard amount <= most else {
            throw APIError.invalid(
                "The credit note's amount (\(amount)) is more than the invoice leaves (\(most)).",
                param: "amount"
            )
        }
        guard isPaid || split.sum == 0 else {
            throw APIError.invalid(
                "The invoice is not paid, so there is nothing to refund or to credit.",
                param: "refund_amount"
            )
        }
        guard !isPaid || split.sum == amount else {
            throw APIError.invalid(
                "The sum of credit amount, refund amount and out of band amount (\(split.sum)) "
                    + "must equal the credit note amount (\(amount)).",
                param: "amount"
            )
        }
    }

    private static func issue(
        _ world: inout World,
        _ proposed: JSON,
        _ split: CreditSplit
    ) throws -> JSON {
        var note = proposed
        let id = note["id"].text
        let invoice = try world.find(.invoice, note["invoice"].text)
        let amount = note["amount"].count
        note["out_of_band_amount"] = split.outOfBand > 0 ? .int(split.outOfBand) : .null
        var refunds = split.refunds
        if split.refund > 0 {
            let intent = world.get(.paymentIntent, invoice["_payment_intent"].string) ?? .null
            let made = try Refunds.create(
                &world,
                charge: intent["latest_charge"].text,
                amount: split.refund
            )
            refunds.append(
                .object(
                    nulls: "payment_record_refund",
                    [
                        "amount_refunded": .int(split.refund), "refund": made["id"],
                        "type": "refund",
                    ]
                )
            )
        }
        note["refunds"] = .array(refunds)
        if split.credit > 0 {
            note["customer_balance_transaction"] =
                CustomerBalance.move(
                    &world,
                    of: invoice["customer"].text,
                    by: -split.credit,
                    type: "credit_note",
                    currency: invoice["currency"].text,
                    invoice: invoice["id"].string,
                    creditNote: id
                )["id"]
        }
        let isPaid = invoice["status"].string == "paid"
        world.add(.creditNote, note, event: "credit_note.created")
        world.change(.invoice, invoice["id"].text, event: "invoice.updated") { invoice in
            let name = "\(isPaid ? "post" : "pre")_payment_credit_notes_amount"
            invoice[name] = .int(invoice[name].count + amount)
            if !isPaid { reduce(&invoice, by: amount) }
        }
        if !isPaid { settleReduced(&world, invoice["id"].text) }
        return try world.find(.creditNote, id)
    }

    private static func reduce(_ invoice: inout JSON, by amount: Int) {
        for name in ["amount_due", "amount_remaining"] {
            invoice[name] = .int(invoice[name].count - amount)
        }
    }

    /// What is left of an open invoice is asked for; nothing is left of one that is paid with that.
    private static func settleReduced(_ world: inout World, _ id: String) {
        guard let invoice = world.get(.invoice, id), invoice["status"].string == "open" else {
            return
        }
        let left = invoice["amount_remaining"].count
        guard left > 0 else {
            if let intent = invoice["_payment_intent"].string {
                PaymentIntents.cancel(&world, intent, reason: "void_invoice")
            }
            return Invoices.markPaid(&world, id, intent: nil)
        }
        if let intent = invoice["_payment_intent"].string {
            world.change(.paymentIntent, intent) { $0["amount"] = .int(left) }
        }
        for payment in world.all(.invoicePayment) where payment["invoice"].string == id {
            world.change(.invoicePayment, payment["id"].text) {
                $0["amount_requested"] = .int(left)
            }
        }
    }

    private static func void(_ world: inout World, _ id: String) throws {
        let note = try world.find(.creditNote, id)
        let invoice = try world.find(.invoice, note["invoice"].text)
        guard note["status"].string == "issued", invoice["status"].string == "open" else {
            throw APIError.invalid(
                "You can only void an issued credit note of an open invoice."
            )
        }
        let amount = note["amount"].count
        let instant = world.now(for: note["customer"].string)
        let voided = world.change(.creditNote, id) { note in
            note["status"] = "void"
            note["voided_at"] = .int(instant)
        }
        world.change(.invoice, invoice["id"].text, event: "invoice.updated") { invoice in
            let name = "pre_payment_credit_notes_amount"
            invoice[name] = .int(invoice[name].count - amount)
            reduce(&invoice, by: -amount)
        }
        settleReduced(&world, invoice["id"].text)
        world.emit("credit_note.voided", voided)
    }
}
