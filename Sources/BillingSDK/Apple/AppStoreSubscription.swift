#if canImport(StoreKit)
    import Foundation
    import StoreKit

    /// A subscription as StoreKit shows it on this device, for screens about it; never for access.
    public struct AppStoreSubscription: Hashable, Sendable {
        /// The state, in the App Store's words.
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

        /// The state.
        public let state: State
        /// The product that is subscribed to.
        public let productID: String
        /// The end of the paid period, by the App Store's clock.
        public let expirationDate: Date?
        /// `true` if it renews then.
        public let willAutoRenew: Bool
        /// The product that it renews to.
        public let nextProductID: String?
        /// The end of the grace period, if it is in one.
        public let gracePeriodExpirationDate: Date?
        /// The kind of offer by which the current period was bought; `nil` at the full price.
        public let offer: Offer?

        /// A kind of offer, in the App Store's words.
        public enum Offer: String, Hashable, Sendable, CaseIterable {
            /// For new subscribers; free trials are of this kind.
            case introductory
            /// For current and former subscribers, by your signature.
            case promotional
            /// By an offer code.
            case code
            /// For those who have left.
            case winBack
            /// A kind that is newer than this SDK.
            case unknown
        }

        /// `true` if a payment fails; lead the customer to ``PurchaseStore/managementURL``.
        public var hasPaymentProblem: Bool {
            state == .inBillingRetry || state == .inGracePeriod
        }
    }

    extension BillingSDK {
        /// The subscriptions of every group in which this Apple account has one, as StoreKit shows them on
        /// this device.
        ///
        /// - Throws: StoreKit's errors.
        public func getAppStoreSubscriptions() async throws -> [AppStoreSubscription] {
            var groups: Set<String> = []
            for await result in StoreKit.Transaction.currentEntitlements {
                guard case .verified(let transaction) = result else { continue }
                if let group = transaction.subscriptionGroupID { groups.insert(group) }
            }
            var subscriptions: [AppStoreSubscription] = []
            for group in groups.sorted() {
                subscriptions += try await getAppStoreSubscriptions(groupID: group)
            }
            return subscriptions
        }

        /// The subscriptions of one group, as StoreKit shows them on this device.
        ///
        /// Statements that StoreKit could not verify are left out.
        /// - Parameter groupID: the subscription group's id in App Store Connect.
        /// - Throws: StoreKit's errors.
        public func getAppStoreSubscriptions(
            groupID: String
        ) async throws -> [AppStoreSubscription] {
            try await Product.SubscriptionInfo.status(for: groupID)
                .compactMap { AppStoreSubscription($0) }
        }
    }

    extension AppStoreSubscription {
        /// Nil for what StoreKit could not verify.
        fileprivate init?(_ status: Product.SubscriptionInfo.Status) {
            guard case .verified(let transaction) = status.transaction,
                case .verified(let renewal) = status.renewalInfo
            else { return nil }
            self.init(
                state: AppStoreSubscription.State(status.state),
                productID: transaction.productID,
                expirationDate: transaction.expirationDate,
                willAutoRenew: renewal.willAutoRenew,
                nextProductID: renewal.autoRenewPreference,
                gracePeriodExpirationDate: renewal.gracePeriodExpirationDate,
                offer: transaction.offerType.map { Offer($0) }
            )
        }
    }

    extension AppStoreSubscription.Offer {
        /// By the raw value: 4, a win-back offer, has a name only from iOS 18 on
        /// (<https://developer.apple.com/documentation/storekit/transaction/offertype-swift.struct>).
        fileprivate init(_ type: StoreKit.Transaction.OfferType) {
            switch type.rawValue {
            case 1: self = .introductory
            case 2: self = .promotional
            case 3: self = .code
            case 4: self = .winBack
            default: self = .unknown
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
