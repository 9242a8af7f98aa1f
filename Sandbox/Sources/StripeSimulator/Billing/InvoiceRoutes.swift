extension Invoices {
    static let routes: [Route] = [
        .get("invoices") { world, call in
            let customer = try call.parameters.string("customer")
            let subscription = try call.parameters.string("subscription")
            let status = try call.parameters.string("status")
            call.parameters.ignore("collection_method", "due_date")
            return try world.list(.invoice, &call) { invoice in
                (customer.map { invoice["customer"].string == $0 } ?? true)
                    && (status.map { invoice["status"].string == $0 } ?? true)
                    && (subscription.map {
                        invoice["parent"]["subscription_details"]["subscription"].string == $0
                    } ?? true)
            }
        },
        .post("invoices") { world, call in try create(&world, &call) },
        .get("invoices/search") { world, call in try world.search(.invoice, &call) },
        .get("invoices/:id") { world, call in try world.find(.invoice, call.ids[0]) },
        .post("invoices/:id") { world, call in
            var invoice = try world.find(.invoice, call.ids[0])
            try call.parameters.metadata(into: &invoice)
            try call.parameters.patch(&invoice, "description", "footer")
            try call.parameters.patchBool(&invoice, "auto_advance")
            try readDueDate(&call.parameters, into: &invoice)
            if let method = try call.parameters.string("default_payment_method") {
                invoice["default_payment_method"] = try world.find(
                    .paymentMethod,
                    method,
                    param: "default_payment_method"
                )["id"]
            }
            let changed = invoice
            return world.change(.invoice, call.ids[0], event: "invoice.updated") { $0 = changed }
        },
        .delete("invoices/:id") { world, call in
            let invoice = try world.find(.invoice, call.ids[0])
            guard invoice["status"].string == "draft" else {
                throw APIError.invalid(
                    "You can only delete draft invoices.",
                    code: "invoice_not_editable"
                )
            }
            world.emit("invoice.deleted", invoice)
            return world.delete(.invoice, call.ids[0])
        },
        .get("invoices/:id/lines") { world, call in
            let invoice = try world.find(.invoice, call.ids[0])
            return try call.page(
                invoice["lines"].elements,
                url: "/v1/invoices/\(call.ids[0])/lines"
            )
        },
        .post("invoices/:id/finalize") { world, call in
            let invoice = try world.find(.invoice, call.ids[0])
            guard invoice["status"].string == "draft" else {
                throw APIError.invalid(
                    "This invoice is already finalized, you can't re-finalize a non-draft invoice.",
                    code: "invoice_not_editable"
                )
            }
            _ = try call.parameters.bool("auto_advance")
            finalize(&world, call.ids[0])
            let open = try world.find(.invoice, call.ids[0])
            if open["amount_due"].count > 0 { _ = intent(&world, for: open) }
            return try world.find(.invoice, call.ids[0])
        },
        .post("invoices/:id/pay") { world, call in try pay(&world, &call) },
        .post("invoices/:id/void") { world, call in
            try requireOpen(world, call.ids[0])
            close(&world, call.ids[0], as: "void")
            return try world.find(.invoice, call.ids[0])
        },
        .post("invoices/:id/mark_uncollectible") { world, call in
            try requireOpen(world, call.ids[0])
            close(&world, call.ids[0], as: "uncollectible")
            return try world.find(.invoice, call.ids[0])
        },
        .post("invoices/:id/send") { world, call in
            if try world.find(.invoice, call.ids[0])["status"].string == "draft" {
                finalize(&world, call.ids[0])
            }
            let invoice = try world.find(.invoice, call.ids[0])
            world.emit("invoice.sent", invoice)
            return invoice
        },
    ]

    /// Reads what may change about how a draft is paid.
    private static func readDueDate(
        _ parameters: inout Parameters,
        into invoice: inout JSON
    ) throws {
        let names = ["collection_method", "days_until_due", "due_date"]
        guard names.contains(where: { parameters.has($0) }) else { return }
        guard invoice["status"].string == "draft" else {
            throw APIError.invalid(
                "Finalized invoices can't be updated in this way",
                code: "invoice_not_editable"
            )
        }
        let (method, days) = try readCollectionMethod(
            &parameters,
            standing: invoice["collection_method"].text
        )
        let due =
            try parameters.int("due_date")
            ?? days.map { invoice["created"].count + $0 * 86_400 } ?? invoice["due_date"].int
        guard method == "charge_automatically" || due != nil else {
            throw APIError.missing(parameter: "days_until_due")
        }
        invoice["collection_method"] = .string(method)
        invoice["due_date"] = method == "send_invoice" ? JSON(due) : .null
    }

    static func requireOpen(_ world: World, _ id: String) throws {
        let status = try world.find(.invoice, id)["status"].text
        guard status == "open" || status == "uncollectible" else {
            throw APIError.invalid(
                "You can only pass in open invoices. This invoice isn't open.",
                code: "invoice_not_editable"
            )
        }
    }

    private static func pay(_ world: inout World, _ call: inout Call) throws -> JSON {
        let id = call.ids[0]
        if try world.find(.invoice, id)["status"].string == "draft" { finalize(&world, id) }
        guard try world.find(.invoice, id)["status"].string != "paid" else {
            throw APIError.invalid("Invoice is already paid", code: "invoice_already_paid")
        }
        try requireOpen(world, id)
        let method = try call.parameters.string("payment_method").map {
            try PaymentMethods.find(&world, $0)
        }
        let offSession = try call.parameters.bool("off_session") ?? true
        let outOfBand = try call.parameters.bool("paid_out_of_band") ?? false
        call.parameters.ignore("forgive", "mandate", "source")
        guard !outOfBand else {
            markPaid(&world, id, intent: nil, outOfBand: true)
            return try world.find(.invoice, id)
        }
        switch collect(&world, id, with: method, offSession: offSession, isManual: true) {
        case .succeeded, .processing: return try world.find(.invoice, id)
        case .declined(let decline):
            throw PaymentIntents.refusal(
                world,
                decline,
                intent: world.get(.invoice, id)?["_payment_intent"].string ?? ""
            )
        case .requiresAction:
            var error = APIError.card(.authenticationRequired)
            error.code = "invoice_payment_intent_requires_action"
            error.message =
                "Payment for this invoice requires additional user action before it "
                + "can be completed successfully."
            throw error
        }
    }

    private static func create(_ world: inout World, _ call: inout Call) throws -> JSON {
        let customer = try call.parameters.required("customer")
        _ = try world.find(.customer, customer, param: "customer")
        let subscriptionID = try call.parameters.string("subscription")
        let subscription = try subscriptionID.map {
            try world.find(.subscription, $0, param: "subscription")
        }
        let currency = try call.parameters.string("currency")
        let advances = try call.parameters.bool("auto_advance") ?? false
        let includes =
            try call.parameters.choice(
                "pending_invoice_items_behavior",
                of: ["include", "exclude"]
            ) != "exclude"
        let instant = world.now(for: customer)
        let (method, days) = try readCollectionMethod(
            &call.parameters,
            standing: subscription?["collection_method"].string ?? "charge_automatically"
        )
        let dueDate =
            try call.parameters.int("due_date") ?? days.map { instant + $0 * 86_400 }
        if method == "send_invoice", dueDate == nil, subscription == nil {
            throw APIError.missing(parameter: "days_until_due")
        }
        let lines =
            includes
            ? InvoiceItems.takePending(world, of: customer, subscription: subscriptionID) : []
        var invoice = add(
            &world,
            InvoiceOrder(
                customer: customer,
                subscription: subscription,
                reason: "manual",
                currency: currency ?? lines.first?.price["currency"].string ?? "usd",
                lines: lines,
                periodStart: instant,
                periodEnd: instant,
                finalizesByItself: advances,
                collectionMethod: method,
                dueDate: dueDate,
                taxRates: try TaxRates.read(world, &call.parameters, "default_tax_rates")
            )
        )
        InvoiceItems.assign(&world, lines, to: invoice["id"].text)
        invoice["auto_advance"] = .bool(advances)
        try call.parameters.metadata(into: &invoice)
        try call.parameters.patch(&invoice, "description", "footer")
        call.parameters.ignore("default_payment_method", "payment_settings")
        world.put(.invoice, invoice)
        return invoice
    }
}
