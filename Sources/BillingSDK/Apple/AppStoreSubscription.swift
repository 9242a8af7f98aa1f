#if canImport(StoreKit)
    import Foundation
    import StoreKit

    /// A subscription as StoreKit shows it on this device, for screens about it; never for access.
    public struct AppStoreSubscription: Hashable, Sendable {
        /// How it stands, in the App Store's words.
        public enum State: String, Hashable, Sendable, CaseIterable {
            /// Paid and running.
            case subscribed
            /// Over.
            case expired
            /// The payment fails; the App Store keeps trying.
            case inBillingRetry
            /// The payment fails; the App Store still grants access.
            case inGracePeriod
            /// Refunded, or taken out of the family.
            case revoked
            /// A word that is newer than this SDK.
            case unknown
        }

        /// How it stands.
        public let state: State
        /// The product that is subscribed to.
        public let productID: String
        /// The end of the paid period, by the App Store's clock.
        public let expirationDate: Date?
        /// Whether it renews then.
        public let willAutoRenew: Bool
        /// The product that it renews to.
        public let nextProductID: String?
        /// How long the grace period lasts, if it is in one.
        public let gracePeriodExpirationDate: Date?
    }

    extension BillingSDK {
        /// The subscriptions of one group, as StoreKit shows them on this device.
        ///
        /// Statements that StoreKit could not verify are left out.
        /// - Parameter groupID: the subscription group's id in App Store Connect.
        /// - Throws: StoreKit's errors.
        public func getAppStoreSubscriptions(
            groupID: String
        ) async throws -> [AppStoreSubscription] {
            try await Product.SubscriptionInfo.status(for: groupID).compactMap { status in
                guard case .verified(let transaction) = status.transaction,
                    case .verified(let renewal) = status.renewalInfo
                else { return nil }
                return AppStoreSubscription(
                    state: AppStoreSubscription.State(status.state),
                    productID: transaction.productID,
                    expirationDate: transaction.expirationDate,
                    willAutoRenew: renewal.willAutoRenew,
                    nextProductID: renewal.autoRenewPreference,
                    gracePeriodExpirationDate: renewal.gracePeriodExpirationDate
                )
            }
        }
    }

    extension AppStoreSubscription.State {
        fileprivate init(_ state: Product.SubscriptionInfo.RenewalState) {
            switch state {
            case .subscribed: self = .subscribed
            case .expired: self = .expired
            case .inBillingRetryPeriod: self = .inBillingRetry
            case .inGracePeriod: self = .inGracePeriod
            case .revoked: self = .revoked
            default: self = .unknown
            }
        }
    }
#endif
