/// Invoice items: what waits for a customer's next invoice.
/// https://docs.stripe.com/api/invoiceitems
enum InvoiceItems {
    /// Makes a pending item that the next invoice takes up.
    /// https://docs.stripe.com/api/invoiceitems/object
    @discardableResult
    static func add(_ world: inout World, _ line: InvoiceLine, customer: String) -> JSON {
        let item = world.blank(
            .invoiceItem,
            created: world.now(for: customer),
            nulls: "customer_account frozen_fields invoice invoicing_rules test_clock",
            [
                "amount": .int(line.amount), "currency": line.price["currency"],
                "customer": .string(customer), "date": .int(world.now(for: customer)),
                "description": .string(line.description), "discountable": .bool(!line.isProration),
                "discounts": [], "metadata": line.metadata, "net_amount": .int(line.amount),
                "parent": line.subscription.map {
                    [
                        "type": "subscription_details",
                        "subscription_details": [
                            "subscription": .string($0),
                            "subscription_item": JSON(line.subscriptionItem),
                        ],
                    ]
                } ?? .null,
                "period": ["start": .int(line.start), "end": .int(line.end)],
                "pricing": [
                    "type": "price_details",
                    "price_details": [
                        "price": line.price["id"],
                        "product": .string(line.price["product"].reference ?? ""),
                    ],
                    "unit_amount_decimal": line.price["unit_amount_decimal"],
                ],
                "proration": .bool(line.isProration),
                "proration_details": itemDetails(line.prorationDetails),
                "quantity": .int(line.quantity),
                "quantity_decimal": .string(String(line.quantity)),
                "tax_rates": .array(line.taxRates),
            ]
        )
        return world.add(.invoiceItem, item, event: "invoiceitem.created")
    }

    /// What a line says about a credit, as the item says it that the line comes from.
    private static func itemDetails(_ details: JSON) -> JSON {
        guard !details.isNull else { return .null }
        let credited = details["credited_items"]
        return [
            "credited_items": credited.isNull
                ? .null
                : [
                    "type": "invoice_line_items", "invoice_item": .null,
                    "invoice_line_item_details": credited,
                ],
            "discount_amounts": [],
        ]
    }

    private static func lineDetails(_ details: JSON) -> JSON {
        guard !details.isNull else { return .null }
        return [
            "credited_items": details["credited_items"]["invoice_line_item_details"]
        ]
    }

    /// The pending items of a customer as lines: those of one subscription, or those of none.
    static func takePending(
        _ world: World,
        of customer: String,
        subscription: String?
    ) -> [InvoiceLine] {
        world.all(.invoiceItem).compactMap { item in
            let owner = item["parent"]["subscription_details"]["subscription"].string
            guard item["customer"].string == customer, item["invoice"].isNull,
                owner == nil || owner == subscription
            else { return nil }
            return InvoiceLine(
                amount: item["amount"].count,
                description: item["description"].text,
                price: world.get(.price, item["pricing"]["price_details"]["price"].string)
                    ?? ["currency": item["currency"], "unit_amount_decimal": .null],
                quantity: item["quantity"].count,
                start: item["period"]["start"].count,
                end: item["period"]["end"].count,
                subscription: owner,
                subscriptionItem: item["parent"]["subscription_details"]["subscription_item"]
                    .string,
                invoiceItem: item["id"].string,
                isProration: item["proration"].bool ?? false,
                metadata: item["metadata"],
                prorationDetails: lineDetails(item["proration_details"]),
                taxRates: item["tax_rates"].elements
            )
        }
    }

    /// Notes on pending items which invoice took them up.
    static func assign(_ world: inout World, _ lines: [InvoiceLine], to invoice: String) {
        for id in lines.compactMap(\.invoiceItem) {
            world.change(.invoiceItem, id) { $0["invoice"] = .string(invoice) }
        }
    }

    static let routes: [Route] = [
        .post("invoiceitems") { world, call in
            let customer = try call.parameters.required("customer")
            _ = try world.find(.customer, customer, param: "customer")
            let quantity = try call.parameters.int("quantity", in: 1...1_000_000) ?? 1
            var price: JSON = .null
            try call.parameters.object("pricing") { part in
                price = try world.find(
                    .price,
                    try part.required("price"),
                    param: part.name("price")
                )
            }
            let currency = try call.parameters.string("currency")
            let amount = try call.parameters.int("amount")
            if price.isNull {
                guard amount != nil else { throw APIError.missing(parameter: "amount") }
                price = ["currency": .string(currency ?? "usd"), "unit_amount_decimal": .null]
            }
            try Currencies.require(world, price["currency"].text, of: customer)
            let subscription = try call.parameters.string("subscription")
            let invoice = try call.parameters.string("invoice")
            let instant = world.now(for: customer)
            let line = InvoiceLine(
                amount: amount ?? Prices.amount(of: price, quantity),
                description: try call.parameters.string("description")
                    ?? Products.name(world, of: price),
                price: price,
                quantity: quantity,
                start: instant,
                end: instant,
                subscription: subscription,
                taxRates: try TaxRates.read(world, &call.parameters, "tax_rates") ?? []
            )
            var item = add(&world, line, customer: customer)
            try call.parameters.metadata(into: &item)
            call.parameters.ignore("discountable", "period")
            world.put(.invoiceItem, item)
            if let invoice {
                guard try world.find(.invoice, invoice, param: "invoice")["status"] == "draft"
                else {
                    throw APIError.invalid(
                        "The invoice is no longer editable.",
                        code: "invoice_not_editable"
                    )
                }
                var attached = line
                attached.invoiceItem = item["id"].string
                Invoices.addLines(&world, [attached], to: invoice)
                assign(&world, [attached], to: invoice)
            }
            return try world.find(.invoiceItem, item["id"].text)
        },
        .get("invoiceitems") { world, call in
            let customer = try call.parameters.string("customer")
            let isPending = try call.parameters.bool("pending")
            let invoice = try call.parameters.string("invoice")
            return try world.list(.invoiceItem, &call) { item in
                (customer.map { item["customer"].string == $0 } ?? true)
                    && (isPending.map { item["invoice"].isNull == $0 } ?? true)
                    && (invoice.map { item["invoice"].string == $0 } ?? true)
            }
        },
        .get("invoiceitems/:id") { world, call in try world.find(.invoiceItem, call.ids[0]) },
        .delete("invoiceitems/:id") { world, call in
            let item = try world.find(.invoiceItem, call.ids[0])
            guard item["invoice"].isNull else {
                throw APIError.invalid("This invoice item is attached to an invoice.")
            }
            world.emit("invoiceitem.deleted", item)
            return world.delete(.invoiceItem, call.ids[0])
        },
    ]
}
