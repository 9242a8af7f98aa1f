/// Price increases: a product costs its subscribers more, with their consent or without
/// (<https://developer.apple.com/documentation/storekit/managing-price-increases-for-auto-renewable-subscriptions>).
enum PriceIncreases {
    /// Raises a product's price for everyone who has it, with or without asking them.
    static func raise(
        _ world: inout World,
        of productID: String,
        to price: Int64,
        consentRequired: Bool
    ) throws(Refusal) {
        var product = try world.product(productID)
        guard price > product.price else { throw .invalid("The new price is not higher.") }
        product.price = price
        world.products[productID] = product
        for id in world.subscriptions.keys.sorted() {
            guard var changed = world.subscriptions[id], changed.state == .active,
                changed.autoRenews,
                changed.autoRenewProductID == productID, changed.sharedFrom == nil
            else { continue }
            changed.priceIncrease = .init(price: price, isAccepted: !consentRequired)
            world.record(changed)
            world.announce(
                "PRICE_INCREASE",
                consentRequired ? "PENDING" : "ACCEPTED",
                subscription: id
            )
        }
    }

    static func consent(_ world: inout World, _ originalID: String) throws(Refusal) {
        var changed = try world.subscription(originalID)
        guard let increase = changed.priceIncrease, !increase.isAccepted else {
            throw .notPossible("No price increase waits for consent.")
        }
        changed.priceIncrease = .init(price: increase.price, isAccepted: true)
        world.record(changed)
        world.announce("PRICE_INCREASE", "ACCEPTED", subscription: originalID)
    }
}
