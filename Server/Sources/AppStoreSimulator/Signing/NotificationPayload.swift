/// `responseBodyV2DecodedPayload`: what a signed notification says.
struct NotificationPayload: Encodable, Sendable {
    struct Subject: Encodable, Sendable {
        var environment: String
        var appAppleId: Int64?
        var bundleId: String
        var bundleVersion: String?
        var signedTransactionInfo: String?
        var signedRenewalInfo: String?
        var status: Int?
        var consumptionRequestReason: String?
    }

    /// The result of extending many subscriptions.
    struct Summary: Codable, Sendable {
        var requestIdentifier: String
        var environment: String
        var appAppleId: Int64?
        var bundleId: String
        var productId: String
        var storefrontCountryCodes: [String]?
        var succeededCount: Int
        var failedCount: Int
    }

    var notificationType: String
    var subtype: String?
    var notificationUUID: String
    var version = "2.0"
    var signedDate: Int64
    var data: Subject?
    var summary: Summary?
}
