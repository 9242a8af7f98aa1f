import Foundation
internal import TollgateAPI

/// Checkouts from their beginning to the server's word on how they went.
struct Checkouts: Sendable {
    let client: BillingClient

    func checkout(of button: BuyButton) async throws -> URL {
        let storefront = await client.storefront()
        let response = try await client.sendForCustomerOrNobody(
            "POST",
            APIPath.buyButtonCheckout.path(id: button.id)
        ) { session in
            API.BuyButtonCheckoutRequest(
                clientReferenceID: session == nil
                    ? VisitorPurchases(client: client).reference() : nil,
                storefront: storefront
            )
        }
        let checkout = try response.decoded(API.BuyButtonCheckout.self)
        let url = try BillingClient.webURL(checkout.url)
        if let id = checkout.id {
            let product = button.product
            client.checkouts.begin(
                .init(id: id, productID: product.appStoreProductID ?? product.id)
            )
        }
        return url
    }

    /// How a checkout went, as far as can be found out now, and whether the server knows it.
    ///
    /// - Parameter leftPage: whether the customer has turned back from a page that is still open.
    func outcome(ofCheckout id: String, leftPage: Bool) async -> (CheckoutReturn, isKnown: Bool) {
        do {
            let response = try await client.sendForCustomerOrNobody(
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

    func handleReturn(_ url: URL) async -> CheckoutReturn? {
        guard let link = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return nil }
        let isCancelled: Bool
        switch link.path {
        case client.configuration.checkoutPaths.success: isCancelled = false
        case client.configuration.checkoutPaths.cancel: isCancelled = true
        default: return nil
        }
        let named = link.queryItems?.first { $0.name == "session_id" }?.value
        guard let id = named ?? client.checkouts.latest?.id else {
            // Nothing that this app has begun: no more to be found out than by asking.
            await client.refreshIfSignedIn()
            return isCancelled ? .cancelled : .processing
        }
        let (outcome, isKnown) = await outcome(ofCheckout: id, leftPage: isCancelled)
        // A link that names what neither this app nor the server knows leaves nothing.
        if isKnown || client.checkouts.product(of: id) != nil { settle(id, outcome) }
        if outcome != .cancelled { await client.refreshIfSignedIn() }
        return outcome
    }

    /// Asks again for every checkout that was still on its way.
    func settle() async {
        for purchase in client.inbox.pending where purchase.origin == .checkoutReturn {
            guard let id = purchase.reference else { continue }
            settle(id, await outcome(ofCheckout: id, leftPage: false).0)
        }
    }

    private func settle(_ id: String, _ outcome: CheckoutReturn) {
        switch outcome {
        case .confirmed, .cancelled:
            client.checkouts.end(id)
            client.inbox.finishUnderWay(productID: nil, reference: id)
        case .processing:
            client.inbox.addUnderWay(
                productID: client.checkouts.product(of: id) ?? "",
                origin: .checkoutReturn,
                reference: id
            )
        }
    }
}
