/// A pending purchase is paid now.
struct PayPending: Act {
    static let path = "purchases/*/pay"

    func perform(on store: inout PlayStore, subject: String, at now: Int64) throws -> JSON {
        try PendingPurchase.pay(subject, in: &store, at: now)
        return try Summary.purchase(subject, store)
    }
}

/// A pending purchase that becomes one, in place of another where it names one.
enum PendingPurchase {
    static func pay(_ token: String, in store: inout PlayStore, at now: Int64) throws {
        if var purchase = store.products[token] {
            guard purchase.state == .pending else {
                throw Refusal.notPossible("The purchase is not pending.")
            }
            let circumstances = try store.circumstances(of: purchase.account, at: now)
            let effects = purchase.pay(circumstances)
            return store.put(purchase, effects, at: now)
        }
        var subscription = try store.subscription(token)
        guard subscription.phase == .pending else {
            throw Refusal.notPossible("The purchase is not pending.")
        }
        try SubscriptionPurchase.complete(
            &subscription,
            replacing: subscription.linkedToken,
            mode: subscription.pendingMode,
            try store.circumstances(of: subscription.account, at: now),
            in: &store
        )
    }
}

/// A pending purchase is given up.
struct LetPendingEnd: Act {
    static let path = "purchases/*/end_pending"

    func perform(on store: inout PlayStore, subject: String, at now: Int64) throws -> JSON {
        if var purchase = store.products[subject], purchase.state == .pending {
            let effects = purchase.cancelPending(at: now)
            store.put(purchase, effects, at: now)
        } else if var subscription = store.subscriptions[subject], subscription.phase == .pending {
            let effects = subscription.endPending(at: now)
            store.put(subscription, effects, at: now)
        } else {
            throw Refusal.notPossible("There is no such pending purchase.")
        }
        return try Summary.purchase(subject, store)
    }
}

/// Another plan, or other add-ons, in place of a running purchase.
struct ChangePlan: Act {
    static let path = "purchases/*/change"

    var productID: String
    var basePlanID: String?
    var offerID: String?
    var addOns: NameList?
    var addOnOfferID: String?
    var replacementMode: ReplacementMode?

    func perform(on store: inout PlayStore, subject: String, at now: Int64) throws -> JSON {
        var buy = Buy(productID: productID)
        buy.basePlanID = basePlanID
        buy.offerID = offerID
        buy.addOns = addOns
        buy.addOnOfferID = addOnOfferID
        buy.replaces = subject
        buy.replacementMode = replacementMode
        return try buy.perform(on: &store, subject: "", at: now)
    }
}

/// More time for a prepaid plan.
struct TopUp: Act {
    static let path = "purchases/*/top_up"

    func perform(on store: inout PlayStore, subject: String, at now: Int64) throws -> JSON {
        let old = try store.subscription(subject)
        guard old.isPrepaid, let item = old.items.first else {
            throw Refusal.notPossible("Only a prepaid plan is topped up.")
        }
        var buy = Buy(productID: item.productID)
        buy.basePlanID = item.plan.basePlanID
        buy.replaces = subject
        buy.replacementMode = .chargeFullPrice
        return try buy.perform(on: &store, subject: "", at: now)
    }
}

/// Subscribes again in Play, after the last subscription has ended.
struct Resubscribe: Act {
    static let path = "purchases/*/resubscribe"

    func perform(on store: inout PlayStore, subject: String, at now: Int64) throws -> JSON {
        let old = try store.subscription(subject)
        guard old.phase == .expired, let ended = old.endedAt,
            now <= ended + 365 * Timestamp.day, let item = old.items.first
        else {
            throw Refusal.notPossible("Only what ended within a year is resubscribed to in Play.")
        }
        let buyer = try store.account(old.account)
        guard buyer.pays else {
            throw Refusal.notPossible("The payment method of \(buyer.id) declines.")
        }
        let product = try store.catalog.subscription(item.productID)
        let plan = try product.plan(item.plan.basePlanID)
        var subscription = Subscription(
            token: store.random.purchaseToken(),
            orderID: store.random.orderID(),
            buyer: buyer,
            identifiers: Identifiers(),
            items: [SubscriptionItem(product, plan: plan, offer: nil, region: buyer.region)],
            at: now
        )
        subscription.isResubscription = true
        subscription.outOfApp = .init(expiredToken: old.token, identifiers: old.identifiers)
        let effects = subscription.pay(try store.circumstances(of: buyer.id, at: now))
        store.put(subscription, effects, at: now)
        return Summary.of(subscription, store)
    }
}

