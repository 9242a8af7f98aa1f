#if os(iOS) || BILLING_APPLE_STUBS
    import SafariServices
    import UIKit

    extension CustomerPortal {
        /// Shows the portal over `presenter`, within the app; entitlements are refreshed when it closes.
        ///
        /// May be called from any thread.
        public func presentCustomerPortal(from presenter: UIViewController) {
            Task { @MainActor in
                guard let url = URL(string: url) else { return }
                let page = SFSafariViewController(url: url)
                PortalVisit.begin(on: page, client: client)
                presenter.present(page, animated: true)
            }
        }

        /// Opens the portal in the browser; entitlements are refreshed when the app comes back.
        ///
        /// May be called from any thread.
        public func redirectToCustomerPortal() {
            Task { @MainActor in
                guard let url = URL(string: url) else { return }
                await UIApplication.shared.open(url)
            }
        }
    }

    /// Notices the end of a visit, by the button or by a swipe.
    ///
    /// It holds itself until then, since a delegate is not retained.
    @MainActor
    private final class PortalVisit: NSObject, SFSafariViewControllerDelegate,
        UIAdaptivePresentationControllerDelegate
    {
        private static var current: [ObjectIdentifier: PortalVisit] = [:]
        private let client: BillingClient

        private init(client: BillingClient) { self.client = client }

        static func begin(on page: SFSafariViewController, client: BillingClient) {
            let visit = PortalVisit(client: client)
            current[ObjectIdentifier(page)] = visit
            page.delegate = visit
            page.presentationController?.delegate = visit
        }

        func safariViewControllerDidFinish(_ controller: SFSafariViewController) {
            end(of: controller)
        }

        func presentationControllerDidDismiss(_ presentationController: UIPresentationController) {
            end(of: presentationController.presentedViewController)
        }

        private func end(of page: UIViewController) {
            guard Self.current.removeValue(forKey: ObjectIdentifier(page)) != nil else { return }
            Task { await client.refreshIfSignedIn() }
        }
    }
#elseif os(macOS)
    import AppKit

    extension CustomerPortal {
        /// Opens the portal in the browser; entitlements are refreshed when the app comes back.
        ///
        /// May be called from any thread.
        public func redirectToCustomerPortal() {
            Task { @MainActor in
                guard let url = URL(string: url) else { return }
                NSWorkspace.shared.open(url)
            }
        }
    }
#endif
