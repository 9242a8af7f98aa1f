// Discounts are taken off again. https://docs.stripe.com/api/discounts

extension Discounts {
    static let routes: [Route] = [
        .delete("subscriptions/:id/discount") { world, call in
            let before = try world.find(.subscription, call.ids[0])
            let discounts = before["discounts"].elements.compactMap(\.reference)
            guard let last = discounts.last else {
                throw APIError(
                    status: 404,
                    code: "resource_missing",
                    message: "No active discount for subscription: \(call.ids[0])"
                )
            }
            world.change(.subscription, call.ids[0], event: "customer.subscription.updated") {
                $0["discounts"] = []
            }
            for id in discounts { drop(&world, id) }
            var gone = world.get(.discount, last) ?? .null
            gone["deleted"] = true
            return gone
        },
        // Only the Dashboard gives a discount to a customer since 2025-09-30.clover.
        .delete("customers/:id/discount") { world, call in
            _ = try world.find(.customer, call.ids[0])
            throw APIError(
                status: 404,
                code: "resource_missing",
                message: "No active discount for customer: \(call.ids[0])"
            )
        },
    ]

    /// Announces that a discount applies no longer.
    static func drop(_ world: inout World, _ id: String) {
        guard let discount = world.get(.discount, id) else { return }
        world.emit("customer.discount.deleted", discount)
    }
}
