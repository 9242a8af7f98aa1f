import Foundation

extension API {
    /// A customer session in Stripe's shape: what the app's backend hands to the app.
    public struct CustomerSession: Hashable, Codable, Sendable {
        /// Always `customer_session`.
        public var object: String
        /// The bearer of calls for this customer, `cuss_secret_…`; never log it.
        public var clientSecret: String
        /// Seconds since 1970.
        public var created: Int64
        /// Seconds since 1970.
        public var expiresAt: Int64
        public var customer: String
        public var livemode: Bool
        public var components: SessionComponents
        /// The app that it is for, by its id in the catalog; `nil`: any.
        public var app: String?

        public init(
            clientSecret: String,
            created: Int64,
            expiresAt: Int64,
            customer: String,
            livemode: Bool,
            components: SessionComponents,
            app: String? = nil
        ) {
            object = "customer_session"
            self.clientSecret = clientSecret
            self.created = created
            self.expiresAt = expiresAt
            self.customer = customer
            self.livemode = livemode
            self.components = components
            self.app = app
        }

        private enum CodingKeys: String, CodingKey {
            case object, created, customer, livemode, components, app
            case clientSecret = "client_secret"
            case expiresAt = "expires_at"
        }
    }

    /// The body of `POST /v1/customer_sessions` where it is JSON.
    public struct CreateCustomerSessionRequest: Hashable, Codable, Sendable {
        public var customer: String
        public var components: SessionComponents
        /// The app that it is for, by its id in the catalog, where there are several; `nil`: any.
        public var app: String?

        public init(customer: String, components: SessionComponents, app: String? = nil) {
            self.customer = customer
            self.components = components
            self.app = app
        }
    }

    /// What a session may be used for; a component that was not enabled is refused later, 403.
    public struct SessionComponents: Hashable, Codable, Sendable {
        public var buyButton: Component
        public var activeEntitlements: Component
        public var customerPortal: Component

        public init(
            buyButton: Component = .disabled,
            activeEntitlements: Component = .disabled,
            customerPortal: Component = .disabled
        ) {
            self.buyButton = buyButton
            self.activeEntitlements = activeEntitlements
            self.customerPortal = customerPortal
        }

        /// Everything that BillingSDK uses.
        public static let all = Self(
            buyButton: .enabled,
            activeEntitlements: .enabled,
            customerPortal: .enabled
        )

        private enum CodingKeys: String, CodingKey {
            case buyButton = "buy_button"
            case activeEntitlements = "active_entitlements"
            case customerPortal = "customer_portal"
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            buyButton =
                try container.decodeIfPresent(Component.self, forKey: .buyButton) ?? .disabled
            activeEntitlements =
                try container.decodeIfPresent(Component.self, forKey: .activeEntitlements)
                ?? .disabled
            customerPortal =
                try container.decodeIfPresent(Component.self, forKey: .customerPortal) ?? .disabled
        }

        /// One component's switch.
        public struct Component: Hashable, Codable, Sendable {
            public var enabled: Bool
            public init(enabled: Bool) { self.enabled = enabled }
            public static let enabled = Self(enabled: true)
            public static let disabled = Self(enabled: false)
        }
    }

    /// The answer of `POST /v1/portal_sessions`.
    public struct PortalSession: Hashable, Codable, Sendable {
        /// Where the customer manages what they bought; works once and for a short time.
        public var url: String
        public init(url: String) { self.url = url }
    }

    /// The optional body of `POST /v1/portal_sessions`.
    public struct PortalSessionRequest: Hashable, Codable, Sendable {
        /// Where the portal's way back leads.
        public var returnURL: String?
        public init(returnURL: String? = nil) { self.returnURL = returnURL }
        private enum CodingKeys: String, CodingKey { case returnURL = "return_url" }
    }
}
