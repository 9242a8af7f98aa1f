import Foundation

extension API {
    /// The body of `POST /v1/app_store/purchases`: the app is about to buy.
    public struct AppStorePurchaseRequest: Hashable, Codable, Sendable {
        /// The product's id in the catalog, or its App Store product id.
        public var product: String

        public init(product: String) { self.product = product }
    }

    /// The answer: nothing stands in the way of buying it, and this goes with it.
    public struct AppStorePurchase: Hashable, Codable, Sendable {
        /// The product's id in the catalog.
        public var product: String
        /// What StoreKit sells it as.
        public var appStoreProductID: String
        /// `Product.PurchaseOption.appAccountToken`, so that the purchase is the customer's.
        public var appAccountToken: String

        public init(product: String, appStoreProductID: String, appAccountToken: String) {
            self.product = product
            self.appStoreProductID = appStoreProductID
            self.appAccountToken = appAccountToken
        }

        private enum CodingKeys: String, CodingKey {
            case product
            case appStoreProductID = "app_store_product_id"
            case appAccountToken = "app_account_token"
        }
    }
}
