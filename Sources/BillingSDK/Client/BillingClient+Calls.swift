import Foundation
internal import TollgateAPI

/// Buying, managing, coins and the App Store.
extension BillingClient {
    func buyButton(id: String) async throws -> BuyButton {
        let response = try await send(
            request("GET", APIPath.buyButton.path(id: id), key: configuration.publishableKey)
        )
        let data = try response.decoded(API.BuyButton.self)
        // A visitor's first contact may be this; what StoreKit says can be read offline from then on.
        later { await self.keepCatalog() }
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

    func checkout(of button: BuyButton) async throws -> URL {
        let response = try await sendForCustomerOrNobody(
            "POST",
            APIPath.buyButtonCheckout.path(id: button.id),
            body: API.BuyButtonCheckoutRequest()
        )
        let checkout = try response.decoded(API.BuyButtonCheckout.self)
        let url = try Self.webURL(checkout.url)
        if let id = checkout.id {
            let product = button.product
            checkouts.begin(.init(id: id, productID: product.appStoreProductID ?? product.id))
        }
        return url
    }

    /// How a checkout went, as far as can be found out now, and whether the server knows it.
    ///
    /// - Parameter leftPage: whether the customer has turned back from a page that is still open.
    func outcome(ofCheckout id: String, leftPage: Bool) async -> (CheckoutReturn, isKnown: Bool) {
        do {
            let response = try await sendForCustomerOrNobody(
                "GET",
                APIPath.checkoutSession.path(id: id)
            )
            switch try response.decoded(API.CheckoutOutcome.self).status {
            case .confirmed: return (.confirmed, true)
            case .expired, .failed: return (.cancelled, true)
            case .open: return (leftPage ? .cancelled : .processing, true)
            default: return (.processing, true)
            }
        } catch BillingSDKError.notFound {
            // Somebody else's, or nobody's.
            return (.cancelled, false)
        } catch {
            return (.processing, false)
        }
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

    /// Hands the server a transaction; the answer may be a refusal.
    func post(
        _ signedTransaction: String,
        mode: AppStoreSubmission.Mode
    ) async throws -> HTTPResponse {
        let mode = API.SubmissionMode(rawValue: mode.rawValue) ?? .observed
        return try await sendForCustomerOrNobody(
            "POST",
            APIPath.appStoreTransactions.path,
            body: API.AppStoreTransactionRequest(signedTransaction: signedTransaction, mode: mode)
        )
    }

    /// What the server made of a transaction that it was handed.
    func submission(_ response: HTTPResponse) async throws -> AppStoreSubmission {
        let reply = try response.decoded(API.AppStoreTransactionReply.self)
        guarded.withLock { $0.state.expireSnapshot() }
        // The purchase is safe whether or not this succeeds; the next read asks again.
        _ = try? await activeEntitlements(forceRefresh: true)
        return AppStoreSubmission(isNew: reply.new, customer: reply.customer)
    }

    /// A call with the publishable key, and the session beside it where somebody is signed in.
    ///
    /// A provider that fails is an error, never "nobody".
    private func sendForCustomerOrNobody(
        _ method: String,
        _ path: String,
        body: (any Encodable & Sendable)? = nil
    ) async throws -> HTTPResponse {
        let key = configuration.publishableKey
        // One key for all attempts: a repetition after a 401 must not buy twice.
        let idempotencyKey =
            method == "GET" ? [:] : [APIHeader.idempotencyKey: UUID().uuidString]
        let answered = try await sendWithSession { session in
            var headers = idempotencyKey
            headers[APIHeader.customerSession] = session.clientSecret
            return try request(method, path, key: key, headers: headers, body: body)
        }
        if let answered { return answered.response }
        return try await send(request(method, path, key: key, headers: idempotencyKey, body: body))
    }

    /// The server's signature for a promotional offer to the customer who is signed in.
    func offerSignature(product: String, offer: String) async throws -> API.OfferSignature {
        let body = API.OfferSignatureRequest(
            type: .promotionalOffer,
            product: product,
            offer: offer
        )
        return try await customerCall(API.OfferSignature.self) { session in
            try request(
                "POST",
                APIPath.appStoreOfferSignatures.path,
                key: session.clientSecret,
                body: body
            )
        }
    }

    private static func webURL(_ text: String) throws -> URL {
        guard let url = URL(string: text), let scheme = url.scheme?.lowercased(),
            scheme == "https" || scheme == "http", url.host != nil
        else { throw BillingSDKError.invalidResponse("not a web address: \(text)") }
        return url
    }
}
