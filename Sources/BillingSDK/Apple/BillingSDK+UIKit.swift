#if os(iOS) || BILLING_APPLE_STUBS
    import Foundation
    import SwiftUI
    import UIKit

    extension BillingSDK {
        /// ``OfferingView`` for a placement as a view controller, which scrolls; for apps in UIKit.
        ///
        /// Present it, or push it.
        /// - Parameters:
        ///   - placement: the placement's id in the catalog.
        ///   - terms: your terms of use.
        ///   - privacy: your privacy policy.
        ///   - theme: colours and fonts.
        ///   - onPurchase: called when something was bought and the server has it; dismiss it then.
        @MainActor
        public func makeOfferingViewController(
            placement: String,
            terms: URL,
            privacy: URL,
            theme: OfferingTheme = OfferingTheme(),
            onPurchase: (@MainActor () -> Void)? = nil
        ) -> UIViewController {
            UIHostingController(
                rootView: ScrollView {
                    OfferingView(
                        placement: placement,
                        billing: self,
                        terms: terms,
                        privacy: privacy,
                        theme: theme,
                        onPurchase: onPurchase
                    )
                }
            )
        }

        /// ``CustomerPurchasesView`` as a view controller, which scrolls; for apps in UIKit.
        @MainActor
        public func makePurchasesViewController() -> UIViewController {
            UIHostingController(rootView: ScrollView { CustomerPurchasesView(billing: self) })
        }
    }
#endif
