import Foundation

extension API {
    /// The body of `POST /v1/checkout_sessions`: a product or a buy button, never both.
    public struct CheckoutSessionRequest: Hashable, Codable, Sendable {
        /// For whom, with a secret key; with a session it is the session's customer.
        public var customer: String?
        public var product: String?
        public var buyButton: String?
        /// 1 unless given.
        public var quantity: Int?
        public var successURL: String?
        public var cancelURL: String?
        /// The App Store storefront of the device, ISO 3166-1 alpha-3; refused where the catalog does
        /// not offer Checkout.
        public var storefront: String?
        /// `mobile_app` where the page is opened from an app.
        public var originContext: String?

        public init(
            customer: String? = nil,
            product: String? = nil,
            buyButton: String? = nil,
            quantity: Int? = nil,
            successURL: String? = nil,
            cancelURL: String? = nil,
            storefront: String? = nil,
            originContext: String? = nil
        ) {
            self.customer = customer
            self.product = product
            self.buyButton = buyButton
            self.quantity = quantity
            self.successURL = successURL
            self.cancelURL = cancelURL
            self.storefront = storefront
            self.originContext = originContext
        }

        private enum CodingKeys: String, CodingKey {
            case customer, product, quantity, storefront
            case originContext = "origin_context"
            case buyButton = "buy_button"
            case successURL = "success_url"
            case cancelURL = "cancel_url"
        }
    }

    /// A page on which the purchase is made.
    public struct CheckoutSession: Hashable, Codable, Sendable, Identifiable {
        public var id: String
        public var url: String
        /// Seconds since 1970, as in Stripe's object.
        public var expiresAt: Int64

        public init(id: String, url: String, expiresAt: Int64) {
            self.id = id
            self.url = url
            self.expiresAt = expiresAt
        }

        private enum CodingKeys: String, CodingKey {
            case id, url
            case expiresAt = "expires_at"
        }
    }

    /// The optional body of `POST /v1/buy_buttons/{id}/checkout`.
    public struct BuyButtonCheckoutRequest: Hashable, Codable, Sendable {
        /// Where the buyer comes back to; the server's own pages unless given.
        public var successURL: String?
        public var cancelURL: String?
        /// Signed out: base64url(SHA-256(secret)), by which the buyer claims the purchase later.
        public var clientReferenceID: String?
        /// The App Store storefront of the device, ISO 3166-1 alpha-3; refused where the catalog does
        /// not offer Checkout.
        public var storefront: String?

        public init(
            successURL: String? = nil,
            cancelURL: String? = nil,
            clientReferenceID: String? = nil,
            storefront: String? = nil
        ) {
            self.successURL = successURL
            self.cancelURL = cancelURL
            self.clientReferenceID = clientReferenceID
            self.storefront = storefront
        }

        private enum CodingKeys: String, CodingKey {
            case storefront
            case successURL = "success_url"
            case cancelURL = "cancel_url"
            case clientReferenceID = "client_reference_id"
        }
    }

    /// The answer of `POST /v1/buy_buttons/{id}/checkout`.
    public struct BuyButtonCheckout: Hashable, Codable, Sendable {
        /// The Checkout Session's, by which its outcome can be asked.
        public var id: String?
        public var url: String

        public init(id: String? = nil, url: String) {
            self.id = id
            self.url = url
        }
    }

    /// The answer of `GET /v1/checkout_sessions/{id}`: how a checkout went, by Stripe's word.
    public struct CheckoutOutcome: Hashable, Codable, Sendable, Identifiable {
        public var id: String
        public var status: CheckoutStatus

        public init(id: String, status: CheckoutStatus) {
            self.id = id
            self.status = status
        }
    }

    /// How far a checkout is.
    public struct CheckoutStatus: OpenValue {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The buyer has not finished; the page can still be used.
        public static let open = Self(rawValue: "open")
        /// Finished, but the money is still on its way.
        public static let processing = Self(rawValue: "processing")
        /// Paid, and what was bought is recorded.
        public static let confirmed = Self(rawValue: "confirmed")
        /// The page ended without a purchase.
        public static let expired = Self(rawValue: "expired")
        /// Finished, but the bank refused the payment; nothing was bought.
        public static let failed = Self(rawValue: "failed")
    }
}
