import Foundation

extension API {
    /// The answer of `GET /v1/catalog`: what an app needs to know of the catalog before anybody asks.
    public struct CatalogSlice: Hashable, Codable, Sendable {
        /// What must have been accepted before a purchase that began outside the app goes on.
        public var required: RequiredConsents
        /// Where a checkout leads back to.
        public var checkout: Checkout
        /// Products, what they grant and for how long (``SignedCatalog``), as a signed token.
        public var signedCatalog: String

        public init(required: RequiredConsents, checkout: Checkout, signedCatalog: String) {
            self.required = required
            self.checkout = checkout
            self.signedCatalog = signedCatalog
        }

        private enum CodingKeys: String, CodingKey {
            case required, checkout
            case signedCatalog = "signed_catalog"
        }

        /// The paths of the universal links that open the app after a checkout.
        public struct Checkout: Hashable, Codable, Sendable {
            public var successPath: String
            public var cancelPath: String

            public init(successPath: String, cancelPath: String) {
                self.successPath = successPath
                self.cancelPath = cancelPath
            }

            private enum CodingKeys: String, CodingKey {
                case successPath = "success_path"
                case cancelPath = "cancel_path"
            }
        }
    }
}
