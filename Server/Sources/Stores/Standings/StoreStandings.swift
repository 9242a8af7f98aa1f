public import TollgateCore

/// Says how one store's purchases stand.
///
/// It is a value without connections, so it can also be asked where no room was built.
public protocol StoreStandings: Sendable {
    var store: Store { get }

    /// How a purchase stands, for its customer and for staff.
    func standing(of held: HeldPurchase) -> PurchaseStanding

    /// The lines about the purchase on its page for staff.
    func details(of purchase: Purchase) -> [PurchaseDetail]
}

/// A line about a purchase, for staff.
public enum PurchaseDetail: Hashable, Sendable {
    /// The store's id of the newest payment.
    case transaction(String)
    case periodStart(Instant)
    case periodEnd(Instant)
    /// The newest payment as the App Store and Google Play state it, in thousandths of the currency's unit.
    case price(milliunits: Int64, currency: String)
    /// The payment of a Checkout page at Stripe.
    case amount(Catalog.Product.Price)
    /// The store's id of the page on which it was bought.
    case checkoutSession(String)
}
