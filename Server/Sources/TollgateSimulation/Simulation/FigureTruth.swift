import AppStoreSimulator
import Foundation
import Reports
import TollgateCore

/// Figures by the simulated stores' own books, made by other code than the reports and from other
/// things: charges, refunds, invoices and the App Store's transactions, not rows that were derived
/// from messages.
///
/// The definitions are those of docs/reports.md. Where the books do not say, as of the days of grace
/// in the past, a figure is a range.
struct FigureTruth {
    /// Money that came and money that went, in milliunits, by day and currency.
    struct Money: Hashable {
        var gross: Int64 = 0
        var refunds: Int64 = 0
        /// By how much rounding may differ.
        var slack: Int64 = 0
    }

    struct Place: Hashable {
        var day: Reports.Day
        var currency: String
    }

    /// A stretch in which one subscription was paid for.
    struct Paid {
        /// Names what goes on by itself: at Stripe an item.
        var id: String
        /// Tells apart what is worth more together and is one: a transaction of added seats.
        var part = ""
        /// The subscription that it may be a part of.
        var subscription: String
        /// UNIX milliseconds.
        var start: Int64
        var end: Int64
        /// Until when the books leave open whether it goes on.
        var openUntil: Int64
        /// Its value a month in milliunits; `nil`: the books and the definition do not say.
        var monthly: Double?
        var currency: String
    }

    /// The subscriptions that are active at an instant.
    struct Active {
        /// By what goes on, and its part.
        var sure: [[String]: Paid] = [:]
        /// Those that may be.
        var open: Set<[String]> = []

        /// How many there are, at least and at most.
        var count: ClosedRange<Int> {
            let least = Set(sure.values.map(\.id))
            return least.count...least.union(open.map { $0[0] }).count
        }

        /// The subscriptions of which something is active.
        var subscriptions: Set<String> { Set(sure.values.map(\.subscription)) }

        /// The number of what is active of other subscriptions than these: several items that are bought,
        /// or end, together count each.
        func count(besides others: Set<String>) -> Int {
            Set(sure.values.filter { !others.contains($0.subscription) }.map(\.id)).count
        }

        /// The MRR of the active subscriptions besides these, by currency, in milliunits; `nil`: unknown.
        func mrr(besides others: Set<String> = []) -> [String: Double]? {
            guard open.isEmpty else { return nil }
            var sums: [String: Double] = [:]
            for paid in sure.values where !others.contains(paid.subscription) {
                guard let monthly = paid.monthly else { return nil }
                sums[paid.currency, default: 0] += monthly
            }
            return sums
        }
    }

    /// Seats of one transaction that the App Store refunded at once.
    struct RefundedSeats {
        var count: Int
        /// UNIX milliseconds.
        var at: Int64
    }

    var money: [Place: Money] = [:]
    var paid: [Paid] = []

    /// The subscriptions that are active in the last millisecond of a day.
    func active(atEndOf day: Reports.Day) -> Active {
        let instant = day.advanced(by: 1).start.milliseconds - 1
        var active = Active()
        for one in paid where one.start <= instant {
            let name = [one.id, one.part]
            if instant < one.end {
                if one.start >= active.sure[name]?.start ?? .min { active.sure[name] = one }
            } else if instant < one.openUntil {
                active.open.insert(name)
            }
        }
        active.open.subtract(active.sure.keys)
        return active
    }

    mutating func add(_ amount: Int64, refund: Bool = false, _ currency: String, at: Int64) {
        let day = Reports.Day(Instant(milliseconds: at))
        let place = Place(day: day, currency: currency.uppercased())
        if refund {
            money[place, default: Money()].refunds += amount
        } else {
            money[place, default: Money()].gross += amount
        }
    }

    /// The factor by which a price is worth a month.
    ///
    /// `nil`: the catalog does not say how long it is for, or it is for another time than that.
    static func factor(_ product: Catalog.Product?, start: Int64, end: Int64) -> Double? {
        let days = Double(end - start) / 86_400_000
        return switch product?.duration?.iso8601 {
        case "P1W" where abs(days - 7) < 0.1: 4
        case "P1M" where (27.9...31.1).contains(days): 1
        case "P1Y" where (364.9...366.1).contains(days): 1.0 / 12
        default: nil
        }
    }
}

// MARK: - Stripe

