/// A customer has one currency at a time, and a subscription has one for good.
/// https://docs.stripe.com/billing/customer#currency
enum Currencies {
    /// - Throws: where the customer has something running in another currency.
    static func require(_ world: World, _ currency: String, of customer: String) throws {
        let subscriptions = world.all(.subscription).filter {
            $0["customer"].reference == customer && !Subscriptions.isOver($0)
        }
        let pending = world.all(.invoiceItem).filter {
            $0["customer"].reference == customer && $0["invoice"].isNull
        }
        guard
            let other = (subscriptions + pending).compactMap({ $0["currency"].string })
                .first(where: { $0 != currency })
        else { return }
        throw APIError.invalid(
            "You cannot combine currencies on a single customer. This customer has an active "
                + "subscription, subscription schedule, discount, quote, or invoice item with "
                + "currency \(other)."
        )
    }

    /// - Throws: where a price is in another currency than the subscription that it is to join.
    static func require(_ currency: String, of price: JSON, param: String) throws {
        guard let own = price["currency"].string, own != currency else { return }
        throw APIError.invalid(
            "The price specified only supports `\(own)`. This doesn't match the expected "
                + "currency: `\(currency)`.",
            param: param
        )
    }

    /// - Throws: where a price would stand in two items of one subscription.
    static func requireDistinct(_ prices: [String], param: String) throws {
        var seen: Set<String> = []
        for price in prices where !seen.insert(price).inserted {
            throw APIError.invalid(
                "Cannot add multiple subscription items with the same plan: \(price)",
                param: param
            )
        }
    }
}
