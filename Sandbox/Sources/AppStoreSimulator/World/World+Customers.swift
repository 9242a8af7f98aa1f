extension SimulatedAppStore.World {
    typealias Refusal = SimulatedAppStore.Refusal
    typealias Customer = SimulatedAppStore.Customer
    typealias Product = SimulatedAppStore.Product
    typealias Offer = SimulatedAppStore.Offer
    typealias Transaction = SimulatedAppStore.Transaction
    typealias Subscription = SimulatedAppStore.Subscription

    mutating func createCustomer(
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
        let number = customers.count + 1
        let customer = Customer(
            id: "customer_\(number)",
            appAccountToken: appAccountToken?.lowercased(),
            appTransactionID: "70\(lastTransactionID / 1_000_000)\(1_000_000 + number * 37)",
            storefront: storefront,
            downloaded: hasDownloadedApp ? now : nil,
            preordered: preorderDate,
            billingFails: false,
            family: family
        )
        customers[customer.id] = customer
        return customer
    }

    /// Charging this account's card fails from now on.
    mutating func failBilling(_ id: String) throws(Refusal) {
        var customer = try customer(id)
        customer.billingFails = true
        customers[id] = customer
    }

    /// The card works again: what is in grace or retry is charged at once.
    mutating func recoverBilling(_ id: String, at now: Int64) throws(Refusal) {
        var customer = try customer(id)
        customer.billingFails = false
        customers[id] = customer
        var seen: Set<String> = []
        for transaction in transactionsOf(id) where seen.insert(transaction.originalID).inserted {
            guard let subscription = subscriptions[transaction.originalID],
                subscription.sharedFrom == nil
            else { continue }
            if subscription.state == .billingGrace || subscription.state == .billingRetry {
                renew(subscription, at: now)
            }
        }
    }

    /// The account becomes a member of a family, and gets what its members share.
    mutating func join(family: String?, _ id: String, at now: Int64) throws(Refusal) {
        var customer = try customer(id)
        if let former = customer.family, former != family {
            try endShares(of: id, in: former, at: now)
        }
        customer.family = family
        customers[id] = customer
        guard let family else { return }
        for member in customers.values.filter({ $0.family == family }).map(\.id).sorted() {
            for transaction in transactionsOf(member) where transaction.ownership == .purchased {
                share(transaction, at: now)
            }
        }
    }

    /// The app has handed out what was bought.
    mutating func finish(_ id: String) throws(Refusal) {
        var transaction = try transaction(id)
        transaction.isFinished = true
        transactions[id] = transaction
    }

    /// Sets the token on a purchase and on the subscription's coming periods.
    mutating func setAppAccountToken(
        _ token: String,
        of originalID: String,
        at now: Int64
    ) throws(Refusal) {
        var transaction = try transaction(originalID)
        guard transaction.ownership == .purchased else {
            throw .notPossible("A family member's transaction carries no token.")
        }
        if var subscription = subscriptions[originalID] {
            subscription.appAccountToken = token
            subscriptions[originalID] = subscription
            transaction = transactions[subscription.latestTransactionID] ?? transaction
        }
        transaction.appAccountToken = token
        record(transaction, at: now)
    }
}
