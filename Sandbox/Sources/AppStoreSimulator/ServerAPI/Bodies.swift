/// Bodies of the App Store Server API, in Apple's spelling.
struct TransactionInfoResponse: Encodable, Sendable {
    var signedTransactionInfo: String
}

struct AppTransactionInfoResponse: Encodable, Sendable {
    var signedAppTransactionInfo: String
}

struct AppAccountTokenRequest: Decodable, Sendable {
    var appAccountToken: String
}

struct OrderLookupResponse: Encodable, Sendable {
    var status: Int
    var signedTransactions: [String]?
}

struct HistoryResponse: Encodable, Sendable {
    var revision: String
    var hasMore: Bool
    var bundleId: String
    var appAppleId: Int64?
    var environment: String
    var signedTransactions: [String]
}

struct RefundHistoryResponse: Encodable, Sendable {
    var signedTransactions: [String]
    var revision: String
    var hasMore: Bool
}

struct StatusResponse: Encodable, Sendable {
    struct Group: Encodable, Sendable {
        var subscriptionGroupIdentifier: String
        var lastTransactions: [Item]
    }

    struct Item: Encodable, Sendable {
        var originalTransactionId: String
        var status: Int
        var signedTransactionInfo: String
        var signedRenewalInfo: String
    }

    var environment: String
    var bundleId: String
    var appAppleId: Int64?
    var data: [Group]
}

struct TestNotificationResponse: Encodable, Sendable {
    var testNotificationToken: String
}

struct CheckTestNotificationResponse: Encodable, Sendable {
    var signedPayload: String
    var sendAttempts: [SimulatedAppStore.Notification.Attempt]
    var firstSendAttemptResult: SimulatedAppStore.SendAttemptResult?
}

struct NotificationHistoryResponse: Encodable, Sendable {
    struct Item: Encodable, Sendable {
        var signedPayload: String
        var sendAttempts: [SimulatedAppStore.Notification.Attempt]
    }

    var paginationToken: String?
    var hasMore: Bool
    var notificationHistory: [Item]
}

struct ExtensionRequest: Decodable, Sendable {
    var extendByDays: Int?
    var extendReasonCode: Int?
    var requestIdentifier: String?
}

struct ExtensionResponse: Encodable, Sendable {
    var originalTransactionId: String
    var webOrderLineItemId: String?
    var success: Bool
    var effectiveDate: Int64
}

struct MassExtensionRequest: Decodable, Sendable {
    var extendByDays: Int?
    var extendReasonCode: Int?
    var requestIdentifier: String?
    var productId: String?
    var storefrontCountryCodes: [String]?
}

struct MassExtensionResponse: Encodable, Sendable {
    var requestIdentifier: String
}

struct MassExtensionStatusResponse: Encodable, Sendable {
    var requestIdentifier: String
    var complete: Bool
    var completeDate: Int64?
    var succeededCount: Int?
    var failedCount: Int?
}
