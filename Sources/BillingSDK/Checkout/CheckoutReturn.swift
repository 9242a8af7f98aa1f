import Foundation

/// How a checkout went, by the server's word, when the customer is back in the app.
public enum CheckoutReturn: String, Hashable, Sendable, CaseIterable {
    /// Paid, and the server has recorded it; the entitlements are refreshed.
    case confirmed
    /// Not known yet: the money is on its way, or the server could not be asked. It is in
    /// ``BillingSDK/BillingSDK/purchaseInbox`` until it is known, and asked for at every foreground.
    case processing
    /// The customer turned back, or the page ended without a purchase.
    case cancelled
}

extension BillingSDK {
    /// Takes a universal link that opened the app; call it from `onOpenURL` with every link.
    ///
    /// The link is a hint to ask, never believed: anybody can make one. The server asks Stripe, records
    /// what was paid for, and only then says ``CheckoutReturn/confirmed``.
    /// - Returns: nil for a link that leads back from no checkout; it is the app's own.
    public func handleCheckoutReturn(_ url: URL) async -> CheckoutReturn? {
        await client.checkoutReturn(url)
    }
}

extension BillingClient {
    func checkoutReturn(_ url: URL) async -> CheckoutReturn? {
        guard let link = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return nil }
        let isCancelled: Bool
        switch link.path {
        case configuration.checkoutPaths.success: isCancelled = false
        case configuration.checkoutPaths.cancel: isCancelled = true
        default: return nil
        }
        let named = link.queryItems?.first { $0.name == "session_id" }?.value
        guard let id = named ?? checkouts.latest?.id else {
            // Nothing that this app has begun: no more to be found out than by asking.
            await refreshIfSignedIn()
            return isCancelled ? .cancelled : .processing
        }
        let (outcome, isKnown) = await outcome(ofCheckout: id, leftPage: isCancelled)
        // A link that names what neither this app nor the server knows leaves nothing.
        if isKnown || checkouts.product(of: id) != nil { settle(id, outcome) }
        if outcome != .cancelled { await refreshIfSignedIn() }
        return outcome
    }

    /// Asks again for every checkout that was still on its way.
    func settleCheckouts() async {
        for purchase in inbox.pending where purchase.origin == .checkoutReturn {
            guard let id = purchase.reference else { continue }
            settle(id, await outcome(ofCheckout: id, leftPage: false).0)
        }
    }

    private func settle(_ id: String, _ outcome: CheckoutReturn) {
        switch outcome {
        case .confirmed, .cancelled:
            checkouts.end(id)
            inbox.finishUnderWay(productID: nil, reference: id)
        case .processing:
            inbox.addUnderWay(
                productID: checkouts.product(of: id) ?? "",
                origin: .checkoutReturn,
                reference: id
            )
        }
    }
}
