extension SimulatedAppStore {
    /// An Apple account that has the app.
    public struct Customer: Codable, Hashable, Sendable {
        public var id: String
        /// Given with purchases that state no token of their own.
        public var appAccountToken: String?
        /// Stable for this account and app.
        public var appTransactionID: String
        /// ISO 3166-1 alpha-3.
        public var storefront: String
        /// When the app was first downloaded, UNIX milliseconds; `nil`: not yet.
        public var downloaded: Int64?
        /// When the app was ordered ahead of its release, UNIX milliseconds; `nil`: it was not.
        public var preordered: Int64?
        /// Whether charging this account's card fails.
        public var billingFails: Bool
        /// Accounts of one family share what is shareable.
        public var family: String?
        var transactionIDs: [String] = []
        /// When a device restored last, UNIX milliseconds; `nil`: never.
        var restored: Int64?

        enum CodingKeys: String, CodingKey {
            case id
            case appAccountToken = "app_account_token"
            case appTransactionID = "app_transaction_id"
            case storefront, downloaded, restored
            case preordered = "preorder_date"
            case billingFails = "billing_fails"
            case family
            case transactionIDs = "transaction_ids"
        }

        /// The App Store's own number for the storefront.
        var storefrontID: String {
            switch storefront {
            case "USA": "143441"
            case "DEU": "143443"
            case "GBR": "143444"
            case "FRA": "143442"
            case "JPN": "143462"
            default: "143441"
            }
        }
    }
}
