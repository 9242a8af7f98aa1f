import Foundation

/// One path of the API: its template for the router and OpenAPI, and its filled form for callers.
public struct APIPath: Hashable, Sendable, CustomStringConvertible {
    /// The path with `{id}` where an id goes, as OpenAPI and the router write it.
    public let template: String

    public init(template: String) { self.template = template }

    public var description: String { template }

    /// The path of a resource, its id percent-encoded so that it stays one path component.
    public func path(id: String) -> String {
        template.replacingOccurrences(of: "{id}", with: Self.encoded(id))
    }

    /// The path without an id.
    public var path: String { template }

    /// Only RFC 3986's unreserved characters stay: an id can never add a component or a query.
    static func encoded(_ id: String) -> String {
        let encoded = id.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
        // "." and ".." would be resolved as directions, so they lose their dots too.
        return encoded == "." || encoded == ".."
            ? encoded.replacingOccurrences(of: ".", with: "%2E") : encoded
    }

    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )
}

extension APIPath {
    public static let customers = Self(template: "/v1/customers")
    public static let customer = Self(template: "/v1/customers/{id}")
    public static let customerEntitlements = Self(template: "/v1/customers/{id}/entitlements")
    public static let customerExplain = Self(template: "/v1/customers/{id}/explain")
    public static let customerCoins = Self(template: "/v1/customers/{id}/coins")
    public static let customerCoinsSpend = Self(template: "/v1/customers/{id}/coins/spend")
    public static let customerGrants = Self(template: "/v1/customers/{id}/grants")
    public static let customerFreeSubscriptions = Self(
        template: "/v1/customers/{id}/free_subscriptions"
    )
    public static let customerPurchases = Self(template: "/v1/customers/{id}/purchases")
    public static let customerSessions = Self(template: "/v1/customer_sessions")
    public static let customerSessionsRevoke = Self(template: "/v1/customer_sessions/revoke")
    public static let checkoutClaims = Self(template: "/v1/checkout_claims")
    public static let checkoutSessions = Self(template: "/v1/checkout_sessions")
    public static let checkoutSession = Self(template: "/v1/checkout_sessions/{id}")
    public static let catalog = Self(template: "/v1/catalog")
    public static let offerings = Self(template: "/v1/offerings")
    public static let placement = Self(template: "/v1/placements/{id}")
    public static let placementShown = Self(template: "/v1/placements/{id}/shown")
    public static let buyButton = Self(template: "/v1/buy_buttons/{id}")
    public static let buyButtonCheckout = Self(template: "/v1/buy_buttons/{id}/checkout")
    public static let portalSessions = Self(template: "/v1/portal_sessions")
    public static let appStoreTransactions = Self(template: "/v1/app_store/transactions")
    public static let appStoreObservations = Self(template: "/v1/app_store/observations")
    public static let appStorePurchases = Self(template: "/v1/app_store/purchases")
    public static let appStoreOfferSignatures = Self(template: "/v1/app_store/offer_signatures")
    public static let appStoreReceipts = Self(template: "/v1/app_store/receipts")
    public static let googlePlayPreparations = Self(
        template: "/v1/google_play/purchase_preparations"
    )
    public static let googlePlayPurchases = Self(template: "/v1/google_play/purchases")
    public static let googlePlayExternalTransactions = Self(
        template: "/v1/google_play/external_transactions"
    )
    public static let consents = Self(template: "/v1/consents")
    public static let events = Self(template: "/v1/events")
    public static let report = Self(template: "/v1/reports/{name}")
    public static let reportRows = Self(template: "/v1/reports/{name}/rows")
    public static let webhookEndpoints = Self(template: "/v1/webhook_endpoints")
    public static let webhookEndpoint = Self(template: "/v1/webhook_endpoints/{id}")
    public static let webhookEndpointRotateSecret = Self(
        template: "/v1/webhook_endpoints/{id}/rotate_secret"
    )
    public static let webhookEndpointReplay = Self(
        template: "/v1/webhook_endpoints/{id}/replay"
    )
    public static let webhookEndpointDeliveries = Self(
        template: "/v1/webhook_endpoints/{id}/deliveries"
    )
    public static let signingKeys = Self(template: "/v1/signing_keys")
    public static let signingKeysRotate = Self(template: "/v1/signing_keys/rotate")
    public static let secretKeys = Self(template: "/v1/secret_keys")
    public static let secretKeysRevoke = Self(template: "/v1/secret_keys/{id}/revoke")
    public static let appStoreWebhook = Self(template: "/webhooks/app_store")
    public static let appStoreRetentionMessage = Self(
        template: "/webhooks/app_store/retention_message"
    )
    public static let stripeWebhook = Self(template: "/webhooks/stripe")
    public static let googlePlayWebhook = Self(template: "/webhooks/google_play")
    public static let payments = Self(template: "/v1/payments")
    public static let reconciliation = Self(template: "/v1/reports/reconciliation")
    public static let statement = Self(template: "/v1/reports/statement")
    public static let payouts = Self(template: "/v1/reports/payouts")
    public static let openAPI = Self(template: "/openapi.json")
    public static let jsonWebKeySet = Self(template: "/.well-known/jwks.json")
    public static let appleAppSiteAssociation = Self(
        template: "/.well-known/apple-app-site-association"
    )
    public static let stylesheet = Self(template: "/assets/tollgate.css")
    public static let healthz = Self(template: "/healthz")
    public static let readyz = Self(template: "/readyz")
    public static let metrics = Self(template: "/metrics")
    public static let checkoutRedirectSuccess = Self(template: "/checkout_redirect/success")
    public static let checkoutRedirectCancel = Self(template: "/checkout_redirect/cancel")
    public static let demo = Self(template: "/demo")
    public static let buy = Self(template: "/buy/{id}")
    public static let portalChange = Self(template: "/portal/change")
    public static let portalStripe = Self(template: "/portal/stripe")
    public static let portal = Self(template: "/portal")
    public static let emailsUnsubscribe = Self(template: "/emails/unsubscribe")
    public static let dashboard = Self(template: "/dashboard")
}

