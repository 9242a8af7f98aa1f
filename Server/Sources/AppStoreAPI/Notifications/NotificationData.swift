public import StrictJSON

extension AppStore.Notification {
    /// What happened to one purchase.
    public struct Data: Hashable, Sendable {
        /// Where the purchase was made.
        public let environment: AppStore.Environment?
        /// The app, as the store numbers it; absent in the sandbox.
        public let appAppleID: Int64?
        /// The app.
        public let bundleID: String?
        /// The app's version.
        public let bundleVersion: String?
        /// The state of an auto-renewable subscription at the notification's `signedDate`.
        public let status: AppStore.Status?
        /// Why the customer asked for a refund.
        public let consumptionRequestReason: AppStore.ConsumptionRequestReason?
        /// The transaction, decoded; covered by the notification's signature.
        public let transaction: AppStore.Transaction?
        /// The renewal info, decoded; covered by the notification's signature.
        public let renewalInfo: AppStore.RenewalInfo?
        /// The object as it came.
        public let json: JSON

        var identity: Identity {
            Identity(bundleID: bundleID, appAppleID: appAppleID, environment: environment)
        }

        init(_ fields: Fields) throws(AppStore.VerificationError) {
            environment = try fields.value("environment")
            appAppleID = try fields.int64("appAppleId")
            bundleID = try fields.string("bundleId")
            bundleVersion = try fields.string("bundleVersion")
            status = try fields.value("status")
            consumptionRequestReason = try fields.value("consumptionRequestReason")
            transaction = try AppStore.innerPayload(
                "signedTransactionInfo",
                of: fields,
                .transaction
            )
            .map(AppStore.Transaction.init(json:))
            renewalInfo = try AppStore.innerPayload("signedRenewalInfo", of: fields, .renewalInfo)
                .map(AppStore.RenewalInfo.init(json:))
            json = fields.json
            try checkBinding()
        }

        /// Objects of another app, environment or purchase have no business here.
        private func checkBinding() throws(AppStore.VerificationError) {
            if let transaction {
                guard transaction.bundleID == bundleID else {
                    throw AppStore.VerificationError(.innerApp, at: "signedTransactionInfo")
                }
                guard transaction.environment == environment else {
                    throw AppStore.VerificationError(.innerEnvironment, at: "signedTransactionInfo")
                }
            }
            if let renewalInfo {
                guard renewalInfo.environment == environment else {
                    throw AppStore.VerificationError(.innerEnvironment, at: "signedRenewalInfo")
                }
                if let transaction { try AppStore.checkBinding(renewalInfo, to: transaction) }
            }
        }
    }
}
