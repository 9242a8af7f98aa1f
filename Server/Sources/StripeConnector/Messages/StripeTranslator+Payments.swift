public import Stores
public import StripeAPI
public import TollgateCore

// Not everything is sold in Checkout: invoices sell without a subscription, and an app may take
// payments on a form of its own.
extension StripeTranslator {
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
            created: Instant(seconds: intent.created),
            country: intent.latestCharge?.payerCountry
        )
    }

    /// The fact of a payment that we read, and that went through no Checkout Session.
    ///
    /// - Parameter lines: what it paid for; `nil`: what its metadata say.
    public static func message(
        reading intent: Stripe.PaymentIntent,
        selling lines: [StripePayment.Line]? = nil,
        at instant: Instant
    ) -> Translation.Meaning {
        let sold = lines ?? intent.metadata[linesKey].flatMap(soldLines)
        guard var payment = sold.flatMap({ payment(intent, selling: $0) }) else {
            return .nothing(reason: "payment \(intent.id) does not say what it paid for")
        }
        payment.paidBy = paidBy(intent, readAt: instant)
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

// When what was bought begins (RULES §5.3). An event says it by its own clock; a read has to tell it
// from what it reads.
extension StripeTranslator {
    /// By when a session that is paid was paid at the latest; `nil` where the read does not show it.
    static func paidBy(_ session: Stripe.CheckoutSession, readAt instant: Instant) -> Instant? {
        guard let intent = session.paymentIntent else {
            // Nothing was to be paid. A page can be left open until the session ends.
            let end = session.expiresAt.map { Instant(seconds: $0) }
            return min(second(instant), end ?? instant)
        }
        return (try? intent.object()).flatMap { paidBy($0, readAt: instant) }
    }

    /// By when a payment that succeeded did so at the latest.
    static func paidBy(_ intent: Stripe.PaymentIntent, readAt instant: Instant) -> Instant? {
        guard let charge = try? intent.latestCharge?.object() else { return nil }
        let charged = Instant(seconds: charge.created)
        let isDelayed = charge.paymentMethodType.map(delayedMethods.contains) ?? false
        guard isDelayed else { return charged }
        return min(second(instant), charged.advanced(by: longestDelay))
    }

    /// Payment methods whose money comes, or fails to come, after the charge was made.
    ///
    /// https://docs.stripe.com/payments/payment-methods#payment-notification
    private static let delayedMethods: Set = [
        "acss_debit", "au_becs_debit", "bacs_debit", "boleto", "customer_balance", "konbini",
        "multibanco", "nz_bank_account", "oxxo", "payto", "sepa_debit", "sofort",
        "us_bank_account",
    ]

    /// Banks answer within 14 business days, which are three weeks at most.
    ///
    /// https://docs.stripe.com/payments/sepa-debit
    private static let longestDelay: Int64 = 21 * 86_400_000

    /// Stripe counts whole seconds; what is finer only orders reads.
    private static func second(_ instant: Instant) -> Instant {
        Instant(seconds: instant.milliseconds / 1000)
    }
}
