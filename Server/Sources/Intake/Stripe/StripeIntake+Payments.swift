public import StripeAPI
public import TollgateCore

// Not everything is sold in Checkout: invoices sell without a subscription, and an app may take
// payments on a form of its own.
extension StripeIntake {
    /// What a payment paid for, if it succeeded and its metadata say so under `linesKey`:
    /// `price`, `price:quantity`, several with commas between.
    static func payment(_ intent: Stripe.PaymentIntent) -> StripePayment? {
        intent.metadata[linesKey].flatMap(soldLines).flatMap { payment(intent, selling: $0) }
    }

    /// What `words` name, each a price with or without a quantity; `nil` if any of them is nonsense.
    public static func soldLines(_ words: String) -> [StripePayment.Line]? {
        var lines: [StripePayment.Line] = []
        for word in words.split(separator: ",") {
            let parts = word.split(separator: ":", omittingEmptySubsequences: false)
                .map { $0.drop(while: \.isWhitespace) }
            guard (1...2).contains(parts.count), let price = parts.first, !price.isEmpty else {
                return nil
            }
            let quantity = parts.count == 2 ? Int64(parts[1]) : 1
            guard let quantity, quantity > 0 else { return nil }
            lines.append(StripePayment.Line(price: String(price), quantity: quantity))
        }
        return lines.isEmpty ? nil : lines
    }

    private static func payment(
        _ intent: Stripe.PaymentIntent,
        selling lines: [StripePayment.Line]
    ) -> StripePayment? {
        guard intent.status == .succeeded else { return nil }
        return StripePayment(
            session: intent.id,
            status: "complete",
            isPaid: true,
            customer: intent.customer?.id,
            reference: nil,
            lines: lines,
            amount: intent.amountReceived ?? intent.amount,
            currency: intent.currency,
            created: Instant(seconds: intent.created)
        )
    }

    /// The fact of a payment that we read, and that went through no Checkout Session.
    ///
    /// - Parameter lines: what it paid for; `nil`: what its metadata say.
    public static func message(
        reading intent: Stripe.PaymentIntent,
        selling lines: [StripePayment.Line]? = nil,
        at instant: Instant
    ) -> StoreMessage {
        let sold = lines ?? intent.metadata[linesKey].flatMap(soldLines)
        guard let payment = sold.flatMap({ payment(intent, selling: $0) }) else {
            return .nothing(reason: "payment \(intent.id) does not say what it paid for")
        }
        return read(
            intent.id,
            as: .payment(payment),
            at: instant,
            livemode: intent.livemode
        )
    }

    /// The fact of a paid invoice that we read, and that is no subscription's.
    ///
    /// - Parameters:
    ///   - lines: all of its lines.
    ///   - payment: the payment intent that paid it; `nil`: it was paid in another way. Its record is
    ///     the payment's, so that a Checkout Session that made an invoice too sells once.
    public static func message(
        readingSale invoice: Stripe.Invoice,
        lines: [Stripe.InvoiceLine],
        paidBy payment: String?,
        at instant: Instant
    ) -> StoreMessage {
        let sold = lines.compactMap { line in
            line.price.map { StripePayment.Line(price: $0, quantity: line.quantity ?? 1) }
        }
        guard invoice.subscription == nil, invoice.status == .paid, !sold.isEmpty else {
            return .nothing(reason: "invoice \(invoice.id) sells nothing by a price")
        }
        return read(
            invoice.id,
            about: payment ?? invoice.id,
            as: .payment(
                StripePayment(
                    session: invoice.id,
                    status: "complete",
                    isPaid: true,
                    customer: invoice.customer?.id,
                    reference: nil,
                    lines: sold,
                    amount: invoice.amountPaid,
                    currency: invoice.currency,
                    created: Instant(seconds: invoice.paidAt ?? invoice.created)
                )
            ),
            at: instant,
            livemode: invoice.livemode
        )
    }
}
