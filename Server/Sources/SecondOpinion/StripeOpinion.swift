internal import TollgateCore

/// What Stripe's documentation says of a subscription or a payment at one instant.
///
/// - `trialing` and `active` subscriptions are to be provisioned; `incomplete`,
///   `incomplete_expired`, `unpaid`, `paused` and `canceled` ones are not
///   (docs.stripe.com/billing/subscriptions/overview). Paused collection changes nothing.
/// - `past_due` is tried again; for how long access goes on meanwhile is the catalog's promise.
/// - A period lies on the item (API 2025-03-31), and what is paid for on a paid invoice's lines.
/// - A Checkout Session is to be fulfilled when its `payment_status` is not `unpaid`
///   (docs.stripe.com/checkout/fulfillment).
/// - Refunds never touch a subscription by themselves.
struct StripeOpinion {
    let evidence: StripeEvidence
    let question: Question
    let owners: Owners

    private var at: Instant { question.at }
    private typealias Item = StripeSubscriptionWord.Item

    func opinions() -> [Opinion] {
        guard !evidence.subscriptions.isEmpty else {
            guard let paid = evidence.paid, let prices = evidence.prices else { return [] }
            let back = evidence.takenBack(of: evidence.total, by: at)
            return prices.compactMap { bought($0, within: paid, back, evidence.saleRows) }
        }
        let all = newest().map { word in word.items.map { opinion(on: $0, of: word) } }
        // What was said later leaves open what was so at the instant.
        let last = evidence.subscriptions.map(\.word.stated).max() ?? .distantPast
        let isOpen = evidence.isOpen || last > question.said
        var opinions = all.flatMap(\.self)
        for (index, one) in opinions.enumerated() {
            // Statements of one second that come to different ends leave it open.
            let isSame = all.allSatisfy { others in
                others.contains { $0.lookupKeys == one.lookupKeys && $0.verdict == one.verdict }
            }
            if !isSame || isOpen { opinions[index].verdict = .open }
        }
        return opinions + linesBoughtOnce()
    }

    /// The newest statements by the instant: several where they are of one second.
    private func newest() -> [StripeSubscriptionWord] {
        let said = evidence.subscriptions.filter { $0.word.stated <= question.said }
        if let final = said.last(where: \.isFinal) { return [final] }
        let last = said.map(\.word.stated).max()
        let newest = said.filter { $0.word.stated == last }
        // A read was made after what happened in its second.
        return newest.last { $0.word.type == nil }.map { [$0] } ?? newest
    }

    private func opinion(on item: Item, of word: StripeSubscriptionWord) -> Opinion {
        var opinion = verdict(on: item, of: word)
        opinion.evidence = [word.word.row] + lines(of: item).map(\.row).suffix(1)
        let product = StoreProduct(.stripe, item.price)
        return opinion.about(question.catalog.lookupKeys(of: product), owners)
    }

    private func verdict(on item: Item, of word: StripeSubscriptionWord) -> Opinion {
        let stated = word.word.stated
        switch word.status {
        case "canceled":
            let end = word.ended ?? stated
            return Opinion(at < end ? .open : .no, since: end, "it was canceled at \(end)", [])
        case "incomplete", "incomplete_expired", "unpaid", "paused":
            return Opinion(.no, since: stated, "it is \(word.status) since \(stated)", [])
        case "active", "trialing": return refunded(item) ?? running(item, of: word)
        case "past_due": return refunded(item) ?? pastDue(item, of: word)
        default: return Opinion(.open, since: stated, "it is \(word.status)", [])
        }
    }

    private func running(_ item: Item, of word: StripeSubscriptionWord) -> Opinion {
        let end = min(item.end, word.cancelAt)
        if at < end {
            let reason = "\(item.price) runs until \(end)"
            return Opinion(at < item.start ? .open : .yes, since: item.start, reason, [])
        }
        let over = Opinion(.no, since: end, "the last period ended at \(end)", [])
        if word.cancelAt <= at || word.cancelsAtPeriodEnd { return over }
        // The renewal's invoice may tell before the subscription does.
        if let renewal = lines(of: item).last(where: { $0.isRunning(at: at) && $0.amount >= 0 }) {
            let reason = "an invoice is paid until \(renewal.end)"
            return Opinion(.yes, since: renewal.start, reason, [])
        }
        let leeway = min(end.advanced(by: question.catalog.renewalLeeway.stripe), word.cancelAt)
        let due = "its renewal is due and may be told late, until \(leeway)"
        return at < leeway ? Opinion(.open, since: end, due, []) : over
    }

    private func pastDue(_ item: Item, of word: StripeSubscriptionWord) -> Opinion {
        // A sent invoice is past due only after its due date (billing/subscriptions/overview).
        let grace = question.catalog.pastDueGrace + word.daysUntilDue * 86_400_000
        // The period rolls before it is paid. What is certain ends where paid invoices end, or,
        // without any, where the period began.
        let paid = lines(of: item).filter { $0.amount > 0 || !$0.isProration }
        let certain = paid.map(\.end).max() ?? (word.daysUntilDue > 0 ? .distantPast : item.start)
        let sure = min(certain.advanced(by: grace), word.cancelAt)
        let last = min(max(certain, item.start).advanced(by: grace), word.cancelAt)
        let reason = "a payment is past due; access goes on until \(sure)"
        guard at < sure else { return Opinion(at < last ? .open : .no, since: sure, reason, []) }
        return Opinion(.yes, since: item.start, reason, [])
    }

    /// Lines of paid invoices that are about an item, by their ends.
    private func lines(of item: Item) -> [StripePaidLine] {
        evidence.invoices.values.flatMap(\.lines).filter { line in
            line.item.map { $0 == item.id } ?? (line.price == item.price)
        }.sorted { ($0.end, $0.row) < ($1.end, $1.row) }
    }

    /// The catalog may say that a plan ends when its present period is refunded.
    private func refunded(_ item: Item) -> Opinion? {
        let known = evidence.invoiceOfReturn
        guard !evidence.returns.isEmpty, question.history.refundedPlan(at: at) == .end else {
            return nil
        }
        if let line = lines(of: item).last(where: { $0.isRunning(at: at) && !$0.isProration }),
            evidence.returns.keys.allSatisfy({ known[$0] != nil })
        {
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
            return invoice.lines.filter { !$0.isProration && $0.amount >= 0 }.compactMap { line in
                bought(line.price, within: line.paid...line.paid, back, [line.row])
            }
        }
    }

    private func bought(
        _ price: String,
        within paid: ClosedRange<Instant>,
        _ back: StripeEvidence.TakenBack,
        _ rows: [Int64]
    ) -> Opinion? {
        let name = StoreProduct(.stripe, price)
        guard let product = question.history.product(name, at: paid.lowerBound) else { return nil }
        var opinion: Opinion
        switch (product.kind, product.duration, back.all) {
        case (.nonConsumable, _, let cut?):
            opinion = Opinion(.no, since: cut, "all of it was refunded at \(cut)", rows)
        case (.nonConsumable, _, nil):
            let verdict: Verdict = paid.upperBound <= at ? .yes : .open
            opinion = Opinion(verdict, since: paid.upperBound, "it is paid for, for ever", rows)
        case (.nonRenewing, let duration?, let cut):
            let pass = Pass(product: product.id, paid: paid, duration: duration, cut: cut)
            opinion = pass.opinion(at: at, rows)
        default: return nil
        }
        if back.isPart, opinion.verdict == .yes {
            (opinion.verdict, opinion.reason) = (.open, "a part was refunded, or is disputed")
        }
        return opinion.about(question.catalog.lookupKeys(of: name), owners)
    }
}
