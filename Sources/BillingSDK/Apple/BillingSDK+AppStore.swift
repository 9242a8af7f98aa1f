#if canImport(StoreKit)
    import Foundation
    import StoreKit

    /// How a purchase in the App Store went.
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

    extension BillingSDK {
        /// Whether this device may buy at all; false under parental controls.
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
        /// - Parameters:
        ///   - product: what to buy.
        ///   - appAccountToken: the customer's token, which the app's backend knows; it ties the
        ///     purchase to the customer at the App Store itself.
        ///   - options: further options of StoreKit.
        /// - Throws: ``BillingSDKError/unauthenticated`` before anything is bought if nobody is signed
        ///   in; StoreKit's errors.
        @MainActor
        public func purchase(
            _ product: Product,
            appAccountToken: UUID? = nil,
            options: Set<Product.PurchaseOption> = []
        ) async throws -> AppStorePurchase {
            guard try await client.session() != nil else { throw BillingSDKError.unauthenticated }
            var options = options
            if let appAccountToken { options.insert(.appAccountToken(appAccountToken)) }
            switch try await product.purchase(options: options) {
            case .success(let result):
                do {
                    return .purchased(
                        try await client.deliver(SignedTransaction(result), mode: .purchased)
                    )
                } catch {
                    return .awaitingServer(error)
                }
            case .pending: return .pending
            case .userCancelled: return .cancelled
            @unknown default: return .pending
            }
        }

        /// Buys `product` with a promotional offer, which the server signs for the customer.
        ///
        /// - Parameters:
        ///   - product: what to buy.
        ///   - offer: the offer's id in App Store Connect.
        /// - Throws: ``BillingSDKError/unauthenticated`` where nobody is signed in;
        ///   ``BillingSDKError/notFound(_:)`` or ``BillingSDKError/requestRefused(status:code:message:)``
        ///   if the server does not sign; StoreKit's errors. Nothing was bought then.
        @MainActor
        public func purchase(_ product: Product, offer: String) async throws -> AppStorePurchase {
            let answer = try await client.offerSignature(product: product.id, offer: offer)
            guard let signed = answer.promotionalOffer,
                let nonce = UUID(uuidString: signed.nonce),
                let signature = Data(base64Encoded: signed.signature),
                let timestamp = Int(exactly: signed.timestamp)
            else { throw BillingSDKError.invalidResponse("not an offer's signature") }
            return try await purchase(
                product,
                // The token is part of what was signed.
                appAccountToken: UUID(uuidString: answer.appAccountToken),
                options: [
                    .promotionalOffer(
                        offerID: signed.offerID,
                        keyID: signed.keyID,
                        nonce: nonce,
                        signature: signature,
                        timestamp: timestamp
                    )
                ]
            )
        }

        /// Buys what waits in ``purchaseInbox``, once ``PurchaseInbox/next(_:)`` says to proceed and the
        /// customer agrees.
        ///
        /// It leaves the inbox when the server has it. Where somebody has to approve first, or the server
        /// cannot be reached, it stays as under way and leaves by itself. Where the customer cancels, it
        /// stays: postpone or discard it.
        /// - Throws: ``BillingSDKError/notFound(_:)`` if the App Store does not sell it; as
        ///   ``purchase(_:appAccountToken:options:)``.
        @MainActor
        public func purchase(
            _ pending: PendingPurchase,
            appAccountToken: UUID? = nil
        ) async throws -> AppStorePurchase {
            guard let product = try await getAppStoreProducts(ids: [pending.productID]).first else {
                throw BillingSDKError.notFound("The App Store does not sell \(pending.productID).")
            }
            let outcome = try await purchase(
                product,
                appAccountToken: appAccountToken,
                options: pending.quantity > 1 ? [.quantity(pending.quantity)] : []
            )
            switch outcome {
            case .purchased: purchaseInbox.finish(pending.id)
            case .pending, .awaitingServer: purchaseInbox.setUnderWay(pending.id)
            case .cancelled: break
            }
            return outcome
        }

        /// Claims what this Apple ID has bought for the customer who is signed in.
        ///
        /// Call it only when the customer asks for it: the App Store may want their password.
        /// - Returns: how many transactions the server has taken.
        /// - Throws: ``BillingSDKError``, or StoreKit's errors; what was taken before stays taken.
        @discardableResult
        public func restoreAppStorePurchases() async throws -> Int {
            guard try await client.session() != nil else { throw BillingSDKError.unauthenticated }
            try await AppStore.sync()
            var count = 0
            for await result in StoreKit.Transaction.currentEntitlements {
                try await client.deliver(SignedTransaction(result), mode: .restored)
                count += 1
            }
            await client.deliverUnfinishedTransactions()
            return count
        }
    }
#endif
