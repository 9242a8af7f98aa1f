import TollgateCore

extension FigureTruth {
    /// Adds what Stripe's books say.
    ///
    /// https://docs.stripe.com/api/charges/object
    mutating func add(_ books: StripeBooks, _ catalog: Catalog) {
        for charge in books.charges where charge.paid {
            let amount = charge.amount * 10
            // A bank's debit is charged when it is asked for and paid days later.
            let paid = max(books.paid(charge), charge.created)
            charges.append(
                Movement(at: charge.created * 1000...paid * 1000, amount: amount...amount)
            )
            addRefunds(of: charge, books)
        }
        for subscription in books.subscriptions { add(subscription, books, catalog) }
    }

    /// Each at its own date, never more than was paid.
    private mutating func addRefunds(of charge: StripeBooks.Charge, _ books: StripeBooks) {
        guard let intent = charge.payment_intent else { return }
        var left = charge.amount
        for back in books.takenBack(ofIntents: [intent]) {
            let least = min(left, back.amount)
            left -= least
            refunds.append(
                Movement(
                    at: back.created * 1000...back.created * 1000,
                    amount: least * 10...back.amount * 10
                )
            )
        }
    }

    /// Time of an item that an invoice's line paid for, in UNIX seconds.
    private struct Piece {
        var price: String
        var product: String
        var start: Int64
        var end: Int64
        var value: Double
        var isSure: Bool
    }

    private mutating func add(
        _ subscription: StripeBooks.Subscription,
        _ books: StripeBooks,
        _ catalog: Catalog
    ) {
        let invoices = books.allInvoices.filter { $0.subscription == subscription.id }
        var pieces: [String: [Piece]] = [:]
        for invoice in invoices where invoice.status == "paid" {
            let back = books.takenBack(ofIntents: books.intents(ofInvoice: invoice.id))
            let cut =
                invoice.amount_paid > 0 ? back.reached(invoice.amount_paid) ?? .max : .max
            for line in invoice.lines.data where line.amount < 0 {
                credit(line, on: invoice, &pieces[line.item ?? "", default: []])
            }
            for line in invoice.lines.data {
                guard let item = line.item, let piece = piece(line, invoice, cut, catalog) else {
                    continue
                }
                pieces[item, default: []].append(piece)
            }
        }
        // A renewal that is about to be billed keeps what it was worth; until when, no page says.
        for invoice in invoices where invoice.status == "draft" {
            for line in invoice.lines.data {
                guard let item = line.item, var piece = piece(line, invoice, .max, catalog) else {
                    continue
                }
                piece.isSure = false
                pieces[item, default: []].append(piece)
            }
        }
        let there = Set(subscription.items.data.map(\.id))
        for (item, found) in pieces.sorted(by: { $0.key < $1.key }) {
            let unpaid = invoices.filter { $0.status != "paid" && $0.attempted }
                .flatMap(\.lines.data).filter { $0.item == item }.map(\.period.start)
            add(found, of: item, in: subscription, unpaid, isThere: there.contains(item))
        }
    }

    /// What an unused time is credited for ends there.
    ///
    /// https://docs.stripe.com/billing/subscriptions/prorations
    private func credit(
        _ line: StripeBooks.Invoice.Line,
        on invoice: StripeBooks.Invoice,
        _ pieces: inout [Piece]
    ) {
        // One that waited for the next invoice leaves open what the time until then was worth.
        let isLate = invoice.created >= line.period.end - 3_600
        for index in pieces.indices
        where pieces[index].price == line.price && pieces[index].end > line.period.start {
            if isLate {
                pieces[index].isSure = false
            } else {
                pieces[index].end = max(pieces[index].start, line.period.start)
            }
        }
    }

    private func piece(
        _ line: StripeBooks.Invoice.Line,
        _ invoice: StripeBooks.Invoice,
        _ cut: Int64,
        _ catalog: Catalog
    ) -> Piece? {
        let net = line.amount - line.discount_amounts.reduce(0) { $0 + $1.amount }
        guard net > 0,
            let product = catalog.products.first(where: {
                $0.stripePriceIDs.contains(line.price)
            })
        else { return nil }
        let (start, end) = (line.period.start, line.period.end)
        let duration = product.duration?.iso8601
        let factor = Self.monthly(
            line.isProration ? nil : duration,
            from: start * 1000,
            to: end * 1000
        )
        let whole = ["P1W": 7, "P1M": 31, "P1Y": 366][duration ?? ""] ?? 0
        let isLate = line.isProration && invoice.created >= end - 3_600
        let isShort = !line.isProration && end - start < Int64(whole - 4) * 86_400
        return Piece(
            price: line.price,
            product: product.id,
            start: start,
            end: min(end, max(start, cut)),
            value: Double(net * 10) * factor,
            isSure: !isLate && !isShort
        )
    }

    /// - Parameter unpaid: when periods of the item began that were not paid for.
    private mutating func add(
        _ pieces: [Piece],
        of item: String,
        in subscription: StripeBooks.Subscription,
        _ unpaid: [Int64],
        isThere: Bool
    ) {
        let last = pieces.map(\.start).max() ?? 0
        for piece in pieces {
            var end = piece.end
            if unpaid.contains(piece.end) { end += 3 * 86_400 }
            if let over = subscription.ended_at { end = min(end, over) }
            if let next = pieces.map(\.start).filter({ $0 > piece.start }).min() {
                end = min(end, next)
            }
            stretches.append(
                Stretch(
                    owner: item,
                    subscription: subscription.id,
                    customer: subscription.customer,
                    product: piece.product,
                    from: piece.start * 1000,
                    to: end * 1000,
                    value: piece.value,
                    // Whether time that was paid for lasts after its item was taken away, no page says.
                    isSure: piece.isSure && (isThere || piece.start < last)
                )
            )
        }
    }
}
