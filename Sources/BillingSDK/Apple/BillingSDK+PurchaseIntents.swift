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
                    origin: .purchaseIntent,
                    offer: intent.winBackOfferID
                )
            }
        }
    }

    @available(iOS 16.4, macOS 14.4, *)
    extension PurchaseIntent {
        /// The win-back offer that the customer redeems outside of the app.
        ///
        /// <https://developer.apple.com/documentation/storekit/purchaseintent/offer>
        fileprivate var winBackOfferID: String? {
            guard #available(iOS 18, macOS 15, macCatalyst 18, *), offer?.type == .winBack else {
                return nil
            }
            return offer?.id
        }
    }
#endif