/// The app acknowledges, as it may do without a server.
struct AcknowledgePurchase: Act {
    static let path = "purchases/*/acknowledge"

    func perform(on store: inout PlayStore, subject: String, at now: Int64) throws -> JSON {
        if var subscription = store.subscriptions[subject] {
            subscription.acknowledge()
            store.put(subscription, at: now)
        } else {
            var purchase = try store.product(subject)
            purchase.acknowledge()
            store.put(purchase, at: now)
        }
        return try Summary.purchase(subject, store)
    }
}

/// The app consumes, as it may do without a server.
struct ConsumePurchase: Act {
    static let path = "purchases/*/consume"

    var productID: String?

    func perform(on store: inout PlayStore, subject: String, at now: Int64) throws -> JSON {
        var purchase = try store.product(subject)
        for line in purchase.lines where productID == nil || productID == line.productID {
            try purchase.consume(line.productID)
        }
        store.put(purchase, at: now)
        return Summary.of(purchase)
    }
}

/// A pre-order comes out, earlier than was said.
struct ReleasePreorder: Act {
    static let path = "purchases/*/release"

    func perform(on store: inout PlayStore, subject: String, at now: Int64) throws -> JSON {
        guard try store.product(subject).lines.contains(where: { $0.releaseTime != nil }) else {
            throw Refusal.notPossible("The purchase is no pre-order.")
        }
        try PendingPurchase.pay(subject, in: &store, at: now)
        return try Summary.purchase(subject, store)
    }
}

/// The developer moves the release of a pre-order offer; nothing tells of it.
///
/// An offer's `releaseTime`, at which its orders are fulfilled, is not immutable:
/// https://developers.google.com/android-publisher/api-ref/rest/v3/monetization.onetimeproducts.purchaseOptions.offers
struct MoveRelease: Act {
    static let path = "products/*/release"

    var offerID: String
    /// The product's first one if left out.
    var purchaseOptionID: String?
    /// UNIX milliseconds.
    var releaseTime: Int64

    func perform(on store: inout PlayStore, subject: String, at now: Int64) throws -> JSON {
        let option = try store.catalog.oneTimeProduct(subject).option(purchaseOptionID)
        guard let before = try option.offer(offerID)?.releaseTime, now < before else {
            throw Refusal.notPossible("\(offerID) is no pre-order, or is out already.")
        }
        guard releaseTime > now, releaseTime - now <= 100 * 366 * Timestamp.day else {
            throw Refusal.invalid(
                "release_time lies in the future, at most a hundred years ahead; the act `release` lets one purchase out now."
            )
        }
        try store.catalog.moveRelease(
            of: subject,
            option: option.purchaseOptionID,
            offer: offerID,
            to: releaseTime
        )
        let behaviour = store.behaviour.movedRelease
        var moved: [JSON] = []
        for token in store.products.keys.sorted() where behaviour != .newOrdersOnly {
            guard var purchase = store.products[token],
                purchase.moveRelease(
                    of: subject,
                    option.purchaseOptionID,
                    offerID,
                    to: releaseTime,
                    isRead: behaviour == .followed
                )
            else { continue }
            store.put(purchase, at: now)
            moved.append(.string(token))
        }
        return [
            "product_id": .string(subject), "offer_id": .string(offerID),
            "old_release_time": .integer(before), "release_time": .integer(releaseTime),
            "purchases": .array(moved),
        ]
    }
}
