internal import StripeAPI
internal import TollgateCore

// What Stripe's objects state, as it goes into facts.

extension StripeSubscription {
    /// - Returns: `nil` where an item does not say its period.
    init?(_ subscription: Stripe.Subscription, items shown: [Stripe.SubscriptionItem]) {
        let isSent = subscription.collectionMethod == "send_invoice"
        var items: [StripeSubscription.Item] = []
        for item in shown {
            guard let period = subscription.currentPeriod(of: item) else { return nil }
            items.append(
                Item(
                    id: item.id,
                    price: item.price.id,
                    quantity: item.quantity ?? 1,
                    start: Instant(seconds: period.lowerBound),
                    end: Instant(seconds: period.upperBound),
                    isBilledInArrears: item.price.usageType == "metered",
                    created: isSent ? item.created.map { Instant(seconds: $0) } : nil
                )
            )
        }
        self.init(
            status: subscription.status.rawValue,
            customer: subscription.customer.id,
            items: items,
            cancelAt: subscription.cancelAt.map { Instant(seconds: $0) },
            cancelsAtPeriodEnd: subscription.cancelAtPeriodEnd,
            endedAt: subscription.endedAt.map { Instant(seconds: $0) },
            daysUntilDue: isSent ? subscription.daysUntilDue : nil,
            mayChangePrice: subscription.hasSchedule || subscription.hasDiscounts
                || subscription.pausesCollection
                || shown.contains(where: \.hasDiscounts),
            mayAddTax: subscription.mayAddTax || shown.contains(where: \.hasTaxRates)
        )
    }
}

extension StripeInvoice {
    init(_ invoice: Stripe.Invoice, lines shown: [Stripe.InvoiceLine]) {
        let lines = shown.compactMap { line in
            line.price.map { price in
                Line(
                    id: line.id,
                    price: price,
                    quantity: line.quantity ?? 1,
                    amount: line.amount,
                    start: Instant(seconds: line.period.lowerBound),
                    end: Instant(seconds: line.period.upperBound),
                    isProration: line.isProration,
                    item: line.subscriptionItem,
                    discount: line.discountAmount,
                    tax: line.exclusiveTax == 0 ? nil : line.exclusiveTax
                )
            }
        }
        let isPaid = invoice.status == .paid
        let voided = invoice.voidedAt ?? invoice.markedUncollectibleAt ?? invoice.created
        self.init(
            id: invoice.id,
            isPaid: isPaid,
            amount: invoice.amountPaid,
            total: invoice.total,
            currency: invoice.currency,
            lines: lines,
            paid: invoice.paidAt.map { Instant(seconds: $0) },
            country: invoice.customerCountry,
            voided: isPaid ? nil : Instant(seconds: voided)
        )
    }
}

extension StripeRefund {
    /// - Parameter invoice: the invoice that the payment paid.
    init(_ refund: Stripe.Refund, paying invoice: String? = nil) {
        self.init(
            id: refund.id,
            amount: refund.amount,
            status: refund.status?.rawValue ?? "succeeded",
            invoice: invoice,
            created: Instant(seconds: refund.created)
        )
    }
}

extension StripeDispute {
    /// - Parameter invoice: the invoice that the payment paid.
    init(_ dispute: Stripe.Dispute, paying invoice: String? = nil) {
        self.init(
            id: dispute.id,
            amount: dispute.amount,
            status: dispute.status.rawValue,
            invoice: invoice,
            created: Instant(seconds: dispute.created),
            withdrawn: dispute.withdrawnAt.map { Instant(seconds: $0) }
        )
    }
}

extension StripePayment {
    /// What a payment paid for, if it succeeded and its metadata say so under `linesKey`:
    /// `price`, `price:quantity`, several with commas between.
    init?(_ intent: Stripe.PaymentIntent) {
        let words = intent.metadata[StripeTranslator.linesKey]
        guard let lines = words.flatMap(Self.soldLines) else { return nil }
        self.init(intent, selling: lines)
    }

    /// - Returns: `nil` where the payment has not succeeded.
    init?(_ intent: Stripe.PaymentIntent, selling lines: [Line]) {
        guard intent.status == .succeeded else { return nil }
        self.init(
            session: intent.id,
            status: "complete",
            isPaid: true,
            customer: intent.customer?.id,
            reference: nil,
            lines: lines,
            amount: intent.amountReceived ?? intent.amount,
            currency: intent.currency,
            created: Instant(seconds: intent.created),
            country: intent.latestCharge?.payerCountry
        )
    }

    /// What `words` name, each a price with or without a quantity; `nil` if any of them is nonsense.
    static func soldLines(_ words: String) -> [Line]? {
        var lines: [Line] = []
        for word in words.split(separator: ",") {
            let parts = word.split(separator: ":", omittingEmptySubsequences: false)
                .map { $0.drop(while: \.isWhitespace) }
            guard (1...2).contains(parts.count), let price = parts.first, !price.isEmpty else {
                return nil
            }
            let quantity = parts.count == 2 ? Int64(parts[1]) : 1
            guard let quantity, quantity > 0 else { return nil }
            lines.append(Line(price: String(price), quantity: quantity))
        }
        return lines.isEmpty ? nil : lines
    }

    /// What the session sells, if it says so: by the line items that were read, or by the words we
    /// put on it ourselves.
    static func checkoutLines(of session: Stripe.CheckoutSession) -> [Line]? {
        if let items = session.lineItems, !items.hasMore { return itemLines(items.data) }
        guard let words = session.metadata[StripeTranslator.linesKey] else { return nil }
        var lines: [Line] = []
        for word in words.split(separator: ",") {
            guard let separator = word.lastIndex(of: ":"),
                let quantity = Int64(word[word.index(after: separator)...]), quantity > 0
            else { return nil }
            lines.append(Line(price: String(word[..<separator]), quantity: quantity))
        }
        return lines.isEmpty ? nil : lines
    }

    static func itemLines(_ items: [Stripe.LineItem]) -> [Line]? {
        let lines = items.compactMap { item in
            item.price.map { Line(price: $0.id, quantity: item.quantity ?? 1) }
        }
        return lines.isEmpty ? nil : lines
    }
}

extension Stripe.IDOrObject<Stripe.PaymentIntent> {
    /// The country of the payer's billing address, if the payment and its charge were read too.
    var payerCountry: String? {
        (try? object())?.latestCharge?.payerCountry
    }
}

extension Stripe.IDOrObject<Stripe.Charge> {
    /// The country of the payer's billing address, if the charge was read too.
    var payerCountry: String? { (try? object())?.billingCountry }
}
