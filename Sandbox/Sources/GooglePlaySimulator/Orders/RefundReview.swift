/// A refund that waits a day for the developer's word: a chargeback about to happen.
struct RefundReview: Hashable, Sendable, Codable {
    enum Preference: String, Hashable, Sendable, Codable {
        case decline = "DECLINE"
        case approve = "APPROVE"
        case neutral = "NEUTRAL"
    }

    /// `refundReason` of the notification.
    static let chargeback = 7
    static let window = Timestamp.day

    var token: String
    var orderID: String
    var identifiers: Identifiers
    var askedAt: Int64
    var answer: JSON?
    var isDecided = false

    var dueAt: Int64? { isDecided ? nil : askedAt + Self.window }

    var preference: Preference? { answer?["refundPreference"]?.text.flatMap(Preference.init) }

    var notification: JSON {
        [
            "version": "1.0",
            "pendingRefundToken": .string(token),
            "orderId": .string(orderID),
            "refundReason": .integer(Int64(Self.chargeback)),
            "obfuscatedAccountId": .text(identifiers.accountID),
            "obfuscatedProfileId": .text(identifiers.profileID),
        ]
    }
}
