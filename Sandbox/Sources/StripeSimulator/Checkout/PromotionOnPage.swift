// A promotion code that the payer types on the Checkout page.
// https://docs.stripe.com/payments/checkout/discounts

extension CheckoutSessions {
    /// Applies the promotion code with these letters, or takes off what was applied if there are none.
    ///
    /// - Throws: a message for the payer.
    static func redeemOnPage(_ world: inout World, _ code: String, session id: String) throws {
        var session = try world.find(.checkoutSession, id)
        guard session["allow_promotion_codes"].bool == true else {
            throw APIError.invalid("This page takes no promotion codes.")
        }
        guard !code.isEmpty else {
            removeDiscount(from: &session)
            world.put(.checkoutSession, session)
            return
        }
        let customer = session["customer"].reference
        let known = world.all(.promotionCode).last {
            $0["code"].text.lowercased() == code && $0["active"].bool == true
        }
        guard let known else { throw APIError.invalid("This code is invalid.") }
        try requireConditions(world, of: known, session, customer)
        let choice: DiscountChoice
        do {
            choice = try Discounts.choice(
                world,
                of: known,
                customer: customer,
                currency: session["currency"].string,
                param: "promotion_code"
            )
        } catch {
            throw APIError.invalid("This code is expired or cannot be used here.")
        }
        apply(choice, to: &session)
        world.put(.checkoutSession, session)
    }

    private static func requireConditions(
        _ world: World,
        of promotion: JSON,
        _ session: JSON,
        _ customer: String?
    ) throws {
        let restrictions = promotion["restrictions"]
        if let minimum = restrictions["minimum_amount"].int,
            session["amount_subtotal"].count < minimum
        {
            throw APIError.invalid("This order is too small for this code.")
        }
        if restrictions["first_time_transaction"].bool == true, let customer,
            world.all(.charge).contains(where: {
                $0["customer"].string == customer && $0["paid"].bool == true
            })
        {
            throw APIError.invalid("This code is for a first order only.")
        }
    }

    private static func removeDiscount(from session: inout JSON) {
        var lines = session["_line_items"].elements
        for index in lines.indices {
            lines[index]["amount_discount"] = 0
            tax(&lines[index])
        }
        sum(&session, lines)
        session["discounts"] = .null
        session["_coupon"] = .null
        session["_promotion_code"] = .null
    }
}
