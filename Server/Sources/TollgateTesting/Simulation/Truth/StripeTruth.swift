import TollgateCore

/// What customers must have by Stripe's own books, read by Stripe's documentation alone.
///
/// Shares nothing with the engine that is judged by it but the catalog's list of products. Each rule
/// names the page it rests on; where no page decides, the truth is left open.
struct StripeTruth {
    let books: StripeBooks
    let catalog: Catalog
    /// UNIX milliseconds.
    let now: Int64

    /// - Parameter customers: Stripe's ids of one person, who has a second one after the first was
    ///   deleted.
    func read(customers: Set<String>) -> Truth {
        var truth = Truth()
        for subscription in books.subscriptions where customers.contains(subscription.customer) {
            for item in subscription.items.data { read(item, of: subscription, &truth) }
        }
        for invoice in books.invoices
        where customers.contains(invoice.customer) && invoice.subscription != nil {
            read(invoice, &truth)
        }
        for session in books.sessions where session.customer.map(customers.contains) ?? false {
            read(session, &truth)
        }
        return truth
    }

    private func product(_ price: String) -> Catalog.Product? {
        catalog.products.first { $0.stripePriceIDs.contains(price) }
    }

    // MARK: - Subscriptions

    /// - `active` and `trialing` give what the item is for; `incomplete`, `unpaid`, `paused` and
    ///   what is over do not: https://docs.stripe.com/billing/subscriptions/overview
    /// - In `past_due` what was paid for lasts, and the seller's grace after it; an invoice that is
    ///   sent is overdue from its due date on:
    ///   https://docs.stripe.com/api/subscriptions/object#subscription_object-status
    private func read(
        _ item: StripeBooks.Subscription.Item,
        of subscription: StripeBooks.Subscription,
        _ truth: inout Truth
    ) {
        let keys = product(item.price.id)?.entitlements ?? []
        switch subscription.status {
        case "active", "trialing": truth.has.formUnion(keys)
        case "past_due":
            let isSent = subscription.collection_method == "send_invoice"
            let due = isSent ? (subscription.days_until_due ?? 0) * 86_400 : 0
            let ends = [true, false].map { countsRefunded in
                max(paidThrough(item, of: subscription, countsRefunded), item.created)
                    + due + Self.grace
            }
            // No page says whether time counts as paid whose money went back.
            if ends.allSatisfy({ now < $0 * 1000 }) {
                truth.has.formUnion(keys)
            } else if ends.contains(where: { now < $0 * 1000 }) {
                truth.unsure.formUnion(keys)
            }
        default: break
        }
    }

    /// The catalog's `past_due_grace`, in seconds.
    private static let grace: Int64 = 3 * 86_400

    /// Until when what was paid for an item lasts, in UNIX seconds.
    ///
    /// Each line of an invoice says for which time of which item it is, whatever the price of the
    /// item is today; a credit for unused time gives the rest of that price's time back. What was
    /// voided or written off is settled: nobody owes it any more.
    ///
    /// https://docs.stripe.com/billing/subscriptions/pause-payment
    /// https://docs.stripe.com/api/invoice-line-item/object#invoice_line_item_object-period
    /// https://docs.stripe.com/billing/subscriptions/prorations
    private func paidThrough(
        _ item: StripeBooks.Subscription.Item,
        of subscription: StripeBooks.Subscription,
        _ countsRefunded: Bool
    ) -> Int64 {
        var ends: [(price: String, end: Int64)] = []
        for invoice in books.allInvoices
        where invoice.subscription == subscription.id
            && ["paid", "void", "uncollectible"].contains(invoice.status)
        {
            if !countsRefunded,
                !books.takenBack(ofIntents: books.intents(ofInvoice: invoice.id)).isEmpty
            {
                continue
            }
            let lines = invoice.lines.data.filter { $0.item == item.id }
            for credit in lines where credit.amount < 0 {
                for index in ends.indices where ends[index].price == credit.price {
                    ends[index].end = min(ends[index].end, credit.period.start)
                }
            }
            for line in lines where line.amount > 0 || (line.amount == 0 && !line.isProration) {
                ends.append((line.price, line.period.end))
            }
        }
        return ends.map(\.end).max() ?? .min
    }

    // MARK: - Invoices of subscriptions

    /// What a paid invoice sold beside access: coins of plans, and one-time items.
    ///
    /// https://docs.stripe.com/api/subscriptions/create#create_subscription-add_invoice_items
    private func read(_ invoice: StripeBooks.Invoice, _ truth: inout Truth) {
        let back = books.takenBack(ofIntents: books.intents(ofInvoice: invoice.id))
        for line in invoice.lines.data {
            guard let sold = product(line.price) else { continue }
            if line.isProration {
                prorate(line, sold, isPartlyBack: !back.isEmpty, &truth)
                continue
            }
            sell(
                sold,
                line.quantity,
                Payment(
                    at: invoice.status_transitions.paid_at ?? invoice.created,
                    amount: invoice.amount_paid,
                    back: back
                ),
                isPlan: line.item != nil,
                &truth
            )
        }
    }

    /// Unused time that is credited takes its coins back, and time that is paid for in a part of a
    /// period brings that part of them: what somebody has is what they paid for.
    ///
    /// https://docs.stripe.com/billing/subscriptions/prorations
    private func prorate(
        _ line: StripeBooks.Invoice.Line,
        _ sold: Catalog.Product,
        isPartlyBack: Bool,
        _ truth: inout Truth
    ) {
        guard sold.coins > 0, line.amount != 0 else { return }
        guard let unit = line.unitAmount, unit > 0, !isPartlyBack, line.discount_amounts.isEmpty
        else {
            truth.areCoinsSure = false
            return
        }
        truth.coins += sold.coins * line.amount / unit
        truth.coinSlack += 1
    }

    // MARK: - What is sold once

    /// The money of a sale, in minor units.
    private struct Payment {
        /// UNIX seconds.
        var at: Int64
        var amount: Int64
        var back: [StripeBooks.Movement]
    }

    /// A session that is not `unpaid` can be fulfilled; what it sold runs from its payment.
    ///
    /// https://docs.stripe.com/checkout/fulfillment
    private func read(_ session: StripeBooks.Session, _ truth: inout Truth) {
        guard session.mode == "payment", session.payment_status != "unpaid" else { return }
        let intents = session.payment_intent.map { [$0] } ?? []
        let payment = Payment(
            at: intents.first.flatMap { books.paid(intent: $0) } ?? session.created,
            amount: session.amount_total ?? 0,
            back: books.takenBack(ofIntents: intents)
        )
        for line in books.lines[session.id] ?? [] {
            guard let sold = product(line.price.id) else { continue }
            sell(sold, line.quantity, payment, isPlan: false, &truth)
        }
    }

    private func sell(
        _ sold: Catalog.Product,
        _ quantity: Int64,
        _ payment: Payment,
        isPlan: Bool,
        _ truth: inout Truth
    ) {
        let coins = sold.coins * quantity
        truth.coins += coins
        if payment.amount > 0 {
            truth.coins -= coins * min(payment.back.total, payment.amount) / payment.amount
        }
        guard !isPlan else { return }
        let gone = payment.amount > 0 ? payment.back.reached(payment.amount) : nil
        switch sold.kind {
        case .nonRenewing:
            for _ in 0..<quantity {
                truth.passes.append(
                    Truth.Pass(
                        product: sold.id,
                        bought: payment.at * 1000,
                        cut: gone.map { $0 * 1000 }
                    )
                )
            }
        case .consumable: break
        default: if gone == nil { truth.has.formUnion(sold.entitlements) }
        }
    }
}