/// The names of headers and query parameters that are our own.
public enum APIHeader {
    public static let authorization = "Authorization"
    /// Makes a write safe to repeat; the answer to the first is the answer to all.
    public static let idempotencyKey = "Idempotency-Key"
    /// A customer's session beside a publishable key, where the session is optional.
    public static let customerSession = "Tollgate-Customer-Session"

    /// The app's publishable key beside a session that is the bearer: of several apps, which asks.
    public static let publishableKey = "Tollgate-Publishable-Key"

    /// The value of `Authorization` for a key or a session's secret.
    public static func bearer(_ key: String) -> String { "Bearer " + key }
}

/// The names of query parameters.
public enum APIQuery {
    public static let at = "at"
    public static let known = "known"
    public static let lookupKey = "lookup_key"
    public static let limit = "limit"
    public static let startingAfter = "starting_after"
    public static let product = "product"
}

/// What a bearer key may do, told by its prefix.
public enum APIKeyKind: Hashable, Sendable, CaseIterable {
    /// `sk_…`: the app's backend; may do everything, unless it was made with narrower scopes.
    case secret
    /// `pk_…`: in the app, public; reads buy buttons and names the mode.
    case publishable
    /// `cuss_secret_…`: one customer's session.
    case customerSession

    /// The kind of `key`, or nil if it has none of our prefixes.
    public init?(_ key: String) {
        if key.hasPrefix("sk_test_") || key.hasPrefix("sk_live_") {
            self = .secret
        } else if key.hasPrefix("pk_test_") || key.hasPrefix("pk_live_") {
            self = .publishable
        } else if key.hasPrefix("cuss_secret_") {
            self = .customerSession
        } else {
            return nil
        }
    }
}
