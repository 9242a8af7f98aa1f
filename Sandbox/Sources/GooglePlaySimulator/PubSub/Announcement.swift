/// A notification about one purchase: a hint to read it.
///
/// https://developer.android.com/google/play/billing/rtdn-reference
struct Announcement: Hashable, Sendable, Codable {
    enum Kind: Hashable, Sendable, Codable {
        case subscription(type: Int, token: String, product: String?)
        case oneTime(isPurchased: Bool, token: String, product: String)
        case voided(JSON)
        case refundReview(JSON)
        case test
        /// Bytes that are published as they are.
        case raw(String)
    }

    var at: Int64
    var kind: Kind

    /// The message's data: a `DeveloperNotification`.
    func data(package: String, _ behaviour: Behaviour) -> String {
        let named: (String, JSON)
        switch kind {
        case .raw(let text): return text
        case .subscription(let type, let token, let product):
            named = (
                "subscriptionNotification",
                [
                    "version": "1.0", "notificationType": .integer(Int64(type)),
                    "purchaseToken": .string(token), "subscriptionId": .text(product),
                ]
            )
        case .oneTime(let isPurchased, let token, let product):
            named = (
                "oneTimeProductNotification",
                [
                    "version": "1.0", "notificationType": isPurchased ? 1 : 2,
                    "purchaseToken": .string(token), "sku": .string(product),
                ]
            )
        case .voided(let voided): named = ("voidedPurchaseNotification", voided)
        case .refundReview(let review): named = ("pendingRefundReviewNotification", review)
        case .test: named = ("testNotification", ["version": "1.0"])
        }
        let time: JSON = behaviour.eventTimeIsNumber ? .integer(at) : .string("\(at)")
        let notification: JSON = .object([
            "version": "1.0", "packageName": .string(package), "eventTimeMillis": time,
            named.0: named.1,
        ])
        return String(decoding: notification.bytes, as: UTF8.self)
    }
}
