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
            ? coins : CoinLot.share(coins, line.length - returned, of: line.length)
    }
}

extension StripeRecord {
    /// What invoices of the subscription that are paid have charged, by its start and id.
    ///
    /// A credit belongs to the line whose unused time it gives back. Stripe credits the whole of what
    /// a change replaces, so that is the latest of the same item, price and quantity that had begun.
    /// Where the item's price was changed without proration, or the change before was not paid, no
    /// line has the credit's price: it is then the latest of the item at another price, but never what
    /// the same change charges.
    var paidLines: [PaidLine] {
        var lines: [PaidLine] = []
        var credits: [PaidLine] = []
        for invoice in invoices.map(\.value) where invoice.isPaid {
            for line in invoice.lines {
                if line.isCharge {
                    lines.append(PaidLine(line: line, invoice: invoice))
                } else if line.isProration {
                    credits.append(PaidLine(line: line, invoice: invoice))
                }
            }
        }
        lines.sort(by: PaidLine.precedes)
        credits = PaidLine.withoutUndoneChanges(credits).sorted(by: PaidLine.precedes)
        for credit in credits {
            let isChange = credits.contains { $0.isFreeChange(from: credit) }
            let credited = credited(by: credit, isChange: isChange, among: lines)
            for index in credited { lines[index].giveBack(credit.line) }
            if credited.isEmpty, credits.contains(where: { credit.isFreeChange(from: $0) }) {
                lines.append(credit)
                lines.sort(by: PaidLine.precedes)
            }
        }
        return lines
    }

    /// What invoices have charged that were voided or written off: nobody owes it any more.
    var forgivenLines: [PaidLine] {
        invoices.map(\.value).filter { $0.voided != nil }.flatMap { invoice in
            invoice.lines.filter(\.isCharge).map { PaidLine(line: $0, invoice: invoice) }
        }
    }

    /// The charge whose time a credit gives back: one line, or one for each tier of its quantity.
    private func credited(
        by credit: PaidLine,
        isChange: Bool,
        among lines: [PaidLine]
    ) -> [Int] {
        let open = lines.indices.filter { lines[$0].isOpen(to: credit.line) }
        let priced = open.filter { lines[$0].line.price == credit.line.price }
        // Where nothing is paid, a credit is nothing too, and so is the charge beside it.
        guard credit.line.amount < 0 else {
            return priced.last { lines[$0].isFreed(by: credit, isChange: isChange) }.map { [$0] }
                ?? []
        }
        let candidates =
            priced.isEmpty && credit.line.item != nil
            ? open.filter {
                lines[$0].line.item == credit.line.item && !lines[$0].isInPlace(of: credit)
            } : priced
        let same = candidates.last { lines[$0].line.quantity == credit.line.quantity }
        if let same { return [same] }
        guard let last = candidates.last else { return [] }
        let tiers = candidates.filter { lines[$0].isOfOneCharge(with: lines[last]) }
        let quantity = tiers.map { lines[$0].line.quantity }.reduce(0, &+)
        return quantity == credit.line.quantity ? tiers : [last]
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
    fileprivate static func precedes(_ left: PaidLine, _ right: PaidLine) -> Bool {
        (left.line.start, left.line.id) < (right.line.start, right.line.id)
    }

    /// True while it has time left that a credit may give back.
    fileprivate func isOpen(to credit: StripeInvoice.Line) -> Bool {
        line.isOfOneItem(with: credit) && line.start <= credit.start && credit.start < end
    }

    /// True where the same change charges it in the place of what it credits.
    fileprivate func isInPlace(of credit: PaidLine) -> Bool {
        invoice.id == credit.invoice.id && line.start == credit.line.start
    }

    /// True where both are parts of what an invoice charges for one quantity: graduated prices have a
    /// line for each tier.
    fileprivate func isOfOneCharge(with other: PaidLine) -> Bool {
        invoice.id == other.invoice.id
    }

    /// True where a proration of nothing is the credit for the rest of it.
    ///
    /// On its own invoice that is so only where something else is charged from then on.
    fileprivate func isFreed(by credit: PaidLine, isChange: Bool) -> Bool {
        (invoice.id != credit.invoice.id || isChange)
            && line.quantity == credit.line.quantity && line.end == credit.line.end
    }

    /// True where it charges nothing in the place of something for which nothing is given back, as
    /// where a coupon pays all.
    fileprivate func isFreeChange(from credit: PaidLine) -> Bool {
        line.amount == 0 && credit.line.amount == 0 && line.id != credit.line.id
            && line.item != nil && line.item == credit.line.item
            && invoice.id == credit.invoice.id && line.start == credit.line.start
    }

    /// Leaves out what was charged and credited at once, for nothing, as where a coupon pays all.
    ///
    /// Of such lines neither the amount nor the id says which came first, so they cannot be told apart:
    /// each change adds a credit and a charge, and what is there twice was undone within the second.
    fileprivate static func withoutUndoneChanges(_ credits: [PaidLine]) -> [PaidLine] {
        struct Change: Hashable {
            var invoice: String
            var item: String
            var start: Instant
        }
        struct Plan: Hashable {
            var price: String
            var quantity: Int64
            var end: Instant
        }
        let changes = Dictionary(grouping: credits) { credit in
            credit.line.item.flatMap { item in
                credit.line.amount == 0
                    ? Change(invoice: credit.invoice.id, item: item, start: credit.line.start)
                    : nil
            }
        }
        return changes.flatMap { change, lines in
            guard change != nil else { return lines }
            let alike = Dictionary(grouping: lines) {
                Plan(price: $0.line.price, quantity: $0.line.quantity, end: $0.line.end)
            }
            return alike.values.flatMap { $0.sorted(by: precedes).prefix($0.count % 2) }
        }
    }

    fileprivate mutating func giveBack(_ credit: StripeInvoice.Line) {
        returned += max(0, credit.start.milliseconds(to: min(credit.end, end)))
    }
}

extension StripeInvoice.Line {
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
