public import Foundation
public import StrictJSON

extension AppStore {
    /// What the App Store asks while a customer is about to cancel: `DecodedRealtimeRequestBody`.
    public struct RealtimeRequest: Hashable, Sendable {
        /// The purchase that may be cancelled.
        public let originalTransactionID: String?
        /// The app, as the store numbers it.
        public let appAppleID: Int64?
        /// The plan.
        public let productID: String?
        /// The customer's language: `en-US`.
        public let userLocale: String?
        /// The request; the answer repeats it.
        public let requestIdentifier: UUID?
        /// Where it was bought.
        public let environment: Environment?
        /// When this was signed.
        public let signedDate: Int64?
        /// The payload as it was signed, with fields that are newer than this code.
        public let json: JSON

        /// Decodes a payload without any verification: only for what a signature covers.
        package init(json: JSON) throws(VerificationError) {
            let fields = try Fields(json, "realtimeRequest")
            self.json = json
            originalTransactionID = try fields.string("originalTransactionId")
            appAppleID = try fields.int64("appAppleId")
            productID = try fields.string("productId")
            userLocale = try fields.string("userLocale")
            requestIdentifier = try fields.uuid("requestIdentifier")
            environment = try fields.value("environment")
            signedDate = try fields.date("signedDate")
        }
    }
}
