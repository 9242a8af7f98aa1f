/// Apple Accounts: they download the app, and the cards that they pay with fail and work again.
enum Accounts {
    static func create(
        _ world: inout World,
        appAccountToken: String?,
        storefront: String,
        family: String?,
        hasDownloadedApp: Bool = true,
        preorderDate: Int64? = nil,
        at now: Int64
    ) throws(Refusal) -> Customer {
        if let preorderDate, !(0...now).contains(preorderDate) {
            throw .invalid("preorder_date is in UNIX milliseconds and not in the future.")
        }
        let number = world.customers.count + 1
        let customer = Customer(
            id: "customer_\(number)",
            appAccountToken: appAccountToken?.lowercased(),
            appTransactionID: "70\(world.lastTransactionID / 1_000_000)\(1_000_000 + number * 37)",
            storefront: storefront,
            downloaded: hasDownloadedApp ? now : nil,
            preordered: preorderDate,
            billingFails: false,
            family: family
        )
        world.customers[customer.id] = customer
        return customer
    }

    /// The account downloads the app, if it has not yet.
    static func download(_ world: inout World, _ id: String, at now: Int64) throws(Refusal) {
        var customer = try world.customer(id)
        customer.downloaded = customer.downloaded ?? now
        world.customers[id] = customer
    }

    /// Charging this account's card fails from now on.
    static func failBilling(_ world: inout World, _ id: String) throws(Refusal) {
        var customer = try world.customer(id)
        customer.billingFails = true
        world.customers[id] = customer
    }

    /// The card works again: what is in grace or retry is charged at once.
    static func recoverBilling(_ world: inout World, _ id: String, at now: Int64) throws(Refusal) {
        var customer = try world.customer(id)
        customer.billingFails = false
        world.customers[id] = customer
        var seen: Set<String> = []
        for transaction in world.transactionsOf(id)
        where seen.insert(transaction.originalID).inserted {
            guard let subscription = world.subscriptions[transaction.originalID],
                subscription.sharedFrom == nil
            else { continue }
            if subscription.state == .billingGrace || subscription.state == .billingRetry {
                Billing.renew(&world, subscription, at: now)
            }
        }
    }
}
