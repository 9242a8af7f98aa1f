package import HTTPTypes
package import TollgateAPI

/// What a secret key must be allowed to do at a route; the one place that says so.
package enum RouteScope: Hashable, Sendable {
    /// A secret key needs this scope.
    case scope(API.KeyScope)
    /// Nobody shows a secret key here.
    case noSecretKey

    /// Every route but the dashboard's pages.
    package static let table: [(method: HTTPRequest.Method, path: APIPath, scope: RouteScope)] = [
        (.post, .customers, .scope(.customers)),
        (.get, .customer, .scope(.read)),
        (.delete, .customer, .scope(.customers)),
        (.get, .customerEntitlements, .scope(.read)),
        (.get, .customerExplain, .scope(.read)),
        (.get, .customerCoins, .scope(.read)),
        (.post, .customerCoinsSpend, .scope(.coins)),
        (.post, .customerGrants, .scope(.customers)),
        (.post, .customerFreeSubscriptions, .scope(.customers)),
        (.delete, .customerFreeSubscriptions, .scope(.customers)),
        (.get, .customerPurchases, .scope(.read)),
        (.post, .customerPurchases, .scope(.customers)),
        (.post, .customerSessions, .scope(.customers)),
        (.post, .customerSessionsRevoke, .scope(.customers)),
        (.post, .checkoutSessions, .scope(.customers)),
        // It fulfils what was paid.
        (.get, .checkoutSession, .scope(.customers)),
        (.post, .checkoutClaims, .noSecretKey),
        (.get, .catalog, .scope(.read)),
        (.get, .offerings, .scope(.read)),
        (.get, .placement, .noSecretKey),
        (.post, .placementShown, .noSecretKey),
        (.get, .buyButton, .scope(.read)),
        (.post, .buyButtonCheckout, .scope(.customers)),
        (.post, .portalSessions, .noSecretKey),
        (.post, .appStoreTransactions, .noSecretKey),
        (.post, .appStoreObservations, .noSecretKey),
        (.post, .appStorePurchases, .noSecretKey),
        (.post, .appStoreOfferSignatures, .noSecretKey),
        (.post, .appStoreReceipts, .scope(.customers)),
        (.post, .googlePlayPreparations, .noSecretKey),
        (.post, .googlePlayPurchases, .noSecretKey),
        (.post, .googlePlayExternalTransactions, .scope(.customers)),
        (.get, .consents, .noSecretKey),
        (.post, .consents, .noSecretKey),
        (.get, .events, .scope(.read)),
        (.get, .report, .scope(.reports)),
        (.get, .reportRows, .scope(.reports)),
        (.get, .payments, .scope(.reports)),
        (.get, .reconciliation, .scope(.reports)),
        (.get, .payouts, .scope(.reports)),
        (.get, .statement, .scope(.reports)),
        (.get, .webhookEndpoints, .scope(.read)),
        (.post, .webhookEndpoints, .scope(.all)),
        (.get, .webhookEndpoint, .scope(.read)),
        (.post, .webhookEndpoint, .scope(.all)),
        (.delete, .webhookEndpoint, .scope(.all)),
        (.post, .webhookEndpointRotateSecret, .scope(.all)),
        (.post, .webhookEndpointReplay, .scope(.all)),
        (.get, .webhookEndpointDeliveries, .scope(.read)),
        (.get, .signingKeys, .scope(.all)),
        (.post, .signingKeysRotate, .scope(.all)),
        (.get, .secretKeys, .scope(.all)),
        (.post, .secretKeys, .scope(.all)),
        (.post, .secretKeysRevoke, .scope(.all)),
        (.post, .appStoreWebhook, .noSecretKey),
        (.post, .appStoreRetentionMessage, .noSecretKey),
        (.post, .stripeWebhook, .noSecretKey),
        (.post, .googlePlayWebhook, .noSecretKey),
        (.get, .openAPI, .noSecretKey),
        (.get, .jsonWebKeySet, .noSecretKey),
        (.get, .appleAppSiteAssociation, .noSecretKey),
        (.get, .healthz, .noSecretKey),
        (.get, .readyz, .noSecretKey),
        (.get, .metrics, .noSecretKey),
        (.get, .checkoutRedirectSuccess, .noSecretKey),
        (.get, .checkoutRedirectCancel, .noSecretKey),
        (.get, .buy, .noSecretKey),
        (.get, .portal, .noSecretKey),
        (.get, .portalChange, .noSecretKey),
        (.post, .portalChange, .noSecretKey),
        (.get, .portalStripe, .noSecretKey),
        (.get, .emailsUnsubscribe, .noSecretKey),
        (.post, .emailsUnsubscribe, .noSecretKey),
        (.get, .stylesheet, .noSecretKey),
    ]

    /// The scope that a secret key needs for a request; `nil` where the route takes none.
    ///
    /// A route that the table lacks needs `all`: what was forgotten is closed.
    static func needed(_ method: HTTPRequest.Method, _ path: String) -> API.KeyScope? {
        let method = method == .head ? .get : method
        let parts = path.split(separator: "/")
        guard let row = rows.first(where: { $0.method == method && $0.matches(parts) }) else {
            return .all
        }
        guard case .scope(let scope) = row.scope else { return nil }
        return scope
    }

    private struct Row: Sendable {
        let method: HTTPRequest.Method
        let parts: [Substring]
        let scope: RouteScope

        func matches(_ path: [Substring]) -> Bool {
            path.count == parts.count
                && zip(parts, path).allSatisfy { $0.first == "{" || $0 == $1 }
        }
    }

    private static let rows = table.map { method, path, scope in
        Row(method: method, parts: path.template.split(separator: "/"), scope: scope)
    }
}
