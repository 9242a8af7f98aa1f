#if canImport(SwiftUI)
    import SwiftUI

    /// A banner that is there while a payment of the customer's fails, with a button that leads to where
    /// it is mended: the store's page, or the customer portal.
    ///
    /// Without a payment problem it takes no room.
    public struct PaymentProblemBanner: View {
        private let billing: BillingSDK
        @State private var problem: Entitlement?
        @State private var attempt = 0
        @State private var isFailed = false
        @Environment(\.openURL) private var openURL
        @Environment(\.locale) private var locale

        /// A banner about the purchases of the customer who is signed in.
        public init(billing: BillingSDK) { self.billing = billing }

        /// The problem and a button, or nothing.
        public var body: some View {
            // A stack, so that it listens while there is nothing to be seen.
            VStack {
                if let problem {
                    Text(verbatim: texts[.problemTitle])
                        .font(.headline)
                        .multilineTextAlignment(.center)
                        .fixedSize(horizontal: false, vertical: true)
                    Text(verbatim: texts[isFailed ? .portalFailed : .problemExplanation])
                        .multilineTextAlignment(.center)
                        .fixedSize(horizontal: false, vertical: true)
                    Button(action: { mend(problem) }) {
                        Text(verbatim: texts[.problemMend]).frame(minWidth: 44, minHeight: 44)
                    }
                } else {
                    Color.clear.frame(width: 0, height: 0)
                }
            }
            .task(id: attempt) { await follow() }
            .task {
                for await look in EntitlementListeners(client: billing.client).looks() {
                    if look == .customerLeft { problem = nil }
                    attempt += 1
                }
            }
        }

        private var texts: Texts { Texts(locale) }

        private func follow() async {
            // Listen before asking, so that no change falls between.
            let updates = billing.entitlementUpdates
            let stay = billing.client.stay
            let entitlements = (try? await billing.getActiveEntitlements()) ?? []
            guard !Task.isCancelled, stay == billing.client.stay else { return }
            show(entitlements)
            for await entitlements in updates {
                // Of a customer who has left; this banner asks anew.
                guard stay == billing.client.stay else { return }
                show(entitlements)
            }
        }

        private func show(_ entitlements: [Entitlement]) {
            let isNew = problem == nil
            problem = entitlements.first { $0.hasPaymentProblem }
            if isNew, problem != nil { Announcement.post(texts[.problemTitle]) }
            if problem == nil { isFailed = false }
        }

        private func mend(_ problem: Entitlement) {
            if let page = problem.store?.managementURL { return openURL(page) }
            Task {
                do {
                    let portal = try await billing.getCustomerPortal()
                    if let page = URL(string: portal.url) { openURL(page) }
                    isFailed = false
                } catch {
                    isFailed = true
                }
            }
        }
    }
#endif
