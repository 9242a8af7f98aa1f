import BillingSDK
import Foundation

/// The app's own type of a name that the SDK has too; `BillingSDK.BuyButton` tells them apart.
struct BuyButton {
    var data: BillingSDK.BuyButton
}

@main
struct ConsumerApp {
    static func main() async throws {
        let billing = BillingSDK(
            configuration: .init(
                publishableKey: "pk_test_consumer",
                maximumStaleEntitlementsDuration: 300
            )
        )
        billing.setCustomerSessionProvider { nil }
        let entitlements = try await billing.getActiveEntitlements()
        print("signed out, entitlements: \(entitlements.count)")
    }
}
