extension AppStore.Notification {
    /// The result of extending the renewal date of many subscriptions.
    public struct Summary: Hashable, Sendable {
        /// The request that this answers.
        public let requestIdentifier: String?
        /// Where the subscriptions were bought.
        public let environment: AppStore.Environment?
        /// The app, as the store numbers it; absent in the sandbox.
        public let appAppleID: Int64?
        /// The app.
        public let bundleID: String?
        /// The product whose subscriptions were extended.
        public let productID: String?
        /// The countries of the request; absent for all.
        public let storefrontCountryCodes: [String]?
        /// How many were extended.
        public let succeededCount: Int64?
        /// How many could not be extended.
        public let failedCount: Int64?

        var identity: Identity {
            Identity(bundleID: bundleID, appAppleID: appAppleID, environment: environment)
        }

        init(_ fields: Fields) throws(AppStore.VerificationError) {
            requestIdentifier = try fields.string("requestIdentifier")
            environment = try fields.value("environment")
            appAppleID = try fields.int64("appAppleId")
            bundleID = try fields.string("bundleId")
            productID = try fields.string("productId")
            storefrontCountryCodes = try fields.strings("storefrontCountryCodes")
            succeededCount = try fields.int64("succeededCount")
            failedCount = try fields.int64("failedCount")
        }
    }
}
