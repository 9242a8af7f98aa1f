/// A line of a paid invoice of a subscription, and what credits for unused time gave back of it.
struct PaidLine {
    var line: StripeInvoice.Line
    var invoice: StripeInvoice
    /// Milliseconds at its end.
    fileprivate(set) var returned: Int64 = 0

    /// When it was paid; where no message says so, when its time begins.
    var begins: Instant { invoice.paid ?? line.start }

    /// Where its time ends that was not given back.
    var end: Instant { line.end.advanced(by: -returned) }

    /// Of so many coins those that its time still counts for, rounded down (RULES §5.5).
    func kept(of coins: Int64) -> Int64 {
        returned == 0
            ? coins : Purchase.share(coins, line.length - returned, of: line.length)
    }
}

extension Purchase {
    /// What invoices of the subscription that are paid have charged, by its start and id.
    ///
    /// A credit belongs to the line whose unused time it gives back. Stripe credits the whole of what
    /// a change replaces, so that is the latest of the same item, price and quantity that had begun.
    var paidLines: [PaidLine] {
        var lines: [PaidLine] = []
        var credits: [StripeInvoice.Line] = []
        for invoice in invoices.map(\.value) where invoice.isPaid {
            for line in invoice.lines {
                if line.isCredit {
                    credits.append(line)
                } else if line.isProration ? line.amount > 0 : line.amount >= 0 {
                    lines.append(PaidLine(line: line, invoice: invoice))
                }
            }
        }
        lines.sort { ($0.line.start, $0.line.id) < ($1.line.start, $1.line.id) }
        for credit in credits.sorted(by: { ($0.start, $0.id) < ($1.start, $1.id) }) {
            let open = lines.indices.filter { lines[$0].canBeCredited(by: credit) }
            let same = open.last { lines[$0].line.quantity == credit.quantity }
            if let index = same ?? open.last { lines[index].giveBack(credit) }
        }
        return lines
    }

    /// To where paid invoices cover an item, at whatever price (RULES §5.1).
    func coverage(of item: StripeSubscription.Item, by lines: [PaidLine]) -> Instant? {
        let paid = lines.filter { $0.line.isFor(item) }.map(\.end).max()
        guard let paid, item.isBilledInArrears == true else { return paid }
        // Usage is billed when its period is over, so who has paid up to the beginning of a period
        // owes nothing until its end. Months differ in length: half a period's tolerance finds the
        // boundary itself.
        let length = item.start.milliseconds(to: item.end)
        let behind = paid.milliseconds(to: item.start)
        if behind <= length / 2 { return item.end }
        return behind - length <= length / 2 ? item.start : paid.advanced(by: length)
    }
}

extension PaidLine {
    fileprivate func canBeCredited(by credit: StripeInvoice.Line) -> Bool {
        line.price == credit.price && line.isOfOneItem(with: credit)
            && line.start <= credit.start && credit.start < end
    }

    fileprivate mutating func giveBack(_ credit: StripeInvoice.Line) {
        returned += max(0, credit.start.milliseconds(to: min(credit.end, end)))
    }
}

extension StripeInvoice.Line {
    /// Whether it gives back unused time.
    var isCredit: Bool { isProration && amount < 0 }

    /// Milliseconds; none for what is bought once.
    var length: Int64 { max(0, start.milliseconds(to: end)) }

    /// Whether it charges an item of the subscription; older facts name only its price.
    func isFor(_ item: StripeSubscription.Item) -> Bool {
        self.item.map { $0 == item.id } ?? (price == item.price)
    }

    /// Whether nothing says that the two are for different items.
    func isOfOneItem(with other: StripeInvoice.Line) -> Bool {
        item == nil || other.item == nil || item == other.item
    }
}

extension Instant {
    /// Saturates instead of trapping.
    func milliseconds(to other: Instant) -> Int64 {
        let (value, overflow) = other.milliseconds.subtractingReportingOverflow(milliseconds)
        return overflow ? (other < self ? .min : .max) : value
    }
}
