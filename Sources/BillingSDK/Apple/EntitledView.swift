#if canImport(SwiftUI)
    import SwiftUI

    extension View {
        /// Shows this view only to a customer who may use `lookupKey`, and `locked` to others.
        ///
        /// What is known already is shown at once; the view follows every change while it is on the
        /// screen, and asks anew as soon as the customer leaves. Where there is no answer that can be trusted, it says so and offers another try.
        /// It hides, it does not protect: what matters is checked by the app's backend too.
        /// - Parameters:
        ///   - lookupKey: the entitlement's key in the catalog.
        ///   - billing: the app's SDK.
        ///   - locked: what the others see, such as a buy button; several views lie below each other.
        @MainActor
        public func entitled<Locked: View>(
            to lookupKey: String,
            by billing: BillingSDK,
            @ViewBuilder otherwise locked: () -> Locked
        ) -> some View {
            EntitledView(
                content: self,
                locked: locked(),
                lookupKey: lookupKey,
                billing: billing
            )
            // Another key is another gate, which knows nothing of the first.
            .id(lookupKey)
        }

        /// Shows this view only to a customer who may use `lookupKey`, and nothing to others.
        @MainActor
        public func entitled(to lookupKey: String, by billing: BillingSDK) -> some View {
            // Not an empty view, whose task SwiftUI never starts: it would not hear of a purchase.
            entitled(to: lookupKey, by: billing) { Color.clear.frame(width: 0, height: 0) }
        }
    }

    /// A view behind an entitlement.
    struct EntitledView<Content: View, Locked: View>: View {
        enum Access { case checking, granted, refused, unknown }

        let content: Content
        let locked: Locked
        let lookupKey: String
        let billing: BillingSDK
        @State private var access = Access.checking
        @State private var attempt = 0
        @Environment(\.locale) private var locale

        var body: some View {
            // A stack: a group would hand the task to each branch, which starts it anew at every change.
            VStack {
                switch shown {
                case .granted: content
                case .refused: locked
                case .checking:
                    ProgressView().accessibilityLabel(Text(verbatim: texts[.gateChecking]))
                case .unknown:
                    TryAgain(
                        explanation: texts[.gateFailed],
                        title: texts[.buyButtonTryAgain]
                    ) {
                        access = .checking
                        attempt += 1
                    }
                }
            }
            .task(id: attempt) { await follow() }
            .task {
                for await look in EntitlementListeners(client: billing.client).looks() {
                    // What one customer may see is not shown to the next one.
                    if look == .customerLeft { access = .checking }
                    attempt += 1
                }
            }
        }

        private var texts: Texts { Texts(locale) }

        /// What the cache knows is there in the first frame.
        private var shown: Access {
            guard access == .checking else { return access }
            return billing.client.cachedAnswer(lookupKey: lookupKey).map {
                $0 ? .granted : .refused
            }
                ?? .checking
        }

        private func follow() async {
            // Listen before asking, so that no change falls between.
            let updates = billing.entitlementUpdates
            let stay = billing.client.stay
            do {
                let isEntitled = try await billing.hasEntitlement(lookupKey: lookupKey)
                guard !Task.isCancelled, stay == billing.client.stay else { return }
                access = isEntitled ? .granted : .refused
            } catch {
                if !Task.isCancelled { access = .unknown }
            }
            for await entitlements in updates {
                // Of a customer who has left; this view asks anew.
                guard stay == billing.client.stay else { return }
                let isEntitled = entitlements.contains { $0.lookupKey == lookupKey }
                access = isEntitled ? .granted : .refused
            }
        }
    }
#endif
