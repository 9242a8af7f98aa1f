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
            let text = "order \(order.value.id) is \(order.value.state)"
            lines.append(telling.line(order, "google_play_order", text, decides: false))
        }
        for void in voids {
            let what = void.value.quantity.map { "\($0) of order" } ?? "order"
            let text = "\(what) \(void.value.order) was voided at \(void.value.at)"
            lines.append(telling.line(void, "google_play_void", text, decides: false))
        }
        if let outage, let subscription, outage.stated > subscription.stated {
            let text =
                "Google Play could not be asked about it (\(outage.value.reason)), "
                + "so a renewal may be unknown"
            let decides = telling.answer?.ground == .renewal
            lines.append(telling.line(outage, "google_play_unreadable", text, decides: decides))
        }
        if let unreadable {
            let text =
                "Google Play no longer answers for it (\(unreadable.value.reason)); "
                + "what was read before still counts"
            lines.append(telling.line(unreadable, "google_play_unreadable", text, decides: false))
        }
        return lines
    }

    private func sentence(of subscription: GooglePlaySubscription) -> String {
        let items = subscription.items.map { item in
            var text = item.sold.id
            if let expiry = item.expiry { text += " to \(expiry)" } else { text += ", not begun" }
            if let next = item.replacement { text += ", then \(next)" }
            if item.isRemoved == true { text += ", removed" }
            return text
        }
        var text = "subscription is \(subscription.state): \(items.joined(separator: "; "))"
        if let by = subscription.canceledBy { text += ", canceled by \(by)" }
        if let resumes = subscription.resumes { text += ", resumes at \(resumes)" }
        if let replaced { text += ", replaced by another purchase at \(replaced)" }
        return text
    }

    private func sentence(of purchase: GooglePlayPurchase) -> String {
        let lines = purchase.lines.map { line in
            var text = line.quantity == 1 ? line.sold.id : "\(line.quantity) × \(line.sold.id)"
            if line.isRental == true { text += ", rented" }
            let taken = taken(of: line).count
            if taken > 0, !purchase.isOver {
                text += ", \(taken) taken back"
            }
            return text
        }
        return "purchase is \(purchase.state): \(lines.joined(separator: "; "))"
    }
}
