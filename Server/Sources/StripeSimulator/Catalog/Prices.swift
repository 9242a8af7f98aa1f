extension World {
    /// Makes a price of a product that exists. https://docs.stripe.com/api/prices/object
    mutating func addPrice(
        id: String? = nil,
        product: String,
        currency: String,
        unitAmount: Int,
        recurring: JSON,
        lookupKey: String? = nil
    ) -> JSON {
        blank(
            .price,
            id: id,
            nulls: "custom_unit_amount nickname tiers_mode transform_quantity",
            [
                "active": true, "billing_scheme": "per_unit", "currency": .string(currency),
                "lookup_key": JSON(lookupKey), "product": .string(product),
                "recurring": recurring, "tax_behavior": "unspecified",
                "type": recurring.isNull ? "one_time" : "recurring",
                "unit_amount": .int(unitAmount), "unit_amount_decimal": .string(String(unitAmount)),
            ]
        )
    }

    /// Reads `recurring`; null if it was not sent.
    static func recurring(_ parameters: inout Parameters) throws -> JSON {
        let recurring = try parameters.object("recurring") { part in
            guard
                let interval = try part.choice("interval", of: ["day", "week", "month", "year"])
            else { throw APIError.missing(parameter: part.name("interval")) }
            let longest = ["day": 1_095, "week": 156, "month": 36, "year": 3][interval] ?? 1
            let count = try part.int("interval_count", in: 1...longest) ?? 1
            var recurring: JSON = .object(
                nulls: "meter trial_period_days",
                ["interval": .string(interval), "interval_count": .int(count)]
            )
            let usage = try part.choice("usage_type", of: ["licensed", "metered"])
            recurring["usage_type"] = .string(usage ?? "licensed")
            if let days = try part.int("trial_period_days", in: 0...730) {
                recurring["trial_period_days"] = .int(days)
            }
            part.ignore("meter", "aggregate_usage")
            return recurring
        }
        return recurring ?? .null
    }

    /// Makes a price from parameters: of `/v1/prices`, `price_data` or `default_price_data`.
    mutating func addPrice(
        from parameters: inout Parameters,
        product: String,
        isHidden: Bool = false
    ) throws -> JSON {
        let currency = try parameters.required("currency").lowercased()
        guard currency.count == 3, currency.allSatisfy({ $0.isASCII && $0.isLetter }) else {
            throw APIError.invalid(
                "Invalid currency: \(currency)",
                param: parameters.name("currency")
            )
        }
        let decimal = try parameters.string("unit_amount_decimal")
        guard
            let amount = try parameters.int("unit_amount", in: 0...99_999_999)
                ?? decimal.flatMap({ Double($0) }).flatMap({ Int(exactly: $0.rounded()) }),
            (0...99_999_999).contains(amount)
        else { throw APIError.missing(parameter: parameters.name("unit_amount")) }
        var price = addPrice(
            product: product,
            currency: currency,
            unitAmount: amount,
            recurring: try Self.recurring(&parameters)
        )
        if let decimal { price["unit_amount_decimal"] = .string(decimal) }
        if isHidden { price["active"] = false }
        try read(&parameters, into: &price)
        parameters.ignore("billing_scheme", "currency_options", "custom_unit_amount")
        return add(.price, price, event: "price.created")
    }

    /// The price in a line: `price`, or `price_data` with a product of its own.
    mutating func price(in part: inout Parameters) throws -> JSON {
        if let id = try part.string("price") {
            let price = try find(.price, id, param: part.name("price"))
            guard price["active"].bool == true else {
                throw APIError.invalid(
                    "The price specified is inactive. This field only accepts active prices.",
                    code: "price_inactive",
                    param: part.name("price")
                )
            }
            return price
        }
        let made = try part.object("price_data") { data in
            let product: String
            if let id = try data.string("product") {
                product = try find(.product, id, param: data.name("product"))["id"].text
            } else {
                let made = try data.object("product_data") { inner in
                    var made = addProduct(name: try inner.required("name"))
                    try inner.patch(&made, "description", "unit_label", "tax_code")
                    try inner.metadata(into: &made)
                    if let images = try inner.strings("images") { made["images"] = JSON(images) }
                    return add(.product, made, event: "product.created")
                }
                guard let made else { throw APIError.missing(parameter: data.name("product")) }
                product = made["id"].text
            }
            return try addPrice(from: &data, product: product, isHidden: true)
        }
        guard let made else { throw APIError.missing(parameter: part.name("price")) }
        return made
    }

    static let priceRoutes: [Route] = [
        .post("prices") { world, call in
            let product: String
            if let id = try call.parameters.string("product") {
                product = try world.find(.product, id, param: "product")["id"].text
            } else {
                let made = try call.parameters.object("product_data") { part in
                    var made = world.addProduct(
                        id: try part.string("id"),
                        name: try part.required("name")
                    )
                    try part.patch(&made, "statement_descriptor", "unit_label", "tax_code")
                    try part.patchBool(&made, "active")
                    try part.metadata(into: &made)
                    return world.add(.product, made, event: "product.created")
                }
                guard let made else { throw APIError.missing(parameter: "product") }
                product = made["id"].text
            }
            return try world.addPrice(from: &call.parameters, product: product)
        },
        .get("prices") { world, call in
            let isActive = try call.parameters.bool("active")
            let keys = try call.parameters.strings("lookup_keys")
            let product = try call.parameters.string("product")
            let type = try call.parameters.string("type")
            let currency = try call.parameters.string("currency")
            call.parameters.ignore("recurring")
            return try world.list(.price, &call) { price in
                (isActive.map { price["active"].bool == $0 } ?? true)
                    && (keys.map { $0.contains(price["lookup_key"].text) } ?? true)
                    && (product.map { price["product"].string == $0 } ?? true)
                    && (type.map { price["type"].string == $0 } ?? true)
                    && (currency.map { price["currency"].string == $0 } ?? true)
            }
        },
        .get("prices/search") { world, call in try world.search(.price, &call) },
        .get("prices/:id") { world, call in try world.find(.price, call.ids[0]) },
        .post("prices/:id") { world, call in
            var price = try world.find(.price, call.ids[0])
            try world.read(&call.parameters, into: &price)
            call.parameters.ignore("currency_options")
            let changed = price
            return world.change(.price, call.ids[0], event: "price.updated") { $0 = changed }
        },
    ]

    /// Reads what may change: activity, nickname, lookup key, metadata.
    private mutating func read(_ parameters: inout Parameters, into price: inout JSON) throws {
        try parameters.patchBool(&price, "active")
        try parameters.patch(&price, "nickname")
        try parameters.metadata(into: &price)
        let behaviors = ["exclusive", "inclusive", "unspecified"]
        if let behavior = try parameters.choice("tax_behavior", of: behaviors) {
            price["tax_behavior"] = .string(behavior)
        }
        let transfers = try parameters.bool("transfer_lookup_key") ?? false
        guard let key = try parameters.string("lookup_key", maximum: 200) else { return }
        let holder = all(.price).first {
            $0["lookup_key"].string == key && $0["id"] != price["id"]
        }
        if let holder {
            guard transfers else {
                throw APIError.invalid(
                    "A price (`\(holder["id"].text)`) already uses that lookup key.",
                    code: "resource_already_exists",
                    param: "lookup_key"
                )
            }
            change(.price, holder["id"].text, event: "price.updated") { $0["lookup_key"] = .null }
        }
        price["lookup_key"] = .string(key)
    }
}
