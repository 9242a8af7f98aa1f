#if canImport(StoreKit)
    import Foundation
    import StoreKit

    @available(iOS 16.4, macOS 14.4, *)
    extension BillingSDK {
        /// Puts purchases that are begun on the app's page in the App Store into ``purchaseInbox``.
        ///
        /// Runs until its task is cancelled; start it at launch. Use either this or StoreKit 1's
        /// `shouldAddStorePayment`, never both.
        public func receivePurchaseIntents() async {
            for await intent in PurchaseIntent.intents {
                let kind: PendingPurchase.Kind =
                    intent.product.type == .autoRenewable ? .subscription : .oneOff
                purchaseInbox.add(
                    productID: intent.product.id,
                    kind: kind,
                    origin: .purchaseIntent
                )
            }
        }
    }
#endif
