import Foundation
import TollgateCore

// The truth about plans by Stripe's documents. It knows nothing of the engine that it judges.
extension StripeTruth {
    /// For how long an item of a subscription may be used, in UNIX seconds; `.max`: as long as it is
    /// as it is; `nil`: not at all.
    ///
    /// - `active` and `trialing` subscriptions are to be provisioned; `incomplete`, `unpaid`,
    ///   `paused` and `canceled` ones are not, and what became of a stated end is one of these
    ///   (https://docs.stripe.com/billing/subscriptions/overview#subscription-statuses).
    /// - `past_due` says that the latest finalized invoice was not paid: not which time of which
    ///   item it is for. That is on the lines of invoices
    ///   (https://docs.stripe.com/api/invoice-line-item/object). What was paid for is not taken, and
    ///   what is not paid goes on for the catalog's grace.
    /// - Where invoices are sent, nothing is late before the due date
    ///   (https://docs.stripe.com/billing/collection-method).
    func paidUntil(_ item: String, of subscription: Subscription, _ invoices: [Invoice]) -> Int64? {
        switch subscription.status {
        case "active", "trialing": return .max
        case "past_due": break
        default: return nil
        }
        let lines = invoices.filter(\.isSettled).flatMap(\.lines.data).filter { $0.item == item }
        let credits = lines.filter(\.isCredit)
        let settled = lines.filter { !$0.isCredit }.map { line in
            // A credit gives back what is left of the lines before it; what takes their place stands
            // beside it.
            credits.map(\.period.start).filter { start in
                line.period.start < start && start < line.period.end
            }.min() ?? line.period.end
        }.max()
        // What is asked for next, and by when.
        let due = invoices.filter { !$0.isSettled }.filter { invoice in
            invoice.lines.data.contains {
                $0.item == item && !$0.isCredit && $0.period.end > settled ?? 0
            }
        }.map { $0.due_date ?? $0.created }.min()
        return [settled, due].compactMap(\.self).max().map { $0 + 3 * 86_400 }
    }

    /// The coins of plans: they follow the money
    /// (https://docs.stripe.com/billing/subscriptions/prorations).
    ///
    /// A full line of a paid invoice brings the coins of a period, a proration those of its share of
    /// the time, and a credit for unused time takes those of that time from the line that it gives
    /// back; what is refunded takes its share of the invoice. All parts are exact here, so each may
    /// differ by one from what is rounded.
    ///
    /// A credit gives back nothing that was invoiced after it, and nothing that was given back before. Of
    /// changes within one second only the order of the invoices tells that; the list begins with the newest
    /// (https://docs.stripe.com/api/invoices/list).
    func creditPlans(of customer: String, in catalog: Catalog, _ truth: inout Truth) {
        var items: [String: [(line: Invoice.Line, invoice: Invoice, age: Int)]] = [:]
        for (age, invoice) in invoices.enumerated()
        where invoice.customer == customer && invoice.isPaid {
            for line in invoice.lines.data {
                if let item = line.item { items[item, default: []].append((line, invoice, age)) }
            }
        }
        var (sum, slack) = (0.0, 0.0)
        for lines in items.values {
            guard lines.contains(where: { catalog.stripe($0.line.price)?.coins ?? 0 > 0 }) else {
                continue
            }
            // Where nothing was to be paid, what is given back has no sign.
            if lines.contains(where: { $0.line.isProration && $0.line.amount == 0 }) {
                truth.areCoinsSure = false
            }
            var charges = lines.filter { !$0.line.isCredit }.map { line, invoice, age in
                PlanCharge(line, invoice, age: age, among: lines.map(\.line), catalog)
            }
            let credits = lines.filter(\.line.isCredit)
                .sorted { (-$0.age, $0.line.period.start) < (-$1.age, $1.line.period.start) }
            for (credit, _, age) in credits {
                let start = credit.period.start
                let given = charges.indices.filter { index in
                    let line = charges[index].line
                    return line.price == credit.price && line.period.start <= start
                        && start < line.period.end && charges[index].age >= age
                        && charges[index].hasTime(after: start)
                }.sorted { left, right in
                    let (left, right) = (charges[left].line, charges[right].line)
                    return (left.quantity == credit.quantity ? 1 : 0, left.period.start)
                        < (right.quantity == credit.quantity ? 1 : 0, right.period.start)
                }
                // Nothing of that price was paid for: what is given back are the coins of another.
                guard let index = given.last else {
                    truth.areCoinsSure = false
                    continue
                }
                charges[index].giveBack(credit)
            }
            for charge in charges where charge.coins > 0 && charge.paid * 1000 >= coinsSince {
                let back = takenBack(ofInvoice: charge.invoice.id).reduce(0) { $0 + $1.amount }
                let paid = charge.invoice.amount_paid
                let refunded = paid > 0 ? Double(min(back, paid)) / Double(paid) : 0
                sum += max(0, charge.coins * (1 - refunded) - charge.unused)
                slack += charge.isExact && refunded == 0 && charge.unused == 0 ? 0 : 2
            }
        }
        truth.coins += Int64(sum.rounded())
        truth.coinSlack += Int64(slack)
    }
}

/// A line that charges for a plan's time.
private struct PlanCharge {
    let line: StripeTruth.Invoice.Line
    let invoice: StripeTruth.Invoice
    /// The number of invoices that are newer.
    let age: Int
    /// Of the whole quantity, for the line's time.
    var coins: Double
    /// The coins of the time that was given back.
    var unused: Double { each * returned / length }
    /// The seconds that were given back, of each piece.
    private var returned = 0.0
    let isExact: Bool
    var paid: Int64 { invoice.status_transitions.paid_at ?? invoice.created }
    /// The seconds of a whole period.
    private let length: Double
    private let each: Double

    init(
        _ line: StripeTruth.Invoice.Line,
        _ invoice: StripeTruth.Invoice,
        age: Int,
        among lines: [StripeTruth.Invoice.Line],
        _ catalog: Catalog
    ) {
        (self.line, self.invoice, self.age) = (line, invoice, age)
        let product = catalog.stripe(line.price)
        let full = lines.first {
            !$0.isProration && $0.price == line.price && $0.period.end == line.period.end
        }
        let time = Double(line.period.end - line.period.start)
        length = line.isProration ? Self.length(full, line.period.end, product) : max(1, time)
        each = Double(product?.coins ?? 0)
        isExact = !line.isProration
        coins = each * Double(line.quantity) * (line.isProration ? min(1, time / length) : 1)
    }

    /// The period that ends then: as it was charged as a whole, else by the calendar.
    private static func length(
        _ full: StripeTruth.Invoice.Line?,
        _ end: Int64,
        _ product: Catalog.Product?
    ) -> Double {
        if let full { return Double(max(1, full.period.end - full.period.start)) }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let last = Date(timeIntervalSince1970: Double(end))
        let unit: Calendar.Component =
            switch product?.duration?.iso8601.last {
            case "Y": .year
            case "W": .weekOfYear
            default: .month
            }
        let first = calendar.date(byAdding: unit, value: -1, to: last) ?? last
        return max(1, last.timeIntervalSince(first))
    }

    /// Whether not all of its time from then on was given back.
    func hasTime(after start: Int64) -> Bool {
        returned < Double(line.quantity) * Double(line.period.end - start)
    }

    mutating func giveBack(_ credit: StripeTruth.Invoice.Line) {
        let time = Double(min(credit.period.end, line.period.end) - credit.period.start)
        returned += Double(min(credit.quantity, line.quantity)) * time
    }
}
