extension AppStore.Notification {
    /// A token of the external purchase programme.
    public struct ExternalPurchaseToken: Hashable, Sendable {
        /// The token; in the sandbox it begins with `SANDBOX`.
        public let externalPurchaseID: String?
        /// When it was made.
        public let tokenCreationDate: Int64?
        /// When it ends (documentation only).
        public let tokenExpirationDate: Int64?
        /// Its kind (documentation only).
        public let tokenType: String?
        /// The app, as the store numbers it.
        public let appAppleID: Int64?
        /// The app.
        public let bundleID: String?

        /// Derived from the token, since no field says it.
        public var environment: AppStore.Environment {
            externalPurchaseID?.hasPrefix("SANDBOX") == true ? .sandbox : .production
        }

        var identity: Identity {
            Identity(bundleID: bundleID, appAppleID: appAppleID, environment: environment)
        }

        init(_ fields: Fields) throws(AppStore.VerificationError) {
            externalPurchaseID = try fields.string("externalPurchaseId")
            tokenCreationDate = try fields.date("tokenCreationDate")
            tokenExpirationDate = try fields.date("tokenExpirationDate")
            tokenType = try fields.string("tokenType")
            appAppleID = try fields.int64("appAppleId")
            bundleID = try fields.string("bundleId")
        }
    }
}
