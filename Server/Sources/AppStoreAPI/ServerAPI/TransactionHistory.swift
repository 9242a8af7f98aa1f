extension AppStore {
    /// What a history is to be limited to.
    ///
    /// Several values of one field widen, fields narrow.
    public struct TransactionHistoryRequest: Hashable, Sendable {
        /// From this purchase date on.
        public var startDate: Int64?
        /// Before this purchase date.
        public var endDate: Int64?
        /// Only these products.
        public var productIDs: [String] = []
        /// Only these kinds: `AUTO_RENEWABLE`, `NON_RENEWABLE`, `CONSUMABLE`, `NON_CONSUMABLE`.
        public var productTypes: [String] = []
        /// Only these groups.
        public var subscriptionGroupIdentifiers: [String] = []
        /// Only what was bought, or what is shared.
        public var inAppOwnershipType: InAppOwnershipType?
        /// Only what was revoked, or what was not.
        public var revoked: Bool?
        /// Newest modification first.
        ///
        /// Only ascending reads can be resumed later.
        public var isDescending = false

        /// Everything.
        public init() {}

        var query: [(String, String)] {
            var query: [(String, String)] = []
            if let startDate { query.append(("startDate", String(startDate))) }
            if let endDate { query.append(("endDate", String(endDate))) }
            query += productIDs.map { ("productId", $0) }
            query += productTypes.map { ("productType", $0) }
            query.append(("sort", isDescending ? "DESCENDING" : "ASCENDING"))
            query += subscriptionGroupIdentifiers.map { ("subscriptionGroupIdentifier", $0) }
            if let inAppOwnershipType {
                query.append(("inAppOwnershipType", inAppOwnershipType.rawValue))
            }
            if let revoked { query.append(("revoked", revoked ? "true" : "false")) }
            return query
        }
    }

    /// A page of a history, at most 20 transactions.
    public struct HistoryResponse: Hashable, Sendable {
        /// The place after this page; the last one may be kept to read only news later.
        public let revision: String?
        /// Whether another page follows.
        public let hasMore: Bool
        /// The app.
        public let bundleID: String?
        /// The app, as the store numbers it.
        public let appAppleID: Int64?
        /// Where the purchases were made.
        public let environment: Environment?
        /// JWS, each to be verified.
        public let signedTransactions: [String]

        init(_ fields: Fields) throws(VerificationError) {
            revision = try fields.string("revision")
            hasMore = try fields.bool("hasMore") ?? false
            bundleID = try fields.string("bundleId")
            appAppleID = try fields.int64("appAppleId")
            environment = try fields.value("environment")
            signedTransactions = try fields.strings("signedTransactions") ?? []
        }
    }

    /// A page of refunded transactions, oldest revocation first.
    public struct RefundHistoryResponse: Hashable, Sendable {
        /// JWS, each to be verified.
        public let signedTransactions: [String]
        /// The place after this page.
        public let revision: String?
        /// Whether another page follows.
        public let hasMore: Bool

        init(_ fields: Fields) throws(VerificationError) {
            signedTransactions = try fields.strings("signedTransactions") ?? []
            revision = try fields.string("revision")
            hasMore = try fields.bool("hasMore") ?? false
        }
    }

    /// The transactions of an order.
    public struct OrderLookupResponse: Hashable, Sendable {
        /// Whether the order is valid for this app.
        public let isValid: Bool
        /// JWS, each to be verified.
        public let signedTransactions: [String]

        init(_ fields: Fields) throws(VerificationError) {
            isValid = try fields.int("status") == 0
            signedTransactions = try fields.strings("signedTransactions") ?? []
        }
    }
}
