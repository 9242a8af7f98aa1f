public import Stores
public import TollgateAPI
public import TollgateCore

/// Everything a customer has bought, wherever they bought it, for the portal page.
public struct PortalView: Sendable {
    /// One line of buying.
    public struct Purchase: Sendable {
        /// What it is: a plan, something bought once, or a gift.
        public enum Kind: Sendable {
            case plan, once, gift
        }

        /// The store's id: a Stripe subscription's, say.
        public var id: String
        public var name: String
        public var kind: Kind
        public var store: Store
        /// What customers call the store that sold it; `nil`: nobody did.
        public var shop: String?
        /// The same in a sentence: `in the App Store`.
        public var inShop: String?
        /// Where it is managed, if not here.
        public var managementURL: String?
        public var standing: PurchaseStanding
        public var price: Catalog.Product.Price?
        /// The time between payments; `nil` where it is several of these, such as three months.
        public var interval: String?
        /// Whether it gives access now.
        public var isActive: Bool
        /// What it opens now.
        var lookupKeys: [String]
    }

    /// What moved coins.
    public struct CoinMovement: Sendable {
        public var amount: Int64
    }

    public var customer: API.Customer
    /// Those that give access first, each group in the order of the names.
    public var purchases: [Purchase]
    public var coins: API.CoinBalance
    public var coinMovements: [CoinMovement]
    /// Newest first.
    public var invoices: [StoreInvoice]
    /// Whether the store could not be asked for the invoices.
    public var lacksInvoices: Bool
    /// What is being paid for in more than one store, by the entitlements' names.
    public var paidTwice: [String]
    /// Where that is: `in Google Play`, `on the web`.
    public var paidTwicePlaces: [String]
    /// What customers call these stores.
    public var paidTwiceShops: [String]
    /// Whether there is anything to be managed at Stripe.
    public var hasStripe: Bool
    public var returnURL: String?
}

extension Catalog.Product {
    /// The time between payments of a plan: `day`, `week`, `month` or `year`; `nil` for what is
    /// paid once.
    var interval: String? {
        guard kind == .autoRenewable, let duration else { return nil }
        if duration.years > 0 { return "year" }
        if duration.months > 0 { return "month" }
        return duration.weeks > 0 ? "week" : "day"
    }

    /// The interval, if a single one lies between payments: `$29.99 a month` is wrong for a quarter.
    public var singleInterval: String? {
        guard let duration else { return nil }
        let parts = [duration.years, duration.months, duration.weeks, duration.days]
        return parts.filter { $0 > 0 } == [1] ? interval : nil
    }

    /// How many of these intervals lie between payments.
    var intervalCount: Int? {
        guard kind == .autoRenewable, let duration else { return nil }
        return [duration.years, duration.months, duration.weeks, duration.days].first { $0 > 0 }
    }
}
