public import Stores
public import StripeAPI
public import TollgateCore

// Not everything is sold in Checkout: invoices sell without a subscription, and an app may take
// payments on a form of its own.
extension StripeTranslator {
    /// The fact of a payment that we read, and that went through no Checkout Session.
    ///
    /// - Parameters:
    ///   - lines: what it paid for; `nil`: what its metadata say.
    ///   - shown: when Stripe showed it, where that is later than `instant`, as of which it speaks.
    public static func message(
        reading intent: Stripe.PaymentIntent,
        selling lines: [StripePayment.Line]? = nil,
        at instant: Instant,
        shown: Instant? = nil
    ) -> Translation.Meaning {
        let sold = lines ?? intent.metadata[linesKey].flatMap(StripePayment.soldLines)
        guard var payment = sold.flatMap({ StripePayment(intent, selling: $0) }) else {
            return .nothing(reason: "payment \(intent.id) does not say what it paid for")
        }
        payment.paidBy = intent.paidBy(readAt: shown ?? instant)
        return read(intent.id, as: .payment(payment), at: instant, livemode: intent.livemode)
    }

    /// The fact of a paid invoice that we read, and that is no subscription's.
    ///
    /// - Parameters:
    ///   - lines: all of its lines.
    ///   - payment: the payment intent that paid it, or the Checkout Session that made it where
    ///     nothing was to be paid; `nil`: neither. Its record is theirs, so that a Checkout Session that
    ///     made an invoice too sells once (RULES §5.6).
    public static func message(
        readingSale invoice: Stripe.Invoice,
        lines: [Stripe.InvoiceLine],
        paidBy payment: String?,
        at instant: Instant
    ) -> Translation.Meaning {
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
                    created: Instant(seconds: invoice.paidAt ?? invoice.created),
                    country: invoice.customerCountry,
                    paidBy: invoice.paidAt.map { Instant(seconds: $0) }
                )
            ),
            at: instant,
            livemode: invoice.livemode
        )
    }
}
