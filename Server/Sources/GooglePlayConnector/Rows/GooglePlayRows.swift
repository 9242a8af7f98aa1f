public import Reports
public import TollgateCore

/// The sales and periods of what Google Play sold: an order is the only statement of money, so what was
/// not read as an order yet is in no figure.
public struct GooglePlayRows: StoreRows {
    public let store = Store.googlePlay

    public init() {}

    public func add(
        _ purchase: Purchase,
        in history: CatalogHistory,
        _ customer: (HolderNames) throws -> String,
        to rows: inout Reports.PurchaseRows
    ) rethrows {
        guard let play = purchase.googlePlay else { return }
        let buyer = try customer(purchase.buyers.first ?? [])
        // An order that the purchase before this one has, too, is a sale of that one.
        let inherited = play.inheritedOrders ?? []
        let orders = play.orders.map(\.value).filter {
            $0.isPaid && !inherited.contains($0.id)
        }.sorted { ($0.charged, $0.id) < ($1.charged, $1.id) }
        var periods: [Reports.PaidPeriod] = []
        var kept: [String: GooglePlayKeptPeriod] = [:]
        for order in orders {
            var sales = order.lines.map { line in
                sale(of: line, order, purchase, in: history, buyer)
            }
            let amounts = sales.map(\.sale.amount)
            let currencies = Set(sales.map(\.sale.currency))
            let taxes = order.stated(
                order.tax?.micros,
                in: order.tax?.currency,
                currencies,
                amounts
            )
            let proceeds = order.stated(
                order.undiminishedRevenue,
                in: order.revenue?.currency,
                currencies,
                amounts
            )
            for index in sales.indices {
                sales[index].sale.tax = taxes?[index]
                sales[index].sale.proceeds = proceeds?[index]
            }
            rows.sales += sales.map(\.sale)
            rows.sales += Self.takenBack(sales.map(\.sale), of: order)
            for sale in sales {
                guard var period = Self.period(sale, order) else { continue }
                period.paidUntil = play.paidUntil(
                    order.id,
                    sale.line.product,
                    from: period.start,
                    sold: period.end
                )
                periods.append(period)
                kept[period.id] = play.continuation(of: order.id, sale.line.product)
            }
        }
        rows.periods += Self.cut(periods, play, kept)
    }

    private struct Charge {
        var line: GooglePlayOrder.Line
        var sale: Reports.Sale
        var known: Catalog.Product?
    }

    private func sale(
        of line: GooglePlayOrder.Line,
        _ order: GooglePlayOrder,
        _ purchase: Purchase,
        in history: CatalogHistory,
        _ buyer: String
    ) -> Charge {
        let known = history.product(
            line.sold,
            in: purchase.key.application,
            at: line.start ?? order.charged
        )
        let sale = Reports.Sale(
            kind: .charge,
            store: store,
            environment: purchase.key.environment,
            purchase: purchase.key,
            transaction: "\(order.id)/\(line.product)",
            // As its coins are credited.
            lot: line.start == nil ? line.sold.id : "\(order.id)/\(line.product)",
            payment: order.id,
            product: known?.id ?? line.sold.id,
            storeProduct: line.sold.id,
            productKind: known?.kind,
            country: order.country ?? purchase.googlePlay?.region ?? "",
            currency: line.total?.currency ?? order.total?.currency ?? "",
            amount: max(0, (line.total?.micros ?? 0) / 1000),
            quantity: max(1, line.quantity),
            offer: line.isTrial
                ? .trial : line.phase == "introductoryPrice" ? .introductory : .none,
            purchased: order.charged,
            at: order.charged,
            isRenewal: line.start != nil && order.isRenewal,
            isAfterOneYear: false,
            isFamilyShared: false,
            customer: buyer,
            app: history.current.app(application: purchase.key.application, in: store)?.id
        )
        return Charge(line: line, sale: sale, known: known)
    }

    /// The refunds of an order, spread over its lines.
    private static func takenBack(
        _ charges: [Reports.Sale],
        of order: GooglePlayOrder
    ) -> [Reports.Sale] {
        var left = charges.map(\.amount).reduce(0, +)
        var rows: [Reports.Sale] = []
        var refunded: Set<String> = []
        for (number, refund) in order.refunds.enumerated() {
            // A refund of the whole is of what is left, whatever it states.
            let stated = refund.total.map { max(0, $0.micros / 1000) }
            let back = min(left, refund.isPartial ? stated ?? 0 : left)
            guard back > 0 else { continue }
            left -= back
            let parts = Reports.parts(of: back, by: charges.map(\.amount))
            for (charge, part) in zip(charges, parts) where part > 0 {
                rows.append(
                    charge.takenBack(
                        refund.isChargeback ? .chargeback : .refund,
                        part,
                        at: refund.at,
                        refund: "\(order.id)/refund-\(number)",
                        isFirst: refunded.insert(charge.transaction).inserted
                    )
                )
            }
        }
        return rows
    }