extension FigureTruth {
    /// By Stripe's charges, refunds, disputes and paid invoices.
    ///
    /// https://docs.stripe.com/api/charges/object, https://docs.stripe.com/api/invoices/object
    init(_ books: StripeTruth, in catalog: Catalog) {
        self.init()
        // Minor units of two decimals are ten milliunits.
        for charge in books.charges {
            guard let intent = charge.payment_intent, let at = books.counted(intent) else {
                continue
            }
            add(charge.amount * 10, charge.currency, at: at * 1000)
            // Of money that was held nothing but a read tells when it was taken (RULES §5.3).
            guard charge.isHeldFirst, at > charge.created else { continue }
            for day in 0...Int64(30) {
                allow(charge.amount * 10, charge.currency, at: (at + day * 86_400) * 1000)
            }
        }
        // The simulated bank's customers dispute charges that failed, too: nothing went back of them.
        func isOfMoney(_ movement: StripeTruth.Movement) -> Bool {
            movement.payment_intent.map { books.counted($0) != nil } ?? false
        }
        for refund in books.refunds.filter(isOfMoney)
        where ["pending", "succeeded"].contains(refund.status) {
            add(refund.amount * 10, refund: true, refund.currency, at: refund.created * 1000)
        }
        for dispute in books.disputes.filter(isOfMoney)
        where ["lost", "needs_response", "under_review"].contains(dispute.status) {
            add(dispute.amount * 10, refund: true, dispute.currency, at: dispute.withdrawnAt * 1000)
        }
        for subscription in books.subscriptions {
            let invoices = books.invoices.filter { $0.subscription == subscription.id }
            let items = Set(invoices.flatMap { $0.lines.data.compactMap(\.item) })
            for item in items { read(item, of: subscription, invoices, books, catalog) }
        }
    }

    private mutating func read(
        _ item: String,
        of subscription: StripeTruth.Subscription,
        _ invoices: [StripeTruth.Invoice],
        _ books: StripeTruth,
        _ catalog: Catalog
    ) {
        let ended = subscription.ended_at ?? .max
        let lines = invoices.filter(\.isPaid).flatMap { invoice in
            invoice.lines.data.filter { $0.item == item }.map { (line: $0, invoice: invoice) }
        }
        let credits = lines.filter(\.line.isCredit).map(\.line.period.start)
        let charges = lines.filter { $0.line.amount > 0 }
        for (line, invoice) in charges {
            // What a credit gives back ends where the credit begins.
            let credited = credits.filter { start in
                line.period.start < start && start < line.period.end
            }.min()
            // A plan that another one of the same item follows ends where that begins, also where nothing
            // was given back (`proration_behavior: none`).
            let next = charges.map(\.line.period.start).filter { $0 > line.period.start }.min()
            var end = min(line.period.end, credited ?? .max, next ?? .max)
            // What went back later leaves the past, and its days of grace, as they were.
            let refund = StripeTruth.completion(
                of: books.takenBack(ofInvoice: invoice.id),
                to: invoice.amount_paid
            )
            let isCut = refund.map { $0 < end } ?? false
            if let refund { end = min(end, refund) }
            let product = catalog.stripe(line.price)
            let net = line.amount - (line.discount_amounts ?? []).reduce(0) { $0 + $1.amount }
            let isWhole = !line.isProration && net > 0
            let factor =
                isWhole
                ? Self.factor(
                    product,
                    start: line.period.start * 1000,
                    end: line.period.end * 1000
                ) : nil
            // What follows is asked for with grace: for how long is not in the books of the past.
            let due = invoices.contains { $0.due_date != nil } ? 46 : 0
            let grace = isCut || credited != nil ? 0 : Int64(3 + due) * 86_400
            paid.append(
                Paid(
                    id: item,
                    subscription: subscription.id,
                    start: line.period.start * 1000,
                    // What a coupon pays is neither a trial nor paid for.
                    end: net > 0 ? min(end, ended) * 1000 : line.period.start * 1000,
                    openUntil: min(end + grace, max(ended, end)) * 1000,
                    monthly: factor.map { $0 * Double(net) * 10 },
                    currency: invoice.currency.uppercased()
                )
            )
        }
    }
}

// MARK: - The App Store

