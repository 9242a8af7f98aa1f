extension AppStore.Notification {
    /// What happened to the app's use as such (RESCIND_CONSENT).
    public struct AppData: Hashable, Sendable {
        /// The app, as the store numbers it.
        public let appAppleID: Int64?
        /// The app.
        public let bundleID: String?
        /// Where the app was bought.
        public let environment: AppStore.Environment?
        /// The app transaction, decoded; covered by the notification's signature.
        public let appTransaction: AppStore.AppTransaction?

        var identity: Identity {
            Identity(bundleID: bundleID, appAppleID: appAppleID, environment: environment)
        }

        init(_ fields: Fields) throws(AppStore.VerificationError) {
            appAppleID = try fields.int64("appAppleId")
            bundleID = try fields.string("bundleId")
            environment = try fields.value("environment")
            appTransaction = try AppStore.innerPayload(
                "signedAppTransactionInfo",
                of: fields,
                .appTransaction
            ).map(AppStore.AppTransaction.init(json:))
            if let appTransaction {
                guard appTransaction.bundleID == bundleID else {
                    throw AppStore.VerificationError(.innerApp, at: "signedAppTransactionInfo")
                }
                guard appTransaction.receiptType == environment else {
                    throw AppStore.VerificationError(
                        .innerEnvironment,
                        at: "signedAppTransactionInfo"
                    )
                }
            }
        }
    }
}
