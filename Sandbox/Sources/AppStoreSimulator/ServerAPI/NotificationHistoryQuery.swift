import Foundation

/// The body of a notification history request.
struct NotificationHistoryQuery: Sendable {
    private struct Body: Decodable {
        var notificationType: String?
        var notificationSubtype: String?
        var transactionId: String?
        var onlyFailures: Bool?
    }

    /// Subtypes by type, as far as the store sends them.
    static let subtypes: [String: Set<String>] = [
        "SUBSCRIBED": ["INITIAL_BUY", "RESUBSCRIBE"],
        "DID_RENEW": ["BILLING_RECOVERY"],
        "DID_CHANGE_RENEWAL_PREF": ["UPGRADE", "DOWNGRADE"],
        "DID_CHANGE_RENEWAL_STATUS": ["AUTO_RENEW_ENABLED", "AUTO_RENEW_DISABLED"],
        "OFFER_REDEEMED": ["INITIAL_BUY", "RESUBSCRIBE", "UPGRADE", "DOWNGRADE"],
        "DID_FAIL_TO_RENEW": ["GRACE_PERIOD"],
        "EXPIRED": ["VOLUNTARY", "BILLING_RETRY", "PRICE_INCREASE", "PRODUCT_NOT_FOR_SALE"],
        "PRICE_INCREASE": ["PENDING", "ACCEPTED"],
        "RENEWAL_EXTENSION": ["SUMMARY", "FAILURE"],
        "EXTERNAL_PURCHASE_TOKEN": ["UNREPORTED", "CREATED", "ACTIVE_TOKEN_REMINDER"],
        "GRACE_PERIOD_EXPIRED": [], "REFUND": ["SEATS"], "REFUND_REVERSED": [],
        "REFUND_DECLINED": [],
        "CONSUMPTION_REQUEST": [], "REVOKE": [], "RENEWAL_EXTENDED": [], "ONE_TIME_CHARGE": [],
        "TEST": [], "RESCIND_CONSENT": [], "METADATA_UPDATE": [], "MIGRATION": [],
        "PRICE_CHANGE": ["INCREASE_QUANTITY", "DECREASE_QUANTITY"], "UNCLAIM_SEATS": [],
    ]

    var startDate: Int64
    var endDate: Int64
    var type: String?
    var subtype: String?
    var transactionID: String?
    var onlyFailures: Bool

    init(_ json: Data) throws(APIError) {
        guard let body = try? JSONDecoder().decode(Body.self, from: json) else {
            throw .badRequest
        }
        let dates = try? JSONDecoder().decode(Dates.self, from: json)
        guard let start = dates?.startDate, start >= 0 else {
            throw APIError(
                4_000_015,
                "Invalid request. The start date is not a timestamp value represented in milliseconds."
            )
        }
        guard let end = dates?.endDate, end >= 0 else {
            throw APIError(
                4_000_016,
                "Invalid request. The end date is not a timestamp value represented in milliseconds."
            )
        }
        startDate = start
        endDate = end
        type = body.notificationType
        subtype = body.notificationSubtype
        transactionID = body.transactionId
        onlyFailures = body.onlyFailures ?? false
        guard type == nil || transactionID == nil else {
            throw APIError(
                4_000_019,
                "Invalid request. Supply either a transaction id or a notification type, but not both."
            )
        }
        let invalidType = APIError(
            4_000_018,
            "Invalid request. The notification type or subtype is invalid."
        )
        if let type {
            guard let allowed = Self.subtypes[type] else { throw invalidType }
            if let subtype, !allowed.contains(subtype) { throw invalidType }
        } else if subtype != nil {
            throw invalidType
        }
    }

    /// The dates apart, so that one that is no integer is told from a malformed body.
    private struct Dates: Decodable {
        var startDate: Int64?
        var endDate: Int64?

        enum CodingKeys: CodingKey {
            case startDate, endDate
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            startDate = try? values.decode(Int64.self, forKey: .startDate)
            endDate = try? values.decode(Int64.self, forKey: .endDate)
        }
    }

    func includes(
        _ notification: SimulatedAppStore.Notification,
        ofCustomer transactions: Set<String>?
    ) -> Bool {
        (startDate..<endDate).contains(notification.signedDate)
            && (type.map { notification.type == $0 } ?? true)
            && (subtype.map { notification.subtype == $0 } ?? true)
            && (!onlyFailures || !notification.isDelivered)
            && (transactions.map { $0.contains(notification.originalTransactionID ?? "") } ?? true)
    }
}
