/// Bodies of the control API.
enum ControlBody {
    struct Nothing: Decodable {
        private enum CodingKeys: CodingKey {}

        init(from decoder: any Decoder) throws {
            _ = try decoder.container(keyedBy: CodingKeys.self)
        }
    }

    struct Clock: Codable {
        var now: Int64
    }

    struct Advance: Decodable {
        var to: Int64?
        var by: Int64?
    }

    struct App: Codable {
        var bundleID: String?
        var appAppleID: Int64?
        var environment: SimulatedAppStore.Environment?
        var notificationURL: String?
        var notificationVersion: Int?
        var sharedSecret: String?

        enum CodingKeys: String, CodingKey {
            case bundleID = "bundle_id"
            case appAppleID = "app_apple_id"
            case environment
            case notificationURL = "notification_url"
            case notificationVersion = "notification_version"
            case sharedSecret = "shared_secret"
        }

        init(_ world: World, in environment: SimulatedAppStore.Environment) {
            bundleID = world.bundleID
            appAppleID = world.appAppleID
            self.environment = environment
            notificationURL = world.notificationURL
            notificationVersion = world.notificationVersion
            sharedSecret = world.sharedSecret
        }
    }

    struct List<Element: Codable>: Codable {
        var data: [Element]
    }

    struct NewCustomer: Decodable {
        var appAccountToken: String?
        var storefront: String?
        var family: String?
        var hasDownloadedApp: Bool?
        var preorderDate: Int64?

        enum CodingKeys: String, CodingKey {
            case appAccountToken = "app_account_token"
            case storefront, family
            case hasDownloadedApp = "has_downloaded_app"
            case preorderDate = "preorder_date"
        }
    }

    struct Purchase: Decodable {
        var customer: String?
        var appAccountToken: String?
        var productID: String
        var quantity: Int?
        var offer: String?
        /// What the app's server signed for the offer.
        var proof: SimulatedAppStore.OfferProof?

        enum CodingKeys: String, CodingKey {
            case customer
            case appAccountToken = "app_account_token"
            case productID = "product_id"
            case quantity, offer
            case proof = "offer_proof"
        }
    }

    struct Family: Decodable {
        var family: String?
    }

    struct Change: Decodable {
        var productID: String
        enum CodingKeys: String, CodingKey { case productID = "product_id" }
    }

    struct Redemption: Decodable {
        var offer: String
        var productID: String?

        enum CodingKeys: String, CodingKey {
            case offer
            case productID = "product_id"
        }
    }

    struct Extension: Decodable {
        var days: Int
    }

    struct MassExtension: Decodable {
        var days: Int
        var requestIdentifier: String?

        enum CodingKeys: String, CodingKey {
            case days
            case requestIdentifier = "request_identifier"
        }
    }

    struct Attachment: Decodable {
        var appAccountToken: String
        enum CodingKeys: String, CodingKey { case appAccountToken = "app_account_token" }
    }

    struct Notice: Decodable {
        var type: String
        var subtype: String?
    }

    struct Price: Decodable {
        var price: Int64
        var consentRequired: Bool?

        enum CodingKeys: String, CodingKey {
            case price
            case consentRequired = "consent_required"
        }
    }

    struct Refund: Decodable {
        var reason: Int?
        var percentage: Int?
        /// Some seats of a multiseat purchase.
        var seats: Int?
    }

    struct Seats: Decodable {
        var seats: Int
    }

    struct SeatHolder: Decodable {
        var customer: String
    }

    struct RefundRequest: Decodable {
        var reason: String?
    }

    struct Key: Codable {
        var keyID: String
        var issuerID: String
        var privateKey: String?
        var publicKey: String?

        enum CodingKeys: String, CodingKey {
            case keyID = "key_id"
            case issuerID = "issuer_id"
            case privateKey = "private_key"
            case publicKey = "public_key"
        }
    }

    struct Receipt: Encodable {
        var receiptData: String
        enum CodingKeys: String, CodingKey { case receiptData = "receipt_data" }
    }

    struct OCSP: Decodable {
        var answer: OCSPResponder.Answer
    }

    struct TestNotification: Encodable {
        var token: String
    }

    /// What an action leaves behind for those who do not look at signed objects.
    struct SubscriptionState: Encodable {
        var originalTransactionID: String
        var customer: String
        var productID: String
        var autoRenewProductID: String
        var autoRenews: Bool
        var status: Int
        var renewalDate: Int64
        var gracePeriodExpiresDate: Int64?
        var latestTransactionID: String

        enum CodingKeys: String, CodingKey {
            case originalTransactionID = "original_transaction_id"
            case customer
            case productID = "product_id"
            case autoRenewProductID = "auto_renew_product_id"
            case autoRenews = "auto_renews"
            case status
            case renewalDate = "renewal_date"
            case gracePeriodExpiresDate = "grace_period_expires_date"
            case latestTransactionID = "latest_transaction_id"
        }

        init(_ subscription: SimulatedAppStore.Subscription) {
            originalTransactionID = subscription.originalTransactionID
            customer = subscription.customer
            productID = subscription.productID
            autoRenewProductID = subscription.nextProductID
            autoRenews = subscription.autoRenews
            status = subscription.state.rawValue
            renewalDate = subscription.renewalDate
            gracePeriodExpiresDate = subscription.gracePeriodExpiresDate
            latestTransactionID = subscription.latestTransactionID
        }
    }

    /// A notification with the story of its delivery.
    struct NotificationState: Encodable {
        var notificationUUID: String
        var notificationType: String
        var subtype: String?
        var signedDate: Int64
        var signedPayload: String
        var sendAttempts: [SimulatedAppStore.Notification.Attempt]
        var nextAttempt: Int64?

        init(_ notification: SimulatedAppStore.Notification) {
            notificationUUID = notification.id
            notificationType = notification.type
            subtype = notification.subtype
            signedDate = notification.signedDate
            signedPayload = notification.signedPayload
            sendAttempts = notification.attempts
            nextAttempt = notification.nextAttempt
        }
    }

    struct Listing<Element: Encodable>: Encodable {
        var data: [Element]
    }
}
