internal import Reports
public import TollgateCore

/// How a purchase stands at an instant, for its customer and for staff.
public struct PurchaseStanding: Hashable, Sendable {
    public enum State: Hashable, Sendable {
        case renews(Instant)
        case endsAt(Instant)
        case ended(Instant)
        /// The last payment failed; access lasts until then if it does at all.
        case paymentFailed(accessUntil: Instant?)
        case trial(until: Instant)
        case paused
        case forever
        case startsLater
        case bought(Instant)
        /// All that was paid for it went back on that day; `renews`: it will be charged again then.
        case refunded(Instant, renews: Instant?)
        /// A payment such as a bank debit is under way.
        case processing
        /// The page to pay on, or the first invoice of a plan, was left unpaid: nothing was bought.
        case notPaid
        case inactive
    }

    /// The next charge of a plan.
    public struct NextCharge: Hashable, Sendable {
        public var at: Instant
        /// `nil` where only the store knows the amount.
        public var price: Catalog.Product.Price?
        /// `true` if the plan ends unless the customer agrees to a new price in the store.
        public var awaitsConsent: Bool

        public init(
            at instant: Instant,
            price: Catalog.Product.Price? = nil,
            awaitsConsent: Bool = false
        ) {
            (at, self.price, self.awaitsConsent) = (instant, price, awaitsConsent)
        }
    }

    /// The last period of a plan that was paid for, or tried out.
    public struct LastPeriod: Hashable, Sendable {
        /// The store's id of it, which stays while its end may move: by leeway, grace, or a newer word.
        public var id: String
        public var end: Instant

        public init(id: String, end: Instant) {
            (self.id, self.end) = (id, end)
        }
    }

    public var state: State
    /// `true` for a plan, which renews by itself unless it is cancelled.
    public var isPlan = false
    /// `true` if the store will charge for it again.
    public var renews = false
    /// The next charge of a plan, as far as it is known.
    public var nextCharge: NextCharge?
    /// The offer by which the present period was bought; `nil` at the full price.
    public var offer: OfferKind?
    /// `true` if the App Store still retries the payment of a plan although access has ended.
    ///
    /// Other stores state a failed payment as ``State/paymentFailed(accessUntil:)``.
    public var isRetried = false
    /// `true` if the next payment is for another product.
    public var changesProduct = false
    /// Of a plan that has ended; `nil` where the store names no period.
    public var lastPeriod: LastPeriod?
    /// `true` if the plan has ended and another purchase took its place.
    public var isContinued = false
    /// `true` if the customer can cancel it here, at the end of its period.
    public var canCancel = false
    /// `true` if the customer can take its cancellation back here.
    public var canResume = false
    /// The plans of the same group to which it can be changed here.
    public var choices: [Catalog.Product] = []
    /// The store's own id of the customer who pays, where the store has one.
    public var storeCustomer: String?

    public init(_ state: State) {
        self.state = state
    }
}

extension Catalog.Product.Price {
    /// `nil` for an amount that is no whole number of the currency's minor units.
    public init?(milliunits: Int64, currency: String) {
        let unit = Reports.Currency.milliunits(minor: 1, currency: currency.uppercased())
        guard milliunits.isMultiple(of: unit) else { return nil }
        self.init(amount: milliunits / unit, currency: currency.lowercased())
    }
}
