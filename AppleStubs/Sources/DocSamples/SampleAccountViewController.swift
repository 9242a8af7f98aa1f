#if canImport(UIKit)
    import BillingSDK
    import UIKit

    /// The account screen: leads to the customer portal.
    class SampleAccountViewController: UIViewController {
        var messages: [String] = []

        func manageSubscriptionTapped() {
            Task {
                do {
                    let portal = try await SampleBillingManager.shared.billing.getCustomerPortal()
                    portal.presentCustomerPortal(from: self)
                } catch {
                    if let billingError = error as? BillingSDKError {
                        switch billingError {
                        case .unauthenticated:
                            messages.append("Please sign in")
                        default:
                            messages.append("Try again later")
                        }
                    } else {
                        messages.append("Try again later")
                    }
                }
            }
        }

        func manageInBrowserTapped() async throws {
            let portal = try await SampleBillingManager.shared.billing.getCustomerPortal()
            portal.redirectToCustomerPortal()
        }
    }
#endif
