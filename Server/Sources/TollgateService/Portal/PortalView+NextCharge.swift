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
            if let subscription = googlePlay?.subscription?.value {
                return PortalView.NextCharge(
                    at: day,
                    price: subscription.nextPrice,
                    awaitsConsent: subscription.items.contains { $0.awaitsConsent == true }
                )
            }
            // Who shares a plan of their family pays nothing.
            guard let last = effectivePeriods.last?.period, !last.isFamilyShared else { return nil }
            let awaitsConsent = renewal?.value.awaitsConsent ?? false
            // What it will cost then is in the App Store.
            return PortalView.NextCharge(
                at: day,
                price: awaitsConsent ? nil : nextPrice(after: last),
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
    /// - Returns: `nil` for several items, for usage, and where a discount or a tax on top was charged.
    private func price(
        of subscription: StripeSubscription,
        listed: Catalog.Product.Price?
    ) -> Catalog.Product.Price? {
        guard subscription.items.count == 1, let item = subscription.items.first,
            item.isBilledInArrears != true
        else { return nil }
        let paid = invoices.map(\.value).filter(\.isPaid).flatMap { invoice in
            invoice.lines.map { (line: $0, currency: invoice.currency.lowercased()) }
        }.filter { $0.line.price == item.price && !$0.line.isProration && $0.line.amount > 0 }
        if let last = paid.max(by: { $0.line.start < $1.line.start }) {
            guard last.line.discount ?? 0 == 0, last.line.tax ?? 0 == 0 else { return nil }
            if last.line.quantity == item.quantity {
                return Catalog.Product.Price(amount: last.line.amount, currency: last.currency)
            }
            guard last.currency == listed?.currency else { return nil }
        }
        guard let listed else { return nil }
        let (amount, overflow) = listed.amount.multipliedReportingOverflow(by: item.quantity)
        return overflow ? nil : Catalog.Product.Price(amount: amount, currency: listed.currency)
    }

    /// The price of a plan of the App Store that renews as it is: that of its last period.
    ///
    /// - Returns: `nil` after an offer, and where another plan follows.
    private func nextPrice(after last: Period) -> Catalog.Product.Price? {
        guard last.offerType == nil, let price = last.price, let currency = last.currency,
            renewal?.value.nextProduct.map({ $0 == last.product }) ?? true
        else { return nil }
        return Catalog.Product.Price(milliunits: price, currency: currency)
    }
}

extension GooglePlaySubscription {
    /// The sum of the prices of the items that renew; `nil` where one is discounted or replaced at
    /// the renewal: `recurringPrice` is the price without discounts.
    fileprivate var nextPrice: Catalog.Product.Price? {
        let renewing = items.filter { $0.renews && $0.isRemoved != true }
        let prices = renewing.compactMap(\.price)
        guard let currency = prices.first?.currency, prices.count == renewing.count,
            prices.allSatisfy({ $0.currency == currency }),
            items.allSatisfy({ $0.replacement == nil }),
            renewing.allSatisfy({ $0.phase ?? "basePrice" == "basePrice" })
        else { return nil }
        let micros = prices.reduce(Int64(0)) { $0 &+ $1.micros }
        guard micros.isMultiple(of: 1000) else { return nil }
        return Catalog.Product.Price(milliunits: micros / 1000, currency: currency)
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
