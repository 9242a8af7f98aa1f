import Foundation

/// What StoreKit has verified on this device about one purchase, as the App Store signed it.
struct StoreKitStatement: Sendable {
    /// The payload of the signed transaction, JSON.
    var transaction: Data
    /// The payload of the signed renewal info beside it, JSON.
    var renewalInfo: Data?
    /// The subscription's state: 1 active, 2 expired, 3 billing retry, 4 grace, 5 revoked.
    var status: Int?
    /// The transaction as the App Store signed it, where it is one of the device's entitlements.
    var signedTransaction: String?
}
