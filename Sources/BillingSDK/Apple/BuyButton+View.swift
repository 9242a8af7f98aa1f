#if canImport(SwiftUI)
    import SwiftUI

    extension BuyButton {
        /// A button that sells this: label, price, progress and errors included.
        ///
        /// It opens the checkout page in the browser, for the customer who is signed in.
        @MainActor
        public func view() -> some View { BuyButtonView(button: self, action: nil) }

        /// The same button, which runs `action` instead of opening the checkout page.
        @MainActor
        public func view(_ action: @escaping @MainActor () -> Void) -> some View {
            BuyButtonView(button: self, action: action)
        }
    }

    /// The button as a view.
    struct BuyButtonView: View {
        enum Progress { case ready, working, failed }

        let button: BuyButton
        let action: (@MainActor () -> Void)?
        @State private var progress = Progress.ready
        @Environment(\.openURL) private var openURL
        @Environment(\.locale) private var locale

        var body: some View {
            Button(action: press) {
                HStack {
                    if progress == .working {
                        ProgressView()
                    } else {
                        Text(title)
                        if let price { Text(price) }
                    }
                }
            }
            .disabled(!canBuy || progress == .working)
            .accessibilityLabel(Text(accessibilityText))
        }

        private var canBuy: Bool { button.active && PaymentPermission.isGiven }
        private var price: String? { button.formattedPrice(locale: locale) }

        private var title: String {
            if progress == .failed { return "Try again" }
            return button.callToAction ?? button.product.name
        }

        private var accessibilityText: String {
            [title, button.product.name, price ?? ""].filter { !$0.isEmpty }.joined(separator: ", ")
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
                }
            }
        }
    }
#endif
