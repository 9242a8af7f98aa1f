/// Summaries of purchases for the control API.
enum Summary {
    static func of(_ subscription: Subscription, _ store: PlayStore) -> JSON {
        let state = subscription.stateName(store.behaviour)
        return [
            "kind": "subscription",
            "purchase_token": .string(subscription.token),
            "account": .string(subscription.account),
            "state": .string(String(state.dropFirst("SUBSCRIPTION_STATE_".count))),
            "order_id": .string(subscription.latestOrderID),
            "expires": subscription.expiry.map(JSON.integer),
            "acknowledged": .bool(subscription.isAcknowledged),
            "linked_purchase_token": .text(subscription.linkedToken),
            "obfuscated_account_id": .text(subscription.identifiers.accountID),
            "products": .array(
                subscription.items.map { item in
                    [
                        "product_id": .string(item.productID),
                        "base_plan_id": .string(item.plan.basePlanID),
                        "expires": item.expiry.map(JSON.integer),
                        "auto_renews": .bool(item.autoRenews),
                    ]
                }
            ),
            "orders": .array(store.orders.of(subscription.token).map { .string($0.id) }),
        ]
    }

    static func of(_ purchase: ProductPurchase) -> JSON {
        [
            "kind": "one_time",
            "purchase_token": .string(purchase.token),
            "account": .string(purchase.account),
            "state": .string(purchase.state.rawValue),
            "order_id": .text(purchase.orderID),
            "acknowledged": .bool(purchase.isAcknowledged),
            "consumed": .bool(purchase.isConsumed),
            "obfuscated_account_id": .text(purchase.identifiers.accountID),
            "products": .array(
                purchase.lines.map { line in
                    [
                        "product_id": .string(line.productID),
                        "quantity": .whole(line.quantity),
                        "refundable_quantity": .whole(line.refundable),
                    ]
                }
            ),
        ]
    }

    static func of(_ account: Account) -> JSON {
        [
            "id": .string(account.id),
            "region": .string(account.region),
            "tester": .bool(account.isTester),
            "payment": .string(account.payment.rawValue),
            "obfuscated_account_id": .text(account.identifiers.accountID),
            "obfuscated_profile_id": .text(account.identifiers.profileID),
        ]
    }

    /// A purchase of either kind.
    static func purchase(_ token: String, _ store: PlayStore) throws(Refusal) -> JSON {
        if let subscription = store.subscriptions[token] { return of(subscription, store) }
        return of(try store.product(token))
    }
}
