/// Prices: how much a product costs, and how often. https://docs.stripe.com/api/prices
enum Prices {
    /// Makes a price of a product that exists. https://docs.stripe.com/api/prices/object
    static func add(
        _ world: inout World,
        id: String? = nil,
        product: String,
        currency: String,
        unitAmount: Int,
        recurring: JSON,
        lookupKey: String? = nil
    ) -> JSON {
        world.blank(
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
            // A metered price names a meter, and the sandbox has none.
            if let meter = try part.string("meter") {
                throw APIError.noSuch("meter", meter, param: part.name("meter"))
            }
            if usage == "metered" { throw APIError.missing(parameter: part.name("meter")) }
            recurring["usage_type"] = "licensed"
            if let days = try part.int("trial_period_days", in: 0...730) {
                recurring["trial_period_days"] = .int(days)
            }
            return recurring
        }
        return recurring ?? .null
    }

    /// Makes a price from parameters: of `/v1/prices`, `price_data` or `default_price_data`.
    static func add(
        _ world: inout World,
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
        var price = add(
            &world,
            product: product,
            currency: currency,
            unitAmount: 0,
            recurring: try recurring(&parameters)
        )
        try readAmount(&parameters, into: &price)
        if isHidden { price["active"] = false }
        try read(&world, &parameters, into: &price)
        parameters.ignore("currency_options")
        return world.add(.price, price, event: "price.created")
    }

    /// Reads what a price costs: an amount for each unit, tiers, or what the payer likes to give.
    private static func readAmount(_ parameters: inout Parameters, into price: inout JSON) throws {
        let schemes = ["per_unit", "tiered"]
        let scheme = try parameters.choice("billing_scheme", of: schemes) ?? "per_unit"
        let mode = try parameters.choice("tiers_mode", of: ["graduated", "volume"])
        let tiers = try Self.tiers(&parameters)
        let custom = try customAmount(&parameters)
        price["unit_amount"] = .null
        price["unit_amount_decimal"] = .null
        price["billing_scheme"] = .string(scheme)
        price["transform_quantity"] =
            try parameters.object("transform_quantity") { part in
                guard let size = try part.int("divide_by", in: 1...1_000_000) else {
                    throw APIError.missing(parameter: part.name("divide_by"))
                }
                guard let round = try part.choice("round", of: ["up", "down"]) else {
                    throw APIError.missing(parameter: part.name("round"))
                }
                return JSON.object(["divide_by": .int(size), "round": .string(round)])
            } ?? .null
        if scheme == "tiered" {
            guard let mode else {
                throw APIError.missing(parameter: parameters.name("tiers_mode"))
            }
            guard let tiers else { throw APIError.missing(parameter: parameters.name("tiers")) }
            price["tiers_mode"] = .string(mode)
            price["_tiers"] = .array(tiers)
            return
        }
        try amount(&parameters, "unit_amount", into: &price)
        if let custom {
            guard price["recurring"].isNull, price["unit_amount_decimal"].isNull else {
                throw APIError.invalid(
                    "`custom_unit_amount` is only for one-time prices without a `unit_amount`.",
                    param: parameters.name("custom_unit_amount")
                )
            }
            price["custom_unit_amount"] = custom
        } else if price["unit_amount_decimal"].isNull {
            throw APIError.missing(parameter: parameters.name("unit_amount"))
        }
    }

    /// Reads `custom_unit_amount`: the payer says how much, within bounds.
    private static func customAmount(_ parameters: inout Parameters) throws -> JSON? {
        let custom = try parameters.object("custom_unit_amount") { part -> JSON? in
            guard let isEnabled = try part.bool("enabled") else {
                throw APIError.missing(parameter: part.name("enabled"))
            }
            let range = 0...99_999_999
            let bounds: JSON = [
                "minimum": JSON(try part.int("minimum", in: range)),
                "maximum": JSON(try part.int("maximum", in: range)),
                "preset": JSON(try part.int("preset", in: range)),
            ]
            return isEnabled ? bounds : nil
        }
        return custom ?? nil
    }

    /// The price in a line: `price`, or `price_data` with a product of its own.
    static func price(_ world: inout World, in part: inout Parameters) throws -> JSON {
        if let id = try part.string("price") {
            let price = try world.find(.price, id, param: part.name("price"))
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
                product = try world.find(.product, id, param: data.name("product"))["id"].text
            } else {
                let made = try data.object("product_data") { inner in
                    var made = Products.add(&world, name: try inner.required("name"))
                    try inner.patch(&made, "description", "unit_label", "tax_code")
                    try inner.metadata(into: &made)
                    if let images = try inner.strings("images") { made["images"] = JSON(images) }
                    return world.add(.product, made, event: "product.created")
                }
                guard let made else { throw APIError.missing(parameter: data.name("product")) }
                product = made["id"].text
            }
            return try add(&world, from: &data, product: product, isHidden: true)
        }
        guard let made else { throw APIError.missing(parameter: part.name("price")) }
        return made
    }

    static let routes: [Route] = [
        .post("prices") { world, call in
            let product: String
            if let id = try call.parameters.string("product") {
                product = try world.find(.product, id, param: "product")["id"].text
            } else {
                let made = try call.parameters.object("product_data") { part in
                    var made = Products.add(
                        &world,
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
            return try add(&world, from: &call.parameters, product: product)
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
            try read(&world, &call.parameters, into: &price)
            call.parameters.ignore("currency_options")
            let changed = price
            return world.change(.price, call.ids[0], event: "price.updated") { $0 = changed }
        },
    ]

    /// Reads what may change: activity, nickname, lookup key, metadata.
    private static func read(
        _ world: inout World,
        _ parameters: inout Parameters,
        into price: inout JSON
    ) throws {
        try parameters.patchBool(&price, "active")
        try parameters.patch(&price, "nickname")
        try parameters.metadata(into: &price)
        let behaviors = ["exclusive", "inclusive", "unspecified"]
        if let behavior = try parameters.choice("tax_behavior", of: behaviors) {
            price["tax_behavior"] = .string(behavior)
        }
        let transfers = try parameters.bool("transfer_lookup_key") ?? false
        guard let key = try parameters.string("lookup_key", maximum: 200) else { return }
        let holder = world.all(.price).first {
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
            world.change(.price, holder["id"].text, event: "price.updated") {
                $0["lookup_key"] = .null
            }
        }
        price["lookup_key"] = .string(key)
    }

    /// The older form of a price, which items still carry.
    static func plan(of price: JSON) -> JSON {
        let recurring = price["recurring"]
        return .object(
            nulls: "meter tiers_mode transform_usage trial_period_days",
            [
                "id": price["id"], "object": "plan", "active": price["active"],
                "amount": price["unit_amount"], "amount_decimal": price["unit_amount_decimal"],
                "billing_scheme": price["billing_scheme"], "created": price["created"],
                "currency": price["currency"], "interval": recurring["interval"],
                "interval_count": recurring["interval_count"], "livemode": false,
                "metadata": price["metadata"], "nickname": price["nickname"],
                "tiers_mode": price["tiers_mode"], "_tiers": price["_tiers"],
                "product": price["product"], "usage_type": recurring["usage_type"],
                "trial_period_days": recurring["trial_period_days"],
            ]
        )
    }
}
