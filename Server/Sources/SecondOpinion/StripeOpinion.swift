internal import TollgateCore

/// What Stripe's documentation says of a subscription or a payment at one instant.
///
/// - `trialing` and `active` subscriptions are to be provisioned; `incomplete`, `unpaid`, `paused` and
///   `canceled` ones are not (docs.stripe.com/billing/subscriptions/overview).
/// - `past_due` is tried again; for how long access goes on meanwhile is the catalog's promise.
/// - A period lies on the item (API 2025-03-31), and what is paid for on a paid invoice's lines.
/// - A Checkout Session is to be fulfilled unless its `payment_status` is `unpaid`
///   (docs.stripe.com/checkout/fulfillment). Refunds never touch a subscription by themselves.
struct StripeOpinion {
    let evidence: StripeEvidence
    let question: Question
    let owners: Owners

    private var at: Instant { question.at }
    private typealias Item = StripeWord.Item
    private typealias Line = StripeEvidence.Line
    private typealias Back = StripeEvidence.TakenBack
    private typealias Paid = StripeEvidence.Paid

    func opinions() -> [Opinion] {
        guard !evidence.subscriptions.isEmpty else {
            guard let paid = evidence.paid, let sold = evidence.sold else { return [] }
            let back = evidence.takenBack(of: evidence.total, by: at)
            return sold.compactMap { bought($0, paid, back, evidence.saleRows) }
        }
        let all = newest().map { word in word.items.map { opinion(on: $0, of: word) } }
        // What was said later leaves open what was so; so do words of one second that differ.
        let last = evidence.subscriptions.map(\.stated).max() ?? .distantPast
        let ends = Set(all.map { $0.map { "\($0.verdict) \($0.lookupKeys)" } })
        let isOpen = evidence.isOpen || last > question.said || ends.count > 1
        var opinions = all.flatMap(\.self)
        if isOpen { for index in opinions.indices { opinions[index].verdict = .open } }
        return opinions + linesBoughtOnce()
    }

    /// The newest statements by the instant: several where they are of one second.
    private func newest() -> [StripeWord] {
        let said = evidence.subscriptions.filter { $0.stated <= question.said }
        if let final = said.last(where: \.isFinal) { return [final] }
        let last = said.map(\.stated).max()
        let newest = said.filter { $0.stated == last }
        // A read was made after what happened in its second.
        return newest.last(where: \.isRead).map { [$0] } ?? newest
    }

    private func opinion(on item: Item, of word: StripeWord) -> Opinion {
        var opinion = verdict(on: item, of: word)
        opinion.evidence = [word.row] + lines(of: item).paid.map(\.row).suffix(1)
        let product = StoreProduct(.stripe, item.price)
        return opinion.about(question.catalog.lookupKeys(of: product), owners)
    }

    private func verdict(on item: Item, of word: StripeWord) -> Opinion {
        switch word.status {
        case "canceled":
            let (end, isOver) = (word.ended, word.ended <= at)
            return Opinion(isOver ? .no : .open, since: end, "it was canceled at \(end)", [])
        case "incomplete", "incomplete_expired", "unpaid", "paused":
            return Opinion(.no, since: word.stated, "it is \(word.status) since \(word.stated)", [])
        case "active", "trialing": return refunded(item) ?? running(item, of: word)
        case "past_due": return refunded(item) ?? pastDue(item, of: word)
        default: return Opinion(.open, since: word.stated, "it is \(word.status)", [])
        }
    }

    private func running(_ item: Item, of word: StripeWord) -> Opinion {
        let end = min(item.end, word.cancelAt)
        if at < end {
            let reason = "\(item.price) runs until \(end)"
            return Opinion(at < item.start ? .open : .yes, since: item.start, reason, [])
        }
        let leeway = min(end.advanced(by: question.catalog.renewalLeeway.stripe), word.cancelAt)
        // The renewal's invoice may tell before the subscription does.
        let paid = lines(of: item).paid.last { $0.isRunning(at: at) }
        if at < word.cancelAt, let renewal = paid {
            let reason = "an invoice is paid until \(renewal.end)"
            return Opinion(.yes, since: renewal.start, reason, [])
        }
        let reason = "the last period ended at \(end); a renewal may be told until \(leeway)"
        return Opinion(leeway <= at ? .no : .open, since: end, reason, [])
    }

