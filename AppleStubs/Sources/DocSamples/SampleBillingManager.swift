import BillingSDK
import Foundation

/// One place in the app that owns the SDK.
class SampleBillingManager {
    static let shared = SampleBillingManager()

    let billing: BillingSDK
    var authToken = UserDefaults.standard.string(forKey: "auth_token") ?? ""
    private(set) var features: Set<String> = []

    private init() {
        let configuration = BillingSDK.Configuration(
            publishableKey: "pk_test_sample",
            maximumStaleEntitlementsDuration: TimeInterval(60 * 5)
        )
        billing = BillingSDK(configuration: configuration)
        setupCustomerSessionProvider()
        setupEntitlementListener()
    }

    func show(_ entitlements: [Entitlement]) {
        features = Set(entitlements.map { $0.lookupKey })
    }
}
