internal import Reports
internal import TollgateCore

extension TollgateCore.Purchase {
    /// The next charge of a plan in this state; `nil`: none follows, or none is known of.
    ///
    /// - Parameter listed: the plan's price in the catalog.
    func nextCharge(
        _ state: PortalState,
        listed: Catalog.Product.Price?
    ) -> PortalView.NextCharge? {
        switch state {
        case .renews(let day), .trial(let day), .refunded(_, let day?):
            if let subscription = subscription?.value {
                let price = price(of: subscription, listed: listed)
                return PortalView.NextCharge(
                    at: subscription.items.map(\.end).min() ?? day,
                    price: price
                )
            }
            if let play = googlePlay, let subscription = play.subscription?.value {
                return PortalView.NextCharge(
                    at: day,
                    price: play.nextPrice(of: subscription),
                    awaitsConsent: subscription.items.contains { $0.awaitsConsent == true }
                )
            }
            // Who shares a plan of their family pays nothing.
            guard let last = effectivePeriods.last?.period, !last.isFamilyShared else { return nil }
            let terms = renewal.flatMap { $0.areAboutRenewal(after: last) ? $0.value : nil }
            let awaitsConsent = terms?.awaitsConsent ?? false
            // What it will cost then is in the App Store.
            return PortalView.NextCharge(
                at: day,
                price: awaitsConsent ? nil : nextPrice(after: last, terms),
                awaitsConsent: awaitsConsent
            )
        case .endsAt(let stop):
            // `cancel_at` may lie in a later period, of which Stripe charges a part.
            guard let next = subscription?.value.items.map(\.end).min(), next < stop else {
                return nil
            }
            return PortalView.NextCharge(at: next)
        default: return nil
        }
    }

    /// The price of a subscription at Stripe: of its last full period, else by the catalog.
    ///
    /// A coupon of the customer is not in the subscription: it shows once an invoice was discounted by it.
    /// https://docs.stripe.com/billing/subscriptions/coupons
    ///
    /// A graduated price has a line for each tier.
    /// https://docs.stripe.com/products-prices/pricing-models
    ///
    /// - Parameter listed: the catalog's price; `nil` for an older price of the product.
    /// - Returns: `nil` for several items, for usage, with a schedule, a discount or paused collection, and
    ///   where a discount or a tax on top was charged or, before the first charge, may be.
    private func price(
        of subscription: StripeSubscription,
        listed: Catalog.Product.Price?
    ) -> Catalog.Product.Price? {
        guard subscription.items.count == 1, let item = subscription.items.first,
            item.isBilledInArrears != true, subscription.mayChangePrice != true
        else { return nil }
        let paid = invoices.map(\.value).filter(\.isPaid).compactMap { invoice in
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

    /// The price of a plan of the App Store: as Apple signed it, else that of its last period.
    ///
    /// `renewalPrice` knows offers and another plan that follows.
    /// https://developer.apple.com/documentation/appstoreserverapi/renewalprice
    ///
    /// - Parameter terms: those of this renewal; `nil`: none are known.
    /// - Returns: without a signed price, `nil` after an offer and where another plan follows.
    private func nextPrice(after last: Period, _ terms: RenewalTerms?) -> Catalog.Product.Price? {
        // For a purchase of several seats Apple does not say whether it is the price of one.
        if let price = terms?.price, let currency = terms?.currency ?? last.currency,
            last.quantity == 1
        {
            return Catalog.Product.Price(milliunits: price, currency: currency)
        }
        guard last.offerType == nil, let price = last.price, let currency = last.currency,
            terms?.nextProduct.map({ $0 == last.product }) ?? true
        else { return nil }
        return Catalog.Product.Price(milliunits: price, currency: currency)
    }
}

extension Newest<RenewalTerms> {
    /// Returns `true` if the terms are about the renewal that follows `last`, not an earlier one: they were
    /// signed since it began, or name its end as `renewalDate`.
    ///
    /// Apple charges up to a day ahead, and signs the terms then.
    fileprivate func areAboutRenewal(after last: Period) -> Bool {
        if stated.instant >= last.start { return true }
        guard let end = last.end, let date = value.renewalDate else { return false }
        return date >= end
    }
}

extension GooglePlayRecord {
    /// The sum of what the items that renew will be charged.
    ///
    /// - Returns: `nil` where one is discounted or replaced at the renewal, or where its tax is unknown.
    fileprivate func nextPrice(
        of subscription: GooglePlaySubscription
    ) -> Catalog.Product.Price? {
        let renewing = subscription.items.filter { $0.renews && $0.isRemoved != true }
        let prices = renewing.compactMap(nextCharge)
        guard let currency = prices.first?.currency, prices.count == renewing.count,
            prices.allSatisfy({ $0.currency == currency }),
            subscription.items.allSatisfy({ $0.replacement == nil }),
            renewing.allSatisfy({ $0.phase ?? "basePrice" == "basePrice" })
        else { return nil }
        let micros = prices.reduce(Int64(0)) { $0 &+ $1.micros }
        guard micros.isMultiple(of: 1000) else { return nil }
        return Catalog.Product.Price(milliunits: micros / 1000, currency: currency)
    }

    /// The next charge of one item: its price, with the tax on top that its last order was charged.
    ///
    /// `recurringPrice` has no discounts in it, and no tax where listed prices have none.
    /// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2
    ///
    /// - Returns: `nil` where no order says what tax is charged, or a tax comes on top of a new price.
    private func nextCharge(of item: GooglePlaySubscription.Item) -> GooglePlayMoney? {
        guard let price = item.price,
            let order = orders.first(where: { $0.value.id == item.order })?.value,
            let line = order.lines.first(where: { $0.product == item.product })
        else { return nil }
        guard order.isTaxInclusive != true, let tax = line.tax?.micros, tax > 0 else {
            return price
        }
        guard let total = line.total, total.currency == price.currency,
            total.micros - tax == price.micros
        else { return nil }
        return total
    }
}

extension Catalog.Product.Price {
    /// `nil` for an amount that is no whole number of the currency's minor units.
    fileprivate init?(milliunits: Int64, currency: String) {
        let unit = Reports.Currency.milliunits(minor: 1, currency: currency.uppercased())
        guard milliunits.isMultiple(of: unit) else { return nil }
        self.init(amount: milliunits / unit, currency: currency.lowercased())
    }
}