extension FigureTruth {
    /// By the App Store's transactions.
    ///
    /// https://developer.apple.com/documentation/appstoreserverapi/jwstransactiondecodedpayload
    init(
        _ transactions: [SimulatedAppStore.Transaction],
        subscriptions: [String: SimulatedAppStore.Subscription],
        refundedSeats: [String: [RefundedSeats]],
        _ books: AppStoreTruth
    ) {
        self.init()
        let sales = books.withoutAliases(transactions).filter { $0.ownership == .purchased }
        for sale in sales {
            guard let price = sale.price, price > 0 else { continue }
            add(price, sale.currency ?? "", at: sale.purchaseDate)
            var (seats, returned): (Int64, Int64) = (0, 0)
            // Apple refunds some seats of a transaction, which stays valid for the others:
            // https://developer.apple.com/documentation/appstoreserverapi/revokedseatquantity
            for refund in refundedSeats[sale.id] ?? [] {
                seats += Int64(refund.count)
                let amount = price * seats / Int64(max(1, sale.quantity)) - returned
                addRefund(amount, sale, at: refund.at)
                returned += amount
            }
            guard let back = sale.revocation, books.isRefunded(sale),
                !Self.isOfChange(back, of: sale, among: sales)
            else { continue }
            let share = Int64(back.percentage ?? 100_000)
            addRefund((price - returned) * share / 100_000, sale, at: back.date)
        }
        for (original, chain) in sales.filter({ $0.kind == .autoRenewable })
            .grouped(by: \.originalID)
        {
            let ordered = chain.sorted { (Int64($0.id) ?? 0) < (Int64($1.id) ?? 0) }
            // One that the store calls active has come back since it was replaced.
            let isActive =
                subscriptions[original].map { [.active, .billingGrace].contains($0.state) } ?? false
            for (index, sale) in ordered.enumerated() {
                let next = ordered.dropFirst(index + 1).first { !Self.adds($0, to: sale) }
                let isAdded = ordered.prefix(index).contains { Self.adds(sale, to: $0) }
                // A revocation that was taken back later brought it back, too.
                let reversed = books.reversed[sale.id] ?? .min
                let replaced = sales.filter {
                    !isActive && $0.previousOriginalID == original
                        && sale.purchaseDate < $0.purchaseDate && reversed < $0.purchaseDate
                }.map(\.purchaseDate).min()
                read(
                    sale,
                    isAdded: isAdded,
                    next,
                    replaced: replaced,
                    subscriptions[original],
                    books
                )
            }
        }
    }

    private mutating func addRefund(
        _ amount: Int64,
        _ sale: SimulatedAppStore.Transaction,
        at date: Int64
    ) {
        let currency = (sale.currency ?? "").uppercased()
        add(amount, refund: true, currency, at: date)
        let day = Reports.Day(Instant(milliseconds: date))
        money[Place(day: day, currency: currency), default: Money()].slack += 1
    }

    /// Returns `true` if a revocation is the refund of a change to another plan, which Apple makes with the
    /// change, by time and without an amount; so reports do not count it.
    ///
    /// https://developer.apple.com/app-store/subscriptions/#ranking
    private static func isOfChange(
        _ back: SimulatedAppStore.Transaction.Revocation,
        of sale: SimulatedAppStore.Transaction,
        among sales: [SimulatedAppStore.Transaction]
    ) -> Bool {
        guard sale.isUpgraded, back.percentage == nil else { return false }
        return sales.contains {
            $0.originalID == sale.originalID && $0.id != sale.id
                && sale.purchaseDate <= $0.purchaseDate
                && abs(back.date - $0.purchaseDate) <= 60_000
        }
    }

    /// Whether one transaction adds seats to the period of another one, which it does not replace.
    ///
    /// https://developer.apple.com/documentation/appstoreserverapi/additionaltransactionreason
    private static func adds(
        _ one: SimulatedAppStore.Transaction,
        to other: SimulatedAppStore.Transaction
    ) -> Bool {
        one.additionalReason != nil && one.productID == other.productID
            && one.purchaseDate > other.purchaseDate
            && one.purchaseDate < other.expiresDate ?? .max
    }

