#if canImport(ObjectiveC) || BILLING_APPLE_STUBS
    import Foundation
    import StoreKit

    /// The result of a purchase in the App Store.
    #if canImport(ObjectiveC)
        @objc(TGBillingPurchaseResult)
    #endif
    public enum TGBillingPurchaseResult: Int, Sendable {
        /// Nothing was bought, or the server refuses what was; the error says why.
        case failed = 0
        /// Bought, and the server has it.
        case purchased = 1
        /// Bought, but the server has not acknowledged it yet; the SDK keeps trying. The error says why.
        case awaitingServer = 2
        /// Somebody has to approve it first (Ask to Buy); it arrives by itself when they do.
        case pending = 3
        /// The customer changed their mind.
        case cancelled = 4
    }

    extension TGBilling {
        /// Buys the App Store's product with this id for the customer who is signed in.
        ///
        /// With ``TGBillingErrorCode/notFound`` where the App Store or the catalog lacks it, and
        /// ``TGBillingErrorCode/requestRefused`` and the server's code `already_active` where the customer has
        /// it. See ``BillingSDK/BillingSDK/purchase(_:options:)``.
        public func purchase(
            productID: String,
            completion:
                @escaping @MainActor @Sendable (TGBillingPurchaseResult, (any Error)?) ->
                Void
        ) {
            Task { @MainActor in
                do {
                    guard let product = try await sdk.getAppStoreProducts(ids: [productID]).first
                    else {
                        throw BillingSDKError.notFound("The App Store does not sell \(productID).")
                    }
                    switch try await sdk.purchase(product) {
                    case .purchased: completion(.purchased, nil)
                    case .awaitingServer(let error):
                        completion(.awaitingServer, Self.error(error))
                    case .pending: completion(.pending, nil)
                    case .cancelled: completion(.cancelled, nil)
                    }
                } catch {
                    completion(.failed, Self.error(error))
                }
            }
        }

        /// Claims what this Apple account has bought, and says how many purchases the server has taken.
        ///
        /// Call it only when the customer asks for it: the App Store may want their password. Without an error
        /// 0 means that there are none.
        public func restorePurchases(
            completion: @escaping @MainActor @Sendable (Int, (any Error)?) -> Void
        ) {
            Task { @MainActor in
                do {
                    completion(try await sdk.restoreAppStorePurchases(), nil)
                } catch {
                    completion(0, Self.error(error))
                }
            }
        }
    }
#endif
