#if os(iOS) || BILLING_APPLE_STUBS
    import BillingSDK
    import StoreKit

    /// Holds purchases that were begun on the App Store's page until the app is ready for them.
    final class SamplePromotedPurchaseObserver: NSObject, SKPaymentTransactionObserver {
        private(set) var held: [SKPayment] = []
        var isReady = false

        func paymentQueue(
            _ queue: SKPaymentQueue,
            shouldAddStorePayment payment: SKPayment,
            for product: SKProduct
        ) -> Bool {
            if isReady { return true }
            held.append(payment)
            return false
        }

        func paymentQueue(
            _ queue: SKPaymentQueue,
            updatedTransactions transactions: [SKPaymentTransaction]
        ) {
            // BillingSDK takes transactions to the server by itself.
        }

        func becomeReady() {
            isReady = true
            for payment in held { SKPaymentQueue.default().add(payment) }
            held = []
        }
    }

    extension SampleBillingManager {
        /// Buys with StoreKit 2; the server has it before the transaction is finished.
        @MainActor
        func buy(productID: String) async throws -> Bool {
            guard let product = try await billing.getAppStoreProducts(ids: [productID]).first else {
                return false
            }
            switch try await billing.purchase(product) {
            case .purchased: return true
            case .awaitingServer, .pending, .cancelled: return false
            }
        }
    }
#endif
