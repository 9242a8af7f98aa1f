internal import StripeAPI
internal import TollgateCore

// When what was bought begins (RULES §5.3). An event says it by its own clock; a read has to tell it
// from what it reads.
extension Stripe.CheckoutSession {
    /// By when a session that is paid was paid at the latest; `nil` where the read does not show it.
    func paidBy(readAt instant: Instant) -> Instant? {
        guard let intent = paymentIntent else {
            // Nothing was to be paid. A page can be left open until the session ends.
            let end = expiresAt.map { Instant(seconds: $0) }
            return min(instant.second, end ?? instant.second)
        }
        return (try? intent.object()).flatMap { $0.paidBy(readAt: instant) }
    }
}

extension Stripe.PaymentIntent {
    /// By when a payment that succeeded did so at the latest.
    func paidBy(readAt instant: Instant) -> Instant? {
        guard let charge = try? latestCharge?.object() else { return nil }
        let charged = Instant(seconds: charge.created)
        let isDelayed = charge.paymentMethodType.map(Self.delayedMethods.contains) ?? false
        if captureMethod == "manual" {
            return min(instant.second, charged.advanced(by: Self.longestHold))
        }
        guard isDelayed else { return charged }
        return min(instant.second, charged.advanced(by: Self.longestDelay))
    }

    /// Payment methods whose money comes, or fails to come, after the charge was made.
    ///
    /// https://docs.stripe.com/payments/payment-methods#payment-notification
    private static let delayedMethods: Set = [
        "acss_debit", "au_becs_debit", "bacs_debit", "boleto", "customer_balance", "konbini",
        "multibanco", "nz_bank_account", "oxxo", "payto", "sepa_debit", "sofort",
        "us_bank_account",
    ]

    /// A hold ends after 30 days at most.
    ///
    /// https://docs.stripe.com/payments/extended-authorization
    private static let longestHold: Int64 = 30 * 86_400_000

    /// Banks answer within 14 business days, which are three weeks at most.
    ///
    /// https://docs.stripe.com/payments/sepa-debit
    private static let longestDelay: Int64 = 21 * 86_400_000
}

extension Instant {
    /// The second in which Stripe answered a read.
    ///
    /// On the sandbox's clock a read speaks of that very second, and what is finer only orders reads. Else
    /// it speaks of the second before Stripe's `Date` (RULES §4.2): what it shows as paid may have been paid
    /// in the second of the `Date`.
    fileprivate var second: Instant {
        let isSecondBefore = milliseconds.isMultiple(of: 1000)
        return Instant(seconds: milliseconds / 1000 + (isSecondBefore ? 1 : 0))
    }
}
