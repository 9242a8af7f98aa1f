public import Stores
public import TollgateCore

/// How purchases in the App Store stand.
public struct AppStoreStandings: StoreStandings {
    public let store = Store.appStore

    public init() {}

    public func standing(of held: HeldPurchase) -> PurchaseStanding {
        let purchase = held.purchase
        let periods = purchase.effectivePeriods
        let last = periods.last
        let isPlan = purchase.periods.contains { $0.period.kind == .autoRenewable }
        let renews = isPlan && held.runs && purchase.renewal?.value.willRenew == true
        var standing = PurchaseStanding(state(held, last, isPlan: isPlan, renews: renews))
        standing.isPlan = isPlan
        standing.renews = renews
        standing.offer = periods.last { $0.period.start <= held.now }?.period.offerKind
        standing.isRetried = purchase.isRetried(held.lastEnd, last?.period)
        if let last, let next = purchase.renewal?.value.nextProduct {
            standing.changesProduct = next != last.period.product
        }
        guard isPlan else { return standing }
        switch standing.state {
        case .renews(let day):
            standing.nextCharge = last.flatMap { purchase.nextCharge(on: day, after: $0.period) }
        case .ended(let end):
            let ended = periods.last {
                $0.period.kind == .autoRenewable && $0.period.start < end
            }
            standing.lastPeriod = ended.map {
                PurchaseStanding.LastPeriod(id: $0.period.id, end: $0.end ?? $0.period.end ?? end)
            }
            standing.isContinued = purchase.isContinued(since: ended?.period.start)
        default: break
        }
        return standing
    }

    /// The latest transaction, its period and what was paid.
    public func details(of purchase: Purchase) -> [PurchaseDetail] {
        guard let last = purchase.newestPeriod else { return [] }
        var details = [
            PurchaseDetail.transaction(last.transactionID), .periodStart(last.start),
        ]
        if let end = last.end { details.append(.periodEnd(end)) }
        if let price = last.price, let currency = last.currency {
            details.append(.price(milliunits: price, currency: currency))
        }
        return details
    }

    private func state(
        _ held: HeldPurchase,
        _ last: EffectivePeriod?,
        isPlan: Bool,
        renews: Bool
    ) -> PurchaseStanding.State {
        guard !held.isActive else { return held.state(renews: renews) }
        if isPlan, let end = held.runsUntil {
            // A plan of coins alone opens nothing.
            return renews ? .renews(end) : .endsAt(end)
        }
        if let last {
            if let day = last.revoked, !last.period.isFamilyShared {
                return .refunded(day, renews: nil)
            }
            if held.timeline.entries.isEmpty { return .bought(last.period.start) }
        }
        return held.state()
    }
}

extension Purchase {
    /// The period that began last, whatever became of it.
    var newestPeriod: Period? {
        periods.max { $0.period.start < $1.period.start }?.period
    }

    /// Returns `true` if the App Store still tries to charge this customer for a plan.
    ///
    /// It tries for sixty days, without access after the grace period.
    ///
    /// - Parameter ended: the end of what the purchase opened for this customer.
    fileprivate func isRetried(_ ended: Instant?, _ last: Period?) -> Bool {
        guard status?.value.value == SubscriptionStatus.billingRetry,
            renewal?.value.willRenew == true
        else { return false }
        // Another account may have bought the plan anew: its payment is no concern of this customer.
        guard let ended, let last else { return true }
        return last.start < ended
    }

    /// Returns `true` if another purchase took this one's place, as after a change of plan.
    ///
    /// A plan may come back, and be replaced before the period that it then begins.
    ///
    /// - Parameter start: of the last period; `nil`: none is known.
    fileprivate func isContinued(since start: Instant?) -> Bool {
        (successors ?? []).flatMap(\.starts).contains { other in start.map { $0 < other } ?? true }
    }

    fileprivate func nextCharge(
        on day: Instant,
        after last: Period
    ) -> PurchaseStanding.NextCharge? {
        // Who shares a plan of their family pays nothing.
        guard !last.isFamilyShared else { return nil }
        let terms = renewal.flatMap { $0.areAboutRenewal(after: last) ? $0.value : nil }
        let awaitsConsent = terms?.awaitsConsent ?? false
        // What it will cost then is in the App Store.
        return PurchaseStanding.NextCharge(
            at: day,
            price: awaitsConsent ? nil : nextPrice(after: last, terms),
            awaitsConsent: awaitsConsent
        )
    }

    /// The price of a plan: as Apple signed it, else that of its last period.
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
