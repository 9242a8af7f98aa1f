#if os(iOS) || BILLING_APPLE_STUBS
    import SafariServices
    import SwiftUI
    import UIKit

    extension View {
        /// Shows the customer portal in a sheet while `isPresented` is true.
        ///
        /// It gets a fresh link each time, says what is wrong where it gets none, and refreshes the
        /// entitlements when it closes.
        @MainActor
        public func customerPortal(
            isPresented: Binding<Bool>,
            billing: BillingSDK
        ) -> some View {
            sheet(
                isPresented: isPresented,
                onDismiss: { Task { await billing.client.refreshIfSignedIn() } },
                content: { PortalSheet(billing: billing) { isPresented.wrappedValue = false } }
            )
        }
    }

    /// What is in the sheet: progress, then the page, or what is wrong.
    struct PortalSheet: View {
        private enum Phase {
            case loading
            case loaded(URL)
            case failed(Texts.Key)
        }

        let billing: BillingSDK
        let close: @MainActor () -> Void
        @State private var phase = Phase.loading
        @State private var attempt = 0
        @Environment(\.locale) private var locale

        init(billing: BillingSDK, close: @escaping @MainActor () -> Void) {
            self.billing = billing
            self.close = close
        }

        var body: some View {
            // A stack: a group would hand the task to each branch, which starts it anew at every change.
            VStack {
                switch phase {
                case .loading:
                    ProgressView().accessibilityLabel(Text(verbatim: texts[.portalLoading]))
                case .loaded(let url): SafariPage(url: url, close: close).ignoresSafeArea()
                case .failed(let reason):
                    VStack {
                        TryAgain(
                            explanation: texts[reason],
                            title: texts[.buyButtonTryAgain]
                        ) {
                            retry()
                        }
                        Button(action: close) {
                            Text(verbatim: texts[.portalClose])
                                .frame(minWidth: 44, minHeight: 44)
                        }
                    }
                    .padding()
                }
            }
            .task(id: attempt) { await load() }
            .task {
                for await look in EntitlementListeners(client: billing.client).looks() {
                    switch phase {
                    case .failed: retry()
                    case .loading, .loaded: if look == .customerLeft { retry() }
                    }
                }
            }
        }

        private var texts: Texts { Texts(locale) }

        private func retry() {
            phase = .loading
            attempt += 1
        }

        private func load() async {
            let stay = billing.client.stay
            do {
                let portal = try await billing.getCustomerPortal()
                guard !Task.isCancelled, stay == billing.client.stay else { return }
                guard let url = URL(string: portal.url) else {
                    phase = .failed(.portalFailed)
                    return
                }
                phase = .loaded(url)
            } catch BillingSDKError.unauthenticated {
                if !Task.isCancelled { phase = .failed(.portalSignIn) }
            } catch {
                if !Task.isCancelled { phase = .failed(.portalFailed) }
            }
        }
    }

    /// The portal's page within the app.
    struct SafariPage: UIViewControllerRepresentable {
        let url: URL
        let close: @MainActor () -> Void

        func makeCoordinator() -> PageDelegate { PageDelegate(close: close) }

        func makeUIViewController(context: Context) -> SFSafariViewController {
            let page = SFSafariViewController(url: url)
            page.delegate = context.coordinator
            return page
        }

        func updateUIViewController(_ page: SFSafariViewController, context: Context) {}
    }

    /// Closes the sheet when the page's own button is pressed; SwiftUI holds it as long as the page.
    @MainActor
    final class PageDelegate: NSObject, SFSafariViewControllerDelegate {
        private let close: @MainActor () -> Void

        init(close: @escaping @MainActor () -> Void) { self.close = close }

        func safariViewControllerDidFinish(_ controller: SFSafariViewController) {
            close()
        }
    }
#endif
