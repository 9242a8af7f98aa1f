extension AppStore {
    /// The state of a customer's subscriptions, by group.
    public struct StatusResponse: Hashable, Sendable {
        /// Where the purchases were made.
        public let environment: Environment?
        /// The app.
        public let bundleID: String?
        /// The app, as the store numbers it.
        public let appAppleID: Int64?
        /// One entry per subscription group.
        public let data: [SubscriptionGroup]

        init(_ fields: Fields) throws(VerificationError) {
            environment = try fields.value("environment")
            bundleID = try fields.string("bundleId")
            appAppleID = try fields.int64("appAppleId")
            data = try fields.objects("data", SubscriptionGroup.init)
        }

        /// The newest transactions of one subscription group.
        public struct SubscriptionGroup: Hashable, Sendable {
            /// The group.
            public let subscriptionGroupIdentifier: String?
            /// One entry per purchase.
            public let lastTransactions: [LastTransaction]

            init(_ fields: Fields) throws(VerificationError) {
                subscriptionGroupIdentifier = try fields.string("subscriptionGroupIdentifier")
                lastTransactions = try fields.objects("lastTransactions", LastTransaction.init)
            }
        }

        /// The newest transaction of one purchase, with its state.
        public struct LastTransaction: Hashable, Sendable {
            /// The purchase.
            public let originalTransactionID: String?
            /// Its state.
            public let status: Status?
            /// JWS, to be verified.
            public let signedTransactionInfo: String?
            /// JWS, to be verified together with the transaction.
            public let signedRenewalInfo: String?

            init(_ fields: Fields) throws(VerificationError) {
                originalTransactionID = try fields.string("originalTransactionId")
                status = try fields.value("status")
                signedTransactionInfo = try fields.string("signedTransactionInfo")
                signedRenewalInfo = try fields.string("signedRenewalInfo")
            }
        }
    }
}