    private static func period(
        _ charge: Charge,
        _ order: GooglePlayOrder
    ) -> Reports.PaidPeriod? {
        guard let start = charge.line.start, let end = charge.line.end, start < end else {
            return nil
        }
        var row = Reports.PaidPeriod(
            charge.sale,
            id: "\(order.id)/\(charge.line.product)",
            end: end,
            paidUntil: end,
            effectiveEnd: end,
            refunded: order.refunds.first { !$0.isPartial }?.at,
            retriedSince: nil,
            duration: charge.known?.duration?.iso8601
        )
        row.start = start
        guard charge.line.phase == "prorationPeriod" else { return row }
        // By the days that are left where the catalog does not say how long the price is for.
        guard let listing = charge.line.listing, listing.micros > 0,
            row.duration != nil || row.amount == 0
        else {
            row.isProration = true
            return row
        }
        // What a change of plan credits is cash: the plan is worth its price, whatever was charged. Neither
        // a difference nor nothing is a payment at the standard price, which begins a cohort.
        row.amount = listing.micros / 1000
        row.currency = listing.currency
        row.offer = .discount
        return row
    }

    /// Cuts each period at the end of its access: by the next one of its product, by a replacement that
    /// does not keep it, or where the newest read ends it; and extends it by grace.
    ///
    /// - Parameter kept: by their ids, the periods that go on under another token.
    private static func cut(
        _ periods: [Reports.PaidPeriod],
        _ play: GooglePlayRecord,
        _ kept: [String: GooglePlayKeptPeriod]
    ) -> [Reports.PaidPeriod] {
        var periods = periods.sorted { ($0.start, $0.id) < ($1.start, $1.id) }
        let ends = play.subscription?.value.items ?? []
        for index in periods.indices {
            let next = periods[(index + 1)...].first {
                $0.storeProduct == periods[index].storeProduct
            }
            var until = periods[index].paidUntil
            if let next { until = min(until, next.start) }
            let goingOn = kept[periods[index].id]
            let end = if let goingOn { goingOn.until } else { play.replaced }
            if let end { until = min(until, end) }
            let isNewest = next == nil
            let item = ends.first { $0.sold.id == periods[index].storeProduct }
            // What another token keeps, the end of this one does not end.
            if isNewest, goingOn == nil, let expiry = item?.expiry,
                play.subscription?.value.state == "EXPIRED"
                    || play.subscription?.value.canceledBy != nil
            {
                until = min(until, expiry)
            }
            periods[index].paidUntil = max(periods[index].start, until)
            periods[index].effectiveEnd = periods[index].paidUntil
            if end == nil, let held = play.hold(after: periods[index].paidUntil),
                !periods[(index + 1)...].contains(where: {
                    periods[index].paidUntil <= $0.start && $0.start < held
                })
            {
                periods[index].effectiveEnd = held
            }
            guard isNewest else { continue }
            switch play.subscription?.value.state {
            case "IN_GRACE_PERIOD":
                if let expiry = item?.expiry {
                    periods[index].effectiveEnd = max(periods[index].paidUntil, expiry)
                }
            case "ON_HOLD" where item != nil:
                periods[index].retriedSince = play.subscription?.stated.instant
            default: break
            }
        }
        return periods
    }
}

extension GooglePlayOrder {
    /// The time of the charge.
    fileprivate var charged: Instant {
        processed ?? created ?? lines.compactMap(\.start).min() ?? Instant(milliseconds: 0)
    }

    /// The developer's revenue before partial refunds, in millionths; `nil` where the order does not tell.
    ///
    /// ["Including deductions of partial refunds"](
    /// https://developers.google.com/android-publisher/api-ref/rest/v3/orders): it is the revenue of what
    /// was not refunded.
    fileprivate var undiminishedRevenue: Int64? {
        guard let revenue, let total, revenue.micros >= 0, total.micros > 0 else { return nil }
        let isRefunded = !refunds.isEmpty || state == "REFUNDED"
        // Of an order that was refunded, nothing left tells no share.
        guard revenue.micros > 0 || !isRefunded else { return nil }
        let partial = refunds.filter(\.isPartial)
        // Nor does a refund of unknown size.
        guard partial.allSatisfy({ $0.total != nil }) else { return nil }
        let back = partial.reduce(Int64(0)) { $0 + ($1.total?.micros ?? 0) }
        guard back > 0 else {
            return state == "PARTIALLY_REFUNDED" && refunds.isEmpty ? nil : revenue.micros
        }
        guard back < total.micros else { return nil }
        return Finance.Money(millionths: revenue.micros, currency: revenue.currency)
            .scaled(by: Finance.Ratio(total.micros, over: total.micros - back)).millionths
    }

    /// Spreads an amount of the whole order over its lines.
    ///
    /// - Returns: milliunits of each line; `nil` where the order does not state it in the lines' currency.
    fileprivate func stated(
        _ micros: Int64?,
        in currency: String?,
        _ currencies: Set<String>,
        _ amounts: [Int64]
    ) -> [Int64]? {
        guard let micros, let currency, currencies == [currency] else { return nil }
        return Reports.parts(of: max(0, micros / 1000), by: amounts)
    }

    /// Renewals are numbered behind two dots.
    fileprivate var isRenewal: Bool { id.contains("..") }
}

extension GooglePlayOrder.Line {
    fileprivate var isTrial: Bool { phase == "freeTrial" }
}

extension GooglePlayRecord {
    /// The buyer's country.
    fileprivate var region: String? {
        subscription?.value.region ?? purchase?.value.region
    }
}
