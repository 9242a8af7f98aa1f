// `@objcMembers` leaves out what Objective-C cannot say, without a word: ObjectiveCTests holds every public
// declaration of this folder to types that it can. Linux has no Objective-C and tests the same code.
#if canImport(ObjectiveC) || BILLING_APPLE_STUBS
    import Foundation
    #if canImport(UIKit)
        import UIKit
    #endif

    /// ``BillingSDK/BillingSDK`` for Objective-C.
    ///
    /// Make one, keep it as long as the app runs, and ask it. Methods may be called from any thread unless they
    /// say otherwise; every completion handler runs once, on the main thread. An error is of
    /// ``errorDomain`` with a ``TGBillingErrorCode``, or StoreKit's own.
    ///
    /// Everything else is for Swift: a file of Swift in the app reaches it by ``sdk``.
    #if canImport(ObjectiveC)
        @objc(TGBilling)
        @objcMembers
    #endif
    public final class TGBilling: NSObject, Sendable {
        /// The same SDK for the app's Swift code; not visible in Objective-C.
        public let sdk: BillingSDK
        private let changes = Locked<Task<Void, Never>?>(nil)

        /// Posted on the main thread each time that the set of entitlements changes; its object is the
        /// `TGBilling`, and ``entitlementsKey`` leads to the new set.
        public static let entitlementsDidChangeNotification = Notification.Name(
            "TGBillingEntitlementsDidChangeNotification"
        )
        /// The key in the notification's `userInfo`: an array of ``TGBillingEntitlement``.
        public static let entitlementsKey = "TGBillingEntitlements"

        /// Wraps an SDK that the app's Swift code has made; not visible in Objective-C.
        public init(sdk: BillingSDK) {
            self.sdk = sdk
            super.init()
            let updates = sdk.entitlementUpdates
            let name = Self.entitlementsDidChangeNotification
            let key = Self.entitlementsKey
            changes.withLock { task in
                task = Task { @MainActor [weak self] in
                    for await entitlements in updates {
                        guard let self else { return }
                        NotificationCenter.default.post(
                            name: name,
                            object: self,
                            userInfo: [key: entitlements.map { TGBillingEntitlement($0) }]
                        )
                    }
                }
            }
        }

        deinit { changes.withLock { $0?.cancel() } }

        /// An SDK with the defaults of ``BillingSDK/BillingSDK/Configuration``.
        ///
        /// - Parameters:
        ///   - publishableKey: `pk_test_…` or `pk_live_…`.
        ///   - serverURL: where Tollgate runs; `nil`: `BillingSDKServerURL` in Info.plist.
        public convenience init(publishableKey: String, serverURL: URL?) {
            self.init(
                sdk: BillingSDK(
                    configuration: .init(publishableKey: publishableKey, serverURL: serverURL)
                )
            )
        }

        /// An SDK for an app that finishes transactions itself, or keeps answers for another time.
        ///
        /// - Parameters:
        ///   - publishableKey: `pk_test_…` or `pk_live_…`.
        ///   - serverURL: where Tollgate runs; `nil`: `BillingSDKServerURL` in Info.plist.
        ///   - maximumStaleEntitlementsDuration: how old a cached answer may be, in seconds.
        ///   - handlesAppStoreTransactions: false while the app has StoreKit code that finishes transactions.
        public convenience init(
            publishableKey: String,
            serverURL: URL?,
            maximumStaleEntitlementsDuration: TimeInterval,
            handlesAppStoreTransactions: Bool
        ) {
            var configuration = BillingSDK.Configuration(
                publishableKey: publishableKey,
                maximumStaleEntitlementsDuration: maximumStaleEntitlementsDuration,
                serverURL: serverURL
            )
            configuration.handlesAppStoreTransactions = handlesAppStoreTransactions
            self.init(sdk: BillingSDK(configuration: configuration))
        }

        /// Waits for `body` and calls `completion` on the main thread.
        private func answer<Value: Sendable>(
            _ body: @escaping @Sendable () async throws -> Value,
            _ completion: @escaping @MainActor @Sendable (Value?, (any Error)?) -> Void
        ) {
            Task { @MainActor in
                do {
                    completion(try await body(), nil)
                } catch {
                    completion(nil, Self.error(error))
                }
            }
        }
    }

    // MARK: - The customer

    extension TGBilling {
        /// Sets how to get a session for the customer who is signed in to the app.
        ///
        /// The block asks the app's own backend and calls what it is given once: with a session, with `nil`
        /// and `nil` where nobody is signed in, or with an error where the backend cannot be reached: until
        /// then everything that needs the session waits. It is called on no particular thread, and not again
        /// before it has answered or the customer has changed. See
        /// ``BillingSDK/BillingSDK/setCustomerSessionProvider(_:)``.
        public func setCustomerSessionProvider(
            _ provider:
                @escaping @Sendable (
                    @escaping @Sendable (TGBillingCustomerSession?, (any Error)?) -> Void
                ) -> Void
        ) {
            sdk.setCustomerSessionProvider {
                let answer = SessionAnswer()
                return try await withTaskCancellationHandler {
                    try await withCheckedThrowingContinuation { continuation in
                        answer.wait(continuation)
                        provider { session, error in
                            answer.give(error.map { .failure($0) } ?? .success(session?.details))
                        }
                    }
                } onCancel: {
                    answer.give(.failure(CancellationError()))
                }
            }
        }

        /// Asks anew who is signed in and what they may use; call it after somebody has signed in.
        public func customerDidChange(completion: @escaping @MainActor @Sendable () -> Void) {
            answer({ await self.sdk.customerDidChange() }, { _, _ in completion() })
        }

        /// Forgets the customer, in memory and on disk; call it on sign-out.
        public func reset(completion: @escaping @MainActor @Sendable () -> Void) {
            answer({ await self.sdk.reset() }, { _, _ in completion() })
        }
    }

    // MARK: - Entitlements

    extension TGBilling {
        /// Says whether the customer may use the feature with this lookup key now; false where nobody is
        /// signed in, and with an error where there is no answer that can be trusted.
        public func hasEntitlement(
            lookupKey: String,
            completion: @escaping @MainActor @Sendable (Bool, (any Error)?) -> Void
        ) {
            answer(
                { try await self.sdk.hasEntitlement(lookupKey: lookupKey) },
                { completion($0 ?? false, $1) }
            )
        }

        /// Says everything that the customer may use now; `nil` with an error.
        public func getActiveEntitlements(
            completion:
                @escaping @MainActor @Sendable ([TGBillingEntitlement]?, (any Error)?) ->
                Void
        ) {
            answer(
                { try await self.sdk.getActiveEntitlements().map { TGBillingEntitlement($0) } },
                completion
            )
        }
    }

    // MARK: - Buying and managing

    extension TGBilling {
        /// Opens the checkout page of a buy button in the browser, for the customer who is signed in.
        ///
        /// The customer comes back by ``handleCheckoutReturn(_:completion:)``.
        public func openCheckout(
            buyButtonID: String,
            completion: @escaping @MainActor @Sendable ((any Error)?) -> Void
        ) {
            answer(
                {
                    await Browser.open(
                        try await self.sdk.getBuyButton(id: buyButtonID).checkout()
                    )
                },
                { completion($1) }
            )
        }

        /// Takes a universal link that opened the app, and says how its checkout went; call it with every link.
        ///
        /// Without a link, as in an activity of Spotlight's, it is no checkout.
        public func handleCheckoutReturn(
            _ url: URL?,
            completion: @escaping @MainActor @Sendable (TGBillingCheckoutReturn) -> Void
        ) {
            answer(
                {
                    guard let url else { return .notACheckout }
                    return TGBillingCheckoutReturn(await self.sdk.handleCheckoutReturn(url))
                },
                { outcome, _ in completion(outcome ?? .notACheckout) }
            )
        }

        /// Opens the customer portal in the browser.
        public func openCustomerPortal(
            completion: @escaping @MainActor @Sendable ((any Error)?) -> Void
        ) {
            answer(
                { try await self.sdk.getCustomerPortal().redirectToCustomerPortal() },
                { completion($1) }
            )
        }

        #if os(iOS) || BILLING_APPLE_STUBS
            /// Shows the customer portal over `viewController`; call it on the main thread.
            @MainActor
            public func presentCustomerPortal(
                from viewController: UIViewController,
                completion: @escaping @MainActor @Sendable ((any Error)?) -> Void
            ) {
                Task { @MainActor in
                    do {
                        try await sdk.getCustomerPortal().presentCustomerPortal(
                            from: viewController
                        )
                        completion(nil)
                    } catch {
                        completion(Self.error(error))
                    }
                }
            }
        #endif
    }

    /// The first answer to one question for a session: the block's, or that nobody waits for it any more.
    private final class SessionAnswer: Sendable {
        typealias Answer = Result<UBCustomerSessionDetails?, any Error>
        typealias Continuation = CheckedContinuation<UBCustomerSessionDetails?, any Error>

        private struct State {
            var continuation: Continuation?
            var answer: Answer?
        }

        private let state = Locked(State())

        func wait(_ continuation: Continuation) {
            let early = state.withLock { state in
                if state.answer == nil { state.continuation = continuation }
                return state.answer
            }
            if let early { continuation.resume(with: early) }
        }

        /// Answers are given once; later ones are ignored.
        func give(_ answer: Answer) {
            let waiting = state.withLock { state -> Continuation? in
                guard state.answer == nil else { return nil }
                state.answer = answer
                defer { state.continuation = nil }
                return state.continuation
            }
            waiting?.resume(with: answer)
        }
    }
#endif
