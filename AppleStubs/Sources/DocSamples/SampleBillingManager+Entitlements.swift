import BillingSDK
import Foundation

extension SampleBillingManager {
    func setupEntitlementListener() {
        billing.onEntitlementsChanged { entitlements in
            // On no particular thread, so over to the main one.
            DispatchQueue.main.async {
                self.show(entitlements)
            }
        }
    }

    func mayUsePremium() async -> Bool {
        do {
            return try await billing.hasEntitlement(lookupKey: "premium")
        } catch {
            print("No answer: \(error)")
            return false
        }
    }

    func reloadFeatures() async throws -> [String] {
        let entitlements = try await billing.getActiveEntitlements(forceRefresh: true)
        return entitlements.map { $0.lookupKey }
    }
}
