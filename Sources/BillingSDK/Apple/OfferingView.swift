#if canImport(SwiftUI) && canImport(StoreKit)
    import StoreKit
    import SwiftUI

    /// An offering of the catalog with everything that App Review asks for where subscriptions are sold: each
    /// product with its price and period, what follows an offer, restoring, terms and privacy.
    ///
    /// It loads itself, and offers another try where that fails. Put it into a `ScrollView`. Where it shows
    /// a placement, what the customer saw is recorded for your reports.
    /// <https://developer.apple.com/app-store/review/guidelines/#3.1.2>
    public struct OfferingView: View {
        private let source: OfferingSource
        private let billing: BillingSDK
        private let terms: URL
        private let privacy: URL
        private let theme: OfferingTheme
        private let onPurchase: (@MainActor () -> Void)?

        /// The customer's offering at a place of the app.
        ///
        /// - Parameters:
        ///   - placement: the placement's id in the catalog.
        ///   - billing: your SDK.
        ///   - terms: your terms of use.
        ///   - privacy: your privacy policy.
        ///   - theme: colours and fonts.
        ///   - onPurchase: called when something was bought and the server has it.
        public init(
            placement: String,
            billing: BillingSDK,
            terms: URL,
            privacy: URL,
            theme: OfferingTheme = OfferingTheme(),
            onPurchase: (@MainActor () -> Void)? = nil
        ) {
            source = .placement(placement)
            self.billing = billing
            self.terms = terms
            self.privacy = privacy
            self.theme = theme
            self.onPurchase = onPurchase
        }

        /// The offering with this id in the catalog.
        public init(
            offering: String,
            billing: BillingSDK,
            terms: URL,
            privacy: URL,
            theme: OfferingTheme = OfferingTheme(),
            onPurchase: (@MainActor () -> Void)? = nil
        ) {
            source = .offering(offering)
            self.billing = billing
            self.terms = terms
            self.privacy = privacy
            self.theme = theme
            self.onPurchase = onPurchase
        }

        /// Progress, then the offering or another try.
        public var body: some View {
            LoadingOfferingView(
                source: source,
                billing: billing,
                terms: terms,
                privacy: privacy,
                theme: theme,
                onPurchase: onPurchase
            )
            // Another placement is another view, which begins with progress.
            .id(source)
        }
    }

    /// Which offering is shown.
    private enum OfferingSource: Hashable {
        case offering(String)
        case placement(String)
    }

    /// One offering while it loads and after.
    private struct LoadingOfferingView: View {
        private enum Phase {
            case loading
            case loaded(Offering, [OfferedAppStoreProduct])
            case failed
        }

        let source: OfferingSource
        let billing: BillingSDK
        let terms: URL
        let privacy: URL
        let theme: OfferingTheme
        let onPurchase: (@MainActor () -> Void)?
        @State private var phase = Phase.loading
        @State private var attempt = 0
        @Environment(\.locale) private var locale

        var body: some View {
            VStack {
                switch phase {
                case .loading:
                    ProgressView()
                        .accessibilityLabel(Text(verbatim: texts[.buyButtonLoading]))
                case .loaded(let offering, let products):
                    LoadedOfferingView(
                        offering: offering,
                        products: products,
                        billing: billing,
                        terms: terms,
                        privacy: privacy,
                        theme: theme,
                        onPurchase: onPurchase
                    )
                case .failed:
                    TryAgain(
                        explanation: texts[.buyButtonLoadFailed],
                        title: texts[.buyButtonTryAgain]
                    ) {
                        phase = .loading
                        attempt += 1
                    }
                }
            }
            .task(id: attempt) { await load() }
            // Another country has other prices.
            .task { for await _ in billing.storefrontUpdates { attempt += 1 } }
            // Another customer may see another variant.
            .task {
                for await look in EntitlementListeners(client: billing.client).looks() {
                    if look == .customerLeft { phase = .loading }
                    attempt += 1
                }
            }
        }

        private var texts: Texts { Texts(locale) }

        private func load() async {
            let stay = billing.client.stay
            do {
                let (offering, placement) = try await find()
                let products = try await billing.getAppStoreProducts(of: offering)
                // Somebody else signed in meanwhile, whose own load may be done already.
                guard !Task.isCancelled, stay == billing.client.stay else { return }
                guard !products.isEmpty else {
                    return phase = .failed
                }
                phase = .loaded(offering, products)
                // That nobody is signed in, or the server is away, is no reason to sell nothing.
                if let placement { try? await billing.recordShown(placement) }
            } catch {
                // Gone from the screen: the next appearance loads again.
                if !Task.isCancelled { phase = .failed }
            }
        }

        private func find() async throws -> (Offering, Placement?) {
            switch source {
            case .placement(let id):
                let placement = try await billing.getPlacement(id: id)
                return (placement.offering, placement)
            case .offering(let id):
                guard let found = try await billing.getOfferings().first(where: { $0.id == id })
                else { throw BillingSDKError.notFound("The catalog has no offering \(id).") }
                return (found, nil)
            }
        }
    }

    /// The offering as it is shown.
    struct LoadedOfferingView: View {
        let offering: Offering
        let products: [OfferedAppStoreProduct]
        let billing: BillingSDK
        let terms: URL
        let privacy: URL
        let theme: OfferingTheme
        let onPurchase: (@MainActor () -> Void)?
        /// What is being bought, or restored.
        @State private var working: String?
        @State private var message: Texts.Key?
        /// What was charged and then refused for good, which nobody is to pay for again.
        @State private var refused: Set<String> = []
        @Environment(\.openURL) private var openURL
        @Environment(\.locale) private var locale

        var body: some View {
            VStack {
                if let text = offering.text(locale: locale) {
                    paragraph(text.title, theme.titleFont)
                    if let body = text.body { paragraph(body, .body) }
                }
                ForEach(products) { product in
                    OfferedProductButton(
                        product: product,
                        theme: theme,
                        isWorking: working == product.id,
                        isDisabled: working != nil || !PaymentPermission.isGiven
                            || refused.contains(product.id)
                    ) {
                        buy(product)
                    }
                }
                if let shown = message ?? (PaymentPermission.isGiven ? nil : .buyButtonNotAllowed) {
                    paragraph(texts[shown], .body)
                }
                if products.contains(where: { $0.product.subscription != nil }) {
                    paragraph(texts[.offeringRenews], theme.captionFont)
                }
                footer
            }
        }

        private var footer: some View {
            VStack {
                link(.offeringRestore) { restore() }
                    .disabled(working != nil)
                link(.offeringTerms) { openURL(terms) }
                link(.offeringPrivacy) { openURL(privacy) }
            }
        }

        private func paragraph(_ text: String, _ font: Font) -> some View {
            Text(verbatim: text)
                .font(font)
                .multilineTextAlignment(.center)
                .fixedSize(horizontal: false, vertical: true)
        }

        private func link(
            _ key: Texts.Key,
            action: @escaping @MainActor () -> Void
        ) -> some View {
            Button(action: action) {
                Text(verbatim: texts[key])
                    .font(theme.captionFont)
                    .foregroundColor(theme.tint)
                    .frame(minWidth: 44, minHeight: 44)
            }
        }

        private var texts: Texts { Texts(locale) }

        private func say(_ key: Texts.Key?) {
            message = key
            if let key { Announcement.post(texts[key]) }
        }

        private func buy(_ product: OfferedAppStoreProduct) {
            working = product.id
            message = nil
            Task {
                defer { working = nil }
                do {
                    switch try await billing.charge(product) {
                    case .went(.purchased):
                        say(.offeringPurchased)
                        onPurchase?()
                    case .went(.awaitingServer(BillingSDKError.unauthenticated)):
                        say(.portalSignIn)
                    case .went(.awaitingServer): say(.offeringAwaitingServer)
                    case .went(.pending): say(.offeringPending)
                    case .went(.cancelled): say(nil)
                    case .refused:
                        refused.insert(product.id)
                        say(.offeringRefused)
                    }
                } catch BillingSDKError.unauthenticated {
                    say(.portalSignIn)
                } catch BillingSDKError.requestRefused(_, "already_active", _) {
                    say(.offeringAlreadyActive)
                } catch {
                    say(.offeringFailed)
                }
            }
        }

        private func restore() {
            working = "restore"
            message = nil
            Task {
                defer { working = nil }
                do {
                    let restored = try await billing.restorePurchases()
                    let key: Texts.Key =
                        restored.isEmpty
                        ? .offeringNothingToRestore
                        : restored.contains(where: \.isTaken)
                            ? .offeringRestored : .offeringRestoreFailed
                    say(key)
                    if key == .offeringRestored { onPurchase?() }
                } catch BillingSDKError.unauthenticated {
                    say(.portalSignIn)
                } catch {
                    say(.offeringRestoreFailed)
                }
            }
        }
    }

    /// A product that can be bought, with its price, period and offer.
    private struct OfferedProductButton: View {
        let product: OfferedAppStoreProduct
        let theme: OfferingTheme
        let isWorking: Bool
        let isDisabled: Bool
        let action: @MainActor () -> Void
        @Environment(\.locale) private var locale

        var body: some View {
            Button(action: action) {
                VStack {
                    if isWorking {
                        ProgressView()
                    } else {
                        Text(verbatim: product.product.displayName).font(theme.productFont)
                        Text(verbatim: price)
                    }
                }
                .multilineTextAlignment(.center)
                .fixedSize(horizontal: false, vertical: true)
                .foregroundColor(theme.tint)
                .frame(minWidth: 44, minHeight: 44)
                .padding(.all, nil)
                .background(theme.productBackground ?? Color.clear)
                .cornerRadius(theme.cornerRadius)
            }
            .disabled(isDisabled)
            .accessibilityLabel(Text(verbatim: spoken))
        }

        /// What is paid at first and then, or the price with its period.
        private var price: String {
            product.formattedOffer(locale: locale)
                ?? product.formattedPriceAndPeriod(locale: locale)
        }

        private var spoken: String {
            let texts = Texts(locale)
            if isWorking { return texts[.offeringWorking] }
            return texts(.offeringProduct, product.product.displayName, price)
        }
    }
#endif
