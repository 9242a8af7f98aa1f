/// A purchase as the app gets it from Play Billing on a device, signed by the licence key.
///
/// https://developer.android.com/reference/com/android/billingclient/api/Purchase#getOriginalJson()
enum DevicePurchase {
    /// - Returns: `original_json` and its `signature`.
    static func signed(
        _ token: String,
        _ store: PlayStore,
        by licence: SigningIdentity
    ) throws -> JSON {
        let json: JSON
        if let subscription = store.subscriptions[token] {
            json = original(subscription, store)
        } else {
            json = original(try store.product(token), store)
        }
        let text = String(decoding: json.bytes, as: UTF8.self)
        return [
            "original_json": .string(text),
            "signature": .string(try licence.signAsDevice(text)),
        ]
    }

    private static func original(_ subscription: Subscription, _ store: PlayStore) -> JSON {
        let names = store.behaviour.signedPurchaseNamesAccount
        let owned = subscription.items.filter { !$0.isEnded }.map(\.productID)
        return [
            "orderId": .string(subscription.orderID),
            "packageName": .string(store.packageName),
            "productId": .text(owned.first ?? subscription.items.first?.productID),
            "purchaseTime": .integer(subscription.startTime ?? subscription.boughtAt),
            "purchaseState": subscription.phase == .pending ? 4 : 0,
            "purchaseToken": .string(subscription.token),
            "obfuscatedAccountId": .text(names ? subscription.identifiers.accountID : nil),
            "obfuscatedProfileId": .text(subscription.identifiers.profileID),
            "quantity": 1,
            "autoRenewing": .bool(subscription.isRenewing),
            "acknowledged": .bool(subscription.isAcknowledged && subscription.startTime != nil),
        ]
    }

    private static func original(_ purchase: ProductPurchase, _ store: PlayStore) -> JSON {
        let names = store.behaviour.signedPurchaseNamesAccount
        return [
            "orderId": .text(purchase.orderID),
            "packageName": .string(store.packageName),
            "productId": .string(purchase.lines[0].productID),
            "purchaseTime": .integer(purchase.completedAt ?? purchase.boughtAt),
            "purchaseState": purchase.state == .pending ? 4 : 0,
            "purchaseToken": .string(purchase.token),
            "obfuscatedAccountId": .text(names ? purchase.identifiers.accountID : nil),
            "obfuscatedProfileId": .text(purchase.identifiers.profileID),
            "quantity": .whole(purchase.lines[0].quantity),
            "acknowledged": .bool(purchase.isAcknowledged),
        ]
    }
}
