/// Whom a share of a purchase belongs to, by the name under which the facts know them.
///
/// Names other than `customer` are looked up among the aliases that customers registered; one that
/// is not registered yet holds the share until it is, so that whoever registers later attaches.
public enum Holder: Hashable, Sendable {
    case customer(Customer.ID)
    /// An `appAccountToken`, lowercase.
    case token(String)
    /// Stripe's customer id.
    case stripeCustomer(String)
    /// A `client_reference_id`.
    case reference(String)
    /// Nobody: the purchase itself.
    case unclaimed(Purchase.Key)

    /// `token:7f0c…`: one line of text, unique per holder.
    public var canonical: String {
        switch self {
        case .customer(let id): "customer:\(id)"
        case .token(let token): "token:\(token)"
        case .stripeCustomer(let id): "stripe:\(id)"
        case .reference(let reference): "reference:\(reference)"
        case .unclaimed(let key): "unclaimed:\(key)"
        }
    }
}

/// One holder under all the names by which the facts know them, the most telling first.
public typealias HolderNames = [Holder]
