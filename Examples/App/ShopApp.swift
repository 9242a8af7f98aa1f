#if !BILLING_APPLE_STUBS
    import BillingSDK
    import SwiftUI

    #if os(iOS)
        import StoreKit
    #endif

    @main
    struct ShopApp: App {
        @StateObject private var shop = Shop(
            configuration: BillingSDK.Configuration(
                publishableKey: "pk_test_demo",
                maximumStaleEntitlementsDuration: 300
            ),
            backend: Backend(url: ShopApp.backend),
            signIns: Keychain(service: "com.example.shop.sign-in")
        )
        #if os(iOS)
            @State private var promoted: PromotedPurchases?
        #endif

        /// Where `Examples/Backend` listens on this machine.
        private static let backend =
            URL(string: "http://127.0.0.1:4242") ?? URL(fileURLWithPath: "/")

        var body: some Scene {
            WindowGroup {
                ContentView(shop: shop).task { observePromotedPurchases() }
            }
        }

        @MainActor
        private func observePromotedPurchases() {
            #if os(iOS)
                guard promoted == nil else { return }
                let observer = PromotedPurchases(inbox: shop.billing.purchaseInbox)
                promoted = observer
                SKPaymentQueue.default().add(observer)
            #endif
        }
    }
#endif
