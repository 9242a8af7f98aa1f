extension API {
    /// The body of `POST /v1/app_store/observations`: a device holds what StoreKit has verified, and is
    /// answered with no.
    public struct AppStoreObservation: Hashable, Codable, Sendable {
        /// StoreKit's `jwsRepresentation` of each transaction, at most 10.
        public var signedTransactions: [String]
        /// What the device was answered with no, at most 20.
        public var lookupKeys: [String]

        public init(signedTransactions: [String], lookupKeys: [String]) {
            self.signedTransactions = signedTransactions
            self.lookupKeys = lookupKeys
        }

        private enum CodingKeys: String, CodingKey {
            case signedTransactions = "signed_transactions"
            case lookupKeys = "lookup_keys"
        }
    }

    /// The answer once the transactions are on disk.
    public struct AppStoreObservationReply: Hashable, Codable, Sendable {
        /// Which of the lookup keys the customer has now.
        public var entitled: [String]

        public init(entitled: [String]) { self.entitled = entitled }
    }
}
