// Mac Catalyst and macOS have no promoted products:
// <https://developer.apple.com/documentation/storekit/product/promotioninfo>
#if (os(iOS) && !targetEnvironment(macCatalyst)) || BILLING_APPLE_STUBS
    import Foundation
    import StoreKit

    /// A product that the app promotes on its page in the App Store, as this device shows it.
    public struct PromotedProduct: Hashable, Sendable, Identifiable {
        /// The visibility.
        public enum Visibility: String, Hashable, Sendable, CaseIterable {
            /// As App Store Connect says.
            case appStoreConnectDefault
            /// Seen on this device.
            case visible
            /// Not seen on this device.
            case hidden
        }

        /// The App Store product's id.
        public let id: String
        /// The visibility.
        public let visibility: Visibility

        /// A promoted product from its parts.
        public init(id: String, visibility: Visibility) {
            self.id = id
            self.visibility = visibility
        }
    }

    @available(iOS 16.4, *)
    extension BillingSDK {
        /// The promoted products in the order in which this device shows them; empty: as App Store
        /// Connect says.
        ///
        /// - Throws: StoreKit's errors.
        public func getPromotedProducts() async throws -> [PromotedProduct] {
            try await Product.PromotionInfo.currentOrder.map { info in
                let visibility: PromotedProduct.Visibility =
                    switch info.visibility {
                    case .visible: .visible
                    case .hidden: .hidden
                    default: .appStoreConnectDefault
                    }
                return PromotedProduct(id: info.productID, visibility: visibility)
            }
        }

        /// Orders the promoted products on this device; `[]` goes back to App Store Connect's order.
        ///
        /// - Throws: StoreKit's errors.
        public func setPromotedProductOrder(_ productIDs: [String]) async throws {
            try await Product.PromotionInfo.updateProductOrder(byID: productIDs)
        }

        /// Shows or hides a promoted product on this device: hide what the customer has already.
        ///
        /// - Throws: StoreKit's errors.
        public func setPromotedProductVisibility(
            _ visibility: PromotedProduct.Visibility,
            of productID: String
        ) async throws {
            let visibility: Product.PromotionInfo.Visibility =
                switch visibility {
                case .appStoreConnectDefault: .appStoreConnectDefault
                case .visible: .visible
                case .hidden: .hidden
                }
            try await Product.PromotionInfo.updateProductVisibility(visibility, for: productID)
        }
    }
#endif
