extension API {
    /// The body of `POST /v1/google_play/purchase_preparations`.
    public struct GooglePlayPreparationRequest: Hashable, Codable, Sendable {
        /// The product's id in the catalog, or its id in Google Play.
        public var product: String

        public init(product: String) { self.product = product }
    }

    /// The ids to pass to Play Billing with a purchase that the app is about to begin.
    public struct GooglePlayPreparation: Hashable, Codable, Sendable {
        /// The product's id in the catalog.
        public var product: String
        /// The product to ask Billing Library for.
        public var googlePlayProductID: String
        /// For `setObfuscatedAccountId`: so the purchase is the customer's.
        public var obfuscatedAccountID: String

        public init(product: String, googlePlayProductID: String, obfuscatedAccountID: String) {
            (self.product, self.googlePlayProductID) = (product, googlePlayProductID)
            self.obfuscatedAccountID = obfuscatedAccountID
        }

        private enum CodingKeys: String, CodingKey {
            case product
            case googlePlayProductID = "google_play_product_id"
            case obfuscatedAccountID = "obfuscated_account_id"
        }
    }
}
