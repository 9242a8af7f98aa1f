/// A coupon, and the promotion code by which it came.
struct DiscountChoice: Hashable, Sendable {
    var coupon: JSON
    var promotionCode: String?
}

/// Discounts: what a coupon takes off a customer's invoices. https://docs.stripe.com/api/discounts
enum Discounts {
    /// Reads `discounts`; refuses coupons that are used up, expired or do not fit.
    static func read(
        _ world: World,
        _ parameters: inout Parameters,
        customer: String?,
        currency: String?
    ) throws -> [DiscountChoice]? {
        try parameters.objects("discounts") { part in
            if let id = try part.string("promotion_code") {
                return try choice(
                    world,
                    of: world.find(.promotionCode, id, param: part.name("promotion_code")),
                    customer: customer,
                    currency: currency,
                    param: part.name("promotion_code")
                )
            }
            let id = try part.required("coupon")
            part.ignore("discount")
            return try choice(
                world,
                ofCoupon: id,
                code: nil,
                customer: customer,
                currency: currency,
                param: part.name("coupon")
            )
        }
    }

    /// The discount behind a promotion code, if it may be used.
    static func choice(
        _ world: World,
        of promotion: JSON,
        customer: String?,
        currency: String?,
        param: String
    ) throws -> DiscountChoice {
        let used = promotion["times_redeemed"].count
        let owner = promotion["customer"].reference
        guard promotion["active"].bool == true,
            promotion["expires_at"].int.map({ $0 > world.now(for: customer) }) ?? true,
            promotion["max_redemptions"].int.map({ used < $0 }) ?? true,
            owner == nil || owner == customer
        else {
            throw APIError.invalid("This promotion code cannot be redeemed.", param: param)
        }
        return try choice(
            world,
            ofCoupon: promotion["promotion"]["coupon"].text,
            code: promotion["id"].string,
            customer: customer,
            currency: currency,
            param: param
        )
    }

    private static func choice(
        _ world: World,
        ofCoupon id: String,
        code: String?,
        customer: String?,
        currency: String?,
        param: String
    ) throws -> DiscountChoice {
        let coupon = try world.find(.coupon, id, param: param)
        let used = coupon["times_redeemed"].count
        guard coupon["redeem_by"].int.map({ $0 > world.now(for: customer) }) ?? true,
            coupon["max_redemptions"].int.map({ used < $0 }) ?? true
        else {
            throw APIError.invalid(
                "Coupon \(id) is used up and cannot be applied.",
                code: "coupon_expired",
                param: param
            )
        }
        if let own = coupon["currency"].string, let currency, own != currency {
            throw APIError.invalid("The coupon has another currency.", param: param)
        }
        return DiscountChoice(coupon: coupon, promotionCode: code)
    }

    /// Redeems a coupon. https://docs.stripe.com/api/discounts/object
    static func redeem(
        _ world: inout World,
        _ choice: DiscountChoice,
        customer: String?,
        subscription: String? = nil,
        session: String? = nil
    ) -> String {
        let coupon = choice.coupon
        let start = world.now(for: customer)
        let months = coupon["duration_in_months"].int
        let end = months.map { CalendarDate(start).adding(months: $0).instant }
        var discount = world.blank(
            .discount,
            nulls: "customer_account invoice invoice_item subscription_item",
            [
                "checkout_session": JSON(session), "customer": JSON(customer), "end": JSON(end),
                "promotion_code": JSON(choice.promotionCode),
                "source": ["type": "coupon", "coupon": coupon["id"]], "start": .int(start),
                "subscription": JSON(subscription),
            ]
        )
        for name in ["created", "livemode", "metadata"] { discount.remove(name) }
        world.put(.discount, discount)
        world.change(.coupon, coupon["id"].text) {
            $0["times_redeemed"] = .int($0["times_redeemed"].count + 1)
        }
        if subscription != nil { world.emit("customer.discount.created", discount) }
        if let code = choice.promotionCode {
            world.change(.promotionCode, code) {
                $0["times_redeemed"] = .int($0["times_redeemed"].count + 1)
            }
        }
        return discount["id"].text
    }

    /// What a coupon takes off each of `amounts`.
    static func shares(of coupon: JSON, on amounts: [Int]) -> [Int] {
        if let percent = coupon["percent_off"].number {
            return amounts.map { max(0, Int((Double($0) * percent / 100).rounded())) }
        }
        let total = amounts.map { max(0, $0) }.reduce(0, +)
        var left = min(coupon["amount_off"].count, total)
        var remaining = total
        // Each share is rounded down and the rest goes on, so that the sum comes out even.
        return amounts.map { amount in
            guard amount > 0, remaining > 0 else { return 0 }
            let share = amount == remaining ? left : left * amount / remaining
            left -= share
            remaining -= amount
            return share
        }
    }

    /// Takes the discounts of an invoice off its total.
    static func takeOff(_ world: World, _ invoice: inout JSON) {
        let discounts = invoice["discounts"].elements.compactMap {
            world.get(.discount, $0.reference)
        }
        guard !discounts.isEmpty else { return }
        var lines = invoice["lines"].elements
        var totals: [JSON] = []
        var off = 0
        for index in lines.indices { lines[index]["discount_amounts"] = [] }
        for discount in discounts {
            let coupon = world.get(.coupon, discount["source"]["coupon"].reference) ?? .null
            let products = coupon["_applies_to"]["products"].array?.compactMap(\.string)
            let amounts = lines.map { line -> Int in
                let product = line["pricing"]["price_details"]["product"].text
                guard line["discountable"].bool == true,
                    products.map({ $0.contains(product) }) ?? true
                else { return 0 }
                // Each discount takes from what those before it left.
                let taken = line["discount_amounts"].elements.map { $0["amount"].count }
                return line["amount"].count - taken.reduce(0, +)
            }
            let shares = Self.shares(of: coupon, on: amounts)
            for (index, share) in shares.enumerated() where share > 0 {
                lines[index]["discount_amounts"] = .array(
                    lines[index]["discount_amounts"].elements
                        + [["amount": .int(share), "discount": discount["id"]]]
                )
            }
            let sum = shares.reduce(0, +)
            off += sum
            totals.append(["amount": .int(sum), "discount": discount["id"]])
        }
        invoice["lines"]["data"] = .array(lines)
        invoice["total_discount_amounts"] = .array(totals)
        invoice["total"] = .int(invoice["subtotal"].count - off)
        invoice["total_excluding_tax"] = invoice["total"]
    }

    /// Notes that an invoice used discounts; one that applies `once` is then gone.
    static func useUp(_ world: inout World, _ discounts: JSON) {
        for id in discounts.elements.compactMap(\.reference) {
            world.change(.discount, id) { $0["_is_used"] = true }
        }
    }

    /// The discounts that a subscription's next invoice has: `once` is gone after its first
    /// finalized invoice, `repeating` after its end.
    static func live(_ world: World, of subscription: JSON, at instant: Int) -> JSON {
        .array(
            subscription["discounts"].elements.filter { reference in
                let discount = world.get(.discount, reference.reference) ?? .null
                let coupon = world.get(.coupon, discount["source"]["coupon"].reference) ?? .null
                if coupon["duration"].string == "once" { return discount["_is_used"].bool != true }
                return discount["end"].int.map { $0 > instant } ?? true
            }
        )
    }
}
