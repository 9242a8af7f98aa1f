#if canImport(SwiftUI)
    import SwiftUI

    /// What the customer has bought in any store: each plan with its next charge or end, a payment that failed,
    /// and a button that leads to where it is managed.
    ///
    /// It loads itself, and again after each change of the entitlements. It is emptied as soon as the
    /// customer leaves.
    public struct CustomerPurchasesView: View {
        private enum Phase {
            case loading
            case loaded([CustomerPurchase])
            case failed(Texts.Key)
        }

        private let billing: BillingSDK
        @State private var phase = Phase.loading
        @State private var attempt = 0
        @Environment(\.locale) private var locale

        /// A list of what the customer who is signed in has bought.
        public init(billing: BillingSDK) { self.billing = billing }

        /// Progress, then the purchases or another try.
        public var body: some View {
            VStack {
                switch phase {
                case .loading:
                    ProgressView()
                        .accessibilityLabel(Text(verbatim: texts[.purchaseLoading]))
                case .loaded(let purchases):
                    if purchases.isEmpty {
                        Text(verbatim: texts[.purchaseNone])
                            .multilineTextAlignment(.center)
                            .fixedSize(horizontal: false, vertical: true)
                    }
                    ForEach(purchases) { CustomerPurchaseRow(purchase: $0, billing: billing) }
                case .failed(let reason):
                    TryAgain(explanation: texts[reason], title: texts[.buyButtonTryAgain]) {
                        phase = .loading
                        attempt += 1
                    }
                }
            }
            .task(id: attempt) { await load() }
            .task { for await _ in billing.entitlementUpdates { attempt += 1 } }
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
                let purchases = try await billing.getPurchases()
                // Of a customer who has left meanwhile nothing is shown.
                if !Task.isCancelled, stay == billing.client.stay { phase = .loaded(purchases) }
            } catch BillingSDKError.unauthenticated {
                if !Task.isCancelled { phase = .failed(.portalSignIn) }
            } catch {
                // Gone from the screen: the next appearance loads again.
                if !Task.isCancelled { phase = .failed(.purchaseLoadFailed) }
            }
        }
    }

    /// One purchase.
    private struct CustomerPurchaseRow: View {
        let purchase: CustomerPurchase
        let billing: BillingSDK
        @State private var isFailed = false
        @Environment(\.openURL) private var openURL
        @Environment(\.locale) private var locale

        var body: some View {
            VStack {
                Text(verbatim: purchase.name)
                    .font(.headline)
                    .fixedSize(horizontal: false, vertical: true)
                Text(
                    verbatim: isFailed
                        ? texts[.portalFailed] : purchase.formattedStatus(locale: locale)
                )
                .multilineTextAlignment(.center)
                .fixedSize(horizontal: false, vertical: true)
                if purchase.kind == .plan, purchase.status != .ended {
                    Button(action: manage) {
                        Text(
                            verbatim: texts[
                                purchase.hasPaymentProblem ? .problemMend : .purchaseManage
                            ]
                        )
                        .frame(minWidth: 44, minHeight: 44)
                    }
                    .accessibilityHint(Text(verbatim: purchase.name))
                }
            }
        }

        private var texts: Texts { Texts(locale) }

        private func manage() {
            if let page = purchase.managementURL { return openURL(page) }
            Task {
                do {
                    let portal = try await billing.getCustomerPortal()
                    if let page = URL(string: portal.url) { openURL(page) }
                    isFailed = false
                } catch {
                    isFailed = true
                    Announcement.post(texts[.portalFailed])
                }
            }
        }
    }
#endif
