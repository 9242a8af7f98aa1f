/// Coupons, and the promotion codes that lead to them. https://docs.stripe.com/api/coupons
enum Coupons {
    static let routes: [Route] = [
        .post("coupons") { world, call in try createCoupon(&world, &call) },
        .get("coupons") { world, call in try world.list(.coupon, &call) },
        .get("coupons/:id") { world, call in try world.find(.coupon, call.ids[0]) },
        .post("coupons/:id") { world, call in
            var coupon = try world.find(.coupon, call.ids[0])
            try call.parameters.patch(&coupon, "name")
            try call.parameters.metadata(into: &coupon)
            call.parameters.ignore("currency_options")
            let changed = coupon
            return world.change(.coupon, call.ids[0], event: "coupon.updated") { $0 = changed }
        },
        .delete("coupons/:id") { world, call in
            let coupon = try world.find(.coupon, call.ids[0])
            world.emit("coupon.deleted", coupon)
            return world.delete(.coupon, call.ids[0])
        },
        .post("promotion_codes") { world, call in try createPromotionCode(&world, &call) },
        .get("promotion_codes") { world, call in
            let code = try call.parameters.string("code")?.lowercased()
            let coupon = try call.parameters.string("coupon")
            let isActive = try call.parameters.bool("active")
            call.parameters.ignore("customer")
            return try world.list(.promotionCode, &call) { promotion in
                (code.map { promotion["code"].text.lowercased() == $0 } ?? true)
                    && (isActive.map { promotion["active"].bool == $0 } ?? true)
                    && (coupon.map { promotion["promotion"]["coupon"].string == $0 } ?? true)
            }
        },
        .get("promotion_codes/:id") { world, call in try world.find(.promotionCode, call.ids[0]) },
        .post("promotion_codes/:id") { world, call in
            var promotion = try world.find(.promotionCode, call.ids[0])
            try call.parameters.patchBool(&promotion, "active")
            try call.parameters.metadata(into: &promotion)
            call.parameters.ignore("restrictions")
            let changed = promotion
            return world.change(
                .promotionCode,
                call.ids[0],
                event: "promotion_code.updated"
            ) { $0 = changed }
        },
    ]

    /// https://docs.stripe.com/api/coupons/object.
    private static func createCoupon(_ world: inout World, _ call: inout Call) throws -> JSON {
        let id = try call.parameters.string("id", maximum: 255)
        if let id, world.get(.coupon, id) != nil {
            throw APIError.invalid(
                "Coupon already exists.",
                code: "resource_already_exists",
                param: "id"
            )
        }
        let percent = try call.parameters.decimal("percent_off")
        let amount = try call.parameters.int("amount_off", in: 1...99_999_999)
        let currency = try call.parameters.string("currency")
        guard (percent == nil) != (amount == nil) else {
            throw APIError.invalid("You must pass either `percent_off` or `amount_off`.")
        }
        if let percent, !(0.01...100).contains(percent) {
            throw APIError.invalid("Invalid percent_off.", param: "percent_off")
        }
        if amount != nil, currency == nil { throw APIError.missing(parameter: "currency") }
        let durations = ["once", "repeating", "forever"]
        let duration = try call.parameters.choice("duration", of: durations) ?? "once"
        let months = try call.parameters.int("duration_in_months", in: 1...600)
        if duration == "repeating", months == nil {
            throw APIError.missing(parameter: "duration_in_months")
        }
        let products = try call.parameters.object("applies_to") { try $0.strings("products") ?? [] }
        var coupon = world.blank(
            .coupon,
            id: id ?? world.random.token(8),
            nulls: "name",
            [
                "amount_off": JSON(amount), "currency": JSON(currency),
                "duration": .string(duration), "duration_in_months": JSON(months),
                "max_redemptions": JSON(try call.parameters.int("max_redemptions")),
                "percent_off": percent.map(JSON.double) ?? .null,
                "redeem_by": JSON(try call.parameters.int("redeem_by")), "times_redeemed": 0,
                "valid": true, "_applies_to": products.map { ["products": JSON($0)] } ?? .null,
            ]
        )
        try call.parameters.patch(&coupon, "name")
        try call.parameters.metadata(into: &coupon)
        call.parameters.ignore("currency_options")
        return world.add(.coupon, coupon, event: "coupon.created")
    }

    /// https://docs.stripe.com/api/promotion_codes/object.
    private static func createPromotionCode(_ world: inout World, _ call: inout Call) throws -> JSON
    {
        let coupon = try call.parameters.object("promotion") { part in
            _ = try part.choice("type", of: ["coupon"])
            return try part.required("coupon")
        }
        guard let coupon else { throw APIError.missing(parameter: "promotion") }
        _ = try world.find(.coupon, coupon, param: "promotion[coupon]")
        let code = try call.parameters.string("code") ?? world.random.token(8).uppercased()
        let isTaken = world.all(.promotionCode).contains {
            $0["active"].bool == true && $0["code"].text.lowercased() == code.lowercased()
        }
        guard !isTaken else {
            throw APIError.invalid(
                "An active promotion code with `code: \(code)` already exists.",
                code: "resource_already_exists",
                param: "code"
            )
        }
        let restrictions = try call.parameters.object("restrictions") { part in
            JSON.object([
                "first_time_transaction": .bool(try part.bool("first_time_transaction") ?? false),
                "minimum_amount": JSON(try part.int("minimum_amount")),
                "minimum_amount_currency": JSON(try part.string("minimum_amount_currency")),
            ])
        }
        var promotion = world.blank(
            .promotionCode,
            nulls: "customer_account",
            [
                "active": .bool(try call.parameters.bool("active") ?? true), "code": .string(code),
                "customer": JSON(try call.parameters.string("customer")),
                "expires_at": JSON(try call.parameters.int("expires_at")),
                "max_redemptions": JSON(try call.parameters.int("max_redemptions")),
                "promotion": ["type": "coupon", "coupon": .string(coupon)],
                "restrictions": restrictions
                    ?? .object(
                        nulls: "minimum_amount minimum_amount_currency",
                        ["first_time_transaction": false]
                    ), "times_redeemed": 0,
            ]
        )
        try call.parameters.metadata(into: &promotion)
        return world.add(.promotionCode, promotion, event: "promotion_code.created")
    }
}
