/// Products that a payer adds to an order on Stripe's page, as the team cross-sells them in the
/// Dashboard. https://docs.stripe.com/payments/checkout/cross-sells
extension CheckoutSessions {
    /// Adds one of each product, by its price, to what a session sells already.
    ///
    /// - Returns: the session.
    static func add(_ world: inout World, _ prices: [String], to session: JSON) throws -> JSON {
        var lines = session["_line_items"].elements
        let before = lines.count
        for id in prices where !lines.contains(where: { $0["price"]["id"].string == id }) {
            let price = try world.find(.price, id, param: "add")
            guard fits(price, beside: lines, in: session["mode"].text) else {
                throw APIError.invalid(
                    "\(id) cannot be cross-sold here: its currency, and its interval if it has one, "
                        + "must be those of the order.",
                    param: "add"
                )
            }
            lines.append(lineItem(&world, price, quantity: 1))
        }
        guard lines.count > before else { return session }
        let all = lines
        return world.change(.checkoutSession, session["id"].text) { sum(&$0, all) }
    }

    /// Returns `true` if Checkout can offer the product beside the order.
    ///
    /// A recurring price fits only beside recurring prices of the same interval.
    private static func fits(_ price: JSON, beside lines: [JSON], in mode: String) -> Bool {
        guard lines.allSatisfy({ $0["currency"] == price["currency"] }) else { return false }
        guard !price["recurring"].isNull else { return true }
        let intervals = lines.map { $0["price"]["recurring"] }.filter { !$0.isNull }
        return mode == "subscription"
            && intervals.allSatisfy { other in
                other["interval"] == price["recurring"]["interval"]
                    && other["interval_count"] == price["recurring"]["interval_count"]
            }
    }
}
