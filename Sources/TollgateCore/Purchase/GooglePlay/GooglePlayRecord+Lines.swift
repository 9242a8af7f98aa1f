extension GooglePlayRecord {
    var products: [StoreProduct] {
        (subscription?.value.items.map(\.sold) ?? []) + (purchase?.value.lines.map(\.sold) ?? [])
    }

    /// The record as sentences.
    func lines(_ telling: Explanation.Telling) -> [Explanation.Line] {
        var lines: [Explanation.Line] = []
        let evidence = telling.answer?.evidence
        if let subscription {
            let decides = subscription.value.items.contains {
                ($0.order ?? $0.product) == evidence
            }
            let text = sentence(of: subscription.value)
            lines.append(
                telling.line(subscription, "google_play_subscription", text, decides: decides)
            )
        }
        if let purchase {
            let decides = purchase.value.lines.contains { $0.product == evidence }
            let text = sentence(of: purchase.value)
            lines.append(telling.line(purchase, "google_play_purchase", text, decides: decides))
        }
        for order in orders {
            let value = order.value
            let text: Sentence =
                "order \(value.id) is \(value.state, of: "play_order_state")"
            lines.append(telling.line(order, "google_play_order", text, decides: false))
        }
        for void in voids {
            let (order, at) = (void.value.order, void.value.at)
            let text: Sentence =
                void.value.quantity.map { "\($0) of order \(order) was voided at \(at)" }
                ?? "order \(order) was voided at \(at)"
            lines.append(telling.line(void, "google_play_void", text, decides: false))
        }
        if let outage, let subscription, outage.stated > subscription.stated {
            let text: Sentence =
                "Google Play could not be asked about it (\(outage.value.reason)), so a renewal may be unknown"
            let decides = telling.answer?.ground == .renewal
            lines.append(telling.line(outage, "google_play_unreadable", text, decides: decides))
        }
        if let unreadable {
            let text: Sentence =
                "Google Play no longer answers for it (\(unreadable.value.reason)); what was read before still counts"
            lines.append(telling.line(unreadable, "google_play_unreadable", text, decides: false))
        }
        return lines
    }

    private func sentence(of subscription: GooglePlaySubscription) -> Sentence {
        let items = subscription.items.map { item -> Sentence in
            var text: Sentence =
                item.expiry.map { "\(item.sold.id) to \($0)" } ?? "\(item.sold.id), not begun"
            if let next = item.replacement { text += ", then \(next)" }
            if item.isRemoved == true { text += ", removed" }
            return text
        }
        var text: Sentence =
            "subscription is \(subscription.state, of: "play_state"): \(items)"
        if let by = subscription.canceledBy {
            text += ", canceled by \("\(by)", of: "play_canceled_by")"
        }
        if let resumes = subscription.resumes { text += ", resumes at \(resumes)" }
        if let replaced { text += ", replaced by another purchase at \(replaced)" }
        return text
    }

    private func sentence(of purchase: GooglePlayPurchase) -> Sentence {
        let lines = purchase.lines.map { line -> Sentence in
            var text: Sentence =
                line.quantity == 1 ? "\(line.sold.id)" : "\(line.quantity) × \(line.sold.id)"
            if line.isRental == true { text += ", rented" }
            let taken = taken(of: line).count
            if taken > 0, !purchase.isOver {
                text += ", \(taken) taken back"
            }
            return text
        }
        return "purchase is \(purchase.state, of: "play_state"): \(lines)"
    }
}
