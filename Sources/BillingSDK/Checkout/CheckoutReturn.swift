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
        await Checkouts(client: client).handleReturn(url)
    }
}
