/// Google, or the developer in Play Console, ends a purchase and gives the money back.
struct RevokePurchase: Act {
    static let path = "purchases/*/revoke"

    var reason: Int?
    /// 0 user, 1 developer, 2 Google.
    var source: Int?

    func perform(on store: inout PlayStore, subject: String, at now: Int64) throws -> JSON {
        let source = VoidedPurchase.Source(rawValue: source ?? 0) ?? .user
        let reason = VoidedPurchase.Reason(rawValue: reason ?? 0) ?? .other
        if var purchase = store.products[subject] {
            guard purchase.state == .purchased else {
                throw Refusal.notPossible("The purchase is not paid, or it is taken back already.")
            }
            let effects = purchase.void(.init(source: source, reason: reason), at: now)
            store.put(purchase, effects, at: now)
            return Summary.of(purchase)
        }
        return try store.change(subject, at: now) { subscription, _ in
            try subscription.revoke(.full, source: source, reason: reason, at: now)
        }
    }
}

/// An order's money goes back in Play Console: wholly or in part, with access or without.
struct RefundOrder: Act {
    static let path = "orders/*/refund"

    /// A part, in millionths of the currency's unit: shows in the order alone.
    var amountMicros: Int64?
    var revoke: Bool?
    var reason: Int?
    var source: Int?

    func perform(on store: inout PlayStore, subject: String, at now: Int64) throws -> JSON {
        let order = try store.order(subject)
        guard order.isRefundable else {
            throw Refusal.notPossible("The order is \(order.state.rawValue).")
        }
        if let amountMicros {
            let amount = Money(currency: order.total.currency, micros: amountMicros)
            guard amountMicros > 0, amountMicros <= order.kept.micros else {
                throw Refusal.invalid("\(order.kept.decimal) of the order can be refunded.")
            }
            store.orders.change(subject) { $0.refundPart(amount, at: now) }
        } else if revoke == true {
            try OrderRefund.revoke(
                order,
                source: VoidedPurchase.Source(rawValue: source ?? 1) ?? .developer,
                reason: VoidedPurchase.Reason(rawValue: reason ?? 0) ?? .other,
                in: &store,
                at: now
            )
        } else {
            store.orders.change(subject) { $0.refundAll(at: now) }
        }
        return try store.order(subject).wire(store.catalog)
    }
}

/// A refund that takes access too.
enum OrderRefund {
    /// An old order of a subscription is refunded, and the subscription goes on.
    static func revoke(
        _ order: Order,
        source: VoidedPurchase.Source,
        reason: VoidedPurchase.Reason,
        in store: inout PlayStore,
        at now: Int64
    ) throws {
        if var purchase = store.products[order.token], purchase.state == .purchased {
            let effects = purchase.void(.init(source: source, reason: reason), at: now)
            store.put(purchase, effects, at: now)
        } else if var subscription = store.subscriptions[order.token], subscription.isLive,
            subscription.latestOrderID == order.id
        {
            let effects = try subscription.revoke(
                .order(order.id),
                source: source,
                reason: reason,
                at: now
            )
            store.put(subscription, effects, at: now)
        } else {
            store.refundOld(order, source: source, reason: reason, at: now)
        }
    }
}

/// Some of several pieces are taken back.
struct RefundPieces: Act {
    static let path = "purchases/*/refund_pieces"

    var quantity: Int
    var reason: Int?

    func perform(on store: inout PlayStore, subject: String, at now: Int64) throws -> JSON {
        var purchase = try store.product(subject)
        let reason = VoidedPurchase.Reason(rawValue: reason ?? 0) ?? .other
        let effects = try purchase.refund(
            quantity: quantity,
            .init(source: .developer, reason: reason),
            at: now
        )
        store.put(purchase, effects, at: now)
        return Summary.of(purchase)
    }
}

/// A bank takes an order's money back, without asking.
struct ChargeBack: Act {
    static let path = "orders/*/charge_back"

    func perform(on store: inout PlayStore, subject: String, at now: Int64) throws -> JSON {
        guard try store.order(subject).isRefundable else {
            throw Refusal.notPossible("The order has no money to take back.")
        }
        try store.chargeBack(subject, at: now)
        return try store.order(subject).wire(store.catalog)
    }
}

/// A refund is about to happen, and the developer is asked first.
struct ReviewRefund: Act {
    static let path = "orders/*/review"

    func perform(on store: inout PlayStore, subject: String, at now: Int64) throws -> JSON {
        let order = try store.order(subject)
        guard order.isRefundable else {
            throw Refusal.notPossible("The order is \(order.state.rawValue).")
        }
        let identifiers =
            store.subscriptions[order.token]?.identifiers
            ?? store.products[order.token]?.identifiers ?? Identifiers()
        let review = RefundReview(
            token: "prt_" + store.random.text(40, of: "abcdefghijklmnopqrstuvwxyz0123456789"),
            orderID: subject,
            identifiers: identifiers,
            askedAt: now
        )
        store.reviews[review.token] = review
        store.orders.change(subject) { $0.awaitReview(at: now) }
        store.announce(.refundReview(review.notification), at: now)
        return ["pending_refund_token": .string(review.token), "order_id": .string(subject)]
    }
}