    private mutating func read(
        _ sale: SimulatedAppStore.Transaction,
        isAdded: Bool,
        _ next: SimulatedAppStore.Transaction?,
        replaced: Int64?,
        _ subscription: SimulatedAppStore.Subscription?,
        _ books: AppStoreTruth
    ) {
        guard let expires = sale.expiresDate else { return }
        let revoked = books.isRevoked(sale) ? sale.revocation?.date : nil
        let end = min(expires, next?.purchaseDate ?? .max, revoked ?? .max, replaced ?? .max)
        let product = books.catalog.products.first { $0.appStoreProductID == sale.productID }
        let price = sale.price ?? 0
        // Grace of the past is not in the books: at most as long as Apple's is.
        let mayHaveFailed =
            next.map { $0.purchaseDate > expires }
            ?? (subscription?.expirationIntent != 1 || subscription?.failedRenewal ?? 0 >= expires)
        let wentOn = min(next?.purchaseDate ?? .max, replaced ?? .max)
        let hadGrace = revoked == nil && wentOn > expires && mayHaveFailed
        // The first period after a migration was paid for before it.
        let isMigrated = sale.previousOriginalID != nil && price == 0
        let factor = Self.factor(product, start: sale.purchaseDate, end: expires)
        paid.append(
            Paid(
                id: sale.originalID,
                part: isAdded ? sale.id : "",
                subscription: sale.originalID,
                start: sale.purchaseDate,
                end: price > 0 || isMigrated ? end : sale.purchaseDate,
                openUntil: hadGrace
                    ? min(end + 62 * 86_400_000, wentOn)
                    : price > 0 || isMigrated ? end : sale.purchaseDate,
                // Of seats that were refunded the definition says nothing.
                monthly: sale.offer == nil && next?.purchaseDate != sale.purchaseDate
                    && sale.revokedSeats ?? 0 == 0 && !isMigrated
                    ? factor.map { $0 * Double(price) } : nil,
                currency: (sale.currency ?? "").uppercased()
            )
        )
    }
}

// MARK: - Google Play

extension FigureTruth {
    /// By Google Play's orders, which say what was charged and what went back, but not how long access
    /// lasts: for money alone.
    ///
    /// A pre-order counts from its release, when it is charged (`processedEvent`):
    /// https://support.google.com/googleplay/answer/1061913. Licence testers pay nothing, so `books` are
    /// without them: https://developer.android.com/google/play/billing/test#license-testers.
    ///
    /// Nothing tells of a refund that leaves access, so an order is read each day for 90 days after its
    /// period, and then on one day of each month. The server of a world seldom runs on that day, so what
    /// went back of such orders may not be known.
    ///
    /// Where a refunded one-time purchase answers 410 (`refundedIsGone`), no read tells of one that Google
    /// took back, since nobody acknowledged it, before the server could read it. Neither its charge nor
    /// its refund may then be known.
    ///
    /// https://developers.google.com/android-publisher/api-ref/rest/v3/orders
    init(_ books: GooglePlayTruth, at now: Int64, refundedIsGone: Bool) {
        self.init()
        let day: Int64 = 86_400_000
        let neverReadable = refundedIsGone ? books.ordersTakenBack : []
        for order in books.orders {
            let history = order.orderHistory
            guard let paid = history.processedEvent?.at else { continue }
            add(order.total.milliunits, order.total.currencyCode, at: paid)
            let isNeverReadable =
                neverReadable.contains(order.orderId)
                && order.lineItems.allSatisfy { $0.subscriptionDetails == nil }
            if isNeverReadable {
                allow(order.total.milliunits, order.total.currencyCode, at: paid)
            }
            let ends = order.lineItems.compactMap { $0.subscriptionDetails?.end } + [paid]
            let isReadDaily = ends.contains { now - $0 <= 90 * day }
            for event in (history.partialRefundEvents ?? [])
                + [history.refundEvent].compactMap(\.self)
            {
                guard let at = event.at, let back = event.refundDetails?.total else { continue }
                add(back.milliunits, refund: true, back.currencyCode, at: at)
                guard isNeverReadable || !isReadDaily else { continue }
                allow(back.milliunits, back.currencyCode, at: at)
            }
        }
    }

    /// Lets the figures of a day and currency differ by an amount.
    private mutating func allow(_ milliunits: Int64, _ currency: String, at instant: Int64) {
        let day = Reports.Day(Instant(milliseconds: instant))
        let place = Place(day: day, currency: currency.uppercased())
        money[place, default: Money()].slack += milliunits
    }
}
