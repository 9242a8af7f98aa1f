import AppStoreSimulator
import StripeSimulator

/// One thing that happens in a simulated world, decided before the world begins, so that a failure
/// can be shrunk by leaving some of them out.
public struct PlannedAct: Sendable {
    public enum Deed: Hashable, Sendable {
        case appStore(AppStoreAct)
        case stripe(StripeAct)
        case world(WorldAct)
        /// The customer spends coins.
        case spend(Int64)
        /// The server is down for so many milliseconds.
        case outage(Int64)
        /// The server asks the stores what it missed, in whatever trouble it is.
        case reconcile
    }

    /// Its place in the plan, by which it is named on the command line.
    public var number: Int
    /// UNIX milliseconds.
    public var at: Int64
    /// The customer's place; `nil`: nobody's act.
    public var customer: Int?
    public var deed: Deed
}

/// What happens in simulated worlds that scenarios have no words for.
public enum WorldAct: Hashable, Sendable {
    // MARK: In the App Store
    /// Of all transactions of a product, the one that `back` others follow is refunded; the share is
    /// in thousandths of a percent.
    case refund(product: String?, back: Int, share: Int?)
    case reverseRefund(product: String?, back: Int)
    /// The app is opened: the device shows the server what StoreKit says the customer has, and what
    /// is shown must be given.
    case openApp
    /// The device shows the newest transaction that another plan has replaced.
    case postReplaced

    // MARK: At Stripe
    /// A subscription is made by the API, without a page.
    case subscribe(StripeOrder)
    /// A Checkout Session is opened and paid for.
    case checkout(StripeOrder, card: String)
    case addItem(product: String, proration: String)
    /// The newest item but the first is taken away.
    case removeItem
    /// Of all charges of the customer, the one that `back` others follow is refunded.
    case refundCharge(back: Int, amount: Int?)
    case dispute(back: Int)
    /// The customer's oldest open dispute ends.
    case endDispute(isWon: Bool)

    // MARK: The server
    /// For so many milliseconds something between the stores and the server answers 200 and passes
    /// nothing on.
    case swallow(Int64)
    /// For so many milliseconds the server has no key for the App Store Server API.
    case withoutKey(Int64)
    /// For so many milliseconds the server's clock is `by` milliseconds behind.
    case clockBehind(by: Int64, for: Int64)
    /// A copy of the database is made.
    case backUp
    /// The database is put back to its last copy.
    case restore

    /// What is ordered at Stripe, of more kinds than a page of one product.
    public struct StripeOrder: Hashable, Sendable {
        /// Products of the catalog; with any plan among them it is a subscription.
        public var products: [String]
        public var quantity = 1
        /// A coupon of `SimulatedShop`.
        public var coupon: String?
        /// An invoice is sent and to be paid within days, instead of the card being charged.
        public var daysUntilDue: Int?
        /// Whether a one-time payment makes an invoice.
        public var createsInvoice = false
        /// Whether the first invoice waits for the customer to confirm its payment.
        public var isConfirmedLater = false
    }
}
