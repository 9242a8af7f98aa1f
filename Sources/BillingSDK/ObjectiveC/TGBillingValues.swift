#if canImport(ObjectiveC) || BILLING_APPLE_STUBS
    import Foundation

    /// ``UBCustomerSessionDetails`` for Objective-C: a session, as the app's backend hands it out.
    #if canImport(ObjectiveC)
        @objc(TGBillingCustomerSession)
        @objcMembers
    #endif
    public final class TGBillingCustomerSession: NSObject, Sendable {
        let details: UBCustomerSessionDetails

        /// A session from its parts.
        ///
        /// - Parameters:
        ///   - clientSecret: `cuss_secret_…`; never log it.
        ///   - expiresAt: when the session ends.
        ///   - customer: the customer's id.
        public init(clientSecret: String, expiresAt: Date, customer: String) {
            details = UBCustomerSessionDetails(
                clientSecret: clientSecret,
                expiresAt: expiresAt,
                customer: customer
            )
        }
    }

    /// ``Entitlement`` for Objective-C: something that the customer may use.
    #if canImport(ObjectiveC)
        @objc(TGBillingEntitlement)
        @objcMembers
    #endif
    public final class TGBillingEntitlement: NSObject, Sendable {
        private let entitlement: Entitlement
        init(_ entitlement: Entitlement) { self.entitlement = entitlement }

        /// The key that the app asks with.
        public var lookupKey: String { entitlement.lookupKey }
        /// The feature's id in the catalog.
        public var feature: String { entitlement.feature }
        /// The first instant without access, as far as is known now; `nil` for ever, or where
        /// ``ground`` is `nil`.
        public var until: Date? { entitlement.until }
        /// The reason for the access, in the server's word: `payment`, `grace`, `grant` and others.
        public var ground: String? { entitlement.ground?.rawValue }
        /// The store of the purchase: `app_store`, `google_play`, `stripe`; `nil` if nothing was bought.
        public var store: String? { entitlement.store?.rawValue }
        /// The store's own page for managing it; `nil` where that is the customer portal.
        public var managementURL: URL? { entitlement.store?.managementURL }
        /// Whether it will be paid again by itself before access ends, as a `BOOL`; `nil` where that is
        /// not known, or nothing ends.
        public var willRenew: NSNumber? { entitlement.willRenew.map { NSNumber(value: $0) } }
        /// The offer by which the present period was bought: `trial`, `introductory`, `promotional`,
        /// `offer_code`, `win_back`; `nil` at the full price.
        public var offer: String? { entitlement.offer?.rawValue }
        /// `true` if a payment has failed and access goes on only for days of grace.
        public var hasPaymentProblem: Bool { entitlement.hasPaymentProblem }
    }

    /// ``CheckoutReturn`` for Objective-C: how a checkout went, by the server's word.
    #if canImport(ObjectiveC)
        @objc(TGBillingCheckoutReturn)
    #endif
    public enum TGBillingCheckoutReturn: Int, Sendable {
        /// The link leads back from no checkout; it is the app's own.
        case notACheckout = 0
        /// Paid, and the server has recorded it.
        case confirmed = 1
        /// Not known yet; it is asked for again at every foreground.
        case processing = 2
        /// The customer turned back, or the page ended without a purchase.
        case cancelled = 3

        init(_ outcome: CheckoutReturn?) {
            self =
                switch outcome {
                case .confirmed: .confirmed
                case .processing: .processing
                case .cancelled: .cancelled
                case nil: .notACheckout
                }
        }
    }
#endif
