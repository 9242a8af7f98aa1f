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
        var sure: [String: Paid] = [:]
        /// Those that may be.
        var open: Set<String> = []

        /// The subscriptions of which something is active.
        var subscriptions: Set<String> { Set(sure.values.map(\.subscription)) }

        /// By currency, in milliunits; `nil`: not known.
        var mrr: [String: Double]? {
            guard open.isEmpty else { return nil }
            var sums: [String: Double] = [:]
            for paid in sure.values {
                guard let monthly = paid.monthly else { return nil }
                sums[paid.currency, default: 0] += monthly
            }
            return sums
        }
    }

    var money: [Place: Money] = [:]
    var paid: [Paid] = []

    /// The subscriptions that are active in the last millisecond of a day.
    func active(atEndOf day: Reports.Day) -> Active {
        let instant = day.advanced(by: 1).start.milliseconds - 1
        var active = Active()
        for one in paid where one.start <= instant {
            if instant < one.end {
                if one.start >= active.sure[one.id]?.start ?? .min { active.sure[one.id] = one }
            } else if instant < one.openUntil {
                active.open.insert(one.id)
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
            let at = charge.payment_intent.flatMap { books.received[$0] } ?? charge.created
            add(charge.amount * 10, charge.currency, at: at * 1000)
        }
        // The simulated bank's customers dispute charges that failed, too: nothing went back of them.
        func isOfMoney(_ movement: StripeTruth.Movement) -> Bool {
            movement.payment_intent.map { books.received[$0] != nil } ?? false
        }
        for refund in books.refunds.filter(isOfMoney)
        where ["pending", "succeeded"].contains(refund.status) {
            add(refund.amount * 10, refund: true, refund.currency, at: refund.created * 1000)
        }
        for dispute in books.disputes.filter(isOfMoney)
        where ["lost", "needs_response", "under_review"].contains(dispute.status) {
            add(dispute.amount * 10, refund: true, dispute.currency, at: dispute.created * 1000)
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
            var end = min(line.period.end, credited ?? .max)
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
        reversed: [String: Int64],
        in catalog: Catalog
    ) {
        self.init()
        var seen: Set<String> = []
        let sales = transactions.filter { sale in
            // A restore on another device may make new ids for the same sale.
            sale.ownership == .purchased
                && seen.insert(sale.webOrderLineItemID ?? sale.originalID).inserted
        }
        for sale in sales {
            guard let price = sale.price, price > 0 else { continue }
            add(price, sale.currency ?? "", at: sale.purchaseDate)
            if let back = sale.revocation, reversed[sale.id] == nil {
                let share = Int64(back.percentage ?? 100_000)
                add(price * share / 100_000, refund: true, sale.currency ?? "", at: back.date)
                let day = Reports.Day(Instant(milliseconds: back.date))
                let place = Place(day: day, currency: (sale.currency ?? "").uppercased())
                money[place, default: Money()].slack += 1
            }
        }
        for (original, chain) in sales.filter({ $0.kind == .autoRenewable })
            .grouped(by: \.originalID)
        {
            let ordered = chain.sorted { (Int64($0.id) ?? 0) < (Int64($1.id) ?? 0) }
            for (index, sale) in ordered.enumerated() {
                let next = ordered.dropFirst(index + 1).first
                read(sale, next, subscriptions[original], reversed, catalog)
            }
        }
    }

    private mutating func read(
        _ sale: SimulatedAppStore.Transaction,
        _ next: SimulatedAppStore.Transaction?,
        _ subscription: SimulatedAppStore.Subscription?,
        _ reversed: [String: Int64],
        _ catalog: Catalog
    ) {
        guard let expires = sale.expiresDate else { return }
        let revoked = reversed[sale.id] == nil ? sale.revocation?.date : nil
        let end = min(expires, next?.purchaseDate ?? .max, revoked ?? .max)
        let product = catalog.products.first { $0.appStoreProductID == sale.productID }
        let price = sale.price ?? 0
        // Grace of the past is not in the books: at most as long as Apple's is.
        let mayHaveFailed =
            next.map { $0.purchaseDate > expires } ?? (subscription?.expirationIntent != 1)
        let hadGrace = revoked == nil && mayHaveFailed
        let factor = Self.factor(product, start: sale.purchaseDate, end: expires)
        paid.append(
            Paid(
                id: sale.originalID,
                subscription: sale.originalID,
                start: sale.purchaseDate,
                end: price > 0 ? end : sale.purchaseDate,
                openUntil: hadGrace
                    ? min(end + 62 * 86_400_000, next?.purchaseDate ?? .max)
                    : price > 0 ? end : sale.purchaseDate,
                monthly: sale.offer == nil && next?.purchaseDate != sale.purchaseDate
                    ? factor.map { $0 * Double(price) } : nil,
                currency: (sale.currency ?? "").uppercased()
            )
        )
    }
}
