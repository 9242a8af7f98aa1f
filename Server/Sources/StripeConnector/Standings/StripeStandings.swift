public import Stores
public import TollgateCore

/// How purchases at Stripe stand.
public struct StripeStandings: StoreStandings {
    public let store = Store.stripe

    public init() {}

    public func standing(of held: HeldPurchase) -> PurchaseStanding {
        if let subscription = held.purchase.subscription?.value {
            return standing(of: subscription, held)
        }
        guard let payment = held.purchase.payment else { return PurchaseStanding(held.state()) }
        var standing = PurchaseStanding(held.purchase.state(of: payment, held.until))
        standing.storeCustomer = payment.customer
        return standing
    }

    public func details(of purchase: Purchase) -> [PurchaseDetail] {
        guard let payment = purchase.payment?.payment else { return [] }
        let amount = Catalog.Product.Price(amount: payment.amount, currency: payment.currency)
        return [.amount(amount), .checkoutSession(payment.session)]
    }

    private func standing(
        of subscription: StripeSubscription,
        _ held: HeldPurchase
    ) -> PurchaseStanding {
        var standing = PurchaseStanding(subscription, held)
        if let day = held.purchase.refundedPeriod(of: subscription) {
            let renewal: Instant? =
                switch standing.state {
                case .renews(let instant), .trial(let instant): instant
                default: nil
                }
            standing.state = .refunded(day, renews: renewal)
        }
        standing.nextCharge = held.nextCharge(of: subscription, standing.state)
        return standing
    }
}

extension Purchase {
    fileprivate func state(
        of payment: PaymentRecord,
        _ until: Instant?
    ) -> PurchaseStanding.State {
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
    fileprivate func refundedPeriod(of subscription: StripeSubscription) -> Instant? {
        let paid = invoices.map(\.value).filter(\.isPaid)
        // Of several items each has to be refunded.
        let days = subscription.items.map { item in
            paid.paying(for: item).compactMap { refunded($0.amount, paying: $0.id) }.max()
        }
        return days.contains(nil) ? nil : days.compactMap(\.self).max()
    }
}

extension PurchaseStanding {
    /// A subscription, and what can be done about it here.
    fileprivate init(_ subscription: StripeSubscription, _ held: HeldPurchase) {
        self.init(.inactive)
        isPlan = true
        offer = subscription.offerKind
        storeCustomer = subscription.customer
        let end = subscription.items.map(\.end).max() ?? held.now
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
            if stop == nil, subscription.items.count == 1, let product = held.products.first ?? nil
            {
                choices = held.catalog.alternatives(to: product)
            }
        case "past_due":
            renews = true
            canCancel = stop == nil
            state = .paymentFailed(accessUntil: held.until)
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
    /// The other plans of a product's group that can be bought at Stripe.
    fileprivate func alternatives(to product: Product) -> [Product] {
        guard let group = product.subscriptionGroup else { return [] }
        return products.filter {
            $0.subscriptionGroup == group && $0.id != product.id && !$0.isRetired
                && !$0.stripePriceIDs.isEmpty
        }
    }
}

extension HeldPurchase {
    fileprivate func nextCharge(
        of subscription: StripeSubscription,
        _ state: PurchaseStanding.State
    ) -> PurchaseStanding.NextCharge? {
        let next = subscription.items.map(\.end).min()
        switch state {
        case .renews(let day), .trial(let day), .refunded(_, let day?):
            return PurchaseStanding.NextCharge(at: next ?? day, price: price(of: subscription))
        case .endsAt(let stop):
            // `cancel_at` may lie in a later period, of which Stripe charges a part.
            guard let next, next < stop else { return nil }
            return PurchaseStanding.NextCharge(at: next)
        default: return nil
        }
    }

    /// The price of a subscription: of its last full period, else by the catalog.
    ///
    /// A coupon of the customer is not in the subscription: it shows once an invoice was discounted by it.
    /// https://docs.stripe.com/billing/subscriptions/coupons
    ///
    /// A graduated price has a line for each tier.
    /// https://docs.stripe.com/products-prices/pricing-models
    ///
    /// - Returns: `nil` for several items, for usage, with a schedule, a discount or paused collection, and
    ///   where a discount or a tax on top was charged or, before the first charge, may be.
    private func price(of subscription: StripeSubscription) -> Catalog.Product.Price? {
        guard subscription.items.count == 1, let item = subscription.items.first,
            item.isBilledInArrears != true, subscription.mayChangePrice != true
        else { return nil }
        let listed = listedPrice(of: item)
        let paid = purchase.invoices.map(\.value).filter(\.isPaid).compactMap { invoice in
            let lines = invoice.lines.filter {
                $0.price == item.price && !$0.isProration && $0.amount > 0
            }
            return lines.map(\.start).max().map { start in
                (start, invoice.currency.lowercased(), lines.filter { $0.start == start })
            }
        }
        if let (_, currency, lines) = paid.max(by: { $0.0 < $1.0 }) {
            guard lines.allSatisfy({ ($0.discount ?? 0, $0.tax ?? 0) == (0, 0) }) else {
                return nil
            }
            if lines.reduce(0, { $0 &+ $1.quantity }) == item.quantity {
                let amount = lines.reduce(0) { $0 &+ $1.amount }
                return Catalog.Product.Price(amount: amount, currency: currency)
            }
            guard lines.count == 1, currency == listed?.currency else { return nil }
        }
        guard let listed, subscription.mayAddTax != true else { return nil }
        let (amount, overflow) = listed.amount.multipliedReportingOverflow(by: item.quantity)
        return overflow ? nil : Catalog.Product.Price(amount: amount, currency: listed.currency)
    }

    /// The catalog's price; `nil` for an older price of the product: whoever still pays it does not pay
    /// the listed one.
    private func listedPrice(of item: StripeSubscription.Item) -> Catalog.Product.Price? {
        item.price == products.first??.stripePriceIDs.first ? onlyProduct?.price : nil
    }
}
