/// A purchase, or a part of one, that was taken back.
///
/// https://developers.google.com/android-publisher/voided-purchases
struct VoidedPurchase: Hashable, Sendable, Codable {
    enum Source: Int, Hashable, Sendable, Codable {
        case user = 0
        case developer = 1
        case google = 2
    }

    enum Reason: Int, Hashable, Sendable, Codable {
        case other = 0
        case remorse = 1
        case notReceived = 2
        case defective = 3
        case accidental = 4
        case fraud = 5
        case friendlyFraud = 6
        case chargeback = 7
        case unacknowledged = 8
    }

    var token: String
    var orderID: String?
    var isSubscription: Bool
    var purchasedAt: Int64
    var voidedAt: Int64
    var source: Source
    var reason: Reason
    /// `nil`: all that was left of it.
    var quantity: Int?

    func wire(_ behaviour: Behaviour) -> JSON {
        func code(_ number: Int) -> JSON {
            behaviour.voidCodesAreStrings ? .string("\(number)") : .integer(Int64(number))
        }
        return [
            "kind": "androidpublisher#voidedPurchase",
            "purchaseToken": .string(token),
            "orderId": .text(orderID),
            "purchaseTimeMillis": .long(purchasedAt),
            "voidedTimeMillis": .long(voidedAt),
            "voidedSource": code(source.rawValue),
            "voidedReason": code(reason.rawValue),
            "voidedQuantity": .whole(quantity),
        ]
    }

    /// `voidedPurchaseNotification`.
    var notification: JSON {
        [
            "purchaseToken": .string(token),
            // A purchase by promo code has no order.
            "orderId": .text(orderID),
            "productType": isSubscription ? 1 : 2,
            "refundType": quantity == nil ? 1 : 2,
        ]
    }

    /// The filter and the page that a call asks for.
    struct Query: Hashable, Sendable {
        var start: Int64?
        var end: Int64?
        var withSubscriptions = false
        var withParts = false
        var limit = 1000
        var offset = 0
    }

    /// The age of the oldest listed void, in milliseconds.
    static let window = 30 * Timestamp.day
}
