#if os(iOS) || BILLING_APPLE_STUBS
    import BillingSDK
    import StoreKit

    /// Hands purchases that begin in the App Store to the SDK's inbox, on iOS 15.
    ///
    /// From iOS 16.4 on an app may use `receivePurchaseIntents()` instead; never both.
    final class PromotedPurchases: NSObject, SKPaymentTransactionObserver {
        private let holder: PromotingPurchasePaymentHolder

        init(inbox: PurchaseInbox) { holder = PromotingPurchasePaymentHolder(inbox: inbox) }

        /// False: not now.
        ///
        /// The payment is held, and the inbox remembers it over a relaunch.
        func paymentQueue(
            _ queue: SKPaymentQueue,
            shouldAddStorePayment payment: SKPayment,
            for product: SKProduct
        ) -> Bool {
            holder.add(PromotingPurchasePayment(product: product, payment: payment))
            return false
        }

        func paymentQueue(
            _ queue: SKPaymentQueue,
            updatedTransactions transactions: [SKPaymentTransaction]
        ) {
            // BillingSDK takes transactions to the server and finishes them.
        }
    }
#endif
