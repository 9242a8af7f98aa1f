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

    /// A purchase to come outside the App Store, under its external purchase programme.
    struct ExternalPurchaseToken: Encodable, Sendable {
        var externalPurchaseId: String
        var tokenCreationDate: Int64
        var appAppleId: Int64?
        var bundleId: String
    }

    /// What concerns the app and no purchase.
    struct AppData: Encodable, Sendable {
        var appAppleId: Int64?
        var bundleId: String
        var environment: String
        var signedAppTransactionInfo: String?
    }

    /// Seats whose claims the App Store has given up.
    struct UnclaimInfo: Encodable, Sendable {
        var unclaimSeatIds: [String]
    }

    var notificationType: String
    var subtype: String?
    var notificationUUID: String
    var version = "2.0"
    var signedDate: Int64
    var data: Subject?
    var summary: Summary?
    var externalPurchaseToken: ExternalPurchaseToken?
    var appData: AppData?
    var unclaimInfo: UnclaimInfo?
}
