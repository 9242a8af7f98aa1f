import Foundation
internal import TollgateAPI

/// Buttons, the portal and coins.
extension BillingClient {
    func buyButton(id: String) async throws -> BuyButton {
        // A visitor's first contact may be this; what StoreKit says can be read offline from then on.
        later { await self.keepCatalog() }
        // Where Checkout is not offered in the customer's country the button is not active.
        let country = await storefront().map { "?storefront=" + $0 } ?? ""
        let path = APIPath.buyButton.path(id: id) + country
        let response = try await send(request("GET", path, key: configuration.publishableKey))
        let data = try response.decoded(API.BuyButton.self)
        return BuyButton(
            id: data.id,
            active: data.active,
            callToAction: data.callToAction,
            checkoutUrl: data.checkoutURL ?? "",
            lineItemGroup: BuyButton.LineItemGroup(
                amountTotal: data.lineItemGroup.amountTotal,
                currency: data.lineItemGroup.currency
            ),
            product: BuyButton.Product(
                id: data.product.id,
                name: data.product.name,
                appStoreProductID: data.product.appStoreProductID,
                interval: data.product.interval,
                intervalCount: data.product.intervalCount
            ),
            client: self
        )
    }

    func customerPortal() async throws -> CustomerPortal {
        let portal = try await customerCall(API.PortalSession.self) { session in
            try request(
                "POST",
                APIPath.portalSessions.path,
                key: session.clientSecret,
                body: API.PortalSessionRequest()
            )
        }
        return CustomerPortal(url: try Self.webURL(portal.url).absoluteString, client: self)
    }

    func coinBalance() async throws -> CoinBalance {
        let balance = try await customerCall(API.CoinBalance.self) { session in
            try request(
                "GET",
                APIPath.customerCoins.path(id: session.customer),
                key: session.clientSecret
            )
        }
        return CoinBalance(
            balance: balance.balance,
            spendable: balance.spendable,
            debt: balance.debt
        )
    }

    /// A call with the publishable key, and the session beside it where somebody is signed in.
    ///
    /// A provider that fails is an error, never "nobody".
    ///
    /// - Parameter body: what is sent with a session; `nil`: nobody is signed in.
    func sendForCustomerOrNobody(
        _ method: String,
        _ path: String,
        body: @Sendable (UBCustomerSessionDetails?) -> (any Encodable & Sendable)? = { _ in nil }
    ) async throws -> HTTPResponse {
        let key = configuration.publishableKey
        // One key for all attempts: a repetition after a 401 must not buy twice.
        let idempotencyKey =
            method == "GET" ? [:] : [APIHeader.idempotencyKey: UUID().uuidString]
        let answered = try await sendWithSession { session in
            var headers = idempotencyKey
            headers[APIHeader.customerSession] = session.clientSecret
            return try request(method, path, key: key, headers: headers, body: body(session))
        }
        if let answered { return answered.response }
        return try await send(
            request(method, path, key: key, headers: idempotencyKey, body: body(nil))
        )
    }

    static func webURL(_ text: String) throws -> URL {
        guard let url = URL(string: text), let scheme = url.scheme?.lowercased(),
            scheme == "https" || scheme == "http", url.host != nil
        else { throw BillingSDKError.invalidResponse("not a web address: \(text)") }
        return url
    }
}
