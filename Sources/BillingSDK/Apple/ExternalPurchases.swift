#if canImport(StoreKit)
    import Foundation
    import StoreKit

    /// Purchases outside the App Store, as Apple asks for them: its notice first, then its token, then your
    /// checkout.
    ///
    /// Each of Apple's three ways needs an entitlement of its own from Apple, and keys in Info.plist:
    ///
    /// | way | entitlement | Info.plist | calls |
    /// | --- | --- | --- | --- |
    /// | a link of your own (EU, Japan) | `com.apple.developer.storekit.custom-purchase-link.allowed-regions`, or `…external-purchase-link` | none, or `SKExternalPurchaseCustomLinkRegions` | ``isEligible``, ``getTokens(_:)``, ``openCheckout(of:notice:tokens:open:handOver:)`` |
    /// | a purchase within the app (EEA, South Korea) | `com.apple.developer.storekit.external-purchase` | `SKExternalPurchase` | ``canPresentNoticeSheet``, ``openCheckoutAfterNoticeSheet(of:open:handOver:)`` |
    /// | a link in Info.plist (EEA, Russia) | `com.apple.developer.storekit.external-purchase-link` | `SKExternalPurchaseLink`, `SKExternalPurchaseMultiLink` | ``canOpenLink``, ``openLink()``, ``getEligibleLinks()``, ``openLink(_:)`` |
    ///
    /// In the App Store of the United States an app needs none of them to lead to its checkout (App Review
    /// Guideline 3.1.1(a)): open the page of ``BuyButton/checkout()`` there.
    ///
    /// The tokens are the app's to keep: Tollgate's server does not take them yet. Send them to your own
    /// backend in `handOver`, with the customer; it reports them to Apple.
    public struct ExternalPurchases: Sendable {
        /// Apple's notice for a link of your own.
        public enum Notice: Hashable, Sendable {
            /// The page opens in the browser.
            case browser
            /// The page opens within the app; pass `open`, and show it there.
            case withinApp
        }

        /// Shows a page.
        public typealias Open = @MainActor (URL) async -> Void
        /// Takes tokens over before the checkout begins; throw to stop.
        ///
        /// Empty where Apple has no active token for this customer.
        public typealias HandOver = @MainActor ([ExternalPurchaseToken]) async throws -> Void

        /// Shows one of Apple's notices; `nil`: the customer turned back.
        private typealias Sheet = @MainActor () async throws -> [ExternalPurchaseToken]?

        /// Notice, tokens, checkout, page; nothing begins after a step that fails.
        @MainActor
        private func openCheckout(
            of button: BuyButton,
            after notice: Sheet,
            _ open: Open?,
            _ handOver: HandOver
        ) async throws -> ExternalCheckout {
            guard let tokens = try await notice() else { return .cancelled }
            try await handOver(tokens)
            let page = try await button.checkout()
            await (open ?? Browser.open)(page)
            return .opened(page)
        }
    }

    // MARK: - A link of your own

    @available(iOS 18.1, macOS 15.1, macCatalyst 18.1, *)
    extension ExternalPurchases {
        /// True where Apple's API applies now, and the app may lead to a checkout of its own by it.
        ///
        /// Ask before you show a button, and again when
        /// ``BillingSDK/BillingSDK/storefrontUpdates`` tells of another country.
        ///
        /// <https://developer.apple.com/documentation/storekit/externalpurchasecustomlink/iseligible>
        public var isEligible: Bool {
            get async {
                // Apple asks to look at it before its API is called.
                guard AppStore.canMakePayments else { return false }
                return await ExternalPurchaseCustomLink.isEligible
            }
        }

        /// Apple's active tokens of these kinds; a kind without one is left out.
        ///
        /// In the European Union ask for ``ExternalPurchaseToken/Kind/acquisition`` and
        /// ``ExternalPurchaseToken/Kind/services`` at launch, and keep them with the customer's account. In
        /// Japan ask for ``ExternalPurchaseToken/Kind/linkOut`` or ``ExternalPurchaseToken/Kind/inApp``.
        /// <https://developer.apple.com/documentation/storekit/externalpurchasecustomlink/token(for:)>
        /// - Throws: StoreKit's errors, also where ``isEligible`` is false.
        public func getTokens(
            _ kinds: [ExternalPurchaseToken.Kind]
        ) async throws -> [ExternalPurchaseToken] {
            var tokens: [ExternalPurchaseToken] = []
            for kind in kinds {
                // Deprecated from 27.2 on for a form that only exists there.
                guard let token = try await ExternalPurchaseCustomLink.token(for: kind.rawValue)
                else { continue }
                tokens.append(ExternalPurchaseToken(value: token.value))
            }
            return tokens
        }

        /// Shows Apple's notice, hands over the tokens, begins the checkout of `button` and opens its page.
        ///
        /// Call it when the customer has pressed a button, as Apple asks. The customer comes back by
        /// ``BillingSDK/BillingSDK/handleCheckoutReturn(_:)``.
        /// <https://developer.apple.com/documentation/storekit/externalpurchasecustomlink/shownotice(type:)>
        /// - Parameters:
        ///   - button: what is bought.
        ///   - notice: where the page opens.
        ///   - kinds: the kinds of tokens to hand over, by the customer's country.
        ///   - open: shows the page; `nil`: the browser does. ``Notice/withinApp`` needs one.
        ///   - handOver: keeps the tokens before anything is bought; throw to stop.
        /// - Returns: ``ExternalCheckout/notEligible`` where Apple does not allow it, or the button is not
        ///   active; nothing was shown then.
        /// - Throws: StoreKit's errors; what `handOver` throws; as ``BuyButton/checkout()``;
        ///   ``BillingSDKError/invalidConfiguration(_:)`` without `open` where the notice needs one. No page
        ///   was opened then.
        @MainActor
        public func openCheckout(
            of button: BuyButton,
            notice: Notice = .browser,
            tokens kinds: [ExternalPurchaseToken.Kind],
            open: Open? = nil,
            handOver: HandOver
        ) async throws -> ExternalCheckout {
            if notice == .withinApp, open == nil {
                throw BillingSDKError.invalidConfiguration(
                    "Pass open: the notice says that the page is shown within the app."
                )
            }
            guard button.active, await isEligible else { return .notEligible }
            let type: ExternalPurchaseCustomLink.NoticeType =
                switch notice {
                case .browser: .browser
                case .withinApp: .withinApp
                }
            return try await openCheckout(
                of: button,
                after: {
                    let answer = try await ExternalPurchaseCustomLink.showNotice(type: type)
                    return answer == .continued ? try await getTokens(kinds) : nil
                },
                open,
                handOver
            )
        }
    }

    // MARK: - A purchase within the app

    @available(iOS 17.4, macOS 14.4, macCatalyst 17.4, *)
    extension ExternalPurchases {
        /// True where Apple's notice sheet can be shown now.
        ///
        /// Ask before you show a button, and again when
        /// ``BillingSDK/BillingSDK/storefrontUpdates`` tells of another country.
        ///
        /// <https://developer.apple.com/documentation/storekit/externalpurchase/canpresent>
        public var canPresentNoticeSheet: Bool {
            get async {
                guard AppStore.canMakePayments else { return false }
                return await ExternalPurchase.canPresent
            }
        }

        /// Shows Apple's notice sheet, hands over its token, begins the checkout of `button` and opens its
        /// page.
        ///
        /// Call it when the customer has pressed a button, as Apple asks, and each time.
        /// <https://developer.apple.com/documentation/storekit/externalpurchase/presentnoticesheet()>
        /// - Parameters:
        ///   - button: what is bought.
        ///   - open: shows the page within the app, as the sheet says.
        ///   - handOver: keeps the token before anything is bought; throw to stop.
        /// - Returns: ``ExternalCheckout/notEligible`` where Apple does not allow it, or the button is not
        ///   active; nothing was shown then.
        /// - Throws: StoreKit's errors; what `handOver` throws; as ``BuyButton/checkout()``. No page was
        ///   opened then.
        @MainActor
        public func openCheckoutAfterNoticeSheet(
            of button: BuyButton,
            open: @escaping Open,
            handOver: HandOver
        ) async throws -> ExternalCheckout {
            guard button.active, await canPresentNoticeSheet else { return .notEligible }
            return try await openCheckout(
                of: button,
                after: {
                    let answer = try await ExternalPurchase.presentNoticeSheet()
                    if case .continuedWithExternalPurchaseToken(let token) = answer {
                        return [ExternalPurchaseToken(value: token)]
                    }
                    return answer == .cancelled ? nil : []
                },
                open,
                handOver
            )
        }
    }

    // MARK: - A link in Info.plist

    @available(iOS 15.4, macOS 14.4, macCatalyst 15.4, *)
    extension ExternalPurchases {
        /// True where the link under `SKExternalPurchaseLink` in Info.plist can be opened now.
        ///
        /// <https://developer.apple.com/documentation/storekit/externalpurchaselink/canopen>
        public var canOpenLink: Bool {
            get async {
                guard AppStore.canMakePayments else { return false }
                return await ExternalPurchaseLink.canOpen
            }
        }

        /// Shows Apple's notice; if the customer goes on, opens the link under `SKExternalPurchaseLink`.
        ///
        /// StoreKit adds `externalPurchaseToken` and `bundleId` to the address, so your website gets the token
        /// and not the app; what the customer chose is not told. Your website knows nobody: let them sign in,
        /// and begin a checkout for them there.
        /// <https://developer.apple.com/documentation/storekit/externalpurchaselink/open()>
        /// - Returns: false where Apple does not allow it; nothing was shown then.
        /// - Throws: StoreKit's errors.
        @MainActor
        public func openLink() async throws -> Bool {
            guard await canOpenLink else { return false }
            try await ExternalPurchaseLink.open()
            return true
        }
    }

    @available(iOS 17.5, macOS 14.5, macCatalyst 17.5, *)
    extension ExternalPurchases {
        /// The links under `SKExternalPurchaseMultiLink` in Info.plist that can be opened in the customer's
        /// country now.
        ///
        /// <https://developer.apple.com/documentation/storekit/externalpurchaselink/eligibleurls>
        public func getEligibleLinks() async -> [URL] {
            guard AppStore.canMakePayments else { return [] }
            return await ExternalPurchaseLink.eligibleURLs ?? []
        }

        /// The same as ``openLink()`` for one of ``getEligibleLinks()``.
        ///
        /// <https://developer.apple.com/documentation/storekit/externalpurchaselink/open(url:)>
        /// - Returns: false where the link is none of these; nothing was shown then.
        /// - Throws: StoreKit's errors.
        @MainActor
        public func openLink(_ link: URL) async throws -> Bool {
            guard await getEligibleLinks().contains(link) else { return false }
            try await ExternalPurchaseLink.open(url: link)
            return true
        }
    }

    extension BillingSDK {
        /// Purchases outside the App Store, as Apple asks for them.
        public var externalPurchases: ExternalPurchases { ExternalPurchases() }
    }
#endif