    private func pastDue(_ item: Item, of word: StripeWord) -> Opinion {
        // A sent invoice is past due only after its due date (billing/subscriptions/overview).
        let grace = question.catalog.pastDueGrace + word.daysUntilDue * 86_400_000
        // The period rolls before it is paid. What is certain ends where paid invoices end.
        let (lines, isSure) = lines(of: item)
        let paid = lines.last?.end ?? .distantPast
        let sure = min(paid.advanced(by: grace), word.cancelAt)
        let last = min(max(paid, item.start).advanced(by: grace), word.cancelAt)
        let reason = "a payment is past due; access goes on until \(last)"
        // What is metered is billed when it was used.
        if !isSure || item.isMetered { return Opinion(.open, since: item.start, reason, []) }
        if at < sure { return Opinion(.yes, since: item.start, reason, []) }
        return Opinion(at < last ? .open : .no, since: last, reason, [])
    }

    /// The time of an item that paid invoices charge and no credit gives back, by its end.
    private func lines(of item: Item) -> (paid: [StripePaidLine], isSure: Bool) {
        let all = evidence.invoices.values.flatMap(\.lines).filter { line in
            line.item.map { $0 == item.id } ?? (line.sold.price == item.price)
        }
        let credits = all.filter(\.isCredit)
        let paid = all.filter { !$0.isCredit }.map { charge in
            var charge = charge
            charge.end = credits.filter { $0.givesBack(charge) }.map(\.start).min() ?? charge.end
            return charge
        }
        // Where a coupon pays all, what is given back has no sign.
        let isSure = credits.allSatisfy { $0.amount < 0 }
        return (paid.sorted { ($0.end, $0.row) < ($1.end, $1.row) }, isSure)
    }

    /// The catalog may say that a plan ends when its present period is refunded.
    private func refunded(_ item: Item) -> Opinion? {
        let known = evidence.invoiceOfReturn
        let policy = question.history.refundedPlan(at: item.start)
        guard !evidence.returns.isEmpty, policy == .end else { return nil }
        let running = lines(of: item).paid.last { $0.isRunning(at: at) && !$0.isProration }
        if let line = running, evidence.returns.keys.allSatisfy({ known[$0] != nil }) {
            let amount = evidence.invoices[line.invoice]?.amount
            let back = evidence.takenBack(of: amount, by: at, invoice: line.invoice)
            if let day = back.all { return Opinion(.no, since: day, "refunded at \(day)", []) }
            if !back.isPart { return nil }
        }
        return Opinion(.open, since: item.start, "a payment was refunded, or is disputed", [])
    }

    /// What was paid for once on an invoice of a subscription.
    private func linesBoughtOnce() -> [Opinion] {
        evidence.invoices.sorted { $0.key < $1.key }.flatMap { id, invoice in
            let back = evidence.takenBack(of: invoice.amount, by: at, invoice: id)
            return invoice.lines.filter { !$0.isProration && $0.amount >= 0 }
                .compactMap { bought($0.sold, $0.paid...$0.paid, back, [$0.row]) }
        }
    }

    private func bought(_ line: Line, _ paid: Paid, _ back: Back, _ rows: [Int64]) -> Opinion? {
        let name = StoreProduct(.stripe, line.price)
        let product = question.history.product(name, at: paid.lowerBound)
        guard var pass = Pass(product, paid: paid) else { return nil }
        (pass.quantity, pass.cut, pass.isContested) = (line.quantity, back.all, back.isPart)
        return pass.opinion(at: at, rows).about(question.catalog.lookupKeys(of: name), owners)
    }
}
