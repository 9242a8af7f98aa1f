import Crypto
import Foundation

/// `AppTransaction`: proof that an account downloaded the app.
struct AppTransactionPayload: Encodable, Sendable {
    var receiptType: String
    var appAppleId: Int64
    var bundleId: String
    var applicationVersion = "1.0"
    var versionExternalIdentifier: Int64?
    var receiptCreationDate: Int64
    var originalPurchaseDate: Int64
    var preorderDate: Int64?
    var originalApplicationVersion = "1.0"
    var deviceVerification: String
    var deviceVerificationNonce: String
    var appTransactionId: String
    var originalPlatform = "iOS"
    var storeType = "CONSUMER"

    /// - Parameter nonce: a lowercase UUID; the device is the customer's only one.
    init(
        customer: SimulatedAppStore.Customer,
        in world: SimulatedAppStore.World,
        nonce: String,
        signedDate: Int64
    ) {
        receiptType = world.environment.rawValue
        appAppleId = world.appAppleID
        bundleId = world.bundleID
        versionExternalIdentifier = world.environment == .production ? 850_000_001 : 0
        receiptCreationDate = signedDate
        originalPurchaseDate = customer.downloaded ?? signedDate
        preorderDate = customer.preordered
        // Apple defines it as SHA-384 of the nonce followed by the device's identifier.
        deviceVerification = Data(SHA384.hash(data: Data((nonce + customer.id).utf8)))
            .base64EncodedString()
        deviceVerificationNonce = nonce
        appTransactionId = customer.appTransactionID
    }
}
