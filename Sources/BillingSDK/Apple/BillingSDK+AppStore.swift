#if canImport(StoreKit)
    import Foundation
    import StoreKit

    /// The result of a purchase in the App Store.
    public enum AppStorePurchase: Sendable {
        /// Bought, and the server has it.
        case purchased(AppStoreSubmission)
        /// Bought, but the server has not acknowledged it yet; the SDK keeps trying.
        case awaitingServer(any Error)
        /// Somebody has to approve it first (Ask to Buy); it arrives by itself when they do.
        case pending
        /// The customer changed their mind.
        case cancelled
    }

    /// How a purchase went that the server did not refuse beforehand.
    enum ChargedPurchase: Sendable {
        /// As apps are told.
        case went(AppStorePurchase)
        /// Charged, and then refused for good.
        case refused(AppStoreRefusal)

        /// The same as a value or an error.
        func get() throws -> AppStorePurchase {
            switch self {
            case .went(let purchase): return purchase
            case .refused(let refusal): throw refusal.error
            }
        }
    }

    extension BillingSDK {
        /// `true` if this device may buy at all; false under parental controls.
        public static var canMakePayments: Bool { AppStore.canMakePayments }

        /// The App Store's products with these ids, in the order of `ids`; unknown ids are left out.
        ///
        /// Asks StoreKit, which keeps what it has fetched; the server is not asked.
        /// - Throws: StoreKit's errors as they are: `StoreKitError.networkError`, `.systemError` and
        ///   `.unknown`. No ``BillingSDKError``.
        public func getAppStoreProducts(ids: [String]) async throws -> [Product] {
            let products = try await Product.products(for: ids)
            return ids.compactMap { id in products.first { $0.id == id } }
        }

        /// Buys `product` in the App Store for the customer who is signed in.
        ///
        /// The server is asked first: it says the account token that ties the purchase to the customer
        /// at the App Store, or that the customer has the product already.
        /// - Parameters:
        ///   - product: what to buy.
        ///   - options: further options of StoreKit. An account token is refused: it is the server's.
        /// - Returns: ``AppStorePurchase/awaitingServer(_:)`` with ``BillingSDKError/unauthenticated``
        ///   where nobody is signed in and the app sells to visitors: it waits for a sign-in.
        /// - Throws: ``BillingSDKError/unauthenticated`` where nobody is signed in, unless
        ///   ``BillingSDK/Configuration/allowsPurchasesBeforeSignIn`` is set;
        ///   ``BillingSDKError/invalidConfiguration(_:)`` where `options` hold an account token;
        ///   ``BillingSDKError/requestRefused(status:code:message:)`` with code `already_active` where
        ///   the customer has it; ``BillingSDKError/notFound(_:)`` where the catalog lacks it;
        ///   ``BillingSDKError/networkUnavailable(_:)`` and
        ///   ``BillingSDKError/serverUnavailable(status:message:)`` where the server cannot answer and
        ///   has not told this device the customer's token before; StoreKit's errors. Nothing was
        ///   bought then. ``BillingSDKError/requestRefused(status:code:message:)`` with another code
        ///   where the server refuses for good what was bought, see ``AppStoreRefusal``.
        @MainActor
        public func purchase(
            _ product: Product,
            options: Set<Product.PurchaseOption> = []
        ) async throws -> AppStorePurchase {
            try await charge(product, options).get()
        }

        /// Buys, and tells what was charged and then refused from what was not bought.
        @MainActor
        func charge(
            _ product: Product,
            _ options: Set<Product.PurchaseOption>
        ) async throws -> ChargedPurchase {
            let options = try await PurchasePreparation(client: client)
                .options(for: product, beside: options)
            return try await settle(product.purchase(options: options))
        }

        /// The same purchase; the token is the server's, and `appAccountToken` is not used.
        @available(*, deprecated, message: "The server says the token; leave appAccountToken out.")
        @MainActor
        public func purchase(
            _ product: Product,
            appAccountToken: UUID?,
            options: Set<Product.PurchaseOption> = []
        ) async throws -> AppStorePurchase {
            try await purchase(product, options: options)
        }

        /// Takes what StoreKit sold to the server.
        func complete(_ result: Product.PurchaseResult) async throws -> AppStorePurchase {
            try await settle(result).get()
        }

        private func settle(_ result: Product.PurchaseResult) async -> ChargedPurchase {
            switch result {
            case .success(let result):
                let outcome: DeliveryOutcome
                do {
                    outcome = try await TransactionDelivery(client: client)
                        .deliverAttended(SignedTransaction(result), mode: .purchased)
                } catch {
                    return .went(.awaitingServer(error))
                }
                switch outcome {
                case .taken(let submission): return .went(.purchased(submission))
                case .refused(let refusal): return .refused(refusal)
                }
            case .pending: return .went(.pending)
            case .userCancelled: return .went(.cancelled)
            @unknown default: return .went(.pending)
            }
        }

        /// Buys `product` with a promotional offer, which the server signs for the customer.
        ///
        /// - Parameters:
        ///   - product: what to buy.
        ///   - offer: the offer's id in App Store Connect.
        /// - Throws: as ``purchase(_:options:)``, also where the server does not sign the offer.
        @MainActor
        public func purchase(_ product: Product, offer: String) async throws -> AppStorePurchase {
            let preparation = PurchasePreparation(client: client)
            let options = try await preparation.options(for: product, with: offer)
            return try await complete(product.purchase(options: options))
        }

        /// Buys what waits in ``purchaseInbox``, once ``PurchaseInbox/next(_:)`` says to proceed and the
        /// customer agrees.
        ///
        /// A win-back offer with which it was begun is applied. It leaves the inbox when the server has it,
        /// or refuses for good what was charged.
        /// Where somebody has to approve first, or the server cannot be reached, it stays as under way
        /// and leaves by itself; a request to buy that nobody approves leaves after a day. Where the customer cancels, it
        /// stays: postpone or discard it.
        /// - Throws: ``BillingSDKError/notFound(_:)`` if the App Store does not sell it; as
        ///   ``purchase(_:options:)``.
        @MainActor
        public func purchase(_ pending: PendingPurchase) async throws -> AppStorePurchase {
            guard let product = try await getAppStoreProducts(ids: [pending.productID]).first else {
                throw BillingSDKError.notFound("The App Store does not sell \(pending.productID).")
            }
            var options: Set<Product.PurchaseOption> = []
            if pending.quantity > 1 { options.insert(.quantity(pending.quantity)) }
            if let id = pending.winBackOfferID {
                guard let option = product.winBackOption(id) else {
                    throw BillingSDKError.notFound("The App Store has no win-back offer \(id).")
                }
                options.insert(option)
            }
            let outcome: AppStorePurchase
            switch try await charge(product, options) {
            case .went(let purchase): outcome = purchase
            case .refused(let refusal):
                // It was charged: nobody is to buy it again.
                purchaseInbox.finish(pending.id)
                throw refusal.error
            }
            switch outcome {
            case .purchased: purchaseInbox.finish(pending.id)
            case .pending: purchaseInbox.setUnderWay(pending.id, awaitsApproval: true)
            case .awaitingServer: purchaseInbox.setUnderWay(pending.id, awaitsApproval: false)
            case .cancelled: break
            }
            return outcome
        }

        /// The same purchase; the token is the server's, and `appAccountToken` is not used.
        @available(*, deprecated, message: "The server says the token; leave appAccountToken out.")
        @MainActor
        public func purchase(
            _ pending: PendingPurchase,
            appAccountToken: UUID?
        ) async throws -> AppStorePurchase {
            try await purchase(pending)
        }

        /// Claims what this Apple account has bought for the customer who is signed in, and says of each
        /// purchase what the server made of it.
        ///
        /// Call it only when the customer asks for it: the App Store may want their password. One
        /// purchase that the server refuses or cannot take now stops no other.
        /// - Returns: every purchase that StoreKit shows as the account's; empty where there is none.
        /// - Throws: ``BillingSDKError/unauthenticated`` where nobody is signed in, or nobody is any
        ///   more; StoreKit's errors.
        public func restorePurchases() async throws -> [RestoredPurchase] {
            try await Restoration(client: client).restore()
        }

        /// Claims as ``restorePurchases()`` does, and says only how many the server has taken.
        ///
        /// - Throws: as ``restorePurchases()``; also the first reason where there were purchases and
        ///   the server took none.
        @discardableResult
        public func restoreAppStorePurchases() async throws -> Int {
            let restored = try await restorePurchases()
            let count = restored.filter(\.isTaken).count
            if count == 0, let error = restored.first?.error { throw error }
            return count
        }
    }

    extension Product {
        /// Buys with the win-back offer of this id; `nil` where there is none.
        fileprivate func winBackOption(_ id: String) -> PurchaseOption? {
            guard #available(iOS 18, macOS 15, macCatalyst 18, *) else { return nil }
            return subscription?.winBackOffers.first { $0.id == id }.map { .winBackOffer($0) }
        }
    }
#endif
