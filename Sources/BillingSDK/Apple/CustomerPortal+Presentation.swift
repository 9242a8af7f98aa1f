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
    /// It is held until then, since a delegate is not retained, and at most as long as its page: one that
    /// the app dismisses itself tells nobody, and its visit goes when the next begins.
    @MainActor
    private final class PortalVisit: NSObject, SFSafariViewControllerDelegate,
        UIAdaptivePresentationControllerDelegate
    {
        private static var current: [ObjectIdentifier: PortalVisit] = [:]
        private weak var page: SFSafariViewController?
        private let client: BillingClient

        private init(client: BillingClient) { self.client = client }

        static func begin(on page: SFSafariViewController, client: BillingClient) {
            current = current.filter { $0.value.page != nil }
            let visit = PortalVisit(client: client)
            visit.page = page
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
