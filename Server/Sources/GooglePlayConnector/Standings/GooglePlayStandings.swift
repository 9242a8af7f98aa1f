public import Stores
public import TollgateCore

/// How purchases in Google Play stand, by their newest reads.
public struct GooglePlayStandings: StoreStandings {
    public let store = Store.googlePlay

    public init() {}

    public func standing(of held: HeldPurchase) -> PurchaseStanding {
        guard let play = held.purchase.googlePlay else { return PurchaseStanding(held.state()) }
        guard let subscription = play.subscription?.value else {
            return PurchaseStanding(play.stateOfPurchase(held))
        }
        return standing(of: subscription, play, held)
    }

    /// The newest order, its period and what was paid.
    public func details(of purchase: Purchase) -> [PurchaseDetail] {
        guard let play = purchase.googlePlay else { return [] }
        let newest = play.orders.map(\.value).max {
            (($0.processed ?? $0.created)?.milliseconds ?? 0, $0.id)
                < (($1.processed ?? $1.created)?.milliseconds ?? 0, $1.id)
        }
        let end = play.subscription?.value.items.compactMap(\.expiry).max()
        let details: [PurchaseDetail?] = [
            newest.map { .transaction($0.id) },
            newest?.lines.compactMap(\.start).min().map { .periodStart($0) },
            end.map { .periodEnd($0) },
            newest?.total.map { .price(milliunits: $0.micros / 1000, currency: $0.currency) },
        ]
        return details.compactMap(\.self)
    }

    private func standing(
        of subscription: GooglePlaySubscription,
        _ play: GooglePlayRecord,
        _ held: HeldPurchase
    ) -> PurchaseStanding {
        let isReplaced = play.replaced.map { $0 <= held.now } ?? false
        let renews =
            ["ACTIVE", "IN_GRACE_PERIOD", "ON_HOLD"].contains(subscription.state) && !isReplaced
            && subscription.items.contains { $0.renews && $0.isRemoved != true }
        var standing = PurchaseStanding(play.state(of: subscription, renews: renews, held))
        standing.isPlan = true
        standing.renews = renews
        let offers = subscription.items.compactMap(\.offerKind)
        standing.offer = offers.contains(.trial) ? .trial : offers.first
        standing.changesProduct = subscription.items.contains { $0.replacement != nil }
        switch standing.state {
        case .renews(let day), .trial(let day):
            standing.nextCharge = PurchaseStanding.NextCharge(
                at: day,
                price: play.nextPrice(of: subscription),
                awaitsConsent: subscription.items.contains { $0.awaitsConsent == true }
            )
        case .ended(let end):
            standing.lastPeriod = play.lastPeriod(of: subscription, before: end)
            standing.isContinued = play.replaced != nil
        default: break
        }
        return standing
    }
}

extension GooglePlayRecord {
    fileprivate func state(
        of subscription: GooglePlaySubscription,
        renews: Bool,
        _ held: HeldPurchase
    ) -> PurchaseStanding.State {
        let (now, until) = (held.now, held.until)
        let end = subscription.items.compactMap(\.expiry).max()
        switch subscription.state {
        case "PENDING": return .processing
        case "PENDING_PURCHASE_CANCELED": return .notPaid
        case "ON_HOLD": return .paymentFailed(accessUntil: nil)
        case "IN_GRACE_PERIOD": return .paymentFailed(accessUntil: until ?? end)
        case "PAUSED": return .paused
        default:
            if held.runs, let end = end ?? until {
                let isTrial = subscription.items.contains { $0.phase == "freeTrial" }
                return !renews ? .endsAt(until ?? end) : isTrial ? .trial(until: end) : .renews(end)
            }
            if let refundedWhole { return .refunded(refundedWhole, renews: nil) }
            let last = held.lastEnd ?? replaced ?? end
            return last.map { $0 <= now ? .ended($0) : .startsLater } ?? .inactive
        }
    }

    /// The time at which the newest order was refunded as a whole, or voided; `nil`: it was not.
    private var refundedWhole: Instant? {
        let newest = orders.map(\.value).filter(\.isPaid)
            .max { ($0.paid, $0.id) < ($1.paid, $1.id) }
        guard let newest else { return voids.map(\.value.at).max() }
        return newest.refunds.first { !$0.isPartial }?.at
            ?? voids.map(\.value).first { $0.order == newest.id && $0.quantity == nil }?.at
    }

    /// The state of a one-time purchase.
    fileprivate func stateOfPurchase(_ held: HeldPurchase) -> PurchaseStanding.State {
        guard let purchase = purchase?.value else { return .inactive }
        switch purchase.state {
        case "PENDING": return .processing
        case "CANCELLED":
            guard let completed else { return .notPaid }
            return .refunded(refundedWhole ?? cancelled ?? completed, renews: nil)
        default:
            if held.isActive { return held.until.map { .endsAt($0) } ?? .forever }
            return completed.map { .bought($0) } ?? .inactive
        }
    }

    /// - Parameter end: the end of access, also of grace.
    fileprivate func lastPeriod(
        of subscription: GooglePlaySubscription,
        before end: Instant
    ) -> PurchaseStanding.LastPeriod {
        let stop = subscription.items.compactMap(\.expiry).max() ?? end
        let last =
            periods
            .compactMap { period in period.paidUntil.map { (period.order, min($0, stop)) } }
            .max { ($0.1, $0.0) < ($1.1, $1.0) }
        return last.map { PurchaseStanding.LastPeriod(id: $0.0, end: $0.1) }
            ?? PurchaseStanding.LastPeriod(id: "\(stop.milliseconds)", end: stop)
    }

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

extension GooglePlayOrder {
    /// The time of the payment; orders without one come first.
    fileprivate var paid: Instant { processed ?? created ?? Instant(milliseconds: .min) }
}
