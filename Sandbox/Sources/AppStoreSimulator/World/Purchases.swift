import Foundation

/// Purchases: a customer buys, restores on another device, and the app hands out what was bought
/// (<https://developer.apple.com/documentation/storekit/product/purchase>).
enum Purchases {
    /// The app has handed out what was bought.
    static func finish(_ world: inout World, _ id: String) throws(Refusal) {
        var transaction = try world.transaction(id)
        transaction.isFinished = true
        world.transactions[id] = transaction
    }

    /// Sets the token on a purchase and on the subscription's coming periods.
    static func setAppAccountToken(
        _ world: inout World,
        _ token: String,
        of originalID: String,
        at now: Int64
    ) throws(Refusal) {
        var transaction = try world.transaction(originalID)
        guard transaction.ownership == .purchased else {
            throw .notPossible("A family member's transaction carries no token.")
        }
        if var subscription = world.subscriptions[originalID] {
            subscription.appAccountToken = token
            world.subscriptions[originalID] = subscription
            transaction = world.transactions[subscription.latestTransactionID] ?? transaction
        }
        transaction.appAccountToken = token
        world.record(transaction, at: now)
    }

    /// Attaches a token to a purchase, from its running period on; returns the customer.
    static func attach(
        _ world: inout World,
        _ token: String,
        to originalID: String,
        at now: Int64
    ) throws(Refusal) -> Customer {
        guard UUID(uuidString: token) != nil else {
            throw .invalid("An app account token is a UUID.")
        }
        try setAppAccountToken(&world, token.lowercased(), of: originalID, at: now)
        return try world.customer(try world.transaction(originalID).customer)
    }

    /// A customer taps the buy button and confirms; returns the transaction the device gets.
    static func buy(
        _ world: inout World,
        _ productID: String,
        by customerID: String,
        appAccountToken: String?,
        quantity: Int,
        offer offerID: String?,
        allowsIntroductoryOffer: Bool? = nil,
        at now: Int64
    ) throws(Refusal) -> Transaction {
        let product = try world.product(productID)
        let customer = try world.customer(customerID)
        guard product.isForSale else { throw .notPossible("\(productID) is not for sale.") }
        let most = product.isMultiSeat ? 1000 : 10
        guard (1...most).contains(quantity) else {
            throw .invalid("quantity is from 1 to \(most).")
        }
        guard quantity == 1 || product.kind == .consumable || product.isMultiSeat else {
            throw .invalid("Only a consumable, or a multiseat subscription, has a quantity.")
        }
        guard !customer.billingFails else {
            throw .notPossible("The card of \(customerID) is refused.")
        }
        let token = appAccountToken?.lowercased() ?? customer.appAccountToken
        if product.kind == .autoRenewable {
            return try subscribe(
                &world,
                to: product,
                customer,
                token: token,
                seats: quantity,
                offer: offerID,
                allowsIntroductoryOffer: allowsIntroductoryOffer,
                at: now
            )
        }
        if product.kind == .nonConsumable,
            let owned = world.transactionsOf(customerID).last(where: {
                $0.productID == productID && !$0.isRevoked
            })
        {
            return owned  // Buying it again is free and changes nothing.
        }
        let id = world.nextTransactionID()
        let transaction = Transaction(
            id: id,
            originalID: id,
            customer: customerID,
            orderID: world.nextOrderID(),
            productID: productID,
            kind: product.kind,
            purchaseDate: now,
            originalPurchaseDate: now,
            quantity: quantity,
            appAccountToken: token,
            ownership: .purchased,
            reason: .purchase,
            price: product.price * Int64(quantity),
            currency: product.currency
        )
        world.record(transaction, at: now)
        world.announce("ONE_TIME_CHARGE", transaction: id)
        FamilySharing.share(&world, transaction, at: now)
        return world.transactions[id] ?? transaction
    }

    private static func subscribe(
        _ world: inout World,
        to product: Product,
        _ customer: Customer,
        token: String?,
        seats: Int,
        offer offerID: String?,
        allowsIntroductoryOffer: Bool?,
        at now: Int64
    ) throws(Refusal) -> Transaction {
        let group = product.subscriptionGroup ?? product.id
        // What others share is no subscription of one's own that could be changed or taken up again.
        let previous = world.subscriptions(of: customer.id, in: group).first {
            $0.sharedFrom == nil
        }
        if let previous, let taken = try takeUp(&world, previous, product, offer: offerID, at: now)
        {
            return taken
        }
        let introductory = allowsIntroductoryOffer
        let offer = try offer(
            world,
            offerID,
            of: product,
            for: customer,
            allowsIntroductory: introductory
        )
        let id = world.nextTransactionID()
        let continues = previous != nil && world.behaviour.resubscribeKeepsOriginalTransactionID
        let originalID = continues ? previous?.originalTransactionID ?? id : id
        let end = world.renewals.endOfFirstPeriod(of: product, offer: offer, from: now)
        var transaction = Transaction(
            id: id,
            originalID: originalID,
            customer: customer.id,
            webOrderLineItemID: world.nextLineItemID(),
            orderID: world.nextOrderID(),
            productID: product.id,
            kind: .autoRenewable,
            subscriptionGroup: group,
            purchaseDate: now,
            originalPurchaseDate: world.transactions[originalID]?.originalPurchaseDate ?? now,
            expiresDate: end,
            quantity: seats,
            appAccountToken: token,
            ownership: .purchased,
            reason: .purchase,
            offer: offer,
            commitment: world.renewals.commitment(of: product, offer: offer, from: now),
            price: (offer?.price ?? product.price) * Int64(seats),
            currency: product.currency
        )
        transaction.revokedSeats = product.isMultiSeat ? 0 : nil
        world.record(transaction, at: now)
        var subscription = Subscription(product, group: group, transaction, until: end, at: now)
        subscription.begins(product, offer: offer, from: now, to: end, lasting: world.renewals)
        if let previous, now - previous.renewalDate <= world.renewals.ignoredGap,
            previous.state == .expired
        {
            subscription.recentStart = previous.recentStart
        }
        world.record(subscription)
        let subtype = previous == nil ? "INITIAL_BUY" : "RESUBSCRIBE"
        world.announce("SUBSCRIBED", subtype, subscription: originalID)
        FamilySharing.share(&world, transaction, at: now)
        return try world.latestTransaction(of: originalID)
    }

