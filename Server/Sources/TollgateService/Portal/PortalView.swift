internal import Foundation
internal import Storage
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

        /// Another plan of the same group.
        public struct Choice: Sendable {
            public var product: String
            public var name: String
            public var price: Catalog.Product.Price?
            /// The time between payments; `nil` where it is several of these, such as three months.
            public var interval: String?
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
        public var state: PortalState
        public var price: Catalog.Product.Price?
        /// The time between payments; `nil` where it is several of these, such as three months.
        public var interval: String?
        /// Whether it gives access now.
        public var isActive: Bool
        /// Whether it will be paid again by itself.
        public var renews: Bool
        /// The next charge of a plan, as far as it is known.
        public var nextCharge: NextCharge?
        /// Whether it can be cancelled here, at the end of its period.
        public var canCancel: Bool
        /// Whether its cancellation can be taken back here.
        public var canResume: Bool
        public var choices: [Choice]
        /// What it opens now.
        var lookupKeys: [String]
        /// The store's own id of the customer who pays, where the store has one.
        var storeCustomer: String?
    }

    /// The next charge of a plan.
    public struct NextCharge: Hashable, Sendable {
        public var at: Instant
        /// `nil` where only the store knows the amount.
        public var price: Catalog.Product.Price?
        /// `true` if the plan ends unless the customer agrees to a new price in the store.
        public var awaitsConsent = false
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

/// How a purchase stands, for people.
public enum PortalState: Hashable, Sendable {
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
    /// A bank debit is under way.
    case processing
    /// The Checkout page, or the first invoice of a plan, was left unpaid: nothing was bought.
    case notPaid
    case inactive
}

extension TollgateCore.Purchase {
    /// What the portal says of this purchase.
    ///
    /// - Parameter access: the customer's part of it.
    func portalPurchase(
        _ access: PurchaseAccess,
        in catalog: Catalog,
        at now: Instant
    ) -> PortalView.Purchase {
        let timeline = Timeline([(key, access)], in: catalog)
        let active = timeline.active(at: now)
        let products = storeProducts.map { catalog.product($0, in: key.application) }
        let names = zip(storeProducts, products).map { $1?.name ?? $0.id }
        var purchase = PortalView.Purchase(
            id: key.id,
            name: grant.map {
                catalog.entitlement(lookupKey: $0.value.lookupKey)?.name ?? $0.value.lookupKey
            } ?? names.joined(separator: ", "),
            kind: grant != nil ? .gift : isPlan ? .plan : .once,
            store: key.store,
            state: .inactive,
            price: products.count == 1 ? products.first??.price : nil,
            interval: products.first??.singleInterval,
            isActive: !active.isEmpty,
            renews: false,
            canCancel: false,
            canResume: false,
            choices: [],
            lookupKeys: active.map(\.lookupKey)
        )
        let runsUntil = access.end(at: now)
        let until = active.first?.until
        if let subscription {
            purchase.describe(subscription.value, products.first ?? nil, catalog, until, at: now)
            if let day = refundedPeriod(of: subscription.value) {
                purchase.state = .refunded(day, renews: purchase.renewalDay)
            }
        } else if let play = googlePlay {
            let runs = purchase.isActive || runsUntil != nil
            purchase.describe(play, until, timeline, runs: runs, at: now)
        } else if isPlan {
            purchase.renews =
                (purchase.isActive || runsUntil != nil) && renewal?.value.willRenew == true
            if active.isEmpty, let runsUntil {
                // A plan of coins alone opens nothing.
                purchase.state = purchase.renews ? .renews(runsUntil) : .endsAt(runsUntil)
            } else {
                purchase.state = portalState(until, timeline, renews: purchase.renews, at: now)
            }
        } else if let payment {
            purchase.storeCustomer = payment.customer
            purchase.state = portalState(payment, until)
        } else {
            purchase.state = portalState(until, timeline, renews: false, at: now)
        }
        if isPlan {
            // Those who still pay an older price of the product do not pay the listed one.
            let price = subscription?.value.items.first?.price
            let isListed = price.map { $0 == products.first??.stripePriceIDs.first } ?? true
            purchase.nextCharge = nextCharge(
                purchase.state,
                listed: isListed ? purchase.price : nil
            )
        }
        return purchase
    }

    /// Whether it renews by itself, wherever it was bought.
    private var isPlan: Bool {
        subscription != nil || googlePlay?.subscription != nil
            || periods.contains { $0.period.kind == .autoRenewable }
    }

    private func portalState(_ payment: PaymentRecord, _ until: Instant?) -> PortalState {
        guard payment.isComplete else { return .notPaid }
        guard payment.isPaid else {
            return payment.hasFailed ? .paymentFailed(accessUntil: nil) : .processing
        }
        if let day = refunded(payment.payment.amount, paying: nil) {
            return .refunded(day, renews: nil)
        }
        return until.map { .endsAt($0) } ?? .bought(payment.payment.created)
    }

    /// When refunds had given back the whole of a payment; `nil`: they have not.
    private func refunded(_ amount: Int64, paying invoice: String?) -> Instant? {
        var left = amount
        guard left > 0 else { return nil }
        let given = refunds.filter { $0.value.takesBack && $0.value.invoice == invoice }
            .map { (at: $0.value.created ?? $0.stated.instant, amount: $0.value.amount) }
        for refund in given.sorted(by: { $0.at < $1.at }) {
            left -= refund.amount
            if left <= 0 { return refund.at }
        }
        return nil
    }

    /// When the payment of the latest period was given back in whole.
    private func refundedPeriod(of subscription: StripeSubscription) -> Instant? {
        let paid = invoices.map(\.value).filter(\.isPaid)
        // Of several items each has to be refunded.
        let days = subscription.items.map { item in
            paid.paying(for: item).compactMap { refunded($0.amount, paying: $0.id) }.max()
        }
        return days.contains(nil) ? nil : days.compactMap(\.self).max()
    }

    private func portalState(
        _ until: Instant?,
        _ timeline: Timeline,
        renews: Bool,
        at now: Instant
    ) -> PortalState {
        if timeline.active(at: now).isEmpty {
            if let last = effectivePeriods.last {
                if let day = last.revoked, !last.period.isFamilyShared {
                    return .refunded(day, renews: nil)
                }
                if timeline.entries.isEmpty { return .bought(last.period.start) }
            }
            guard let last = timeline.entries.compactMap(\.until).max() else { return .inactive }
            return last <= now ? .ended(last) : .startsLater
        }
        guard let until else { return .forever }
        return renews ? .renews(until) : .endsAt(until)
    }
}

extension PurchaseAccess {
    /// When the part that runs at an instant ends, also where it opens nothing; `nil`: none runs.
    fileprivate func end(at now: Instant) -> Instant? {
        intervals.filter { $0.since <= now }.compactMap(\.until).filter { now < $0 }.max()
    }
}

extension PortalView.Purchase {
    /// The end of the present period of a plan that renews.
    fileprivate var renewalDay: Instant? {
        switch state {
        case .renews(let instant), .trial(let instant): instant
        default: nil
        }
    }

    /// A Stripe subscription, and what can be done about it here.
    fileprivate mutating func describe(
        _ subscription: StripeSubscription,
        _ product: Catalog.Product?,
        _ catalog: Catalog,
        _ until: Instant?,
        at now: Instant
    ) {
        storeCustomer = subscription.customer
        let ends = subscription.items.map(\.end)
        let end = ends.max() ?? now
        // It ends with its earliest item (RULES §3.4).
        let stop = subscription.stop
        switch subscription.status {
        case "active", "trialing":
            // A far end lets it be charged again before.
            renews = stop.map { end < $0 } ?? true
            canCancel = stop == nil
            canResume = stop != nil
            if let stop {
                state = .endsAt(stop)
            } else if subscription.status == "trialing" {
                state = .trial(until: end)
            } else {
                state = .renews(end)
            }
            if stop == nil, subscription.items.count == 1, let product {
                choices = catalog.alternatives(to: product)
            }
        case "past_due":
            renews = true
            canCancel = stop == nil
            state = .paymentFailed(accessUntil: until)
        case "unpaid", "incomplete":
            canCancel = subscription.status == "unpaid"
            state = .paymentFailed(accessUntil: nil)
        case "incomplete_expired":
            state = .notPaid
        case "paused":
            canCancel = true
            state = .paused
        default:
            state = .ended(subscription.endedAt ?? end)
        }
    }
}

extension Catalog {
    /// The other plans of a product's group that can be bought in Stripe.
    func alternatives(to product: Product) -> [PortalView.Purchase.Choice] {
        guard let group = product.subscriptionGroup else { return [] }
        return products.filter {
            $0.subscriptionGroup == group && $0.id != product.id && !$0.isRetired
                && !$0.stripePriceIDs.isEmpty
        }.map {
            PortalView.Purchase.Choice(
                product: $0.id,
                name: $0.name,
                price: $0.price,
                interval: $0.singleInterval
            )
        }
    }
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
    var singleInterval: String? {
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
