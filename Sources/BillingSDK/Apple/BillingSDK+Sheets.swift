#if os(iOS) || BILLING_APPLE_STUBS
    import Foundation
    import StoreKit
    import UIKit

    /// The result of Apple's sheet for a refund.
    public enum RefundRequest: String, Hashable, Sendable, CaseIterable {
        /// Requested; Apple decides, and notifies the server.
        case requested
        /// The customer turned back.
        case cancelled
    }

    extension BillingSDK {
        /// Buys `product` as ``purchase(_:options:)`` does, with Apple's sheet in one scene of the app.
        ///
        /// For UIKit apps with several scenes, or windows:
        /// <https://developer.apple.com/documentation/storekit/product/purchase(confirmin:options:)-6dj6y>
        /// - Parameters:
        ///   - product: what to buy.
        ///   - scene: where the customer is asked.
        ///   - options: further options of StoreKit. An account token is refused: it is the server's.
        /// - Throws: as ``purchase(_:options:)``.
        @available(iOS 17, *)
        @MainActor
        public func purchase(
            _ product: Product,
            confirmIn scene: UIWindowScene,
            options: Set<Product.PurchaseOption> = []
        ) async throws -> AppStorePurchase {
            let options = try await PurchasePreparation(client: client)
                .options(for: product, beside: options)
            return try await complete(product.purchase(confirmIn: scene, options: options))
        }

        /// Shows Apple's sheet for managing subscriptions; entitlements are refreshed when it closes.
        ///
        /// <https://developer.apple.com/documentation/storekit/appstore/showmanagesubscriptions(in:)>
        /// - Throws: StoreKit's errors.
        @MainActor
        public func showAppStoreSubscriptions(in scene: UIWindowScene) async throws {
            try await AppStore.showManageSubscriptions(in: scene)
            await client.refreshIfSignedIn()
        }

        /// Shows Apple's sheet in which the customer redeems an offer code.
        ///
        /// What they redeem arrives as a transaction, see ``PurchaseInbox``. On iOS 15 use StoreKit 1's
        /// `presentCodeRedemptionSheet()`. On Mac Catalyst the sheet is reported not to work.
        /// <https://developer.apple.com/documentation/storekit/appstore/presentoffercoderedeemsheet(in:)>
        /// - Throws: StoreKit's errors.
        @available(iOS 16, *)
        @MainActor
        public func showOfferCodeSheet(in scene: UIWindowScene) async throws {
            try await AppStore.presentOfferCodeRedeemSheet(in: scene)
        }

        /// Shows Apple's sheet in which the customer asks for a refund of a transaction.
        ///
        /// <https://developer.apple.com/documentation/storekit/transaction/beginrefundrequest(for:in:)>
        /// - Parameters:
        ///   - transactionID: the App Store's id, as ``RestoredPurchase/id``.
        ///   - scene: where the sheet is shown.
        /// - Throws: StoreKit's errors.
        @MainActor
        public func showRefundSheet(
            forTransaction transactionID: UInt64,
            in scene: UIWindowScene
        ) async throws -> RefundRequest {
            let outcome = try await StoreKit.Transaction.beginRefundRequest(
                for: transactionID,
                in: scene
            )
            switch outcome {
            case .success: return .requested
            case .userCancelled: return .cancelled
            @unknown default: return .cancelled
            }
        }
    }
#endif
