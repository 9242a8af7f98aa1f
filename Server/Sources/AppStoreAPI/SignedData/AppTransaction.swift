public import Foundation
public import StrictJSON

extension AppStore {
    /// The customer's purchase of the app itself: `AppTransaction`.
    public struct AppTransaction: Hashable, Sendable {
        /// Where the app was bought.
        public let receiptType: Environment?
        /// The app, as the store numbers it.
        public let appAppleID: Int64?
        /// The app.
        public let bundleID: String?
        /// The version that asked.
        public let applicationVersion: String?
        /// The store's number of that version.
        public let versionExternalIdentifier: Int64?
        /// When this was signed.
        public let receiptCreationDate: Int64?
        /// When the customer first got the app.
        public let originalPurchaseDate: Int64?
        /// The version that the customer first got.
        public let originalApplicationVersion: String?
        /// A hash by which a device can check that this is for it (base64).
        public let deviceVerification: String?
        /// The nonce of that hash.
        public let deviceVerificationNonce: UUID?
        /// When the app was ordered before its release.
        public let preorderDate: Int64?
        /// The customer and app.
        public let appTransactionID: String?
        /// Where the app was first bought.
        public let originalPlatform: Platform?
        /// The store that the app came from: `CONSUMER` (API 1.22).
        public let storeType: String?
        /// The payload as it was signed, with fields that are newer than this code.
        public let json: JSON

        /// Decodes a payload without any verification: only for what a signature covers.
        package init(json: JSON) throws(VerificationError) {
            let fields = try Fields(json, "appTransaction")
            self.json = json
            receiptType = try fields.value("receiptType")
            appAppleID = try fields.int64("appAppleId")
            bundleID = try fields.string("bundleId")
            applicationVersion = try fields.string("applicationVersion")
            versionExternalIdentifier = try fields.int64("versionExternalIdentifier")
            receiptCreationDate = try fields.date("receiptCreationDate")
            originalPurchaseDate = try fields.date("originalPurchaseDate")
            originalApplicationVersion = try fields.string("originalApplicationVersion")
            deviceVerification = try fields.string("deviceVerification")
            deviceVerificationNonce = try fields.uuid("deviceVerificationNonce")
            preorderDate = try fields.date("preorderDate")
            appTransactionID = try fields.string("appTransactionId")
            originalPlatform = try fields.value("originalPlatform")
            storeType = try fields.string("storeType")
        }
    }
}
