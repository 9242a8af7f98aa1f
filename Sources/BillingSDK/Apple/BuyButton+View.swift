#if canImport(SwiftUI)
    import SwiftUI

    extension BuyButton {
        /// A button that sells this: label, price, progress and errors included.
        ///
        /// It opens the checkout page in the browser, for the customer who is signed in. It is
        /// disabled where the device may not buy. Sizes, colours and direction follow the system.
        @MainActor
        public func view() -> some View { BuyButtonView(button: self, action: nil).id(id) }

        /// The same button, which runs `action` instead of opening the checkout page.
        @MainActor
        public func view(_ action: @escaping @MainActor () -> Void) -> some View {
            BuyButtonView(button: self, action: action).id(id)
        }
    }

    /// The button as a view.
    struct BuyButtonView: View {
        enum Progress { case ready, working, failed }

        let button: BuyButton
        let action: (@MainActor () -> Void)?
        @State private var progress = Progress.ready
        @Environment(\.dynamicTypeSize) private var typeSize
        @Environment(\.openURL) private var openURL
        @Environment(\.locale) private var locale

        var body: some View {
            VStack {
                Button(action: press) {
                    // Side by side the largest letters would break words.
                    VStack {
                        if typeSize.isAccessibilitySize {
                            VStack { label }
                        } else {
                            HStack { label }
                        }
                    }
                    .frame(minWidth: 44, minHeight: 44)
                }
                .disabled(reason != nil || progress == .working)
                .accessibilityLabel(Text(verbatim: accessibilityText))
                if let explanation {
                    Text(verbatim: explanation)
                        .font(.caption)
                        .multilineTextAlignment(.center)
                        .fixedSize(horizontal: false, vertical: true)
                }
            }
        }

        @ViewBuilder private var label: some View {
            if progress == .working {
                ProgressView()
            } else {
                Text(verbatim: title)
                if let price { Text(verbatim: price) }
            }
        }

        private var texts: Texts { Texts(locale) }
        private var price: String? { button.formattedPriceAndPeriod(locale: locale) }

        private var title: String {
            if progress == .failed { return texts[.buyButtonTryAgain] }
            return button.callToAction ?? texts[.buyButtonBuy]
        }

        /// Why it cannot be pressed.
        private var reason: Texts.Key? {
            if !button.active { return .buyButtonUnavailable }
            return PaymentPermission.isGiven ? nil : .buyButtonNotAllowed
        }

        private var explanation: String? {
            (reason ?? (progress == .failed ? .buyButtonFailed : nil)).map { texts[$0] }
        }

        private var accessibilityText: String {
            if progress == .working { return texts[.buyButtonWorking] }
            return texts(.buyButtonLabel, title, button.product.name, price ?? "")
        }

        private func press() {
            if let action { return action() }
            progress = .working
            Task {
                do {
                    openURL(try await button.checkout())
                    progress = .ready
                } catch {
                    progress = .failed
                    Announcement.post(texts[.buyButtonFailed])
                }
            }
        }
    }

    /// A buy button by its id: it loads itself, and offers another try where that fails.
    public struct LoadedBuyButton: View {
        private let id: String
        private let billing: BillingSDK

        /// The button with this id in the catalog.
        public init(id: String, billing: BillingSDK) {
            self.id = id
            self.billing = billing
        }

        /// Progress, then the button or another try.
        public var body: some View {
            // Another id is another button, which begins with progress.
            LoadingBuyButton(id: id, billing: billing).id(id)
        }
    }

    /// One button while it loads and after.
    private struct LoadingBuyButton: View {
        private enum Phase {
            case loading
            case loaded(BuyButton)
            case failed
        }

        let id: String
        let billing: BillingSDK
        @State private var phase = Phase.loading
        @State private var attempt = 0
        @Environment(\.locale) private var locale

        var body: some View {
            // A stack: a group would hand the task to each branch, which starts it anew at every change.
            VStack {
                switch phase {
                case .loading:
                    ProgressView()
                        .accessibilityLabel(Text(verbatim: texts[.buyButtonLoading]))
                case .loaded(let button): button.view()
                case .failed:
                    TryAgain(
                        explanation: texts[.buyButtonLoadFailed],
                        title: texts[.buyButtonTryAgain]
                    ) {
                        retry()
                    }
                }
            }
            .task(id: attempt) { await load() }
            #if canImport(StoreKit)
                // Another country has other buttons.
                .task { for await _ in billing.storefrontUpdates { attempt += 1 } }
            #endif
            .task {
                for await look in EntitlementListeners(client: billing.client).looks() {
                    if case .failed = phase, look == .again { retry() }
                }
            }
        }

        private var texts: Texts { Texts(locale) }

        private func retry() {
            phase = .loading
            attempt += 1
        }

        private func load() async {
            do {
                let button = try await billing.getBuyButton(id: id)
                if !Task.isCancelled { phase = .loaded(button) }
            } catch {
                // Gone from the screen: the next appearance loads again.
                if !Task.isCancelled { phase = .failed }
            }
        }
    }

    /// What went wrong, and a button to try once more.
    struct TryAgain: View {
        let explanation: String
        let title: String
        let action: @MainActor () -> Void

        var body: some View {
            VStack {
                Text(verbatim: explanation)
                    .multilineTextAlignment(.center)
                    .fixedSize(horizontal: false, vertical: true)
                Button(action: action) {
                    Text(verbatim: title).frame(minWidth: 44, minHeight: 44)
                }
            }
        }
    }
#endif
