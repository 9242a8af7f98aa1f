import Foundation
internal import TollgateAPI

/// Buying, managing, coins and the App Store.
extension BillingClient {
    func buyButton(id: String) async throws -> BuyButton {
        let response = try await send(
            request("GET", APIPath.buyButton.path(id: id), key: configuration.publishableKey)
        )
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
                interval: data.product.interval
            ),
            client: self
        )
    }

    func checkout(buyButton id: String) async throws -> URL {
        let response = try await sendForCustomerOrNobody(
            APIPath.buyButtonCheckout.path(id: id),
            body: API.BuyButtonCheckoutRequest()
        )
        return try Self.webURL(response.decoded(API.BuyButtonCheckout.self).url)
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

    func submit(
        signedTransaction: String,
        mode: AppStoreSubmission.Mode
    ) async throws -> AppStoreSubmission {
        let mode = API.SubmissionMode(rawValue: mode.rawValue) ?? .observed
        let response = try await sendForCustomerOrNobody(
            APIPath.appStoreTransactions.path,
            body: API.AppStoreTransactionRequest(signedTransaction: signedTransaction, mode: mode)
        )
        let reply = try response.decoded(API.AppStoreTransactionReply.self)
        guarded.withLock { $0.state.expireSnapshot() }
        // The purchase is safe whether or not this succeeds; the next read asks again.
        _ = try? await activeEntitlements(forceRefresh: true)
        return AppStoreSubmission(isNew: reply.new, customer: reply.customer)
    }

    /// A write with the publishable key, and the session beside it where somebody is signed in.
    ///
    /// A provider that fails is an error, never "nobody".
    private func sendForCustomerOrNobody(
        _ path: String,
        body: some Encodable & Sendable
    ) async throws -> HTTPResponse {
        let key = configuration.publishableKey
        // One key for all attempts: a repetition after a 401 must not buy twice.
        let idempotencyKey = [APIHeader.idempotencyKey: UUID().uuidString]
        let answered = try await sendWithSession { session in
            var headers = idempotencyKey
            headers[APIHeader.customerSession] = session.clientSecret
            return try request("POST", path, key: key, headers: headers, body: body)
        }
        if let answered { return answered.response }
        return try await send(request("POST", path, key: key, headers: idempotencyKey, body: body))
    }

    private static func webURL(_ text: String) throws -> URL {
        guard let url = URL(string: text), let scheme = url.scheme?.lowercased(),
            scheme == "https" || scheme == "http", url.host != nil
        else { throw BillingSDKError.invalidResponse("not a web address: \(text)") }
        return url
    }
}