    /// Buys in a group in which a subscription runs.
    ///
    /// - Returns: `nil` where it has ended.
    private static func takeUp(
        _ world: inout World,
        _ current: Subscription,
        _ product: Product,
        offer: String?,
        at now: Int64
    ) throws(Refusal) -> Transaction? {
        switch current.state {
        case .active:
            if let offer {
                return try RenewalPreferences.redeem(
                    &world,
                    offer,
                    on: current,
                    product: product,
                    at: now
                )
            }
            return try RenewalPreferences.changePlan(&world, of: current, to: product, at: now)
        case .billingGrace, .billingRetry:
            Billing.renew(&world, current, at: now)
            return try world.latestTransaction(of: current.originalTransactionID)
        case .expired, .revoked: return nil
        }
    }

    /// The customer restores on another device: what counts, perhaps under new transaction ids.
    static func restore(
        _ world: inout World,
        customer id: String,
        at now: Int64
    ) throws(Refusal) -> [Transaction] {
        _ = try world.customer(id)
        world.customers[id]?.restored = now
        let current = world.transactionsOf(id).filter { isCurrent(world, $0) }
        return current.map { restore(&world, $0, at: now) }
    }

    private static func restore(_ world: inout World, _ transaction: Transaction, at now: Int64)
        -> Transaction
    {
        guard world.behaviour.restoreMakesNewTransactionIDs else { return transaction }
        var alias = Transaction(
            id: world.nextTransactionID(),
            originalID: transaction.originalID,
            customer: transaction.customer,
            webOrderLineItemID: transaction.webOrderLineItemID,
            orderID: transaction.orderID,
            productID: transaction.productID,
            kind: transaction.kind,
            subscriptionGroup: transaction.subscriptionGroup,
            purchaseDate: transaction.purchaseDate,
            originalPurchaseDate: transaction.originalPurchaseDate,
            expiresDate: transaction.expiresDate,
            quantity: transaction.quantity,
            appAccountToken: transaction.appAccountToken,
            ownership: transaction.ownership,
            reason: transaction.reason,
            offer: transaction.offer,
            commitment: transaction.commitment,
            price: transaction.price,
            currency: transaction.currency
        )
        alias.isFinished = true
        alias.revokedSeats = transaction.revokedSeats
        alias.additionalReason = transaction.additionalReason
        alias.previousOriginalID = transaction.previousOriginalID
        alias.bundle = transaction.bundle
        world.record(alias, at: now)
        return alias
    }

    /// Whether StoreKit lists a transaction among the current entitlements
    /// (<https://developer.apple.com/documentation/storekit/transaction/currententitlements>).
    static func isCurrent(_ world: World, _ transaction: Transaction) -> Bool {
        guard !transaction.isRevoked, !transaction.isUpgraded else { return false }
        switch transaction.kind {
        case .consumable:
            return false
        case .nonConsumable:
            return true
        case .nonRenewing:  // The latest one of a product stays listed for ever.
            return world.transactionsOf(transaction.customer)
                .last { $0.productID == transaction.productID }?.id == transaction.id
        case .autoRenewable:
            guard let subscription = world.subscriptions[transaction.originalID],
                world.period(of: subscription).contains(where: { $0.id == transaction.id })
            else { return false }
            return subscription.state == .active || subscription.state == .billingGrace
        }
    }

    private static func offer(
        _ world: World,
        _ id: String?,
        of product: Product,
        for customer: Customer,
        allowsIntroductory: Bool?
    ) throws(Refusal) -> Offer? {
        if let id {
            guard let offer = product.offers.first(where: { $0.id == id }) else {
                throw .notFound("offer \(id) of \(product.id)")
            }
            return offer
        }
        let hadOne = world.transactionsOf(customer.id).contains {
            $0.subscriptionGroup == product.subscriptionGroup && $0.offer?.kind == .introductory
        }
        // What the app's server signed comes before the store's own rule.
        return allowsIntroductory ?? !hadOne ? product.introductoryOffer : nil
    }
}
