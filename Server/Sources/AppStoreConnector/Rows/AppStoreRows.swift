public import Reports
public import TollgateCore

/// The sales and periods of purchases in the App Store.
public struct AppStoreRows: StoreRows {
    public let store = Store.appStore

    public init() {}

    public func add(
        _ purchase: Purchase,
        in history: CatalogHistory,
        _ customer: (HolderNames) throws -> String,
        to rows: inout Reports.PurchaseRows
    ) rethrows {
        var service = PaidService()
        let periods = purchase.effectivePeriods
        let app = history.current.app(application: purchase.key.application, in: .appStore)?.id
        for (index, effective) in periods.enumerated() {
            let period = effective.period
            let product = product(of: period, by: purchase.key, in: history)
            let isPlan = period.kind == .autoRenewable || product.known?.kind == .autoRenewable
            let buyer = try customer(effective.buyer)
            let offer = isPlan ? Reports.Offer(period) : .none
            if isPlan { service.begin(at: period.start) }
            let sale = Reports.Sale(
                kind: .charge,
                store: store,
                environment: purchase.key.environment,
                purchase: purchase.key,
                transaction: period.transactionID,
                lot: period.id,
                product: product.id,
                storeProduct: period.product,
                productKind: product.known?.kind,
                country: period.storefront.map { Reports.Country.code(ofStorefront: $0) } ?? "",
                currency: period.currency?.uppercased() ?? "",
                amount: period.isFamilyShared ? 0 : max(0, period.price ?? 0),
                quantity: max(0, period.quantity),
                offer: offer,
                purchased: period.start,
                at: period.start,
                isRenewal: isPlan && index > 0 && !effective.isAddition
                    && !effective.isUpgrade(from: periods[index - 1]),
                isAfterOneYear: isPlan && service.isAfterOneYear,
                isFamilyShared: period.isFamilyShared,
                customer: buyer,
                app: app
            )
            rows.sales.append(sale)
            if !period.isFamilyShared { rows.sales += Self.refunds(of: sale, effective) }
            guard isPlan, effective.hasBegun || effective.revoked != nil,
                let end = period.end
                    ?? product.known?.duration?.adding(to: period.start.milliseconds)
                    .map({ Instant(milliseconds: $0) })
            else { continue }
            let paidUntil = max(period.start, min(effective.end ?? end, end))
            if !effective.isAddition, effective.refundedInWhole == nil {
                let duration = offer == .none ? product.known?.duration : nil
                service.add(period, until: paidUntil, duration: duration)
            }
            let isNewest = index == periods.count - 1
            var row = Reports.PaidPeriod(
                sale,
                id: period.id,
                end: end,
                paidUntil: paidUntil,
                effectiveEnd: max(paidUntil, effective.graceEnd ?? paidUntil),
                refunded: effective.refundedInWhole,
                retriedSince: isNewest ? purchase.retriedSince : nil,
                duration: product.known.flatMap { Self.duration(of: period, $0) }
            )
            row.isAddition = effective.isAddition ? true : nil
            row.isUnpriced = period.isUnpriced ? true : nil
            rows.periods.append(row)
        }
    }

    /// The product's duration, where that is what a period's price is for; `nil`: it is for the
    /// period's own time.
    ///
    /// A price that is paid up front is for all periods of the offer, and an installment's for its part
    /// of the commitment.
    private static func duration(of period: Period, _ product: Catalog.Product) -> String? {
        guard period.discount != "PAY_UP_FRONT", period.installment == nil else { return nil }
        return product.duration?.iso8601
    }

    /// The catalog's product of a period; product ids are looked up by the app that sold it.
    private func product(
        of period: Period,
        by key: Purchase.Key,
        in history: CatalogHistory
    ) -> (id: String, known: Catalog.Product?) {
        Reports.product(
            period.product,
            of: store,
            by: key.application,
            at: period.start,
            in: history
        )
    }

    /// The refunds of some seats and of the whole; what went back with seats does not go back again.
    private static func refunds(
        of sale: Reports.Sale,
        _ effective: EffectivePeriod
    ) -> [Reports.Sale] {
        let period = effective.period
        var returned: Int64 = 0
        var refunds: [Reports.Sale] = []
        func add(_ amount: Int64, at instant: Instant) {
            refunds.append(sale.takenBack(.refund, amount, at: instant, isFirst: refunds.isEmpty))
        }
        for refund in effective.seatRefunds {
            let amount = Reports.share(sale.amount, refund.seats, of: max(1, period.quantity))
            add(amount - returned, at: refund.stated)
            returned = amount
        }
        if let revoked = effective.revoked {
            add(
                Reports.share(sale.amount - returned, period.revokedShare ?? 100_000, of: 100_000),
                at: revoked
            )
        }
        return refunds
    }
}

extension EffectivePeriod {
    /// Whether the period took the place of a running plan: the customer bought it, and nothing renewed.
    ///
    /// https://developer.apple.com/documentation/appstoreserverapi/transactionreason
    fileprivate func isUpgrade(from last: EffectivePeriod) -> Bool {
        last.period.product != period.product && last.end == period.start
            && last.period.end.map { period.start < $0 } ?? false
    }

    /// When all of its money went back; `nil`: it did not.
    fileprivate var refundedInWhole: Instant? {
        (period.revokedShare ?? 100_000) >= 100_000 ? revoked : nil
    }
}

extension Purchase {
    /// Since when the App Store tries to collect again, without any access.
    fileprivate var retriedSince: Instant? {
        guard let status, status.value.value == SubscriptionStatus.billingRetry else { return nil }
        return status.stated.instant
    }
}
